//! Tables of `perf uplift`, laid out as those that made the case for it: before and after.

use std::fmt::Write;

use super::table;
use crate::row::{Report, Row};

/// One table for each algorithm, number of threads and baseline.
pub fn render(report: &Report) -> String {
    let mut text = table::machine(&report.machine);
    for group in report.results.chunk_by(|a, b| key(a) == key(b)) {
        let mut baselines: Vec<&str> = Vec::new();
        for row in group {
            if row.uplift_percent.is_some() && !baselines.contains(&&*row.contestant) {
                baselines.push(&row.contestant);
            }
        }
        for baseline in baselines {
            // Writing to a string succeeds.
            let _ = write!(
                text,
                "\n{}\n{}\n",
                heading(group, baseline),
                lines(group, baseline)
            );
        }
    }
    text
}

fn key(row: &Row) -> (&str, &str, u64) {
    (&row.algorithm, &row.operation, row.threads)
}

fn heading(group: &[Row], baseline: &str) -> String {
    let row = &group[0];
    let engine = row.reference.as_deref().unwrap_or_default();
    let plural = if row.threads == 1 { "" } else { "s" };
    format!(
        "{} {}, {} thread{plural}: {baseline} against {engine}",
        row.algorithm, row.operation, row.threads
    )
}

fn lines(group: &[Row], baseline: &str) -> String {
    let rows = group
        .iter()
        .filter(|row| row.contestant == baseline)
        .map(|prev| {
            let percent = prev.uplift_percent.unwrap_or_default();
            let optimised = prev.gbit_per_s * (1.0 + percent / 100.0);
            vec![
                prev.size.to_string(),
                format!("{:.2}", prev.gbit_per_s),
                format!("{optimised:.2}"),
                format!("{percent:.1}%"),
            ]
        });
    table::align(
        &["buffer sz (B)", "prev (Gbps)", "optimised (Gbps)", "uplift"],
        rows.collect(),
    )
}
