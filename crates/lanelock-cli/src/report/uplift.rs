//! Tables of `perf uplift`, laid out as those that made the case for it: before and after.

use std::fmt::Write;

use super::table;
use crate::machine::Machine;
use crate::row::Throughput;

/// One table for each algorithm, number of threads and baseline.
pub fn render(machine: &Machine, rows: &[Throughput]) -> String {
    let mut text = table::machine(machine);
    for group in rows.chunk_by(|a, b| key(a) == key(b)) {
        let mut baselines: Vec<&str> = Vec::new();
        for row in group {
            if row.uplift_percent.is_some() && !baselines.contains(&&*row.common.contestant) {
                baselines.push(&row.common.contestant);
            }
        }
        for baseline in baselines {
            let (heading, lines) = (heading(&group[0], baseline), lines(group, baseline));
            // Writing to a string succeeds.
            let _ = write!(text, "\n{heading}\n{lines}\n");
        }
    }
    text
}

fn key(row: &Throughput) -> (&str, &str, u64) {
    let common = &row.common;
    (&common.algorithm, &common.operation, common.threads)
}

fn heading(row: &Throughput, baseline: &str) -> String {
    let engine = row.comparison.as_ref().map(|other| &*other.reference);
    let (algorithm, operation, threads) = key(row);
    let plural = if threads == 1 { "" } else { "s" };
    format!(
        "{algorithm} {operation}, {threads} thread{plural}: {baseline} against {}",
        engine.unwrap_or_default()
    )
}

fn lines(group: &[Throughput], baseline: &str) -> String {
    let rows = group
        .iter()
        .filter(|row| row.common.contestant == baseline)
        .map(|row| {
            let (percent, prev) = (
                row.uplift_percent.unwrap_or_default(),
                row.common.gbit_per_s,
            );
            vec![
                row.common.size.to_string(),
                format!("{prev:.2}"),
                format!("{:.2}", prev * (1.0 + percent / 100.0)),
                format!("{percent:.1}%"),
            ]
        });
    let titles = ["buffer sz (B)", "prev (Gbps)", "optimised (Gbps)", "uplift"];
    table::align(&titles, |_| false, rows)
}
