//! Which charts the rows call for.

mod keys;
mod latency;
mod public_keys;
mod scaling;
mod throughput;
mod tls;
mod uplift;

use super::bar_chart::{BarChart, Group};
use crate::row::Row;

/// Charts of one kind under a heading.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) explanation: &'static str,
    /// Each as markup.
    pub(super) charts: Vec<String>,
}

/// Colours there are.
const COLOURS: usize = 8;

/// The sections with anything in them.
pub(super) fn sections(rows: &[Row]) -> Vec<Section> {
    let colours = Colours::of(rows);
    let mut sections = vec![
        uplift::section(rows, &colours),
        throughput::overview(rows, &colours),
        throughput::by_size(rows, &colours),
        keys::section(rows, &colours),
        throughput::cycles(rows, &colours),
        throughput::shares(rows),
        latency::section(rows),
        public_keys::by_batch(rows, &colours),
        public_keys::under_load(rows),
        tls::section(rows, &colours),
        scaling::section(rows, &colours),
        scaling::memory(rows),
    ];
    sections.retain(|section| !section.charts.is_empty());
    sections
}

/// One colour for each contestant, on the whole page; engines have the first ones.
struct Colours(Vec<String>);

impl Colours {
    fn of(rows: &[Row]) -> Self {
        let mut names: Vec<String> = Vec::new();
        let (others, engines): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| is_other(row));
        for row in engines.into_iter().chain(others) {
            if !names.contains(&row.contestant) {
                names.push(row.contestant.clone());
            }
        }
        Self(names)
    }

    fn get(&self, contestant: &str) -> usize {
        self.0
            .iter()
            .position(|name| name == contestant)
            .unwrap_or(0)
            % COLOURS
    }
}

/// Whether it is a peer's or a baseline's.
fn is_other(row: &Row) -> bool {
    row.route.is_some() || row.contestant.ends_with("-per-op")
}

/// Rows with equal keys together, in the order of their first appearance.
fn grouped<'r, K: PartialEq>(
    rows: impl IntoIterator<Item = &'r Row>,
    key: impl Fn(&Row) -> K,
) -> Vec<(K, Vec<&'r Row>)> {
    let mut groups: Vec<(K, Vec<&Row>)> = Vec::new();
    for row in rows {
        let key = key(row);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    groups
}

/// Bars of a speed for each kind of work, one for each contestant.
fn speeds(title: String, works: Vec<(String, Vec<&Row>)>, colours: &Colours) -> String {
    let rows = works.iter().flat_map(|(_, rows)| rows.iter().copied());
    let contestants = grouped(rows, |row| row.contestant.clone());
    BarChart {
        title,
        unit: "Gbit/s",
        legend: contestants
            .into_iter()
            .map(|(name, _)| (name.clone(), colours.get(&name)))
            .collect(),
        groups: works
            .into_iter()
            .map(|(name, rows)| Group {
                name,
                bars: rows
                    .iter()
                    .map(|row| vec![(colours.get(&row.contestant), row.gbit_per_s)])
                    .collect(),
            })
            .collect(),
    }
    .render()
}

/// Number of different values among the rows.
fn variety<K: PartialEq>(rows: &[&Row], key: impl Fn(&Row) -> K) -> usize {
    grouped(rows.iter().copied(), key).len()
}

/// What a chart of rows with the same algorithm and operation is called; settings are named where
/// they differ between the charts.
fn title(row: &Row, all: &[&Row]) -> String {
    let mut text = format!("{} {}", row.algorithm, row.operation);
    let mut add = |count: u64, unit: &str, varies: bool| {
        if varies {
            let plural = if count == 1 { "" } else { "s" };
            text.push_str(&format!(", {count} {unit}{plural}"));
        }
    };
    add(row.threads, "thread", variety(all, |r| r.threads) > 1);
    add(row.sessions, "session", variety(all, |r| r.sessions) > 1);
    let segments = row.segments.unwrap_or(1);
    add(segments, "segment", variety(all, |r| r.segments) > 1);
    if variety(all, |r| r.burst) > 1 {
        text.push_str(&format!(", bursts of {}", row.burst));
    }
    let with_output: Vec<&Row> = all.iter().copied().filter(|r| r.layout.is_some()).collect();
    let layouts = variety(&with_output, |r| r.layout.clone());
    if let (Some(layout), true) = (&row.layout, layouts > 1) {
        text.push_str(&format!(", {layout}"));
    }
    text
}

/// What has to be equal for rows to share a chart over lengths.
fn setting(row: &Row) -> (String, String, u64, u64, u64, Option<u64>, Option<String>) {
    (
        row.algorithm.clone(),
        row.operation.clone(),
        row.threads,
        row.sessions,
        row.burst,
        row.segments,
        row.layout.clone(),
    )
}

#[expect(clippy::cast_precision_loss, reason = "lengths and times below 2^52")]
fn float(value: u64) -> f64 {
    value as f64
}
