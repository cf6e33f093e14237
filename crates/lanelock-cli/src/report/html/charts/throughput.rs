//! Throughput and cycles by length, and what an engine gains.

use maud::Markup;

use super::super::bar_chart::{Bar, BarChart, Group};
use super::super::line_chart::{Axis, LineChart, Spread};
use super::{Colours, Section, counted, float, grouped, is_other, ratios, variety, work, works};
use crate::figures::{bytes, length};
use crate::row::{Cycles, Measured, Throughput};

/// Algorithms from which on an overview comes first.
const MANY: usize = 5;

const LENGTH: Axis = Axis {
    title: "bytes per message",
    spread: Spread::Logarithmic(2),
    label: bytes,
};

/// Every algorithm side by side, at the shortest and at the longest length.
pub(super) fn overview(rows: &[&Throughput], colours: &Colours) -> Section {
    let engines = rows.iter().copied();
    let engines = engines.filter(|row| works(&row.common) && !is_other(row));
    let rows: Vec<_> = engines.filter(|row| row.messages.imix.is_none()).collect();
    let crowd = |row: &Throughput| (row.common.threads, row.common.sessions);
    let least = rows.iter().map(|row| crowd(row)).min();
    let alone = rows.into_iter().filter(|row| Some(crowd(row)) == least);
    let rows: Vec<_> = alone.collect();
    let charts = ends(&rows).into_iter().map(|size| {
        let of_size = rows.iter().copied().filter(|row| row.common.size == size);
        let mut rows: Vec<_> = of_size.collect();
        rows.sort_by(|a, b| b.common.gbit_per_s.total_cmp(&a.common.gbit_per_s));
        let several = variety(&rows, |row| row.common.operation.clone()) > 2;
        let groups = grouped(&rows, |row| match several {
            true => work(row),
            false => row.common.algorithm.clone(),
        });
        colours.speeds(length(float(size)), groups)
    });
    Section {
        title: "All algorithms",
        explanation: "One thread, messages of one length, the fastest first.",
        charts: match variety(&rows, |row| row.common.algorithm.clone()) < MANY {
            true => Vec::new(),
            false => charts.collect(),
        },
    }
}

/// The shortest and the longest of the lengths that most algorithms were measured at.
fn ends(rows: &[&Throughput]) -> Vec<u64> {
    let sizes = grouped(rows, |row| row.common.size).into_iter();
    let counts: Vec<_> = sizes
        .map(|(size, rows)| (variety(&rows, |row| row.common.algorithm.clone()), size))
        .collect();
    let most = counts.iter().map(|(count, _)| *count).max();
    let common = || {
        counts
            .iter()
            .filter(|(count, _)| Some(*count) == most)
            .map(|(_, size)| *size)
    };
    let mut ends: Vec<_> = common().min().into_iter().chain(common().max()).collect();
    ends.dedup();
    ends
}

/// Lines over the length, a chart for each setting.
pub(super) fn by_size(rows: &[&Throughput], colours: &Colours) -> Section {
    let some = rows.iter().copied().filter(|row| works(&row.common));
    let some: Vec<_> = some.collect();
    Section {
        title: "Throughput by length",
        explanation: "Both axes are logarithmic: a straight slope is a fixed cost per operation, \
                      the flat end is the cipher itself.",
        charts: lines(&some, colours, ratios("Gbit/s"), |row| {
            row.common.gbit_per_s
        }),
    }
}

/// The same for cycles.
pub(super) fn cycles(rows: &[&Cycles], colours: &Colours) -> Section {
    Section {
        title: "Cycles by length",
        explanation: "Ticks of the time-stamp counter that one thread spends on one operation. \
                      Lower is better.",
        charts: lines(rows, colours, ratios("cycles per operation"), |row| {
            row.cycles_per_op
        }),
    }
}

