//! `lanelock perf`: what engines, peers and baselines do in how much time and memory.
//!
//! ```text
//! work → cells → contestants, prepared and checked against each other → turns → rows → report
//! ```
//!
//! [`measure`] has the loop; each measurement says who takes part, what a turn is and what is reported.
//!
//! Every contestant of a cell has the same keys and messages, made from seeds ([`content`]), so
//! that answers are compared before they are timed. The timed loop ([`drive`]) builds the
//! operations and looks at each status, as an application does.

mod bench;
mod cells;
mod clock;
pub(crate) mod content;
mod contest;
mod contestant;
mod copy;
mod crew;
mod cycles;
mod drive;
mod engine;
mod form;
mod latencies;
mod latency;
mod lengths;
mod measure;
mod memory;
mod null_engine;
pub(crate) mod number;
mod operation;
pub(crate) mod output;
mod peer;
mod pool;
pub(crate) mod pubkey;
mod score;
mod shape;
mod sweep;
mod throughput;
mod tls;
mod tour;
mod uplift;
mod verify;
mod work;

pub use tour::{Tour, tour};

use clap::Subcommand;

use crate::failure::Failure;
use crate::machine::Machine;
use crate::report::columns::Column;
use crate::report::table;
use crate::row::{Measured, Report};
use crate::terminal::print;
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
    /// How long operations take: percentiles and the slowest.
    Latency(latency::Args),
    /// Cycles per operation: the framework's and the engine's.
    Cycles(cycles::Args),
    /// Memory of sessions and contexts.
    Memory(memory::Args),
    /// Whether the measured engines and peers compute correct results.
    Verify(verify::Args),
    /// Gain over habits such as cloning a context for each operation.
    Uplift(uplift::Args),
    /// What a separate output saves compared with a copy.
    Copy(copy::Args),
    /// Public-key operations per second, and their latency under load.
    Pubkey(pubkey::Args),
    /// lanelock beside every peer in the cells that users meet: heat maps and counts.
    Sweep(sweep::Args),
    /// Handshakes per second of a TLS server, with and without the provider.
    Tls(tls::Args),
}

/// Runs the command.
///
/// # Errors
/// Those of the measurement.
pub fn run(args: &Args) -> Result<(), Failure> {
    match &args.what {
        What::Throughput(args) => throughput::run(args),
        What::Latency(args) => latency::run(args),
        What::Cycles(args) => cycles::run(args),
        What::Memory(args) => memory::run(args),
        What::Verify(args) => verify::run(args),
        What::Uplift(args) => uplift::run(args),
        What::Copy(args) => copy::run(args),
        What::Pubkey(args) => pubkey::run(args),
        What::Sweep(args) => sweep::run(args),
        What::Tls(args) => tls::run(args),
    }
}

/// Prints the rows as tables with these columns, unless standard output is for something else, and
/// writes the files.
fn publish<R: Measured>(
    bench: &Bench,
    rows: Vec<R>,
    columns: &[Column<R>],
    output: &Output,
) -> Result<(), Failure> {
    let table = |machine: &Machine, rows: &[R]| table::render(machine, rows, columns);
    publish_as(bench, rows, table, output)
}

/// The same with tables of another kind.
fn publish_as<R: Measured>(
    bench: &Bench,
    rows: Vec<R>,
    table: impl Fn(&Machine, &[R]) -> String,
    output: &Output,
) -> Result<(), Failure> {
    let machine = bench.machine();
    if output.shows_table() {
        print(table(&machine, &rows))?;
    }
    output.write(&Report {
        machine,
        command: std::env::args().collect::<Vec<_>>().join(" "),
        results: rows.into_iter().map(Into::into).collect(),
    })
}
