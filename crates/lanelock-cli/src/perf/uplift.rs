//! `lanelock perf uplift`: what an engine gains over each habit that it does without.

use lanelock::algorithm::Spec;
use lanelock_baselines::Habit;

use super::bench::Bench;
use super::cells;
use super::contest::{Contest, Engines, Pace};
use super::lengths::Lengths;
use super::number::{number, seconds};
use super::output::Output;
use super::publish_as;
use super::work::{SIX, Work};
use crate::failure::Failure;
use crate::report::uplift;
use crate::row::Throughput;

/// Arguments of `lanelock perf uplift`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each baseline differs from the engine in one habit, repeated for every operation:
  clone-per-op    the session's contexts are duplicated and freed
  fetch-per-op    the algorithm is looked up by name and the key set with it
  rekey-per-op    3DES-CTR: the key is set, and each counter block encrypted by a call
  padding-per-op  padding is turned off twice

Examples:
  lanelock perf uplift
  lanelock perf uplift --algorithm aes-128-cbc --baseline clone-per-op --threads 1,2,4,8
  lanelock perf uplift --sizes 64 --json uplift.json --html uplift.html")]
pub struct Args {
    /// Algorithms.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = SIX)]
    algorithm: Vec<Spec>,
    /// Message lengths in bytes.
    #[arg(
        long,
        value_name = "LENGTH,…",
        default_value = "32,64,128,256,512,1k,2k,4k,8k"
    )]
    sizes: Lengths,
    /// Baselines [default: all that apply to the algorithm].
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", value_parser = habit)]
    baseline: Vec<Habit>,
    /// The engine to compare the baselines with.
    #[arg(long, value_name = "NAME", default_value = "openssl")]
    engine: String,
    /// Threads, all with the same sessions [default: 1, and as many as there are cores].
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = number(1, 1024))]
    threads: Vec<usize>,
    /// Operations handed over at a time.
    #[arg(long, value_name = "N", default_value = "32", value_parser = number(1, 4096))]
    burst: usize,
    /// Sessions, used in turn.
    #[arg(long, value_name = "N", default_value = "1", value_parser = number(1, 65536))]
    sessions: usize,
    /// Seconds for each contestant in each cell.
    #[arg(long, value_name = "S", default_value = "0.1", value_parser = seconds(0.0, 3600.0))]
    seconds: std::time::Duration,
    /// Rounds in which contestants alternate; the median is reported.
    #[arg(long, value_name = "N", default_value = "21", value_parser = number(1, 1000))]
    rounds: usize,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`], and [`Failure::Failed`] if an operation failed or results differ.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.output.check()?;
    let cells = args.work().cells()?;
    let bench = Bench::open()?;
    let mut rows = cells::measure(&cells, &args.contest(), args.pace(), &bench)?;
    for cell in rows.chunk_by_mut(|a, _| a.common.contestant != args.engine) {
        compare(cell, &args.engine);
    }
    if !rows.iter().any(|row| row.uplift_percent.is_some()) {
        return Err(Failure::Failed(
            "no baseline offers the algorithms; leave out --baseline to see which do".to_owned(),
        ));
    }
    publish_as(&bench, rows, uplift::render, &args.output)
}

impl Args {
    fn work(&self) -> Work {
        let threads = if self.threads.is_empty() {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            if cores == 1 { vec![1] } else { vec![1, cores] }
        } else {
            self.threads.clone()
        };
        Work {
            sizes: self.sizes.clone(),
            threads,
            burst: vec![self.burst],
            sessions: vec![self.sessions],
            ..Work::of(self.algorithm.clone())
        }
    }

    /// The baselines, then the engine: the last row of a cell.
    fn contest(&self) -> Contest {
        let habits = if self.baseline.is_empty() {
            &Habit::ALL[..]
        } else {
            &self.baseline[..]
        };
        let names = habits
            .iter()
            .map(|habit| habit.name())
            .chain([&*self.engine]);
        Contest {
            engines: Engines {
                engine: names.map(str::to_owned).collect(),
            },
            peer: Vec::new(),
            reference: Some(self.engine.clone()),
        }
    }

    fn pace(&self) -> Pace {
        Pace {
            seconds: self.seconds,
            rounds: self.rounds,
        }
    }
}

/// Fills in by how much the engine is faster than each other row of its cell.
pub(super) fn compare(cell: &mut [Throughput], engine: &str) {
    let engines = cell.iter().find(|row| row.common.contestant == engine);
    let Some(rate) = engines.map(|row| row.common.ops_per_s) else {
        return;
    };
    for row in cell
        .iter_mut()
        .filter(|row| row.common.contestant != engine)
    {
        row.uplift_percent = Some(100.0 * (rate / row.common.ops_per_s - 1.0));
    }
}

fn habit(text: &str) -> Result<Habit, String> {
    let names = Habit::ALL.map(Habit::name);
    let found = Habit::ALL.into_iter().find(|habit| habit.name() == text);
    found.ok_or_else(|| format!("no baseline '{text}'; use one of {}", names.join(", ")))
}
