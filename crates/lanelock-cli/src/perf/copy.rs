//! `lanelock perf copy`: what a separate output saves over a copy that is rewritten in place.

use lanelock::algorithm::Spec;

use super::bench::Bench;
use super::cells;
use super::contest::{Contest, Engines, Pace};
use super::contestant::{Contestant, Entry};
use super::engine::EngineContestant;
use super::lengths::Lengths;
use super::number::number;
use super::output::Output;
use super::progress::Progress;
use super::publish;
use super::shape::{Layout, Shape};
use super::work::Work;
use crate::failure::Failure;
use crate::report::columns;
use crate::row::Row;

/// Arguments of `lanelock perf copy`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The case of a file server with TLS in the kernel: records in the page cache must not be rewritten,
so without separate outputs each is copied first.

Examples:
  lanelock perf copy
  lanelock perf copy --sizes 4k,16k --pool-mib 1,64 --json copy.json")]
pub struct Args {
    /// Algorithms with an output.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        default_value = "aes-128-gcm"
    )]
    algorithm: Vec<Spec>,
    /// Lengths of a record in bytes.
    #[arg(long, value_name = "LENGTH,…", default_value = "16k")]
    sizes: Lengths,
    /// Memory of the records, in MiB; what exceeds the L2 cache shows the difference.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "64",
          value_parser = number(1, 512))]
    pool_mib: Vec<usize>,
    /// Records handed over at a time.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "32",
          value_parser = number(1, 4096))]
    burst: Vec<usize>,
    #[command(flatten)]
    engines: Engines,
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
    let bench = Bench::open()?;
    let engines = args.engines.names(&bench)?;
    let mut cells = Vec::new();
    for &mib in &args.pool_mib {
        for mut shape in args.work().cells()? {
            if !shape.has_output() {
                let name = shape.spec;
                return Err(Failure::Usage(format!(
                    "--algorithm {name}: has no output but its tag; use a cipher, AEAD or chain"
                )));
            }
            shape.pool = ((mib << 20) / shape.stride())
                .max(1)
                .next_multiple_of(shape.burst);
            cells.push(shape);
        }
    }
    let progress = Progress::of(cells.len() * engines.len() * 2 * args.pace.rounds);
    let mut rows = Vec::new();
    for shape in &cells {
        for engine in &engines {
            progress.say(cells::describe(shape));
            let cell = compare(&bench, engine, shape, args.pace, &progress);
            rows.extend(cell.map_err(|failure| failure.within(&cells::describe(shape)))?);
        }
    }
    drop(progress);
    publish(&bench, rows, columns::COPY, &args.output)
}

impl Args {
    fn work(&self) -> Work {
        Work {
            sizes: self.sizes.clone(),
            burst: self.burst.clone(),
            layout: Some(Layout::Separate),
            ..Work::of(self.algorithm.clone())
        }
    }
}

/// Both ways through one engine.
fn compare(
    bench: &Bench,
    engine: &str,
    shape: &Shape,
    pace: Pace,
    progress: &Progress,
) -> Result<Vec<Row>, Failure> {
    let mut contestants: Vec<Box<dyn Contestant>> = Vec::new();
    for layout in [Layout::Copy, Layout::Separate] {
        let shape = Shape {
            layout,
            ..shape.clone()
        };
        match EngineContestant::open(&bench.device, engine, &shape)? {
            Entry::Ready(ready) => {
                contestants.push(Box::new(ready.named(name(layout, engine))));
            }
            Entry::NotOffered(why) => {
                progress.note(&format!("{engine} is left out: {why}"));
                return Ok(Vec::new());
            }
        }
    }
    let contest = Contest {
        engines: Engines { engine: Vec::new() },
        peer: Vec::new(),
        reference: Some(name(Layout::Copy, engine).to_owned()),
    };
    let mut rows = cells::compete(contestants, &contest, shape, pace, progress)?;
    for row in &mut rows {
        let copies = row.contestant != engine;
        let layout = if copies {
            Layout::Copy
        } else {
            Layout::Separate
        };
        row.layout = Some(layout.name().to_owned());
    }
    Ok(rows)
}

/// The engine's own name is for the way without a copy.
fn name(layout: Layout, engine: &str) -> &str {
    match layout {
        Layout::Copy => "copy-then-in-place",
        _ => engine,
    }
}
