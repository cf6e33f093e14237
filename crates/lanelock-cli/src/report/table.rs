//! Aligned tables for people: one for each algorithm and operation.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use super::columns::Column;
use crate::machine::Machine;
use crate::row::{Common, Measured, Messages};

/// The machine, then the rows: `columns` after those that tell the rows apart.
pub fn render<R: Measured>(of: &Machine, rows: &[R], columns: &[Column<R>]) -> String {
    let mut text = machine(of);
    let key = |row: &R| {
        let Common {
            algorithm,
            operation,
            ..
        } = row.common();
        (algorithm.clone(), operation.clone())
    };
    for rows in rows.chunk_by(|a, b| key(a) == key(b)) {
        text.push_str(&section(rows, columns));
    }
    text
}

/// Rows of one algorithm and operation under a heading.
pub fn section<R: Measured>(rows: &[R], columns: &[Column<R>]) -> String {
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

/// Text in columns, those to the left for which `is_words` says so by their number, the others,
/// figures, to the right.
pub fn align<T: ToString>(
    titles: &[T],
    is_words: impl Fn(usize) -> bool,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(titles.iter().map(ToString::to_string));
    table.add_rows(rows);
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(match is_words(at) {
            true => CellAlignment::Left,
            false => CellAlignment::Right,
        });
    }
    table.trim_fmt()
}

/// Titles of columns with words.
const WORDS: [&str; 3] = ["contestant", "route", "result"];

/// What an option set for a row: a column where it varies, in the heading where it does not.
const SETTINGS: [Setting; 3] = [
    ("thread", "threads", "threads", |row| row.threads),
    ("session", "sessions", "sessions", |row| row.sessions),
    ("op per burst", "ops per burst", "burst", |row| row.burst),
];

/// One, many, the column's title, the value.
type Setting = (&'static str, &'static str, &'static str, fn(&Common) -> u64);

fn heading<R: Measured>(rows: &[R]) -> String {
    let first = rows[0].common();
    let mut text = format!("{} {}", first.algorithm, first.operation);
    for (one, many, _, count) in SETTINGS {
        if varies(rows, |row| count(row.common())) {
            continue;
        }
        // Writing to a string succeeds, here and below.
        let _ = match count(first) {
            0 => Ok(()), // the measurement has no such thing
            1 => write!(text, ", 1 {one}"),
            count => write!(text, ", {count} {many}"),
        };
    }
    let layout = |row: &R| row.messages().and_then(|messages| messages.layout.clone());
    if let Some(layout) = layout(&rows[0]).filter(|_| !varies(rows, layout)) {
        let _ = write!(text, ", {layout}");
    }
    if let Some(Messages {
        segments: segments @ 2..,
        ..
    }) = rows[0].messages()
    {
        let _ = write!(text, ", {segments} segments");
    }
    text
}

fn table<R: Measured>(rows: &[R], columns: &[Column<R>]) -> String {
    let mut titles = Vec::new();
    let mut cells = vec![Vec::new(); rows.len()];
    let mut add = |title, cell: &dyn Fn(&R) -> String| {
        titles.push(title);
        for (cells, row) in cells.iter_mut().zip(rows) {
            cells.push(cell(row));
        }
    };
    for (_, _, title, count) in SETTINGS {
        if varies(rows, |row| count(row.common())) {
            add(title, &|row| count(row.common()).to_string());
        }
    }
    if rows.iter().any(|row| row.common().size > 0) {
        add("size (B)", &size);
    }
    add("contestant", &|row| row.common().contestant.clone());
    for Column(title, cell) in columns {
        if rows.iter().any(|row| !cell(row).is_empty()) {
            add(title, cell);
        }
    }
    align(&titles, |at| WORDS.contains(&titles[at]), cells)
}

fn size(row: &impl Measured) -> String {
    let size = row.common().size;
    match row.messages() {
        Some(Messages { imix: Some(_), .. }) => format!("imix ~{size}"),
        _ if size == 0 => String::new(),
        _ => size.to_string(),
    }
}

fn varies<R, T: PartialEq>(rows: &[R], value: impl Fn(&R) -> T) -> bool {
    rows.windows(2)
        .any(|pair| value(&pair[0]) != value(&pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Latency;

    fn shown(bursts: [u64; 2], columns: &[Column<Latency>]) -> String {
        let rows = bursts.map(|burst| Latency {
            common: Common {
                algorithm: "aes-128-cbc".to_owned(),
                operation: "encrypt".to_owned(),
                contestant: "openssl".to_owned(),
                size: 64,
                burst,
                sessions: 1,
                threads: 2,
                ..Common::default()
            },
            ..Latency::default()
        });
        render(&Machine::default(), &rows, columns)
    }

    #[test]
    fn what_does_not_vary_is_in_the_heading() {
        let text = shown([32, 32], &[]);
        assert!(text.contains("aes-128-cbc encrypt, 2 threads, 1 session, 32 ops per burst\n"));
        assert!(!text.contains(" burst  "));
    }

    #[test]
    fn what_varies_is_a_column() {
        let text = shown([1, 32], &[]);
        assert!(text.contains("aes-128-cbc encrypt, 2 threads, 1 session\n"));
        assert!(text.contains(" burst  size (B)  contestant"), "{text}");
    }

    #[test]
    fn a_column_without_content_is_left_out() {
        let text = shown([1, 1], &[Column("ratio", |_| String::new())]);
        assert!(!text.contains("ratio"));
    }
}
