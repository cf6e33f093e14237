//! `lanelock stats`: what running processes' public-key queues do.

mod exposition;
mod json;
mod process;
mod prometheus;
mod table;
mod textfile;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use lanelock::telemetry::reader::{FindError, Reader, Snapshot};

use crate::failure::Failure;
use crate::perf::number::seconds;
use crate::shown;
use crate::terminal::{print, say};
use process::{All, Observed};

pub use table::algorithms;

/// Arguments of `lanelock stats`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns: operations completed, and how many of those failed (wrong signatures included);
in batches: batches run on lanes, and how many operations filled them on average; single: operations
run one at a time; wait: time from an operation's submission to its batch's start; compute: time of
a batch, or of an operation that ran alone, in its engine. Times are accurate to 1/16. With --watch,
all figures are for the last interval.

A process can be read by its own user and by root, and is not stopped or delayed meanwhile. Workers
that a server forks have counters of their own: give their process ids, or --all.

Examples:
  lanelock stats
  lanelock stats $(pgrep -n haproxy)
  lanelock stats 4711 --watch
  lanelock stats 4711 --watch 0.5 --times 10
  lanelock stats 4711 --json | jq '.algorithms[] | [.algorithm, .wait_ns.p99]'
  lanelock stats --all --prometheus --textfile /var/lib/prometheus/node-exporter/lanelock.prom")]
pub struct Args {
    /// Process id; without one, all processes with counters are listed.
    #[arg(value_name = "PID")]
    pid: Option<u32>,

    /// Show everything about every process with counters.
    #[arg(long, conflicts_with = "pid")]
    all: bool,

    /// Print again every SECONDS, each time what was counted since the last time.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1",
          value_parser = seconds(0.01, 86_400.0), requires = "pid", conflicts_with_all = ["json", "prometheus"])]
    watch: Option<Duration>,

    /// With --watch: stop after N times [default: when the process ends].
    #[arg(long, value_name = "N", requires = "watch")]
    times: Option<u64>,

    /// Also print one row for each thread.
    #[arg(long, conflicts_with_all = ["json", "prometheus"])]
    threads: bool,

    /// Print JSON: counters since the start and quantiles, for all threads together and for each.
    #[arg(long, conflicts_with = "prometheus")]
    json: bool,

    /// Print Prometheus' text format: counters, histograms, and what limits them.
    #[arg(long)]
    prometheus: bool,

    /// Write it to a file instead, for node_exporter's textfile collector. The file is replaced
    /// atomically; if writing fails, the old one stays and the exit code is 1.
    #[arg(long, value_name = "FILE", requires = "prometheus")]
    textfile: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Usage`] if there is no such process or it has nothing to read, [`Failure::Failed`] if
/// what it has makes no sense.
pub fn run(args: &Args) -> Result<(), Failure> {
    match args.pid {
        Some(pid) => one(args, pid),
        None => all(args),
    }
}

fn one(args: &Args, pid: u32) -> Result<(), Failure> {
    let reader = Reader::open(pid).map_err(|error| match error {
        FindError::Page(..) => Failure::Failed(error.to_string()),
        _ => Failure::Usage(error.to_string()),
    })?;
    let now = read(&reader, pid)?;
    if let Some(interval) = args.watch {
        return watch(args, pid, interval, &reader, now);
    }
    let process = Observed::new(pid, Ok(now));
    if args.json {
        return print(json::process(&process));
    }
    if args.prometheus {
        return args.expose(&[process]);
    }
    print(table::process(&process, args.threads))
}

/// Every process; one whose page makes no sense is no failure of this command.
fn all(args: &Args) -> Result<(), Failure> {
    if args.prometheus && !args.all {
        return Err(Failure::Usage(
            "--prometheus: no process given; give its process id, or --all".to_owned(),
        ));
    }
    let All { processes, unseen } = All::find();
    if unseen > 0 {
        say(&format!(
            "{unseen} processes of other users were left out; run as root to read all"
        ));
    }
    if args.json {
        return print(json::processes(&processes));
    }
    if args.prometheus {
        return args.expose(&processes);
    }
    if args.all {
        let pages = processes.iter();
        let pages: Vec<_> = pages
            .map(|process| table::process(process, args.threads))
            .collect();
        return print(pages.join("\n"));
    }
    print(table::processes(&processes))
}

impl Args {
    /// Prints or writes Prometheus' format.
    fn expose(&self, processes: &[Observed]) -> Result<(), Failure> {
        let text = prometheus::render(processes);
        match &self.textfile {
            Some(path) => textfile::replace(path, &text).map_err(|error| Failure::Output {
                to: shown::name(path),
                error,
            }),
            None => print(text),
        }
    }
}

fn watch(
    args: &Args,
    pid: u32,
    interval: Duration,
    reader: &Reader,
    mut before: Snapshot,
) -> Result<(), Failure> {
    let name = Observed::title(pid);
    let mut at = Instant::now();
    let mut printed = 0;
    while args.times.is_none_or(|times| printed < times) {
        thread::sleep(interval);
        let (now, elapsed) = (read(reader, pid)?, at.elapsed());
        at += elapsed;
        let since = Some((&before, elapsed));
        let mut text = table::page(&name, &now, since, args.threads);
        if io::stdout().is_terminal() {
            // Home, and what was there goes.
            text.insert_str(0, "\x1b[H\x1b[2J");
        }
        print(text)?;
        if !is_alive(pid) {
            return print(format_args!("{name} has ended\n"));
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
