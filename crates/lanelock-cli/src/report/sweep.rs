//! The summary of a sweep in text.

use std::fmt::Write;

use super::table::{align, machine};
use crate::figures::digits;
use crate::sweep::{Cell, NOISE, Sums, Sweep};

/// Cells that are listed.
pub const WORST: usize = 20;

/// How many cells there are, against whom lanelock is behind in how many, and the worst of them.
pub fn render(sweep: &Sweep) -> String {
    let mut text = machine(&sweep.machine);
    let tier = sweep
        .tier
        .as_deref()
        .map_or(String::new(), |tier| format!(", all held to {tier}"));
    // Writing to a string succeeds, here and below.
    let _ = writeln!(text, "{}{tier}", sweep.build);
    for library in &sweep.libraries {
        let _ = writeln!(text, "{}: {}", library.contestant, library.version);
    }
    if !sweep.left_out.is_empty() {
        let _ = writeln!(
            text,
            "not in the native engine: {}",
            sweep.left_out.join(", ")
        );
    }
    let titles = [
        "against",
        "cells",
        "median ratio",
        "below 1",
        &format!("below {NOISE}"),
    ];
    let peers = sweep.peers().into_iter().map(Some).chain([None]);
    let rows = peers.filter_map(|peer| {
        let Sums {
            cells,
            median,
            behind,
            clearly,
        } = sweep.sums(peer)?;
        Some(vec![
            peer.unwrap_or("the fastest peer").to_owned(),
            cells.to_string(),
            digits(median),
            behind.to_string(),
            clearly.to_string(),
        ])
    });
    let _ = writeln!(text, "\n{}", align(&titles, |at| at == 0, rows));
    let worst = sweep.worst(WORST);
    if worst.is_empty() {
        let _ = writeln!(text, "\nno cell is below 1");
        return text;
    }
    let _ = writeln!(text, "\nthe lowest ratios, against the fastest peer");
    let rows = worst.iter().map(|cell| row(cell));
    let _ = writeln!(text, "{}", align(&TITLES, |at| IS_WORD[at], rows));
    text
}

/// Titles of [`row`].
pub const TITLES: [&str; 10] = [
    "ratio",
    "algorithm",
    "operation",
    "size (B)",
    "keys",
    "burst",
    "layout",
    "native ns",
    "fastest peer",
    "ns",
];

/// Which columns of [`row`] are words, not figures.
pub const IS_WORD: [bool; 10] = [
    false, true, true, false, false, false, true, false, true, false,
];

/// A cell of the list.
pub fn row(cell: &Cell) -> Vec<String> {
    let (native, best) = (cell.times.first(), cell.best());
    let ns = |time: Option<&crate::sweep::Time>| time.map(|time| digits(time.ns_per_op));
    vec![
        cell.ratio(None).map(digits).unwrap_or_default(),
        cell.algorithm.clone(),
        cell.operation.clone(),
        match cell.size {
            0 => String::new(), // a public-key operation
            _ => cell.length(),
        },
        cell.sessions.to_string(),
        cell.burst.to_string(),
        cell.layout.clone().unwrap_or_default(),
        ns(native).unwrap_or_default(),
        best.map(|time| time.contestant.clone()).unwrap_or_default(),
        ns(best).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests::{cell, sweep};

    #[test]
    fn the_summary_counts_and_lists() {
        let cells = vec![cell(16, &[("a", 150.0)]), cell(64, &[("a", 80.0)])];
        let text = render(&sweep(cells));
        let line = |start: &str| {
            let line = text
                .lines()
                .map(str::trim_start)
                .find(|line| line.starts_with(start))
                .expect(start);
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(line("a "), "a 2 1.15 1 1");
        assert_eq!(line("the fastest peer"), "the fastest peer 2 1.15 1 1");
        assert!(text.contains("0.80  aes-128-cbc  encrypt"), "{text}");
        assert!(render(&sweep(vec![cell(16, &[("a", 150.0)])])).contains("no cell is below 1"));
    }
}
