//! CSV: a header, then a line for each row, under the names that JSON uses.
//!
//! The first ten columns are always the same. Others follow if any row has them.

use serde_json::{Map, Value};

use crate::row::Report;

/// The report's rows.
pub fn render(report: &Report) -> String {
    let rows: Vec<_> = report.results.iter().map(fields).collect();
    let mut columns: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(Map::keys) {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let lines = rows
        .iter()
        .map(|row| columns.iter().map(|&name| text(row.get(name))).collect());
    let header = columns.iter().map(|&name| name.to_owned()).collect();
    for line in std::iter::once(header).chain(lines) {
        let line: Vec<String> = line;
        writer
            .write_record(line)
            .expect("a vector takes every line of the same length");
    }
    let bytes = writer.into_inner().expect("a vector is never full");
    String::from_utf8(bytes).expect("made of strings")
}

/// A row's fields; lists, which have no place in a cell, are left out.
fn fields(row: &crate::row::Row) -> Map<String, Value> {
    match serde_json::to_value(row) {
        Ok(Value::Object(mut fields)) => {
            fields.retain(|_, value| !value.is_array());
            fields
        }
        _ => Map::new(),
    }
}

fn text(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