fn lines<R: Measured>(
    rows: &[&R],
    colours: &Colours,
    y: Axis,
    value: fn(&R) -> f64,
) -> Vec<Markup> {
    let equal = |row: &&&R| {
        row.messages()
            .is_some_and(|messages| messages.imix.is_none())
    };
    let rows: Vec<_> = rows.iter().filter(equal).copied().collect();
    let groups = grouped(&rows, setting).into_iter().map(|(_, group)| group);
    let charts = groups.filter(|group| variety(group, |row| row.common().size) >= 3);
    let chart = |group: Vec<&R>| {
        let point = |row: &R| Some((float(row.common().size), value(row)));
        LineChart::new(
            title(group[0], &rows),
            [LENGTH, y],
            colours.lines(&group, point),
        )
    };
    charts.map(|group| chart(group).render()).collect()
}

/// The framework's and the engine's part of each operation.
pub(super) fn shares(rows: &[&Cycles]) -> Section {
    let some = rows.iter().copied();
    let split = some.filter(|row| row.shares.is_some() && works(row.common()));
    let split: Vec<_> = split.collect();
    let charts = grouped(&split, setting).into_iter().map(|(_, group)| {
        let several = variety(&group, |row| row.common().contestant.clone()) > 1;
        let bars = group.iter().filter_map(|row| {
            let size = length(float(row.common().size));
            let name = match several {
                true => format!("{} {size}", row.common().contestant),
                false => size,
            };
            let shares = row.shares?;
            let parts = [
                (1, shares.framework_cycles_per_op),
                (0, shares.engine_cycles_per_op),
            ];
            let bars = vec![Bar::stacked(&name, "cycles", &parts)];
            Some(Group { name, bars })
        });
        BarChart {
            title: title(group[0], &split),
            unit: "cycles",
            legend: vec![("framework".to_owned(), 1), ("engine".to_owned(), 0)],
            groups: bars.collect(),
        }
        .render()
    });
    Section {
        title: "Where the cycles go",
        explanation: "Framework: building the operation, validation, grouping, reading the \
                      status, as measured with the null engine. Engine: the rest.",
        charts: charts.collect(),
    }
}

/// What an engine gains over baselines.
pub(super) fn uplift(rows: &[&Throughput], colours: &Colours) -> Section {
    let some = rows.iter().copied();
    let compared: Vec<_> = some.filter(|row| row.uplift_percent.is_some()).collect();
    let charts = grouped(&compared, |row| (work(row), row.common.sessions)).into_iter();
    let charts = charts.map(|((mut title, sessions), group)| {
        if variety(&compared, |row| row.common.sessions) > 1 {
            title += &counted(sessions, "session");
        }
        let mut legend = colours.legend(&group);
        if let [(only, _)] = &legend[..] {
            title += &format!(", over {only}");
            legend.clear();
        }
        let works = grouped(&group, |row| {
            let size = length(float(row.common.size));
            match row.common.threads {
                1 => size,
                threads => size + &counted(threads, "thread"),
            }
        });
        let groups = colours.bars(works, "%", |row| row.uplift_percent.unwrap_or_default());
        BarChart {
            title,
            unit: "%",
            legend,
            groups,
        }
        .render()
    });
    Section {
        title: "Uplift",
        explanation: "By how much the engine is faster than the same work with one habit repeated \
                      for every operation, in percent.",
        charts: charts.collect(),
    }
}

/// What has to be equal for rows to share a chart over lengths.
fn setting<R: Measured>(row: &R) -> (String, [u64; 4], Option<String>) {
    let (common, messages) = (row.common(), row.messages());
    let segments = messages.map_or(1, |messages| messages.segments);
    let counts = [common.threads, common.sessions, common.burst, segments];
    (
        work(row),
        counts,
        messages.and_then(|messages| messages.layout.clone()),
    )
}

/// What a chart of rows with the same setting is called: its parts are named where they differ
/// between the charts.
fn title<R: Measured>(row: &R, all: &[&R]) -> String {
    let (mut text, counts, layout) = setting(row);
    for (at, unit) in ["thread", "session", "", "segment"].into_iter().enumerate() {
        match variety(all, |row| setting(row).1[at]) {
            1 => {}
            _ if unit.is_empty() => text += &format!(", bursts of {}", counts[at]),
            _ => text += &counted(counts[at], unit),
        }
    }
    let with_output = all.iter().copied().filter(|row| setting(*row).2.is_some());
    match layout {
        Some(layout) if variety(&with_output.collect::<Vec<_>>(), |row| setting(row).2) > 1 => {
            text + ", " + &layout
        }
        _ => text,
    }
}
