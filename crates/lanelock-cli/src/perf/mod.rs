//! `lanelock perf`: what engines, peers and baselines do in how much time and memory.
//!
//! ```text
//! work → cells → contestants, prepared and checked against each other → rounds → rows → report
//! ```
//!
//! Every contestant of a cell has the same keys and messages, made from seeds ([`content`]), so
//! that answers are compared before they are timed. The timed loop ([`drive`]) builds the
//! operations and looks at each status, as an application does.

mod bench;
mod cells;
mod content;
mod contest;
mod contestant;
mod crew;
mod drive;
mod engine;
mod form;
mod latencies;
mod lengths;
mod null_engine;
mod number;
mod operation;
mod output;
mod peer;
mod pool;
mod progress;
mod rounds;
mod shape;
mod throughput;
mod work;

use std::io;
use std::io::Write;

use clap::Subcommand;

use crate::failure::Failure;
use crate::report::table;
use crate::report::table::Column;
use crate::row::{Report, Row};
use bench::Bench;
use output::Output;

/// Arguments of `lanelock perf`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

/// What is measured.
#[derive(Debug, Subcommand)]
enum What {
    /// Operations and bits per second.
    Throughput(throughput::Args),
}

/// Runs the command.
///
/// # Errors
/// Those of the measurement.
pub fn run(args: &Args) -> Result<(), Failure> {
    match &args.what {
        What::Throughput(args) => throughput::run(args),
    }
}

/// Prints the table and writes the files.
fn publish(
    bench: &Bench,
    rows: Vec<Row>,
    columns: &[Column],
    output: &Output,
) -> Result<(), Failure> {
    let report = Report {
        machine: bench.machine(),
        command: std::env::args().collect::<Vec<_>>().join(" "),
        results: rows,
    };
    if output.shows_table() {
        let text = table::render(&report, columns);
        io::stdout()
            .lock()
            .write_all(text.as_bytes())
            .map_err(Failure::stdout)?;
    }
    output.write(&report)
}
