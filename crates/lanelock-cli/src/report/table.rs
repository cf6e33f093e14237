//! Aligned tables for people: one for each algorithm and operation.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};

use crate::row::{Report, Row};

/// A column: its title, and what a row has in it.
#[derive(Clone, Copy)]
pub struct Column(pub &'static str, pub fn(&Row) -> String);

/// Columns of `perf throughput`.
pub const THROUGHPUT: &[Column] = &[
    Column("M ops/s", |row| digits(row.ops_per_s / 1e6)),
    Column("Gbit/s", |row| digits(row.gbit_per_s)),
    Column("ns/op", |row| digits(row.ns_per_op)),
    Column("±%", |row| {
        optional(row.spread_percent, |s| format!("{s:.1}"))
    }),
    Column("ratio", |row| optional(row.ratio, |r| format!("{r:.2}"))),
    Column("route", |row| row.route.clone().unwrap_or_default()),
];

/// What tells the rows of one algorithm apart; a column where it varies, else in the heading.
const KEYS: &[(Column, &str)] = &[
    (Column("threads", |row| row.threads.to_string()), "thread"),
    (
        Column("sessions", |row| row.sessions.to_string()),
        "session",
    ),
    (Column("burst", |row| row.burst.to_string()), "op per burst"),
];

const NAMES: &[Column] = &[
    Column("size (B)", |row| match row.imix {
        Some(_) => format!("imix ~{}", row.size),
        None => row.size.to_string(),
    }),
    Column("contestant", |row| row.contestant.clone()),
];

/// The machine, then the rows: `columns` beside those that name them.
pub fn render(report: &Report, columns: &[Column]) -> String {
    let machine = &report.machine;
    let mut text = format!(
        "{}, {} cores, {}\n{}, Linux {}\n",
        machine.cpu, machine.cores, machine.openssl, machine.os, machine.kernel
    );
    let mut rest = &report.results[..];
    while let Some(first) = rest.first() {
        let same =
            |row: &Row| (&row.algorithm, &row.operation) == (&first.algorithm, &first.operation);
        let end = rest.iter().position(|row| !same(row)).unwrap_or(rest.len());
        let (rows, others) = rest.split_at(end);
        // Writing to a string succeeds.
        let _ = write!(text, "\n{}\n{}\n", heading(rows), table(rows, columns));
        rest = others;
    }
    text
}

/// Three or four digits that matter.
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// A value if there is one.
pub fn optional<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map(show).unwrap_or_default()
}

fn varies(rows: &[Row], column: Column) -> bool {
    rows.windows(2)
        .any(|pair| column.1(&pair[0]) != column.1(&pair[1]))
}

fn heading(rows: &[Row]) -> String {
    let first = &rows[0];
    let mut text = format!("{} {}", first.algorithm, first.operation);
    for &(column, unit) in KEYS {
        if !varies(rows, column) {
            let n = column.1(first);
            let plural = if n == "1" { "" } else { "s" };
            let unit = unit.replacen("op per", &format!("op{plural} per"), 1);
            let plural = if unit.starts_with("op") { "" } else { plural };
            let _ = write!(text, ", {n} {unit}{plural}");
        }
    }
    if let Some(layout) = &first.layout {
        let _ = write!(text, ", {layout}");
    }
    match first.segments {
        Some(segments @ 2..) => {
            let _ = write!(text, ", {segments} segments");
        }
        _ => {}
    }
    text
}

fn table(rows: &[Row], columns: &[Column]) -> String {
    let keys = KEYS
        .iter()
        .map(|&(column, _)| column)
        .filter(|&column| varies(rows, column));
    let filled = columns
        .iter()
        .copied()
        .filter(|c| rows.iter().any(|row| !c.1(row).is_empty()));
    let columns: Vec<_> = keys.chain(NAMES.iter().copied()).chain(filled).collect();
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(columns.iter().map(|column| column.0));
    for row in rows {
        table.add_row(columns.iter().map(|column| column.1(row)));
    }
    for (column, definition) in table.column_iter_mut().zip(&columns) {
        let words = matches!(definition.0, "contestant" | "route");
        column.set_cell_alignment(if words {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    table.trim_fmt()
}
