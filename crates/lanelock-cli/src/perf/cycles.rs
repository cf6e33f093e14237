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
use crate::row::Row;

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
) -> Result<Vec<Row>, Failure> {
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
    let mut rows = cells::measure(cells, &contest, pace, bench)?;
    let frequencies = Frequencies::measure();
    for cell in rows.chunk_by_mut(same_cell) {
        split(cell, frequencies);
    }
    Ok(rows)
}

/// Fills in the cycles of one cell's rows.
fn split(cell: &mut [Row], frequencies: Frequencies) {
    let null = cell.iter().find(|row| row.contestant == NullEngine::NAME);
    let framework = null.map(|row| row.ns_per_op * frequencies.counter);
    for row in cell {
        let cycles = row.ns_per_op * frequencies.counter;
        row.cycles_per_op = Some(cycles);
        row.core_cycles_per_op = Some(row.ns_per_op * frequencies.core);
        // A peer does without the framework.
        if row.route.is_none() {
            row.framework_cycles_per_op = framework;
            row.engine_cycles_per_op = framework.map(|framework| (cycles - framework).max(0.0));
        }
    }
}

fn same_cell(a: &Row, b: &Row) -> bool {
    let key = |row: &Row| {
        let numbers = (row.size, row.burst, row.sessions, row.threads);
        (row.algorithm.clone(), row.operation.clone(), numbers)
    };
    key(a) == key(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frameworks_share_is_the_null_engines_time() {
        let row = |contestant: &str, ns_per_op| Row {
            contestant: contestant.to_owned(),
            ns_per_op,
            ..Row::default()
        };
        let mut cell = [row("openssl", 100.0), row("null", 10.0)];
        let frequencies = Frequencies {
            counter: 2.0,
            core: 3.0,
        };
        split(&mut cell, frequencies);
        assert_eq!(cell[0].cycles_per_op, Some(200.0));
        assert_eq!(cell[0].core_cycles_per_op, Some(300.0));
        assert_eq!(cell[0].framework_cycles_per_op, Some(20.0));
        assert_eq!(cell[0].engine_cycles_per_op, Some(180.0));
        assert_eq!(cell[1].engine_cycles_per_op, Some(0.0));
    }
}
