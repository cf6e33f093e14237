//! `lanelock perf latency`: how long operations take, one by one.

use std::time::Duration;

use super::bench::Bench;
use super::cells;
use super::contest::{Engines, Pace};
use super::contestant::Entry;
use super::engine::EngineContestant;
use super::latencies::Latencies;
use super::measure::{self, Measurement};
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

/// Engines one by one.
struct Engine<'a> {
    bench: &'a Bench,
    engines: &'a [String],
}

impl Measurement for Engine<'_> {
    type Cell = Shape;
    type Contestant = (String, EngineContestant);
    type Lap = Latencies;
    type Row = Latency;

    fn describe(&self, shape: &Shape) -> String {
        cells::describe(shape)
    }

    fn enter(
        &self,
        shape: &Shape,
        absent: &mut dyn FnMut(&str, &str),
    ) -> Result<Vec<Self::Contestant>, Failure> {
        let mut contestants = Vec::new();
        for engine in self.engines {
            match EngineContestant::open(&self.bench.device, engine, shape)? {
                Entry::Ready(ready) => contestants.push((engine.clone(), ready)),
                Entry::NotOffered(why) => absent(engine, &why),
            }
        }
        match contestants.is_empty() {
            true => Err(Failure::Failed("no contestant offers it".to_owned())),
            false => Ok(contestants),
        }
    }

    fn lap(
        &self,
        (_, contestant): &mut Self::Contestant,
        span: Duration,
    ) -> Result<Latencies, Failure> {
        contestant.latencies(span)
    }

    fn rows(
        &self,
        shape: &Shape,
        contestants: &[Self::Contestant],
        laps: Vec<Vec<Latencies>>,
    ) -> Result<Vec<Latency>, Failure> {
        let row = |((engine, _), laps): (&Self::Contestant, &Vec<Latencies>)| Latency {
            common: cells::common(shape, engine, Some(laps[0].lap().rate())),
            messages: cells::messages(shape),
            percentiles: laps[0].percentiles(),
        };
        Ok(contestants.iter().zip(&laps).map(row).collect())
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
    let pace = Pace { seconds, rounds: 1 };
    measure::measure(&Engine { bench, engines }, cells, pace)
}
