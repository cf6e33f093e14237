//! A page in Prometheus' text format (version 0.0.4).

use std::collections::BTreeMap;
use std::fmt::Write;

use lanelock::telemetry::Histogram;
use lanelock::telemetry::reader::{Snapshot, Stats};

/// A counter: its name, what it counts, and where it is.
type Counter = (&'static str, &'static str, fn(&Stats) -> u64);

const COUNTERS: [Counter; 7] = [
    (
        "lanelock_operations_submitted_total",
        "Public-key operations handed over.",
        |stats| stats.submitted,
    ),
    (
        "lanelock_operations_total",
        "Public-key operations that have a status.",
        |stats| stats.completed,
    ),
    (
        "lanelock_operations_failed_total",
        "Public-key operations whose status is not success, wrong signatures included.",
        |stats| stats.failed,
    ),
    (
        "lanelock_operations_cancelled_total",
        "Public-key operations taken back before they ran.",
        |stats| stats.cancelled,
    ),
    (
        "lanelock_operations_single_total",
        "Public-key operations run one at a time.",
        |stats| stats.singles,
    ),
    (
        "lanelock_operations_in_lanes_total",
        "Public-key operations run in batches on lanes.",
        |stats| stats.in_lanes,
    ),
    ("lanelock_batches_total", "Batches run on lanes.", |stats| {
        stats.batches
    }),
];

/// Bounds of the buckets of times, in nanoseconds.
const TIMES: [u64; 19] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
];

/// Bounds of the buckets of lanes.
const LANES: [usize; 8] = [1, 2, 3, 4, 8, 16, 32, 64];

/// Every counter and histogram, of all threads together.
pub(super) fn render(pid: u32, snapshot: &Snapshot) -> String {
    let sums = snapshot.by_algorithm();
    let mut text = String::new();
    for (name, help, value) in COUNTERS {
        head(&mut text, name, help, "counter");
        for (algorithm, stats) in &sums {
            let value = value(stats);
            line(&mut text, name, pid, algorithm, None, &value.to_string());
        }
    }
    lanes(&mut text, pid, &sums);
    times(
        &mut text,
        "lanelock_queue_wait_seconds",
        "Time from an operation's submission to its batch's start.",
        pid,
        sums.iter().map(|(name, stats)| (name, &stats.wait)),
    );
    times(
        &mut text,
        "lanelock_compute_seconds",
        "Time of a batch, or of an operation that ran alone, in its engine.",
        pid,
        sums.iter().map(|(name, stats)| (name, &stats.compute)),
    );
    text
}

fn lanes(text: &mut String, pid: u32, sums: &BTreeMap<String, Stats>) {
    let name = "lanelock_batch_lanes";
    head(text, name, "Lanes filled by a batch.", "histogram");
    for (algorithm, stats) in sums {
        let counted = |bound: usize| {
            let counts = stats.lanes_filled.iter().take(bound + 1);
            counts.fold(0, |sum: u64, count| sum.saturating_add(*count))
        };
        for bound in LANES {
            bucket(
                text,
                name,
                pid,
                algorithm,
                &bound.to_string(),
                counted(bound),
            );
        }
        let total = counted(usize::MAX - 1);
        closing(
            text,
            name,
            pid,
            algorithm,
            &stats.in_lanes.to_string(),
            total,
        );
    }
}

fn times<'s>(
    text: &mut String,
    name: &str,
    help: &str,
    pid: u32,
    histograms: impl Iterator<Item = (&'s String, &'s Histogram)>,
) {
    head(text, name, help, "histogram");
    for (algorithm, histogram) in histograms {
        let cumulative: Vec<_> = histogram.cumulative().collect();
        for bound in TIMES {
            // A bucket that reaches beyond the bound counts with the next.
            let within = cumulative.partition_point(|(upper, _)| *upper <= bound);
            let count = within.checked_sub(1).map_or(0, |last| cumulative[last].1);
            bucket(text, name, pid, algorithm, &seconds(bound), count);
        }
        let sum = seconds(histogram.sum());
        closing(text, name, pid, algorithm, &sum, histogram.count());
    }
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn bucket(text: &mut String, name: &str, pid: u32, algorithm: &str, bound: &str, count: u64) {
    let name = format!("{name}_bucket");
    let count = count.to_string();
    line(text, &name, pid, algorithm, Some(bound), &count);
}

fn closing(text: &mut String, name: &str, pid: u32, algorithm: &str, sum: &str, count: u64) {
    bucket(text, name, pid, algorithm, "+Inf", count);
    line(text, &format!("{name}_sum"), pid, algorithm, None, sum);
    let name = format!("{name}_count");
    line(text, &name, pid, algorithm, None, &count.to_string());
}

/// Names of algorithms have letters, digits and hyphens: nothing that a label would have to quote.
fn line(
    text: &mut String,
    name: &str,
    pid: u32,
    algorithm: &str,
    bound: Option<&str>,
    value: &str,
) {
    let bound = bound.map_or_else(String::new, |bound| format!(",le=\"{bound}\""));
    let _ = writeln!(
        text,
        "{name}{{pid=\"{pid}\",algorithm=\"{algorithm}\"{bound}}} {value}"
    );
}

fn seconds(nanoseconds: u64) -> String {
    let (whole, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    let text = format!("{whole}.{rest:09}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    trimmed.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        let cases = [
            (0, "0"),
            (1, "0.000000001"),
            (1_000, "0.000001"),
            (20_000_000_000, "20"),
            (1_500_000_000, "1.5"),
        ];
        for (nanoseconds, expected) in cases {
            assert_eq!(seconds(nanoseconds), expected);
        }
    }
}
