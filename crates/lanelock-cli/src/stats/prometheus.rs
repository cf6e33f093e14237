//! Pages in Prometheus' text format (version 0.0.4): each family once, with the samples of all
//! processes.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use lanelock::telemetry::Histogram;
use lanelock::telemetry::reader::{Snapshot, Stats};

use super::exposition::{Exposition, quoted};
use super::process::{Observed, word};

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

/// A number about a page: its name and kind, what it is, and where it is.
type OfPage = (
    &'static str,
    &'static str,
    &'static str,
    fn(&Snapshot) -> u64,
);

const PAGES: [OfPage; 4] = [
    (
        "lanelock_page_start_time_seconds",
        "gauge",
        "When the process began to count, in seconds since 1970.",
        |page| since_1970(page.started),
    ),
    (
        "lanelock_uncounted_total",
        "counter",
        "Times that a thread found no room for an algorithm, which is not counted there.",
        |page| page.uncounted,
    ),
    (
        "lanelock_provider_loaded",
        "gauge",
        "1 if the process has loaded the OpenSSL provider.",
        |page| page.is_module.into(),
    ),
    (
        "lanelock_outside_jobs",
        "gauge",
        "1 if the provider was given a private-key operation outside of asynchronous mode, which it \
         does not batch.",
        |page| page.outside_jobs.into(),
    ),
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

/// A process's labels, and what it has counted.
struct Instance<'s> {
    labels: String,
    observed: &'s Observed,
    page: Option<&'s Snapshot>,
    sums: BTreeMap<String, Stats>,
}

/// Everything about these processes, of all their threads together.
pub(super) fn render(processes: &[Observed]) -> String {
    let instances: Vec<_> = processes.iter().map(Instance::of).collect();
    let mut text = Exposition::default();
    text.family(
        "lanelock_build_info",
        "gauge",
        "The command that wrote this.",
    );
    let version = concat!("version=\"", env!("CARGO_PKG_VERSION"), "\"");
    text.sample("", version, 1);
    text.family(
        "lanelock_processes",
        "gauge",
        "Processes in which lanelock counts.",
    );
    text.sample("", "", processes.len());
    about_processes(&mut text, &instances);
    for (name, help, value) in COUNTERS {
        text.family(name, "counter", help);
        for (labels, stats) in algorithms(&instances) {
            text.sample("", &labels, value(stats));
        }
    }
    lanes(&mut text, &instances);
    times(
        &mut text,
        &instances,
        "lanelock_queue_wait_seconds",
        "Time from an operation's submission to its batch's start.",
        |stats| &stats.wait,
    );
    times(
        &mut text,
        &instances,
        "lanelock_compute_seconds",
        "Time of a batch, or of an operation that ran alone, in its engine.",
        |stats| &stats.compute,
    );
    text.into_text()
}

