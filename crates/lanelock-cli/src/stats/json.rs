//! A page as JSON.

use std::collections::BTreeMap;
use std::time::SystemTime;

use lanelock::telemetry::Histogram;
use lanelock::telemetry::reader::{Owner, Snapshot, Stats};
use serde::Serialize;

#[derive(Serialize)]
struct Page {
    pid: u32,
    /// When the process made the page, in seconds since 1970.
    started: u64,
    /// Times that a thread found no room for an algorithm.
    uncounted: u64,
    algorithms: Vec<Row>,
    /// The same by thread; without a thread: those that have ended.
    threads: Vec<Row>,
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

/// JSON, with a line break at its end.
pub(super) fn render(pid: u32, snapshot: &Snapshot) -> String {
    let started = snapshot.started.duration_since(SystemTime::UNIX_EPOCH);
    let sums = snapshot.by_algorithm().into_iter();
    let page = Page {
        pid,
        started: started.map_or(0, |since| since.as_secs()),
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
    };
    let mut text = serde_json::to_string_pretty(&page).expect("numbers and names");
    text.push('\n');
    text
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
