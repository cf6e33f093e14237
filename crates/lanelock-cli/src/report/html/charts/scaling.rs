//! What more threads bring, and what sessions take.

use super::super::bar_chart::{BarChart, Group};
use super::super::line_chart::{Axis, LineChart, Series};
use super::super::scale::Spread;
use super::super::text::{length, number};
use super::{Colours, Section, float, grouped, variety};
use crate::row::Row;

const THREADS: Axis = Axis {
    title: "threads",
    spread: Spread::Linear,
    label: number,
};

const SPEED: Axis = Axis {
    title: "times the speed of the fewest threads",
    spread: Spread::Linear,
    label: number,
};

/// Speed over threads, against the line on which twice the threads do twice the work.
pub(super) fn section(rows: &[Row], colours: &Colours) -> Section {
    let timed: Vec<&Row> = rows
        .iter()
        .filter(|row| row.ops_per_s > 0.0 && row.p50_ns.is_none())
        .collect();
    let key = |row: &Row| {
        let work = (row.algorithm.clone(), row.operation.clone());
        (work, row.size, row.sessions, row.imix.clone())
    };
    let charts = grouped(timed.iter().copied(), key)
        .into_iter()
        .filter(|(_, group)| variety(group, |row| row.threads) > 1)
        .map(|(((algorithm, operation), size, ..), group)| {
            let fewest = group.iter().map(|row| row.threads).min().unwrap_or(1);
            let most = group.iter().map(|row| row.threads).max().unwrap_or(1);
            let name = |row: &Row| (row.contestant.clone(), row.sessions, row.burst);
            let series = grouped(group.iter().copied(), name).into_iter().filter_map(
                |((name, ..), rows)| {
                    let base = rows.iter().find(|row| row.threads == fewest)?.ops_per_s;
                    Some(Series {
                        colour: colours.get(&name),
                        name,
                        points: rows
                            .iter()
                            .map(|row| (float(row.threads), row.ops_per_s / base))
                            .collect(),
                    })
                },
            );
            LineChart {
                title: format!("{algorithm} {operation}, {}", length(float(size))),
                x: THREADS,
                y: SPEED,
                series: series.collect(),
                guide: Some(Series {
                    name: "in proportion".to_owned(),
                    colour: 0,
                    points: vec![
                        (float(fewest), 1.0),
                        (float(most), float(most) / float(fewest)),
                    ],
                }),
            }
            .render()
        })
        .collect();
    Section {
        title: "Threads",
        explanation: "Each thread has a queue pair of its own; all use the same sessions.",
        charts,
    }
}

/// Bytes of a session and of each queue pair that uses it.
pub(super) fn memory(rows: &[Row]) -> Section {
    let rows: Vec<&Row> = rows
        .iter()
        .filter(|row| row.bytes_per_session.is_some())
        .collect();
    let groups: Vec<Group> = rows
        .iter()
        .map(|row| Group {
            name: format!("{} {}", row.contestant, row.algorithm),
            bars: vec![vec![
                (0, float(row.bytes_per_session.unwrap_or(0))),
                (1, float(row.bytes_per_context.unwrap_or(0))),
            ]],
        })
        .collect();
    let chart = BarChart {
        title: "Bytes per session".to_owned(),
        unit: "bytes",
        groups,
        legend: vec![
            ("session".to_owned(), 0),
            ("each queue pair that uses it".to_owned(), 1),
        ],
    };
    Section {
        title: "Memory",
        explanation: "As the engine counts it.",
        charts: if rows.is_empty() {
            Vec::new()
        } else {
            vec![chart.render()]
        },
    }
}
