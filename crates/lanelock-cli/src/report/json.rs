//! JSON: one object with the machine and a row for each cell.

use crate::row::Report;

/// The report, ending in a newline.
pub fn render(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("plain data, string keys");
    text.push('\n');
    text
}
