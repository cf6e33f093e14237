//! Aligned tables for people: one for each algorithm and operation.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};

use crate::machine::Machine;
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
    Column("ratio", |row| optional(row.ratio, digits)),
    Column("route", |row| row.route.clone().unwrap_or_default()),
];

/// Columns of `perf copy`.
pub const COPY: &[Column] = &[
    Column("messages", |row| optional(row.pool, |n| n.to_string())),
    Column("M ops/s", |row| digits(row.ops_per_s / 1e6)),
    Column("Gbit/s", |row| digits(row.gbit_per_s)),
    Column("ns/op", |row| digits(row.ns_per_op)),
    Column("±%", |row| {
        optional(row.spread_percent, |s| format!("{s:.1}"))
    }),
    Column("ratio", |row| optional(row.ratio, digits)),
];

/// Columns of `perf cycles`.
pub const CYCLES: &[Column] = &[
    Column("ns/op", |row| digits(row.ns_per_op)),
    Column("cycles/op", |row| optional(row.cycles_per_op, digits)),
    Column("framework", |row| {
        optional(row.framework_cycles_per_op, digits)
    }),
    Column("engine", |row| optional(row.engine_cycles_per_op, digits)),
    Column("core cycles/op", |row| {
        optional(row.core_cycles_per_op, digits)
    }),
    Column("per byte", per_byte),
];

/// Columns of `perf latency`, in microseconds.
pub const LATENCY: &[Column] = &[
    Column("M ops/s", |row| digits(row.ops_per_s / 1e6)),
    Column("p50 µs", |row| microseconds(row.p50_ns)),
    Column("p90 µs", |row| microseconds(row.p90_ns)),
    Column("p99 µs", |row| microseconds(row.p99_ns)),
    Column("p99.9 µs", |row| microseconds(row.p99_9_ns)),
    Column("max µs", |row| microseconds(row.max_ns)),
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

/// The machine in two lines.
pub fn machine(machine: &Machine) -> String {
    let Machine {
        cpu,
        cores,
        openssl,
        os,
        kernel,
        ..
    } = machine;
    format!("{cpu}, {cores} cores, {openssl}\n{os}, Linux {kernel}\n")
}

/// The machine, then the rows: `columns` beside those that name them.
pub fn render(report: &Report, columns: &[Column]) -> String {
    let mut text = machine(&report.machine);
    let same = |a: &Row, b: &Row| (&a.algorithm, &a.operation) == (&b.algorithm, &b.operation);
    for rows in report.results.chunk_by(same) {
        // Writing to a string succeeds.
        let _ = write!(text, "\n{}\n{}\n", heading(rows), table(rows, columns));
    }
    text
}

/// Text in columns, words to the left and all else to the right.
pub fn align(titles: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(titles);
    table.add_rows(rows);
    for (column, &title) in table.column_iter_mut().zip(titles) {
        column.set_cell_alignment(if WORDS.contains(&title) {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    table.trim_fmt()
}

/// Titles of columns with words.
const WORDS: [&str; 3] = ["contestant", "route", "result"];

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

fn microseconds(nanoseconds: Option<u64>) -> String {
    optional(nanoseconds, |ns| {
        format!("{}.{:02}", ns / 1000, ns % 1000 / 10)
    })
}

#[expect(clippy::cast_precision_loss, reason = "below 2^20")]
fn per_byte(row: &Row) -> String {
    optional(row.core_cycles_per_op, |cycles| {
        digits(cycles / row.size as f64)
    })
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
    let titles: Vec<_> = columns.iter().map(|column| column.0).collect();
    let cells = |row| columns.iter().map(|column| column.1(row)).collect();
    align(&titles, rows.iter().map(cells).collect())
}
