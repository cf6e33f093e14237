//! `lanelock perf latency`: how long operations take, one by one.

use std::time::Duration;

use super::bench::Bench;
use super::cells;
use super::contest::Engines;
use super::contestant::Entry;
use super::engine::EngineContestant;
use super::latencies::Latencies;
use super::number::seconds;
use super::output::Output;
use super::progress::Progress;
use super::publish;
use super::shape::Shape;
use super::work::Work;
use crate::failure::Failure;
use crate::report::columns;
use crate::row::Row;

/// Arguments of `lanelock perf latency`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
An operation's latency runs from when its burst begins to be built to when its status is known,
which for the operations of one burst is the same time.

Examples:
  lanelock perf latency --algorithm aes-128-gcm --burst 1,8,32,128
  lanelock perf latency --algorithm hmac-sha1 --sizes 64 --threads 1,2 --json latency.json")]
pub struct Args {
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    engines: Engines,
    /// Seconds for each engine in each cell.
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = seconds,
          help_heading = "Contestants")]
    seconds: Duration,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`], and [`Failure::Failed`] if an operation failed.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.output.check()?;
    let cells = args.work.cells()?;
    let bench = Bench::open()?;
    let engines = args.engines.names(&bench)?;
    let rows = measure(&cells, &engines, args.seconds, &bench)?;
    publish(&bench, rows, columns::LATENCY, &args.output)
}

/// Measures each engine in each cell.
///
/// # Errors
/// [`Failure::Failed`] if an operation failed, or for a cell that no engine offers.
pub(super) fn measure(
    cells: &[Shape],
    engines: &[String],
    seconds: Duration,
    bench: &Bench,
) -> Result<Vec<Row>, Failure> {
    let progress = Progress::of(cells.len() * engines.len());
    let mut rows = Vec::new();
    for shape in cells {
        progress.say(cells::describe(shape));
        let before = rows.len();
        for engine in engines {
            match EngineContestant::open(&bench.device, engine, shape)? {
                Entry::Ready(mut ready) => {
                    let _warms_up = ready.latencies(seconds.min(Duration::from_millis(20)))?;
                    rows.push(row(shape, engine, &ready.latencies(seconds)?));
                }
                Entry::NotOffered(why) => progress.note(&format!("{engine} is left out: {why}")),
            }
            progress.step();
        }
        if rows.len() == before {
            let cell = cells::describe(shape);
            return Err(Failure::Failed(format!("{cell}: no contestant offers it")));
        }
    }
    Ok(rows)
}

fn row(shape: &Shape, engine: &str, latencies: &Latencies) -> Row {
    let mut row = cells::row(shape, engine, latencies.lap().rate());
    latencies.describe(&mut row);
    row
}
