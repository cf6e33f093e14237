//! Many keys at a time, and public keys: by batch, and under load.

use super::super::line_chart::{Axis, LineChart, Series, Spread};
use super::{COLOURS, Colours, Section, counted, figures, float, grouped, ratios, work, works};
use crate::figures::{length, number};
use crate::row::{KeyBatch, KeyLoad, Throughput};

/// A chart for each number of keys and each length or mix, every algorithm in it.
pub(super) fn many(rows: &[&Throughput], colours: &Colours) -> Section {
    // A mix has no place on an axis of lengths.
    let belongs = |row: &&Throughput| row.common.sessions > 1 || row.messages.imix.is_some();
    let rows: Vec<_> = rows.iter().copied().filter(belongs).collect();
    let rows: Vec<_> = rows.into_iter().filter(|row| works(&row.common)).collect();
    let groups = grouped(&rows, |row| {
        let common = &row.common;
        let counts = [common.sessions, common.threads, common.burst, common.size];
        (counts, row.messages.imix.clone())
    });
    let charts = groups
        .into_iter()
        .map(|(([keys, threads, _, size], imix), rows)| {
            let lengths = imix.map_or_else(|| length(float(size)), |imix| format!("mix {imix}"));
            let mut title = lengths + &counted(keys, "key");
            if threads > 1 {
                title += &counted(threads, "thread");
            }
            colours.speeds(title, grouped(&rows, work))
        });
    Section {
        title: "Many keys and mixed lengths",
        explanation: "A gateway's load: the messages of a burst use different keys in turn. A mix \
                      is written as length:weight.",
        charts: charts.collect(),
    }
}

const BATCH: Axis = Axis {
    title: "operations at a time",
    spread: Spread::Logarithmic(2),
    label: number,
};

/// A chart for each algorithm, a line for each contestant.
pub(super) fn by_batch(rows: &[&KeyBatch], colours: &Colours) -> Section {
    let charts = grouped(rows, |row| row.common.algorithm.clone()).into_iter();
    let charts = charts.map(|(title, rows)| {
        let point = |row: &KeyBatch| Some((float(row.batch), row.common.ops_per_s));
        LineChart::new(
            title,
            [BATCH, ratios("operations per second")],
            colours.lines(&rows, point),
        )
    });
    Section {
        title: "Public keys",
        explanation: "Operations handed over together, with keys used in turn.",
        charts: charts.map(|chart| chart.render()).collect(),
    }
}

/// A chart for each algorithm, a line for each contestant and policy.
pub(super) fn under_load(rows: &[&KeyLoad]) -> Section {
    let charts = grouped(rows, |row| row.common.algorithm.clone()).into_iter();
    let charts = charts.map(|(title, rows)| {
        let point = |row: &&KeyLoad| {
            (
                float(row.offered_ops_per_s),
                float(row.percentiles.p99_ns) / 1e3,
            )
        };
        let name = |row: &KeyLoad| format!("{}, {}", row.common.contestant, row.policy);
        let lines = grouped(&rows, name).into_iter().enumerate();
        let series = lines.map(|(at, (name, rows))| Series {
            name,
            colour: at % COLOURS,
            points: rows.iter().map(point).collect(),
        });
        let axes = [
            figures("operations offered per second"),
            ratios("p99 latency, µs"),
        ];
        LineChart::new(title, axes, series.collect()).render()
    });
    Section {
        title: "Public keys under load",
        explanation: "Operations arrive at random, whether or not earlier ones are done. single: \
                      one at a time; deadline: full batches, and partial ones after 200 µs; \
                      adaptive: what has arrived, as soon as nothing runs.",
        charts: charts.collect(),
    }
}
