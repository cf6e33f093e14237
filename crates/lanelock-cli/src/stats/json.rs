//! Pages as JSON.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use lanelock::telemetry::Histogram;
use lanelock::telemetry::reader::{Owner, Snapshot, Stats};
use serde::Serialize;

use super::process::{Observed, word};
use crate::report::json::{self, Schema};

#[derive(Serialize)]
struct Processes {
    /// Those that have a page.
    processes: Vec<Process>,
}

#[derive(Serialize)]
struct Process {
    pid: u32,
    name: String,
    /// When the process started, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    process_started: Option<u64>,
    /// Why the page cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<String>,
    #[serde(flatten)]
    page: Option<Page>,
}

#[derive(Serialize)]
struct Page {
    /// When the process made the page, in seconds since 1970.
    started: u64,
    /// Whether the process has loaded the OpenSSL provider.
    module: bool,
    /// Whether the provider was given a private-key operation outside of asynchronous mode.
    outside_jobs: bool,
    /// Why the provider runs nothing in lanes.
    inactive: Option<Inactive>,
    /// Times that a thread found no room for an algorithm.
    uncounted: u64,
    algorithms: Vec<Row>,
    /// The same by thread; without a thread: those that have ended.
    threads: Vec<Row>,
}

#[derive(Serialize)]
struct Inactive {
    reason: &'static str,
    explanation: String,
}

/// One process.
pub(super) fn process(process: &Observed) -> String {
    json::render(Schema::Stats, &Process::of(process))
}

/// All of them.
pub(super) fn processes(processes: &[Observed]) -> String {
    let processes = processes.iter().map(Process::of).collect();
    json::render(Schema::StatsProcesses, &Processes { processes })
}

impl Process {
    fn of(process: &Observed) -> Self {
        Self {
            pid: process.pid,
            name: process.name.clone(),
            process_started: process.started.map(seconds),
            unreadable: process.page.as_ref().err().cloned(),
            page: process.page.as_ref().ok().map(Page::of),
        }
    }
}

impl Page {
    fn of(snapshot: &Snapshot) -> Self {
        let sums = snapshot.by_algorithm().into_iter();
        Self {
            started: seconds(snapshot.started),
            module: snapshot.is_module,
            outside_jobs: snapshot.outside_jobs,
            inactive: snapshot.inactive.map(|reason| Inactive {
                reason: word(reason),
                explanation: reason.to_string(),
            }),
            uncounted: snapshot.uncounted,
            algorithms: sums
                .map(|(name, stats)| Row::of(None, &name, &stats))
                .collect(),
            threads: snapshot
                .queues
                .iter()
                .map(|queue| {
                    let thread = match queue.owner {
                        Owner::Thread(thread) => Some(thread),
                        Owner::Ended => None,
                    };
                    Row::of(thread, &queue.algorithm, &queue.stats)
                })
                .collect(),
        }
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[derive(Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<u32>,
    algorithm: String,
    submitted: u64,
    completed: u64,
    failed: u64,
    cancelled: u64,
    singles: u64,
    batches: u64,
    in_lanes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_lanes: Option<f64>,
    /// Batches by lanes filled.
    lanes_filled: BTreeMap<usize, u64>,
    wait_ns: Times,
    compute_ns: Times,
}

#[derive(Serialize)]
struct Times {
    count: u64,
    sum: u64,
    max: u64,
    p50: u64,
    p90: u64,
    p99: u64,
    p999: u64,
}

impl Row {
    fn of(thread: Option<u32>, algorithm: &str, stats: &Stats) -> Self {
        let filled = stats.lanes_filled.iter().copied().enumerate();
        Self {
            thread,
            algorithm: algorithm.to_owned(),
            submitted: stats.submitted,
            completed: stats.completed,
            failed: stats.failed,
            cancelled: stats.cancelled,
            singles: stats.singles,
            batches: stats.batches,
            in_lanes: stats.in_lanes,
            mean_lanes: stats.mean_lanes(),
            lanes_filled: filled.filter(|(_, count)| *count > 0).collect(),
            wait_ns: Times::of(&stats.wait),
            compute_ns: Times::of(&stats.compute),
        }
    }
}

impl Times {
    fn of(histogram: &Histogram) -> Self {
        Self {
            count: histogram.count(),
            sum: histogram.sum(),
            max: histogram.max(),
            p50: histogram.quantile(0.5),
            p90: histogram.quantile(0.9),
            p99: histogram.quantile(0.99),
            p999: histogram.quantile(0.999),
        }
    }
}
