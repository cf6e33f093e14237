//! Public keys: operations by batch, and latency against what is offered.

use super::super::line_chart::{Axis, LineChart, Series};
use super::super::scale::Spread;
use super::super::text::number;
use super::{COLOURS, Colours, Section, float, grouped};
use crate::row::Row;

const BATCH: Axis = Axis {
    title: "operations at a time",
    spread: Spread::Logarithmic(2),
    label: number,
};

const RATE: Axis = Axis {
    title: "operations per second",
    spread: Spread::Logarithmic(10),
    label: number,
};

const OFFERED: Axis = Axis {
    title: "operations offered per second",
    spread: Spread::Linear,
    label: number,
};

const P99: Axis = Axis {
    title: "µs for 99 of 100, or less",
    spread: Spread::Logarithmic(10),
    label: number,
};

/// A chart for each algorithm, a line for each contestant.
pub(super) fn by_batch(rows: &[Row], colours: &Colours) -> Section {
    let batches = rows.iter().filter(|row| row.batch.is_some());
    let charts = grouped(batches, |row| row.algorithm.clone());
    let chart = |(title, group): (String, Vec<&Row>)| {
        let lines = grouped(group, |row| row.contestant.clone());
        let series = lines.into_iter().map(|(name, rows)| Series {
            colour: colours.get(&name),
            points: rows
                .iter()
                .map(|row| (float(row.batch.unwrap_or(1)), row.ops_per_s))
                .collect(),
            name,
        });
        LineChart {
            title,
            x: BATCH,
            y: RATE,
            series: series.collect(),
            guide: None,
        }
        .render()
    };
    Section {
        title: "Public keys",
        explanation: "Operations handed over together, the keys in turn.",
        charts: charts.into_iter().map(chart).collect(),
    }
}

/// A chart for each algorithm, a line for each contestant and policy.
pub(super) fn under_load(rows: &[Row]) -> Section {
    let loads = rows.iter().filter(|row| row.policy.is_some());
    let charts = grouped(loads, |row| row.algorithm.clone());
    let chart = |(title, group): (String, Vec<&Row>)| {
        let lines = grouped(group, |row| {
            let policy = row.policy.as_deref().unwrap_or_default();
            format!("{}, {policy}", row.contestant)
        });
        let series = lines
            .into_iter()
            .enumerate()
            .map(|(at, (name, rows))| Series {
                name,
                colour: at % COLOURS,
                points: rows.iter().filter_map(|row| point(row)).collect(),
            });
        LineChart {
            title,
            x: OFFERED,
            y: P99,
            series: series.collect(),
            guide: None,
        }
        .render()
    };
    Section {
        title: "Public keys under load",
        explanation: "Operations arrive at random, whether or not those before are done. single: \
                      one at a time; deadline: full batches, and partial ones after 200 µs; \
                      adaptive: what has arrived, as soon as nothing runs.",
        charts: charts.into_iter().map(chart).collect(),
    }
}

/// What was offered, and the 99th percentile in microseconds.
fn point(row: &Row) -> Option<(f64, f64)> {
    Some((float(row.offered_ops_per_s?), float(row.p99_ns?) / 1e3))
}
