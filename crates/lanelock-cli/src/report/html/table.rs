//! Every figure of the report, folded away under the charts.

use std::fmt::Write;

use super::text::{escape, number};
use crate::row::Row;

/// A column: its title, whether it holds words, and what a row has in it.
struct Column(&'static str, bool, fn(&Row) -> String);

const COLUMNS: &[Column] = &[
    Column("algorithm", true, |row| row.algorithm.clone()),
    Column("operation", true, |row| row.operation.clone()),
    Column("contestant", true, |row| row.contestant.clone()),
    Column("route", true, |row| row.route.clone().unwrap_or_default()),
    Column("layout", true, |row| row.layout.clone().unwrap_or_default()),
    Column("mix", true, |row| row.imix.clone().unwrap_or_default()),
    Column("bytes", false, |row| row.size.to_string()),
    Column("threads", false, |row| row.threads.to_string()),
    Column("sessions", false, |row| row.sessions.to_string()),
    Column("burst", false, |row| row.burst.to_string()),
    Column("segments", false, |row| whole(row.segments)),
    Column("ops/s", false, |row| some(row.ops_per_s)),
    Column("Gbit/s", false, |row| some(row.gbit_per_s)),
    Column("ns/op", false, |row| some(row.ns_per_op)),
    Column("± %", false, |row| real(row.spread_percent)),
    Column("ratio", false, |row| real(row.ratio)),
    Column("reference", true, |row| {
        row.reference.clone().unwrap_or_default()
    }),
    Column("uplift %", false, |row| real(row.uplift_percent)),
    Column("cycles/op", false, |row| real(row.cycles_per_op)),
    Column("core cycles/op", false, |row| real(row.core_cycles_per_op)),
    Column("framework", false, |row| real(row.framework_cycles_per_op)),
    Column("engine", false, |row| real(row.engine_cycles_per_op)),
    Column("p50 ns", false, |row| whole(row.p50_ns)),
    Column("p90 ns", false, |row| whole(row.p90_ns)),
    Column("p99 ns", false, |row| whole(row.p99_ns)),
    Column("p99.9 ns", false, |row| whole(row.p99_9_ns)),
    Column("max ns", false, |row| whole(row.max_ns)),
    Column("connections", false, |row| whole(row.connections)),
    Column("server CPU ns", false, |row| real(row.server_cpu_ns_per_op)),
    Column("server busy %", false, |row| real(row.server_busy_percent)),
    Column("client busy %", false, |row| real(row.client_busy_percent)),
    Column("full handshakes", false, |row| whole(row.full_handshakes)),
    Column("bytes/session", false, |row| whole(row.bytes_per_session)),
    Column("bytes/context", false, |row| whole(row.bytes_per_context)),
    Column("grown/session", false, |row| whole(row.grown_per_session)),
    Column("grown/context", false, |row| whole(row.grown_per_context)),
    Column("peak bytes", false, |row| whole(row.peak_rss_bytes)),
    Column("right", true, |row| match row.passed {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => String::new(),
    }),
];

/// The rows as a table; columns that are empty throughout are left out.
pub(super) fn render(rows: &[Row]) -> String {
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|column| rows.iter().any(|row| !column.2(row).is_empty()))
        .collect();
    let mut html =
        "<details>\n<summary>All figures</summary>\n<div class=\"scroll\"><table>\n<tr>".to_owned();
    for column in &columns {
        let _ = write!(html, "<th{}>{}</th>", class(column), escape(column.0));
    }
    html.push_str("</tr>\n");
    for row in rows {
        html.push_str("<tr>");
        for column in &columns {
            let _ = write!(html, "<td{}>{}</td>", class(column), escape(&column.2(row)));
        }
        html.push_str("</tr>\n");
    }
    html + "</table></div>\n</details>\n"
}

fn class(column: &Column) -> &'static str {
    if column.1 { " class=\"word\"" } else { "" }
}

/// Nothing for 0: what was not measured.
fn some(value: f64) -> String {
    if value == 0.0 {
        String::new()
    } else {
        number(value)
    }
}

fn real(value: Option<f64>) -> String {
    value.map(number).unwrap_or_default()
}

fn whole(value: Option<u64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
