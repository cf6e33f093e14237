//! Handshakes of a TLS server by the number that is in flight.

use super::super::line_chart::{Axis, LineChart, Series};
use super::super::scale::Spread;
use super::super::text::number;
use super::{Colours, Section, float, grouped};
use crate::row::Row;

const CONNECTIONS: Axis = Axis {
    title: "handshakes in flight",
    spread: Spread::Logarithmic(10),
    label: number,
};

/// For each kind of key and version: handshakes per second, the server's processor time for one,
/// the lanes that its batches fill, and the time that half of them and 99 of 100 take.
pub(super) fn section(rows: &[Row], colours: &Colours) -> Section {
    let key = |row: &Row| (row.algorithm.clone(), row.operation.clone());
    let charts = grouped(rows.iter().filter(|row| belongs(row)), key)
        .into_iter()
        .flat_map(|((algorithm, operation), rows)| {
            let name = format!("{algorithm}, {}", operation.replace('-', " "));
            [
                chart(&name, "handshakes/s", &rows, colours, |row| {
                    Some(row.ops_per_s)
                }),
                chart(&name, "server CPU, µs each", &rows, colours, |row| {
                    row.server_cpu_ns_per_op.map(|ns| ns / 1e3)
                }),
                chart(&name, "lanes filled", &rows, colours, |row| {
                    row.lanes_filled
                }),
                chart(&name, "half within, µs", &rows, colours, |row| {
                    row.p50_ns.map(|ns| float(ns) / 1e3)
                }),
                chart(&name, "99 of 100 within, µs", &rows, colours, |row| {
                    row.p99_ns.map(|ns| float(ns) / 1e3)
                }),
            ]
        })
        .flatten()
        .collect();
    Section {
        title: "TLS handshakes",
        explanation: "Full handshakes of one server thread on a core of its own, each checked by \
                      the client and counted by the server.",
        charts,
    }
}

/// Whether it is shown here.
pub(super) fn belongs(row: &Row) -> bool {
    row.connections.is_some()
}

/// Nothing if no row has such a value.
fn chart(
    name: &str,
    unit: &'static str,
    rows: &[&Row],
    colours: &Colours,
    value: impl Fn(&Row) -> Option<f64>,
) -> Option<String> {
    let point = |row: &&Row| Some((float(row.connections?), value(row)?));
    let contestants = grouped(rows.iter().copied(), |row| row.contestant.clone());
    let series = contestants.into_iter().map(|(contestant, rows)| Series {
        colour: colours.get(&contestant),
        points: rows.iter().filter_map(point).collect(),
        name: contestant,
    });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    let chart = LineChart {
        title: format!("{name}: {unit}"),
        x: CONNECTIONS,
        y: Axis {
            title: unit,
            spread: Spread::Linear,
            label: number,
        },
        guide: None,
        series,
    };
    (!chart.series.is_empty()).then(|| chart.render())
}
