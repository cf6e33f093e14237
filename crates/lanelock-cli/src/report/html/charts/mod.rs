//! Which charts the rows call for.

mod keys;
mod others;
mod throughput;

use super::Section;
use super::bar_chart::{Bar, BarChart, Group};
use super::line_chart::{Axis, Series, Spread};
use crate::figures::{float, number};
use crate::row::{Common, Measured, Row, Throughput};
use maud::Markup;

/// Colours there are.
const COLOURS: usize = 8;

/// An axis of figures, equal distances for equal ratios.
const fn ratios(title: &'static str) -> Axis {
    Axis {
        title,
        spread: Spread::Logarithmic(10),
        label: number,
    }
}

/// An axis of figures that begins at 0.
const fn figures(title: &'static str) -> Axis {
    Axis {
        title,
        spread: Spread::Linear,
        label: number,
    }
}

/// The rows of one kind.
macro_rules! only {
    ($rows:expr, $kind:ident) => {
        $rows
            .iter()
            .filter_map(|row| match row {
                Row::$kind(row) => Some(row),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
}

/// Every section, some of them without charts.
pub(super) fn sections(rows: &[Row]) -> Vec<Section> {
    let colours = Colours::of(rows);
    let (timed, cycles) = (only!(rows, Throughput), only!(rows, Cycles));
    vec![
        throughput::uplift(&timed, &colours),
        throughput::overview(&timed, &colours),
        throughput::by_size(&timed, &colours),
        keys::many(&timed, &colours),
        throughput::cycles(&cycles, &colours),
        throughput::shares(&cycles),
        others::latency(&only!(rows, Latency)),
        keys::by_batch(&only!(rows, KeyBatch), &colours),
        keys::under_load(&only!(rows, KeyLoad)),
        others::handshakes(&only!(rows, Handshakes), &colours),
        others::threads(&timed, &cycles, &colours),
        others::memory(&only!(rows, Memory)),
    ]
}

/// One colour for each contestant, on the whole page; engines have the first ones.
struct Colours(Vec<String>);

impl Colours {
    fn of(rows: &[Row]) -> Self {
        let mut names: Vec<String> = Vec::new();
        let (others, engines): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| match row {
            Row::Throughput(row) => is_other(row),
            Row::Cycles(row) => is_other(&row.throughput),
            _ => false,
        });
        for row in engines.into_iter().chain(others) {
            let name = &row.common().contestant;
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Self(names)
    }

    fn get(&self, contestant: &str) -> usize {
        let at = self.0.iter().position(|name| name == contestant);
        at.unwrap_or(0) % COLOURS
    }

    /// A line for each contestant through its points.
    fn lines<R: Measured>(
        &self,
        rows: &[&R],
        point: impl Fn(&R) -> Option<(f64, f64)>,
    ) -> Vec<Series> {
        let lines = grouped(rows, |row| row.common().contestant.clone()).into_iter();
        let lines = lines.map(|(name, rows)| Series {
            colour: self.get(&name),
            points: rows.iter().filter_map(|row| point(row)).collect(),
            name,
        });
        lines.filter(|line| !line.points.is_empty()).collect()
    }

    /// What the bars of contestants mean, each named once.
    fn legend(&self, rows: &[&Throughput]) -> Vec<(String, usize)> {
        let names = grouped(rows, |row| row.common.contestant.clone()).into_iter();
        names
            .map(|(name, _)| (name.clone(), self.get(&name)))
            .collect()
    }

    /// Bars of a value for each kind of work, one for each contestant.
    fn bars(
        &self,
        works: Vec<(String, Vec<&Throughput>)>,
        unit: &str,
        value: impl Fn(&Throughput) -> f64,
    ) -> Vec<Group> {
        let bar = |name: &str, row: &Throughput| {
            let part = (self.get(&row.common.contestant), value(row));
            Bar::stacked(name, unit, &[part])
        };
        let group = |(name, rows): (String, Vec<&Throughput>)| Group {
            bars: rows.iter().map(|row| bar(&name, row)).collect(),
            name,
        };
        works.into_iter().map(group).collect()
    }

    /// The speeds of contestants at each kind of work.
    fn speeds(&self, title: String, works: Vec<(String, Vec<&Throughput>)>) -> Markup {
        let rows: Vec<_> = works.iter().flat_map(|(_, rows)| rows).copied().collect();
        BarChart {
            title,
            unit: "Gbit/s",
            legend: self.legend(&rows),
            groups: self.bars(works, "Gbit/s", |row| row.common.gbit_per_s),
        }
        .render()
    }
}

/// Whether it is a peer's or a baseline's.
fn is_other(row: &Throughput) -> bool {
    row.route.is_some() || row.common.contestant.ends_with("-per-op")
}

/// The null engine touches no byte, so that bytes per second mean nothing.
fn works(row: &Common) -> bool {
    row.contestant != "null"
}

/// Rows with equal keys together, in the order of their first appearance.
fn grouped<'r, R, K: PartialEq>(rows: &[&'r R], key: impl Fn(&R) -> K) -> Vec<(K, Vec<&'r R>)> {
    let mut groups: Vec<(K, Vec<&R>)> = Vec::new();
    for &row in rows {
        let key = key(row);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    groups
}

/// Number of different values among the rows.
fn variety<R, K: PartialEq>(rows: &[&R], key: impl Fn(&R) -> K) -> usize {
    grouped(rows, key).len()
}

/// Algorithm and operation.
fn work<R: Measured>(row: &R) -> String {
    let Common {
        algorithm,
        operation,
        ..
    } = row.common();
    format!("{algorithm} {operation}")
}

/// `, 2 threads`, say.
fn counted(count: u64, unit: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!(", {count} {unit}{plural}")
}
