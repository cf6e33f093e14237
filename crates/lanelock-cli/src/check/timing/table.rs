//! The results for people.

use std::fmt::Write;

use super::{LIMIT, Row, Verdict};
use crate::report::table::align;

/// A row for each cell, leaks last.
pub(super) fn render(rows: &[Row]) -> String {
    let titles = [
        "algorithm",
        "operation",
        "tier",
        "measurements",
        "max |t|",
        "runs",
        "result",
    ];
    let mut text = align(&titles, |at| at == 6, rows.iter().map(cells));
    text.push_str("\n\n");
    let leaks = rows.iter().filter(|row| row.verdict == Verdict::Leak);
    for row in leaks {
        // Writing to a string succeeds.
        let _ = writeln!(
            text,
            "LEAK: {} {} on {}: |t| {:.1} in run {}, above {LIMIT} in each",
            row.algorithm, row.operation, row.tier, row.max_t, row.runs
        );
    }
    let clean = rows
        .iter()
        .filter(|row| row.verdict == Verdict::NoLeakFound);
    let _ = writeln!(
        text,
        "no leak found in {} of {} cells",
        clean.count(),
        rows.len()
    );
    text
}

fn cells(row: &Row) -> Vec<String> {
    let verdict = match row.verdict {
        Verdict::NoLeakFound => "no leak found",
        Verdict::Leak => "LEAK",
        Verdict::TooFew => "too few measurements",
    };
    vec![
        row.algorithm.clone(),
        row.operation.to_owned(),
        row.tier.to_owned(),
        row.measurements.to_string(),
        format!("{:.1}", row.max_t),
        row.runs.to_string(),
        verdict.to_owned(),
    ]
}
