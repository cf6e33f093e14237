//! `lanelock perf copy`: what a separate output saves over a copy that is rewritten in place.

use lanelock::algorithm::Spec;

use super::bench::Bench;
use super::cells;
use super::contest::{Engines, Pace};
use super::contestant::{Contestant, Entry, Lap};
use super::engine::EngineContestant;
use super::lengths::Lengths;
use super::measure::{Absent, measure};
use super::number::number;
use super::output::Output;
use super::publish;
use super::score::agree;
use super::shape::{Layout, Shape};
use super::work::Work;
use crate::failure::Failure;
use crate::report::columns;

/// Arguments of `lanelock perf copy`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The case of a file server with TLS in the kernel: records in the page cache must not be rewritten,
so without separate outputs each is copied first.

Examples:
  lanelock perf copy
  lanelock perf copy --sizes 4k,16k --pool-mib 1,64 --json copy.json")]
pub struct Args {
    /// Algorithms that write an output.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        default_value = "aes-128-gcm"
    )]
    algorithm: Vec<Spec>,
    /// Record lengths in bytes.
    #[arg(long, value_name = "LENGTH,…", default_value = "16k")]
    sizes: Lengths,
    /// Memory taken by the records, in MiB; sizes above the L2 cache show the difference.
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
                    "--algorithm {name}: writes only a tag; use a cipher, AEAD or chain"
                )));
            }
            shape.pool = ((mib << 20) / shape.stride())
                .max(1)
                .next_multiple_of(shape.burst);
            cells.extend(engines.iter().map(|engine| (shape.clone(), engine.clone())));
        }
    }
    let describe = |(shape, _): &(Shape, String)| cells::describe(shape);
    let enter = |cell: &(Shape, String), absent: &mut Absent<'_>| enter(&bench, cell, absent);
    let rows = |(shape, _): &(Shape, String), contestants: &[_], laps: Vec<Vec<Lap>>| {
        let mut rows = cells::rows(shape, contestants, &laps, 0);
        for (row, layout) in rows.iter_mut().zip(WAYS) {
            row.messages.layout = Some(layout.name().to_owned());
        }
        Ok(rows)
    };
    let rows = measure(&cells, args.pace, describe, enter, rows)?;
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

/// What a contestant that copies is called; the engine's own name is for the way without.
const COPIES: &str = "copy-then-in-place";

const WAYS: [Layout; 2] = [Layout::Copy, Layout::Separate];

/// Both ways through one engine; none if it does not offer the work.
fn enter(
    bench: &Bench,
    (shape, engine): &(Shape, String),
    absent: &mut Absent<'_>,
) -> Result<Vec<Box<dyn Contestant>>, Failure> {
    let mut contestants: Vec<Box<dyn Contestant>> = Vec::new();
    for (layout, name) in WAYS.into_iter().zip([COPIES, engine]) {
        let shape = Shape {
            layout,
            ..shape.clone()
        };
        match EngineContestant::open(&bench.device, engine, &shape)? {
            Entry::Ready(ready) => contestants.push(Box::new(ready.named(name))),
            Entry::NotOffered(why) => {
                absent(engine, &why);
                return Ok(Vec::new());
            }
        }
    }
    agree(&mut contestants)?;
    Ok(contestants)
}
