//! Latency, handshakes, threads, memory.

use super::super::bar_chart::{Bar, BarChart, Group};
use super::super::line_chart::{Axis, LineChart, Series, Spread};
use super::{COLOURS, Colours, Section, counted, figures, float, grouped, ratios, variety, work};
use crate::figures::length;
use crate::row::{Cycles, Handshakes, Latency, Measured, Memory, Throughput};

/// One operation in so many.
const RARITY: Axis = Axis {
    title: "of all operations",
    spread: Spread::Logarithmic(10),
    label: percent_from_rarity,
};

/// The curve up to each share of operations; a line for each burst and contestant.
pub(super) fn latency(rows: &[&Latency]) -> Section {
    let key = |row: &Latency| (work(row), row.common.threads, row.common.size);
    let charts = grouped(rows, key)
        .into_iter()
        .map(|((mut title, threads, size), group)| {
            if variety(rows, |row| row.common.size) > 1 {
                title += &format!(", {}", length(float(size)));
            }
            if variety(rows, |row| row.common.threads) > 1 {
                title += &counted(threads, "thread");
            }
            let series = group.iter().enumerate().map(|(at, row)| Series {
                name: line(row, &group, rows),
                colour: at % COLOURS,
                points: points(row),
            });
            LineChart::new(title, [RARITY, ratios("ns, or less")], series.collect()).render()
        });
    Section {
        title: "Latency",
        explanation: "Time from handing an operation over until its status is known. Further \
                      right are the rarer, slower operations.",
        charts: charts.collect(),
    }
}

/// What a line is called: the parts in which lines of its chart differ.
fn line(row: &Latency, group: &[&Latency], all: &[&Latency]) -> String {
    let common = &row.common;
    let mut parts = Vec::new();
    if variety(all, |row| row.common.contestant.clone()) > 1 {
        parts.push(common.contestant.clone());
    }
    if variety(group, |row| row.common.burst) > 1 {
        parts.push(format!("burst {}", common.burst));
    }
    if variety(group, |row| row.common.sessions) > 1 {
        parts.push(format!("{} sessions", common.sessions));
    }
    match parts.is_empty() {
        true => format!("{}, burst {}", common.contestant, common.burst),
        false => parts.join(", "),
    }
}

fn points(row: &Latency) -> Vec<(f64, f64)> {
    let curve = row.percentiles.latency_curve.iter();
    curve
        .filter(|(percent, _)| (50.0..100.0).contains(percent))
        .map(|&(percent, ns)| (100.0 / (100.0 - percent), float(ns)))
        .collect()
}

/// 1 in 10 slower: 90 %.
fn percent_from_rarity(rarity: f64) -> String {
    let digits = [150.0, 1500.0, 15_000.0, 150_000.0]
        .iter()
        .filter(|&&few| rarity >= few)
        .count();
    format!("{:.digits$} %", 100.0 - 100.0 / rarity)
}

/// Handshakes of a TLS server by the number in flight, for each kind of key and version: handshakes
/// per second, the server's processor time for one, the lanes that its batches fill, and the time
/// that half of them and 99 of 100 take.
pub(super) fn handshakes(rows: &[&Handshakes], colours: &Colours) -> Section {
    type Value = fn(&Handshakes) -> Option<f64>;
    let values: [(&str, Value); 5] = [
        ("handshakes/s", |row| Some(row.common.ops_per_s)),
        ("server CPU, µs", |row| {
            row.server_cpu_ns_per_op.map(|ns| ns / 1e3)
        }),
        ("lanes filled", |row| row.lanes_filled),
        ("p50 latency, µs", |row| {
            Some(float(row.percentiles.p50_ns) / 1e3)
        }),
        ("p99 latency, µs", |row| {
            Some(float(row.percentiles.p99_ns) / 1e3)
        }),
    ];
    let mut charts = Vec::new();
    let key = |row: &Handshakes| (row.common.algorithm.clone(), row.common.operation.clone());
    for ((algorithm, operation), rows) in grouped(rows, key) {
        for (unit, value) in values {
            let point = |row: &Handshakes| Some((float(row.connections), value(row)?));
            let title = format!("{algorithm}, {}: {unit}", operation.replace('-', " "));
            let axes = [ratios("handshakes in flight"), figures(unit)];
            let chart = LineChart::new(title, axes, colours.lines(&rows, point));
            if !chart.series.is_empty() {
                charts.push(chart.render());
            }
        }
    }
    Section {
        title: "TLS handshakes",
        explanation: "Full handshakes of one server thread on a core of its own, each checked by \
                      the client and counted by the server.",
        charts,
    }
}

/// Speed over threads, against the line on which twice the threads do twice the work.
pub(super) fn threads(timed: &[&Throughput], cycles: &[&Cycles], colours: &Colours) -> Section {
    let cycles: Vec<_> = cycles.iter().map(|row| &row.throughput).collect();
    let key = |row: &Throughput| {
        let common = &row.common;
        (
            work(row),
            common.size,
            common.sessions,
            row.messages.imix.clone(),
        )
    };
    let groups = [timed, &cycles]
        .into_iter()
        .flat_map(|rows| grouped(rows, key));
    let charts = groups.filter(|(_, rows)| variety(rows, |row| row.common.threads) > 1);
    let charts = charts.map(|((work, size, ..), rows)| {
        let counts = || rows.iter().map(|row| row.common.threads);
        let (fewest, most) = (counts().min().unwrap_or(1), counts().max().unwrap_or(1));
        let lines = grouped(&rows, |row| {
            (row.common.contestant.clone(), row.common.burst)
        });
        let series = lines.into_iter().filter_map(|((name, _), rows)| {
            let base = rows.iter().find(|row| row.common.threads == fewest)?;
            let point = |row: &&Throughput| {
                (
                    float(row.common.threads),
                    row.common.ops_per_s / base.common.ops_per_s,
                )
            };
            let points = rows.iter().map(point).collect();
            Some(Series {
                colour: colours.get(&name),
                name,
                points,
            })
        });
        LineChart {
            title: format!("{work}, {}", length(float(size))),
            x: figures("threads"),
            y: figures("relative speed"),
            series: series.collect(),
            guide: Some(Series {
                name: "linear scaling".to_owned(),
                colour: 0,
                points: vec![
                    (float(fewest), 1.0),
                    (float(most), float(most) / float(fewest)),
                ],
            }),
        }
        .render()
    });
    Section {
        title: "Threads",
        explanation: "Each thread has a queue pair of its own; all use the same sessions.",
        charts: charts.collect(),
    }
}

/// Bytes of a session and of each queue pair that uses it.
pub(super) fn memory(rows: &[&Memory]) -> Section {
    let group = |row: &&Memory| {
        let Memory {
            bytes_per_session,
            bytes_per_context,
            ..
        } = row;
        let name = format!("{} {}", row.common().contestant, row.common().algorithm);
        let parts = [
            (0, float(*bytes_per_session)),
            (1, float(*bytes_per_context)),
        ];
        let bars = vec![Bar::stacked(&name, "bytes", &parts)];
        Group { name, bars }
    };
    let chart = BarChart {
        title: "Bytes per session".to_owned(),
        unit: "bytes",
        groups: rows.iter().map(group).collect(),
        legend: vec![
            ("session".to_owned(), 0),
            ("each queue pair that uses it".to_owned(), 1),
        ],
    };
    let chart = (!rows.is_empty()).then(|| chart.render());
    Section {
        title: "Memory",
        explanation: "As counted by the engine.",
        charts: chart.into_iter().collect(),
    }
}
