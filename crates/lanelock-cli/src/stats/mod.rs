//! `lanelock stats`: what a running process's public-key queues do.

mod json;
mod prometheus;
mod table;

use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::{Duration, Instant};

use lanelock::telemetry::reader::{FindError, Reader, Snapshot};

use crate::failure::Failure;

pub use table::algorithms;

/// Arguments of `lanelock stats`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns: operations completed, and of those failed (a wrong signature is one); in batches: batches
run on lanes, and how many operations filled them on average; single: operations run one at a time;
wait: from an operation's submission to its batch's start; compute: a batch, or an operation that
ran alone, in its engine. Times are known to 1/16. With --watch everything is of the last interval.

A process can be read by its own user and by root. Nothing in it stops or waits meanwhile. Workers
that a server forks count for themselves: give their numbers.

Examples:
  lanelock stats $(pgrep -n haproxy)
  lanelock stats 4711 --watch
  lanelock stats 4711 --watch 0.5 --times 10
  lanelock stats 4711 --json | jq '.algorithms[] | [.algorithm, .wait_ns.p99]'
  lanelock stats 4711 --prometheus > /var/lib/node_exporter/lanelock.prom")]
pub struct Args {
    /// Number of the process.
    #[arg(value_name = "PID")]
    pid: u32,

    /// Print again every so many seconds, each time what has been counted since.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1",
          value_parser = seconds, conflicts_with_all = ["json", "prometheus"])]
    watch: Option<Duration>,

    /// With --watch: end after so many times; without, when the process ends.
    #[arg(long, value_name = "N", requires = "watch")]
    times: Option<u64>,

    /// One row for each thread, too.
    #[arg(long, conflicts_with_all = ["json", "prometheus"])]
    threads: bool,

    /// Print JSON: counters since the start and quantiles, of all threads and of each.
    #[arg(long, conflicts_with = "prometheus")]
    json: bool,

    /// Print Prometheus' text format: counters and histograms.
    #[arg(long)]
    prometheus: bool,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`] if there is no such process or it has nothing to read, [`Failure::Failed`] if
/// what it has makes no sense.
pub fn run(args: &Args) -> Result<(), Failure> {
    let reader = Reader::open(args.pid).map_err(|error| match error {
        FindError::Page(..) => Failure::Failed(error.to_string()),
        _ => Failure::Usage(error.to_string()),
    })?;
    let now = read(&reader, args.pid)?;
    if args.json {
        return print(&json::render(args.pid, &now));
    }
    if args.prometheus {
        return print(&prometheus::render(args.pid, &now));
    }
    let Some(interval) = args.watch else {
        return print(&table::page(args.pid, &now, None, args.threads));
    };
    watch(args, interval, &reader, now)
}

fn watch(
    args: &Args,
    interval: Duration,
    reader: &Reader,
    mut before: Snapshot,
) -> Result<(), Failure> {
    let mut at = Instant::now();
    let mut printed = 0;
    while args.times.is_none_or(|times| printed < times) {
        thread::sleep(interval);
        let (now, elapsed) = (read(reader, args.pid)?, at.elapsed());
        at += elapsed;
        let since = Some((&before, elapsed));
        let mut text = table::page(args.pid, &now, since, args.threads);
        if io::stdout().is_terminal() {
            // Home, and what was there goes.
            text.insert_str(0, "\x1b[H\x1b[2J");
        }
        print(&text)?;
        if !is_alive(args.pid) {
            return print(&format!("process {}: it has ended\n", args.pid));
        }
        before = now;
        printed += 1;
    }
    Ok(())
}

fn read(reader: &Reader, pid: u32) -> Result<Snapshot, Failure> {
    let read = reader.read();
    read.map_err(|error| Failure::Failed(FindError::Page(pid, error).to_string()))
}

fn is_alive(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}/fd")).exists()
}

fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    let written = output.write_all(text.as_bytes());
    written
        .and_then(|()| output.flush())
        .map_err(Failure::stdout)
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|s| (0.01..=86_400.0).contains(s));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "it is a number of seconds from 0.01 to 86400".to_owned())
}
