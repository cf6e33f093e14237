//! Many keys at a time: equal lengths, and mixes of lengths.

use super::super::text::length;
use super::{Colours, Section, float, grouped, speeds};
use crate::row::Row;

/// A chart for each number of keys and each length or mix, every algorithm in it.
pub(super) fn section(rows: &[Row], colours: &Colours) -> Section {
    let charts = grouped(rows.iter().filter(|row| belongs(row)), |row| {
        let work = (row.sessions, row.threads, row.burst);
        (work, row.size, row.imix.clone())
    });
    Section {
        title: "Many keys and mixed lengths",
        explanation: "A gateway's load: the messages of a burst use different keys in turn. A mix \
                      is written as length:weight.",
        charts: charts
            .into_iter()
            .map(|(_, group)| chart(&group, colours))
            .collect(),
    }
}

/// Whether it is shown here: several keys, or a mix, which has no place on an axis of lengths.
pub(super) fn belongs(row: &Row) -> bool {
    let timed = row.gbit_per_s > 0.0 && row.p50_ns.is_none() && row.cycles_per_op.is_none();
    timed && (row.sessions > 1 || row.imix.is_some()) && row.contestant != "null"
}

fn chart(rows: &[&Row], colours: &Colours) -> String {
    let first = rows[0];
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let lengths = match &first.imix {
        Some(imix) => format!("mix {imix}"),
        None => length(float(first.size)),
    };
    let (keys, threads) = (first.sessions, first.threads);
    let mut title = format!("{lengths}, {keys} key{}", plural(keys));
    if threads > 1 {
        title += &format!(", {threads} threads");
    }
    let works = grouped(rows.iter().copied(), |row| {
        format!("{} {}", row.algorithm, row.operation)
    });
    speeds(title, works, colours)
}