fn about_processes(text: &mut Exposition, instances: &[Instance<'_>]) {
    text.family(
        "lanelock_up",
        "gauge",
        "1 if the page of the process could be read.",
    );
    for instance in instances {
        text.sample("", &instance.labels, u8::from(instance.page.is_some()));
    }
    text.family(
        "lanelock_process_start_time_seconds",
        "gauge",
        "When the process started, in seconds since 1970.",
    );
    for instance in instances {
        if let Some(started) = instance.observed.started {
            text.sample("", &instance.labels, since_1970(started));
        }
    }
    let pages = || {
        let pages = instances.iter();
        pages.filter_map(|instance| Some((&instance.labels, instance.page?)))
    };
    for (name, kind, help, value) in PAGES {
        text.family(name, kind, help);
        for (labels, page) in pages() {
            text.sample("", labels, value(page));
        }
    }
    text.family(
        "lanelock_inactive",
        "gauge",
        "1 if the provider runs nothing in lanes, with the reason.",
    );
    for (labels, page) in pages() {
        match page.inactive {
            Some(reason) => {
                let labels = format!("{labels},reason=\"{}\"", word(reason));
                text.sample("", &labels, 1);
            }
            None => text.sample("", labels, 0),
        }
    }
}

/// Labels and numbers of each algorithm of each process.
fn algorithms<'i>(instances: &'i [Instance<'_>]) -> impl Iterator<Item = (String, &'i Stats)> {
    instances.iter().flat_map(|instance| {
        let sums = instance.sums.iter();
        // Names of algorithms have letters, digits and hyphens: nothing to quote.
        sums.map(|(name, stats)| (format!("{},algorithm=\"{name}\"", instance.labels), stats))
    })
}

fn lanes(text: &mut Exposition, instances: &[Instance<'_>]) {
    text.family(
        "lanelock_batch_lanes",
        "histogram",
        "Lanes filled by a batch.",
    );
    for (labels, stats) in algorithms(instances) {
        let counted = |bound: usize| {
            let counts = stats.lanes_filled.iter().take(bound.saturating_add(1));
            counts.fold(0, |sum: u64, count| sum.saturating_add(*count))
        };
        for bound in LANES {
            text.bucket(&labels, &bound.to_string(), counted(bound));
        }
        let sum = stats.in_lanes.to_string();
        text.closing(&labels, &sum, counted(usize::MAX));
    }
}

fn times(
    text: &mut Exposition,
    instances: &[Instance<'_>],
    name: &'static str,
    help: &str,
    histogram: fn(&Stats) -> &Histogram,
) {
    text.family(name, "histogram", help);
    for (labels, stats) in algorithms(instances) {
        let histogram = histogram(stats);
        let cumulative: Vec<_> = histogram.cumulative().collect();
        for bound in TIMES {
            // A bucket that reaches beyond the bound counts with the next.
            let within = cumulative.partition_point(|(upper, _)| *upper <= bound);
            let count = within.checked_sub(1).map_or(0, |last| cumulative[last].1);
            text.bucket(&labels, &seconds(bound), count);
        }
        text.closing(&labels, &seconds(histogram.sum()), histogram.count());
    }
}

impl<'s> Instance<'s> {
    fn of(observed: &'s Observed) -> Self {
        let page = observed.page.as_ref().ok();
        Self {
            labels: format!(
                "pid=\"{}\",comm=\"{}\"",
                observed.pid,
                quoted(&observed.name)
            ),
            observed,
            page,
            sums: page.map(Snapshot::by_algorithm).unwrap_or_default(),
        }
    }
}

fn since_1970(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
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

    #[test]
    fn what_limits_the_numbers_is_said() {
        use lanelock::telemetry::Inactive;

        let page = Snapshot {
            pid: 7,
            started: UNIX_EPOCH + std::time::Duration::from_secs(1000),
            is_module: true,
            outside_jobs: true,
            inactive: Some(Inactive::Cpu),
            uncounted: 88,
            queues: Vec::new(),
        };
        let process = |pid, page| Observed {
            pid,
            name: "haproxy".to_owned(),
            started: None,
            page,
        };
        let text = render(&[
            process(4711, Ok(page)),
            process(4712, Err("block 3: state cannot be 0x7".to_owned())),
        ]);
        for line in [
            "lanelock_processes 2",
            "lanelock_up{pid=\"4711\",comm=\"haproxy\"} 1",
            "lanelock_up{pid=\"4712\",comm=\"haproxy\"} 0",
            "lanelock_page_start_time_seconds{pid=\"4711\",comm=\"haproxy\"} 1000",
            "lanelock_uncounted_total{pid=\"4711\",comm=\"haproxy\"} 88",
            "lanelock_provider_loaded{pid=\"4711\",comm=\"haproxy\"} 1",
            "lanelock_outside_jobs{pid=\"4711\",comm=\"haproxy\"} 1",
            "lanelock_inactive{pid=\"4711\",comm=\"haproxy\",reason=\"cpu\"} 1",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}:\n{text}");
        }
        assert_eq!(text.matches("4712").count(), 1, "{text}");
    }
}
