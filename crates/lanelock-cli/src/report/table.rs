//! Aligned tables for people: one for each algorithm and operation.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use super::columns::Column;
use crate::machine::Machine;
use crate::row::{Report, Row};

/// The machine, then the rows: `columns` behind those that tell the rows apart.
pub fn render(report: &Report, columns: &[Column]) -> String {
    let mut text = machine(&report.machine);
    let same = |a: &Row, b: &Row| (&a.algorithm, &a.operation) == (&b.algorithm, &b.operation);
    for rows in report.results.chunk_by(same) {
        text.push_str(&section(rows, columns));
    }
    text
}

/// Rows of one algorithm and operation under a heading.
pub fn section(rows: &[Row], columns: &[Column]) -> String {
    format!("\n{}\n{}\n", heading(rows), table(rows, columns))
}

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

/// Text in columns: words to the left, figures to the right.
pub fn align(titles: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(titles);
    table.add_rows(rows);
    for (column, title) in table.column_iter_mut().zip(titles) {
        column.set_cell_alignment(if WORDS.contains(title) {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    table.trim_fmt()
}

/// Titles of columns with words.
const WORDS: [&str; 3] = ["contestant", "route", "result"];

/// What an option set for a row: a column where it varies, in the heading where it does not.
struct Setting {
    column: Column,
    one: &'static str,
    many: &'static str,
}

const SETTINGS: [Setting; 3] = [
    Setting {
        column: Column("threads", |row| row.threads.to_string()),
        one: "thread",
        many: "threads",
    },
    Setting {
        column: Column("sessions", |row| row.sessions.to_string()),
        one: "session",
        many: "sessions",
    },
    Setting {
        column: Column("burst", |row| row.burst.to_string()),
        one: "op per burst",
        many: "ops per burst",
    },
];

const NAMES: [Column; 2] = [
    Column("size (B)", |row| match row.imix {
        Some(_) => format!("imix ~{}", row.size),
        None if row.size == 0 => String::new(),
        None => row.size.to_string(),
    }),
    Column("contestant", |row| row.contestant.clone()),
];

const LAYOUT: Column = Column("layout", |row| row.layout.clone().unwrap_or_default());

fn heading(rows: &[Row]) -> String {
    let first = &rows[0];
    let mut text = format!("{} {}", first.algorithm, first.operation);
    let settings = SETTINGS
        .iter()
        .filter(|setting| !varies(rows, setting.column));
    for Setting { column, one, many } in settings {
        let count = column.1(first);
        if count == "0" {
            continue; // the measurement has no such thing
        }
        let unit = if count == "1" { one } else { many };
        // Writing to a string succeeds, here and below.
        let _ = write!(text, ", {count} {unit}");
    }
    if let Some(layout) = first.layout.as_ref().filter(|_| !varies(rows, LAYOUT)) {
        let _ = write!(text, ", {layout}");
    }
    if let Some(segments @ 2..) = first.segments {
        let _ = write!(text, ", {segments} segments");
    }
    text
}

fn table(rows: &[Row], columns: &[Column]) -> String {
    let settings = SETTINGS.iter().map(|setting| setting.column);
    let settings = settings.filter(|&column| varies(rows, column));
    let filled = NAMES.iter().chain(columns).copied();
    let filled = filled.filter(|column| rows.iter().any(|row| !column.1(row).is_empty()));
    let columns: Vec<_> = settings.chain(filled).collect();
    let titles: Vec<_> = columns.iter().map(|column| column.0).collect();
    let cells = |row| columns.iter().map(|column| column.1(row)).collect();
    align(&titles, rows.iter().map(cells).collect())
}

fn varies(rows: &[Row], column: Column) -> bool {
    rows.windows(2)
        .any(|pair| column.1(&pair[0]) != column.1(&pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(bursts: [u64; 2]) -> Report {
        let row = |burst| Row {
            algorithm: "aes-128-cbc".to_owned(),
            operation: "encrypt".to_owned(),
            contestant: "openssl".to_owned(),
            size: 64,
            burst,
            sessions: 1,
            threads: 2,
            ..Row::default()
        };
        Report {
            machine: Machine::default(),
            command: String::new(),
            results: bursts.map(row).to_vec(),
        }
    }

    #[test]
    fn what_does_not_vary_is_in_the_heading() {
        let text = render(&report([32, 32]), &[]);
        assert!(text.contains("aes-128-cbc encrypt, 2 threads, 1 session, 32 ops per burst\n"));
        assert!(!text.contains(" burst  "));
    }

    #[test]
    fn what_varies_is_a_column() {
        let text = render(&report([1, 32]), &[]);
        assert!(text.contains("aes-128-cbc encrypt, 2 threads, 1 session\n"));
        assert!(text.contains(" burst  size (B)  contestant"), "{text}");
    }

    #[test]
    fn a_column_without_content_is_left_out() {
        let text = render(&report([1, 1]), &[Column("ratio", |_| String::new())]);
        assert!(!text.contains("ratio"));
    }
}
