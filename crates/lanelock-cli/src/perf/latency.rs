//! `lanelock perf latency`: how long operations take, one by one.

use std::time::Duration;

use super::bench::Bench;
use super::cells;
use super::contest::{Engines, Pace};
use super::contestant::Entry;
use super::engine::EngineContestant;
use super::latencies::Latencies;
use super::measure::{self, Absent, Turns};
use super::number::seconds;
use super::output::Output;
use super::publish;
use super::shape::Shape;
use super::work::Work;
use crate::failure::Failure;
use crate::report::columns;
use crate::row::Latency;

/// Arguments of `lanelock perf latency`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
An operation's latency is the time from the start of building its burst until its status is known;
it is the same for all operations of a burst.

Examples:
  lanelock perf latency --algorithm aes-128-gcm --burst 1,8,32,128
  lanelock perf latency --algorithm hmac-sha1 --sizes 64 --threads 1,2 --json latency.json")]
pub struct Args {
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    engines: Engines,
    /// Seconds for each engine in each cell.
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = seconds(0.0, 3600.0),
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

/// An engine by its name.
struct Engine(String, EngineContestant);

impl Turns for Engine {
    type Lap = Latencies;

    fn turn(&mut self, span: Duration) -> Result<Latencies, Failure> {
        self.1.latencies(span)
    }
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
) -> Result<Vec<Latency>, Failure> {
    let enter = |shape: &Shape, absent: &mut Absent<'_>| {
        let mut contestants = Vec::new();
        for engine in engines {
            match EngineContestant::open(&bench.device, engine, shape)? {
                Entry::Ready(ready) => contestants.push(Engine(engine.clone(), ready)),
                Entry::NotOffered(why) => absent(engine, &why),
            }
        }
        match contestants.is_empty() {
            true => Err(Failure::Failed("no contestant offers it".to_owned())),
            false => Ok(contestants),
        }
    };
    let rows = |shape: &Shape, contestants: &[Engine], laps: Vec<Vec<Latencies>>| {
        let row = |(Engine(name, _), laps): (&Engine, &Vec<Latencies>)| Latency {
            common: cells::common(shape, name, Some(laps[0].lap().rate())),
            messages: cells::messages(shape),
            percentiles: laps[0].percentiles(),
        };
        Ok(contestants.iter().zip(&laps).map(row).collect())
    };
    let pace = Pace { seconds, rounds: 1 };
    measure::measure(cells, pace, cells::describe, enter, rows)
}
