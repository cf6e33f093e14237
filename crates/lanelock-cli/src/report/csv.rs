//! CSV: a header, then a line for each row, under the names that JSON uses.
//!
//! The first ten columns are always the same. Others follow if any row has them.

use serde_json::Value;

use crate::row::{self, Report, Row};

/// The report's rows.
pub fn render(report: &Report) -> String {
    let rows: Vec<_> = report.results.iter().map(Row::fields).collect();
    let names = row::names(&rows);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |line: Vec<String>| {
        let written = writer.write_record(line);
        written.expect("a vector takes every line of the same length");
    };
    write(names.iter().map(|&name| name.to_owned()).collect());
    for row in &rows {
        write(names.iter().map(|&name| text(row.get(name))).collect());
    }
    let bytes = writer.into_inner().expect("a vector is never full");
    String::from_utf8(bytes).expect("made of strings")
}

fn text(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
