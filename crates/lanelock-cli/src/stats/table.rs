//! Numbers in columns, for people.

use std::collections::BTreeMap;
use std::time::Duration;

use lanelock::telemetry::PAGE_NAME;
use lanelock::telemetry::reader::{Owner, Snapshot, Stats};

use super::process::Observed;
use crate::figures::duration;
use crate::report::table::align;

/// All that one process has counted.
pub(super) fn process(process: &Observed, threads: bool) -> String {
    let name = format!("process {} ({})", process.pid, process.name);
    match &process.page {
        Ok(snapshot) => page(&name, snapshot, None, threads),
        Err(error) => format!("{name}: {PAGE_NAME}: {error}\n"),
    }
}

/// A row for each process.
pub(super) fn processes(processes: &[Observed]) -> String {
    if processes.is_empty() {
        return "no process has done a public-key operation through lanelock\n".to_owned();
    }
    let rows = processes.iter().map(|process| {
        let mut row = vec![process.pid.to_string(), process.name.clone()];
        match &process.page {
            Ok(snapshot) => {
                let mut all = Stats::default();
                for queue in &snapshot.queues {
                    all.merge(&queue.stats);
                }
                row.extend([
                    duration(snapshot.started.elapsed().unwrap_or_default()),
                    all.completed.to_string(),
                    all.failed.to_string(),
                    lanes(&all),
                    notes(snapshot).join("; "),
                ]);
            }
            Err(error) => {
                row.extend(vec![String::new(); 4]);
                row.push(format!("{PAGE_NAME}: {error}"));
            }
        }
        row
    });
    let titles = [
        "process",
        "name",
        "counted for",
        "operations",
        "failed",
        "lanes filled",
        "note",
    ];
    align(&titles, |at| matches!(at, 1 | 6), rows) + "\n"
}

/// What limits the numbers of a page.
fn notes(snapshot: &Snapshot) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(reason) = snapshot.inactive {
        notes.push(format!("the provider runs nothing in lanes: {reason}"));
    }
    if snapshot.outside_jobs {
        notes.push(
            "private-key operations outside asynchronous mode ran one at a time, uncounted"
                .to_owned(),
        );
    }
    if snapshot.uncounted > 0 {
        notes.push(format!(
            "{} times a thread found no room for an algorithm, which is not counted there",
            snapshot.uncounted
        ));
    }
    notes
}

/// The page of a process: what it has counted, or what it has since an earlier reading.
pub(super) fn page(
    name: &str,
    now: &Snapshot,
    since: Option<(&Snapshot, Duration)>,
    threads: bool,
) -> String {
    let mut sums = now.by_algorithm();
    let elapsed = match since {
        Some((before, elapsed)) => {
            let before = before.by_algorithm();
            sums = sums
                .into_iter()
                .map(|(name, stats)| {
                    let then = before.get(&name).cloned().unwrap_or_default();
                    (name, stats.since(&then))
                })
                .collect();
            elapsed
        }
        None => now.started.elapsed().unwrap_or_default(),
    };
    let span = match since {
        Some(_) => "the last",
        None => "counted for",
    };
    let mut text = format!("{name}, {span} {}\n\n", duration(elapsed));
    text.push_str(&algorithms(&sums, elapsed));
    if threads {
        text.push('\n');
        text.push_str(&each_thread(now, since.map(|(before, _)| before)));
    }
    for note in notes(now) {
        text.push_str(&format!("\nnote: {note}\n"));
    }
    text
}

/// One row for each algorithm.
pub fn algorithms(sums: &BTreeMap<String, Stats>, elapsed: Duration) -> String {
    if sums.is_empty() {
        return "no operations yet\n".to_owned();
    }
    let rows = sums.iter().map(|(name, stats)| {
        let mut row = vec![name.clone()];
        row.extend(figures(stats, Some(elapsed)));
        row
    });
    align(&titles(&["algorithm"], true), |at| at < 1, rows) + "\n"
}

fn each_thread(now: &Snapshot, before: Option<&Snapshot>) -> String {
    let by_thread = |snapshot: &Snapshot| {
        let mut sums: BTreeMap<(Owner, String), Stats> = BTreeMap::new();
        for queue in &snapshot.queues {
            let key = (queue.owner, queue.algorithm.clone());
            sums.entry(key).or_default().merge(&queue.stats);
        }
        sums
    };
    let before = before.map(by_thread).unwrap_or_default();
    let rows = by_thread(now).into_iter().map(|(key, stats)| {
        let stats = match before.get(&key) {
            Some(before) => stats.since(before),
            None => stats,
        };
        let (owner, algorithm) = key;
        let owner = match owner {
            Owner::Thread(thread) => thread.to_string(),
            Owner::Ended => "ended".to_owned(),
        };
        let mut row = vec![owner, algorithm];
        row.extend(figures(&stats, None));
        row
    });
    align(&titles(&["thread", "algorithm"], false), |at| at < 2, rows) + "\n"
}

/// Titles of the columns of [`figures`]; the second only with a rate.
const TITLES: [&str; 10] = [
    "operations",
    "per second",
    "failed",
    "batches",
    "lanes filled",
    "single",
    "wait p50",
    "p99",
    "compute p50",
    "p99",
];

#[allow(clippy::cast_precision_loss, reason = "a rate")]
fn figures(stats: &Stats, elapsed: Option<Duration>) -> Vec<String> {
    let rate = elapsed.map(|elapsed| {
        let rate = stats.completed as f64 / elapsed.as_secs_f64().max(1e-9);
        format!("{rate:.0}")
    });
    let mut figures = vec![stats.completed.to_string()];
    figures.extend(rate);
    figures.extend([
        stats.failed.to_string(),
        stats.batches.to_string(),
        lanes(stats),
        stats.singles.to_string(),
    ]);
    for histogram in [&stats.wait, &stats.compute] {
        for quantile in [0.5, 0.99] {
            figures.push(match histogram.count() {
                0 => String::new(),
                _ => duration(Duration::from_nanos(histogram.quantile(quantile))),
            });
        }
    }
    figures
}

/// Lanes filled in the average batch.
fn lanes(stats: &Stats) -> String {
    stats
        .mean_lanes()
        .map_or_else(String::new, |lanes| format!("{lanes:.2}"))
}

fn titles(words: &[&'static str], rate: bool) -> Vec<&'static str> {
    let figures = TITLES.iter().enumerate().filter(|(at, _)| rate || *at != 1);
    words
        .iter()
        .copied()
        .chain(figures.map(|(_, title)| *title))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_algorithm_has_a_row_with_its_rate() {
        let stats = Stats {
            completed: 300,
            batches: 30,
            in_lanes: 240,
            singles: 60,
            ..Stats::default()
        };
        let sums = BTreeMap::from([("p256-sign".to_owned(), stats)]);
        let text = algorithms(&sums, Duration::from_secs(3));
        let row = text.lines().nth(1).expect("a row");
        let cells: Vec<_> = row.split_whitespace().collect();
        assert_eq!(cells, ["p256-sign", "300", "100", "0", "30", "8.00", "60"]);
    }
}
