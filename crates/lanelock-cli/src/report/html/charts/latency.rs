//! How long single operations take.

use super::super::line_chart::{Axis, LineChart, Series};
use super::super::scale::Spread;
use super::super::text::{length, number};
use super::{COLOURS, Section, float, grouped, tls, variety};
use crate::row::Row;

/// One operation in so many.
const RARITY: Axis = Axis {
    title: "of all operations",
    spread: Spread::Logarithmic(10),
    label: percent_from_rarity,
};

const TIME: Axis = Axis {
    title: "ns, or less",
    spread: Spread::Logarithmic(10),
    label: number,
};

/// The curve up to each share of operations; a line for each burst and contestant.
pub(super) fn section(rows: &[Row]) -> Section {
    let curves: Vec<&Row> = rows
        .iter()
        .filter(|row| row.latency_curve.is_some() && row.policy.is_none() && !tls::belongs(row))
        .collect();
    let key = |row: &Row| {
        let work = (row.algorithm.clone(), row.operation.clone());
        (work, row.threads, row.size)
    };
    let charts = grouped(curves.iter().copied(), key)
        .into_iter()
        .map(|(_, group)| chart(&group, &curves))
        .collect();
    Section {
        title: "Latency",
        explanation: "From handing an operation over to knowing its status. To the right are the \
                      rarer, slower ones.",
        charts,
    }
}

fn chart(group: &[&Row], all: &[&Row]) -> String {
    let name = |row: &Row| {
        let mut parts = Vec::new();
        if variety(all, |r| r.contestant.clone()) > 1 {
            parts.push(row.contestant.clone());
        }
        if variety(group, |r| r.burst) > 1 {
            parts.push(format!("burst {}", row.burst));
        }
        if variety(group, |r| r.sessions) > 1 {
            parts.push(format!("{} sessions", row.sessions));
        }
        match parts.is_empty() {
            true => format!("{}, burst {}", row.contestant, row.burst),
            false => parts.join(", "),
        }
    };
    let first = group[0];
    let mut title = format!("{} {}", first.algorithm, first.operation);
    if variety(all, |r| r.size) > 1 {
        title += &format!(", {}", length(float(first.size)));
    }
    if variety(all, |r| r.threads) > 1 {
        title += &format!(", {} threads", first.threads);
    }
    LineChart {
        title,
        x: RARITY,
        y: TIME,
        series: group
            .iter()
            .enumerate()
            .map(|(i, row)| Series {
                name: name(row),
                colour: i % COLOURS,
                points: points(row),
            })
            .collect(),
        guide: None,
    }
    .render()
}

fn points(row: &Row) -> Vec<(f64, f64)> {
    let curve = row.latency_curve.iter().flatten();
    curve
        .filter(|(percent, _)| (50.0..100.0).contains(percent))
        .map(|&(percent, ns)| (100.0 / (100.0 - percent), float(ns)))
        .collect()
}

/// 1 in 10 slower: 90 %.
fn percent_from_rarity(rarity: f64) -> String {
    let digits = match rarity {
        r if r < 150.0 => 0,
        r if r < 1500.0 => 1,
        r if r < 15_000.0 => 2,
        r if r < 150_000.0 => 3,
        _ => 4,
    };
    format!("{:.digits$} %", 100.0 - 100.0 / rarity)
}
