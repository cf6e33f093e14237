//! Throughput and cycles by length.

use super::super::bar_chart::{BarChart, Group};
use super::super::line_chart::{Axis, LineChart, Series};
use super::super::scale::Spread;
use super::super::text::{bytes, length, number};
use super::{Colours, Section, float, grouped, is_other, setting, speeds, title, variety};
use crate::row::Row;

/// Algorithms from which on an overview comes first.
const MANY: usize = 5;

const LENGTH: Axis = Axis {
    title: "bytes per message",
    spread: Spread::Logarithmic(2),
    label: bytes,
};

const GBIT_PER_S: Axis = Axis {
    title: "Gbit/s",
    spread: Spread::Logarithmic(10),
    label: number,
};

const CYCLES: Axis = Axis {
    title: "cycles per operation",
    spread: Spread::Logarithmic(10),
    label: number,
};

/// Every algorithm side by side, at the shortest and at the longest length.
pub(super) fn overview(rows: &[Row], colours: &Colours) -> Section {
    let measured: Vec<&Row> = timed(rows).filter(|row| is_engine(row)).collect();
    let mut section = Section {
        title: "All algorithms",
        explanation: "One thread, messages of one length, the fastest first.",
        charts: Vec::new(),
    };
    if variety(&measured, |row| row.algorithm.clone()) < MANY {
        return section;
    }
    let one_thread = measured.iter().map(|row| row.threads).min().unwrap_or(1);
    let fewest_keys = measured.iter().map(|row| row.sessions).min().unwrap_or(1);
    let ends = common_sizes(&measured);
    for size in ends {
        let chosen = measured
            .iter()
            .copied()
            .filter(|row| row.size == size && row.threads == one_thread)
            .filter(|row| row.sessions == fewest_keys);
        section.charts.push(bars(size, chosen, colours));
    }
    section
}

/// The shortest and the longest of the lengths that most algorithms were measured at.
fn common_sizes(rows: &[&Row]) -> Vec<u64> {
    let counts: Vec<(u64, usize)> = grouped(rows.iter().copied(), |row| row.size)
        .into_iter()
        .map(|(size, rows)| (size, variety(&rows, |row| row.algorithm.clone())))
        .collect();
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let common = || {
        counts
            .iter()
            .filter(|(_, count)| *count == most)
            .map(|(size, _)| *size)
    };
    let mut ends: Vec<u64> = common().min().into_iter().chain(common().max()).collect();
    ends.dedup();
    ends
}

fn bars<'r>(size: u64, rows: impl Iterator<Item = &'r Row>, colours: &Colours) -> String {
    let mut rows: Vec<&Row> = rows.collect();
    rows.sort_by(|a, b| b.gbit_per_s.total_cmp(&a.gbit_per_s));
    let several_ways = variety(&rows, |row| row.operation.clone()) > 2;
    let name = |row: &Row| match several_ways {
        true => format!("{} {}", row.algorithm, row.operation),
        false => row.algorithm.clone(),
    };
    let groups = grouped(rows.iter().copied(), name);
    speeds(length(float(size)), groups, colours)
}

/// Lines over the length, a chart for each setting.
pub(super) fn by_size(rows: &[Row], colours: &Colours) -> Section {
    let charts = lines(rows, colours, &GBIT_PER_S, |row| {
        Some(row.gbit_per_s).filter(|_| row.cycles_per_op.is_none() && works(row))
    });
    Section {
        title: "Throughput by length",
        explanation: "Both axes are logarithmic: a straight slope is a fixed cost per operation, \
                      the flat end is the cipher itself.",
        charts,
    }
}

pub(super) fn cycles(rows: &[Row], colours: &Colours) -> Section {
    Section {
        title: "Cycles by length",
        explanation: "Ticks of the time-stamp counter that one thread spends on one operation. \
                      Lower is better.",
        charts: lines(rows, colours, &CYCLES, |row| row.cycles_per_op),
    }
}

fn lines(
    rows: &[Row],
    colours: &Colours,
    y: &Axis,
    value: impl Fn(&Row) -> Option<f64>,
) -> Vec<String> {
    let rows: Vec<&Row> = timed(rows).filter(|row| value(row).is_some()).collect();
    let mut charts = Vec::new();
    for (_, group) in grouped(rows.iter().copied(), setting) {
        if variety(&group, |row| row.size) < 3 {
            continue;
        }
        let series = grouped(group.iter().copied(), |row| row.contestant.clone());
        let chart = LineChart {
            title: title(group[0], &rows),
            x: LENGTH,
            y: y.clone(),
            series: series
                .into_iter()
                .map(|(name, rows)| Series {
                    colour: colours.get(&name),
                    name,
                    points: rows
                        .iter()
                        .filter_map(|row| Some((float(row.size), value(row)?)))
                        .collect(),
                })
                .collect(),
            guide: None,
        };
        charts.push(chart.render());
    }
    charts
}

/// The framework's and the engine's part of each operation.
pub(super) fn shares(rows: &[Row]) -> Section {
    let split: Vec<&Row> = rows
        .iter()
        .filter(|row| row.framework_cycles_per_op.is_some() && row.contestant != "null")
        .collect();
    let charts = grouped(split.iter().copied(), setting)
        .into_iter()
        .map(|(_, group)| {
            let several = variety(&group, |row| row.contestant.clone()) > 1;
            let name = |row: &Row| match several {
                true => format!("{} {}", row.contestant, length(float(row.size))),
                false => length(float(row.size)),
            };
            BarChart {
                title: title(group[0], &split),
                unit: "cycles",
                legend: vec![("framework".to_owned(), 1), ("engine".to_owned(), 0)],
                groups: group
                    .iter()
                    .map(|row| Group {
                        name: name(row),
                        bars: vec![vec![
                            (1, row.framework_cycles_per_op.unwrap_or(0.0)),
                            (0, row.engine_cycles_per_op.unwrap_or(0.0)),
                        ]],
                    })
                    .collect(),
            }
            .render()
        })
        .collect();
    Section {
        title: "Where the cycles go",
        explanation: "Framework: building the operation, validation, grouping, reading the \
                      status, as the null engine takes them. Engine: the rest.",
        charts,
    }
}

/// Neither a peer nor a baseline, nor measured for something else.
fn is_engine(row: &Row) -> bool {
    works(row) && !is_other(row) && row.cycles_per_op.is_none()
}

/// The null engine touches no byte, so that bytes per second mean nothing.
fn works(row: &Row) -> bool {
    row.contestant != "null"
}

/// Rows that say how much was done in how much time, one operation's latency apart.
fn timed(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter()
        .filter(|row| row.gbit_per_s > 0.0 && row.p50_ns.is_none() && row.imix.is_none())
}
