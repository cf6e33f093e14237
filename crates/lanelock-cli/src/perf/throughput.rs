//! `lanelock perf throughput`: operations and bits per second.

use super::bench::Bench;
use super::cells;
use super::contest::{Contest, Pace};
use super::output::Output;
use super::publish;
use super::work::Work;
use crate::failure::Failure;
use crate::report::columns;

/// Arguments of `lanelock perf throughput`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lanelock perf throughput
  lanelock perf throughput --algorithm aes-128-cbc --sizes 64:64:512 --peer evp
  lanelock perf throughput --algorithm aes-128-gcm --imix 64:7,576:4,1500:1 --sessions 1,1000
  lanelock perf throughput --algorithm aes-128-cbc,hmac-sha1 --imix --sessions 32 --peer ipsec-mb
  lanelock perf throughput --algorithm hmac-sha1 --operation compute,verify --threads 1,2 --json -")]
pub struct Args {
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    contest: Contest,
    #[command(flatten)]
    pace: Pace,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`], and [`Failure::Failed`] if an operation failed or results differ.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.output.check()?;
    let cells = args.work.cells()?;
    let bench = Bench::open()?;
    let rows = cells::measure(&cells, &args.contest, args.pace, &bench)?;
    publish(&bench, rows, columns::THROUGHPUT, &args.output)
}
