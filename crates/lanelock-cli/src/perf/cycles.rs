//! `lanelock perf cycles`: where the cycles of an operation go.

use super::bench::Bench;
use super::cells;
use super::clock::Frequencies;
use super::contest::{Contest, Pace};
use super::null_engine::NullEngine;
use super::output::Output;
use super::publish;
use super::shape::Shape;
use super::work::Work;
use crate::failure::Failure;
use crate::report::columns;
use crate::row::{Cycles, Shares, Throughput};

/// Arguments of `lanelock perf cycles`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Cycles are ticks of the time-stamp counter; core cycles are estimated from the frequency at which a
chain of dependent instructions was seen to run. The framework's share is what the null engine
takes in the same run: building the operation, validation, grouping, reading the status.

Examples:
  lanelock perf cycles --algorithm aes-128-cbc --sizes 16,64,256
  lanelock perf cycles --algorithm hmac-sha1 --burst 1,8,32,128 --sizes 64")]
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
/// As `perf throughput`.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.output.check()?;
    let cells = args.work.cells()?;
    let bench = Bench::open()?;
    let rows = measure(&cells, &args.contest, args.pace, &bench)?;
    publish(&bench, rows, columns::CYCLES, &args.output)
}

/// Measures the contestants and the null engine in each cell.
///
/// # Errors
/// As [`cells::measure`].
pub(super) fn measure(
    cells: &[Shape],
    contest: &Contest,
    pace: Pace,
    bench: &Bench,
) -> Result<Vec<Cycles>, Failure> {
    let mut contest = contest.clone();
    contest.engines.engine = contest.engines.names(bench)?;
    if !contest
        .engines
        .engine
        .iter()
        .any(|name| name == NullEngine::NAME)
    {
        contest.engines.engine.push(NullEngine::NAME.to_owned());
    }
    let rows = cells::measure(cells, &contest, pace, bench)?;
    let frequencies = Frequencies::measure();
    let cells = rows.chunk_by(|a, b| cell(a) == cell(b));
    Ok(cells.flat_map(|cell| split(cell, frequencies)).collect())
}

/// What rows of one cell have in common.
fn cell(row: &Throughput) -> (&str, &str, [u64; 4]) {
    let common = &row.common;
    let counts = [common.size, common.burst, common.sessions, common.threads];
    (&common.algorithm, &common.operation, counts)
}

/// The cycles of one cell's rows.
fn split(cell: &[Throughput], frequencies: Frequencies) -> Vec<Cycles> {
    let null = cell
        .iter()
        .find(|row| row.common.contestant == NullEngine::NAME);
    let framework = null.map(|row| row.common.ns_per_op * frequencies.counter);
    let cycles = |row: &Throughput| {
        let cycles_per_op = row.common.ns_per_op * frequencies.counter;
        // A peer does without the framework.
        let framework = framework.filter(|_| row.route.is_none());
        Cycles {
            throughput: row.clone(),
            cycles_per_op,
            core_cycles_per_op: row.common.ns_per_op * frequencies.core,
            shares: framework.map(|framework| Shares {
                framework_cycles_per_op: framework,
                engine_cycles_per_op: (cycles_per_op - framework).max(0.0),
            }),
        }
    };
    cell.iter().map(cycles).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Common;

    #[test]
    fn the_frameworks_share_is_the_null_engines_time() {
        let row = |contestant: &str, ns_per_op| Throughput {
            common: Common {
                contestant: contestant.to_owned(),
                ns_per_op,
                ..Common::default()
            },
            ..Throughput::default()
        };
        let cell = [row("openssl", 100.0), row("null", 10.0)];
        let frequencies = Frequencies {
            counter: 2.0,
            core: 3.0,
        };
        let rows = split(&cell, frequencies);
        assert_eq!(
            (rows[0].cycles_per_op, rows[0].core_cycles_per_op),
            (200.0, 300.0)
        );
        let engine = rows
            .iter()
            .filter_map(|row| Some(row.shares?.engine_cycles_per_op));
        assert_eq!(engine.collect::<Vec<_>>(), [180.0, 0.0]);
        let framework = rows
            .iter()
            .filter_map(|row| Some(row.shares?.framework_cycles_per_op));
        assert_eq!(framework.collect::<Vec<_>>(), [20.0, 20.0]);
    }
}
