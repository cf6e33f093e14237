//! `lanelock perf memory`: what sessions and their contexts cost.
//!
//! Each cell runs in a process of its own: memory that one cell has freed would hide what the
//! next one takes.

use std::env;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use lanelock::SessionError;
use lanelock::algorithm::Spec;
use serde::Deserialize;

use super::bench::{self, Bench};
use super::cells;
use super::contest::Engines;
use super::drive::once;
use super::measure::{self, Absent, ONCE, Turns};
use super::number::number;
use super::output::Output;
use super::pool::Memory;
use super::publish;
use super::shape::Shape;
use super::work::{SIX, Work};
use crate::failure::Failure;
use crate::report::columns;
use crate::row;

/// Arguments of `lanelock perf memory`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A session is made from a key; a context is what a queue pair keeps for a session that it has used.
`counted` is what the engine reports, without what OpenSSL allocates internally; `grown` is by how
much the process actually grew, if there are enough sessions to tell.

Examples:
  lanelock perf memory
  lanelock perf memory --algorithm aes-256-gcm --sessions 100000")]
pub struct Args {
    /// Algorithms.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = SIX)]
    algorithm: Vec<Spec>,
    /// Sessions that exist at a time.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "1,1000,10000",
          value_parser = number(1, 1_000_000))]
    sessions: Vec<usize>,
    #[command(flatten)]
    engines: Engines,
    #[command(flatten)]
    output: Output,
    /// This process is for one cell.
    #[arg(long, hide = true)]
    one_cell: bool,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`], and [`Failure::Failed`] if an operation failed.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.output.check()?;
    let bench = Bench::open()?;
    let engines = args.engines.names(&bench)?;
    let mut cells = Vec::new();
    for &spec in &args.algorithm {
        for engine in &engines {
            for &sessions in &args.sessions {
                cells.push(Cell {
                    spec,
                    engine: engine.clone(),
                    sessions,
                });
            }
        }
    }
    let rows = match args.one_cell {
        false => {
            let name = |cell: &Cell| {
                let Cell {
                    spec,
                    engine,
                    sessions,
                } = cell;
                format!("{spec} on {engine}, {sessions} sessions")
            };
            let enter = |cell: &Cell, _: &mut Absent<'_>| cell.own_process();
            let rows = |_: &Cell, _: &[Command], laps: Vec<Vec<Vec<row::Memory>>>| {
                Ok(laps.into_iter().flatten().flatten().collect())
            };
            measure::measure(&cells, ONCE, name, enter, rows)?
        }
        true => cells
            .iter()
            .filter_map(|cell| measure(&bench, cell).transpose())
            .collect::<Result<_, _>>()?,
    };
    publish(&bench, rows, columns::MEMORY, &args.output)
}

/// So many sessions on an engine.
struct Cell {
    spec: Spec,
    engine: String,
    sessions: usize,
}

impl Cell {
    /// What measures it alone.
    fn own_process(&self) -> Result<Vec<Command>, Failure> {
        let executable = env::current_exe().map_err(Failure::of)?;
        let mut command = Command::new(executable);
        command
            .args(["perf", "memory", "--one-cell", "--json", "-"])
            .args([
                "--algorithm",
                &self.spec.to_string(),
                "--engine",
                &self.engine,
            ])
            .args(["--sessions", &self.sessions.to_string()])
            .stderr(Stdio::inherit());
        Ok(vec![command])
    }
}

/// What that process prints.
#[derive(Deserialize)]
struct OneCell {
    results: Vec<row::Memory>,
}

impl Turns for Command {
    type Lap = Vec<row::Memory>;
    const WARM_UP: Duration = Duration::ZERO;

    fn turn(&mut self, _: Duration) -> Result<Vec<row::Memory>, Failure> {
        let output = self.output().map_err(Failure::of)?;
        if !output.status.success() {
            let status = output.status;
            return Err(Failure::Failed(format!(
                "the measuring process ended with {status}"
            )));
        }
        let printed = serde_json::from_slice::<OneCell>(&output.stdout);
        let printed = printed.map_err(Failure::of)?;
        Ok(printed.results)
    }
}

/// Makes the sessions, then uses each once on one queue pair; no row if the engine does not offer
/// the algorithm.
fn measure(bench: &Bench, cell: &Cell) -> Result<Option<row::Memory>, Failure> {
    let (engine, count) = (&*cell.engine, cell.sessions);
    let mut shapes = Work::of(vec![cell.spec]).cells()?;
    let shape = Shape {
        burst: 1,
        pool: 1,
        ..shapes.remove(0)
    };
    let open = |n| bench::session(&bench.device, engine, shape.transform(n));
    // The first takes what is made once: fetched algorithms, providers, the queue pair.
    let mut queue = bench.device.queue_pair(1);
    let first = match open(0) {
        Ok(session) => [session],
        Err(SessionError::Unsupported { .. }) => return Ok(None),
        Err(error) => return Err(Failure::of(error)),
    };
    let mut memory = Memory::new(&shape);
    let mut messages = memory.messages(&shape, &first);
    once(&mut queue, &first[0], &mut messages[0])?;

    let mut sessions = Vec::with_capacity(count);
    let at_start = resident();
    for n in 0..count {
        let session = open(n).map_err(Failure::of)?;
        sessions.push(session);
    }
    let with_sessions = resident();
    for session in &sessions {
        once(&mut queue, session, &mut messages[0])?;
    }
    let with_contexts = resident();
    let each = |from: u64, to: u64| {
        // Below this the pages of the process are too coarse a measure.
        (count >= 100).then(|| to.saturating_sub(from) / count as u64)
    };
    let counted = sessions[0].memory();
    Ok(Some(row::Memory {
        common: row::Common {
            sessions: count as u64,
            ..cells::common(&shape, engine, None)
        },
        messages: cells::messages(&shape),
        bytes_per_session: counted.session as u64,
        bytes_per_context: counted.per_queue_pair as u64,
        grown_per_session: each(at_start, with_sessions),
        grown_per_context: each(with_sessions, with_contexts),
        peak_rss_bytes: status_bytes("VmHWM:"),
    }))
}

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    status_bytes("VmRSS:")
}

/// A line of what Linux says about this process; 0 on other systems.
fn status_bytes(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
