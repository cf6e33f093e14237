//! Pages as JSON.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use lanelock::telemetry::Histogram;
use lanelock::telemetry::reader::{Owner, Snapshot, Stats};
use serde_json::{Value, json};

use super::process::{Observed, word};
use crate::report::json::{self, Schema};

/// One process.
pub(super) fn process(process: &Observed) -> String {
    json::render(Schema::Stats, &of_process(process))
}

/// All that have a page.
pub(super) fn processes(processes: &[Observed]) -> String {
    let processes: Vec<_> = processes.iter().map(of_process).collect();
    json::render(Schema::StatsProcesses, &json!({ "processes": processes }))
}

/// Times are in seconds since 1970. Without a page it says why that cannot be read.
fn of_process(process: &Observed) -> Value {
    let mut value = json!({ "pid": process.pid, "name": process.name });
    if let Some(started) = process.started {
        value["process_started"] = seconds(started).into();
    }
    match &process.page {
        Err(unreadable) => value["unreadable"] = (&**unreadable).into(),
        Ok(page) => {
            value["started"] = seconds(page.started).into();
            // Whether the process has loaded the OpenSSL provider.
            value["module"] = page.is_module.into();
            // Whether the provider was given a private-key operation outside of asynchronous mode.
            value["outside_jobs"] = page.outside_jobs.into();
            // Why the provider runs nothing in lanes.
            value["inactive"] = page.inactive.map_or(
                Value::Null,
                |reason| json!({ "reason": word(reason), "explanation": reason.to_string() }),
            );
            // Times that a thread found no room for an algorithm.
            value["uncounted"] = page.uncounted.into();
            value["algorithms"] = algorithms(page);
            value["threads"] = threads(page);
        }
    }
    value
}

fn algorithms(page: &Snapshot) -> Value {
    let sums = page.by_algorithm().into_iter();
    sums.map(|(name, stats)| row(json!({}), &name, &stats))
        .collect()
}

/// The same by thread; without a thread: those that have ended.
fn threads(page: &Snapshot) -> Value {
    let rows = page.queues.iter().map(|queue| {
        let thread = match queue.owner {
            Owner::Thread(thread) => json!({ "thread": thread }),
            Owner::Ended => json!({}),
        };
        row(thread, &queue.algorithm, &queue.stats)
    });
    rows.collect()
}

/// What is counted of an algorithm, after what `value` has.
fn row(mut value: Value, algorithm: &str, stats: &Stats) -> Value {
    value["algorithm"] = algorithm.into();
    for (name, count) in [
        ("submitted", stats.submitted),
        ("completed", stats.completed),
        ("failed", stats.failed),
        ("cancelled", stats.cancelled),
        ("singles", stats.singles),
        ("batches", stats.batches),
        ("in_lanes", stats.in_lanes),
    ] {
        value[name] = count.into();
    }
    if let Some(mean) = stats.mean_lanes() {
        value["mean_lanes"] = mean.into();
    }
    // Batches by lanes filled.
    let filled = stats.lanes_filled.iter().enumerate();
    let filled = filled.filter(|(_, count)| **count > 0);
    value["lanes_filled"] = json!(filled.collect::<BTreeMap<_, _>>());
    value["wait_ns"] = times(&stats.wait);
    value["compute_ns"] = times(&stats.compute);
    value
}

fn times(histogram: &Histogram) -> Value {
    json!({
        "count": histogram.count(),
        "sum": histogram.sum(),
        "max": histogram.max(),
        "p50": histogram.quantile(0.5),
        "p90": histogram.quantile(0.9),
        "p99": histogram.quantile(0.99),
        "p999": histogram.quantile(0.999),
    })
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
