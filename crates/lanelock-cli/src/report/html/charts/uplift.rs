//! What an engine gains over baselines.

use super::super::bar_chart::{BarChart, Group};
use super::super::text::length;
use super::{Colours, Section, float, grouped, variety};
use crate::row::Row;

pub(super) fn section(rows: &[Row], colours: &Colours) -> Section {
    let compared: Vec<&Row> = rows
        .iter()
        .filter(|row| row.uplift_percent.is_some())
        .collect();
    let key = |row: &Row| (row.algorithm.clone(), row.operation.clone(), row.sessions);
    let charts = grouped(compared.iter().copied(), key)
        .into_iter()
        .map(|(_, group)| chart(&group, &compared, colours))
        .collect();
    Section {
        title: "Uplift",
        explanation: "By how much the engine is faster than the same work with one habit repeated \
                      for every operation, in percent.",
        charts,
    }
}

fn chart(group: &[&Row], all: &[&Row], colours: &Colours) -> String {
    let baselines = grouped(group.iter().copied(), |row| row.contestant.clone());
    let several = baselines.len() > 1;
    let first = group[0];
    let mut title = format!("{} {}", first.algorithm, first.operation);
    if variety(all, |row| row.sessions) > 1 {
        title += &format!(", {} sessions", first.sessions);
    }
    if !several {
        title += &format!(", over {}", first.contestant);
    }
    BarChart {
        title,
        unit: "%",
        legend: if several {
            baselines
                .iter()
                .map(|(name, _)| (name.clone(), colours.get(name)))
                .collect()
        } else {
            Vec::new()
        },
        groups: grouped(group.iter().copied(), |row| (row.threads, row.size))
            .into_iter()
            .map(|((threads, size), rows)| Group {
                name: match threads {
                    1 => length(float(size)),
                    _ => format!("{}, {threads} threads", length(float(size))),
                },
                bars: rows
                    .iter()
                    .map(|row| {
                        let percent = row.uplift_percent.unwrap_or(0.0);
                        vec![(colours.get(&row.contestant), percent)]
                    })
                    .collect(),
            })
            .collect(),
    }
    .render()
}
