//! What the tables of each measurement show of a row.

use crate::row::Row;

/// A column: its title, and what a row has in it. A column in which no row has anything is left
/// out of a table.
#[derive(Clone, Copy)]
pub struct Column(pub &'static str, pub fn(&Row) -> String);

/// Columns of `perf throughput`.
pub const THROUGHPUT: &[Column] = &[
    Column("M ops/s", |row| digits(row.ops_per_s / 1e6)),
    Column("Gbit/s", |row| digits(row.gbit_per_s)),
    Column("ns/op", |row| digits(row.ns_per_op)),
    Column("±%", spread),
    Column("ratio", |row| optional(row.ratio, digits)),
    Column("route", |row| row.route.clone().unwrap_or_default()),
];

/// Columns of `perf pubkey`.
pub const PUBKEY: &[Column] = &[
    Column("ops/s", |row| format!("{:.0}", row.ops_per_s)),
    Column("µs/op", |row| digits(row.ns_per_op / 1e3)),
    Column("±%", spread),
    Column("ratio", |row| optional(row.ratio, digits)),
];

/// Columns of `perf pubkey --rate`.
pub const PUBKEY_LATENCY: &[Column] = &[
    Column("policy", |row| row.policy.clone().unwrap_or_default()),
    Column("load %", |row| {
        optional(row.load_percent, |n| n.to_string())
    }),
    Column("offered/s", |row| {
        optional(row.offered_ops_per_s, |n| n.to_string())
    }),
    Column("done/s", |row| format!("{:.0}", row.ops_per_s)),
    Column("p50 µs", |row| microseconds(row.p50_ns)),
    Column("p99 µs", |row| microseconds(row.p99_ns)),
    Column("p99.9 µs", |row| microseconds(row.p99_9_ns)),
    Column("max µs", |row| microseconds(row.max_ns)),
    Column("p99 in batches", batches),
    Column("lanes filled", |row| optional(row.lanes_filled, digits)),
];

/// Columns of `perf tls`.
pub const TLS: &[Column] = &[
    Column("connections", |row| {
        optional(row.connections, |n| n.to_string())
    }),
    Column("handshakes/s", |row| format!("{:.0}", row.ops_per_s)),
    Column("±%", spread),
    Column("ratio", |row| optional(row.ratio, digits)),
    Column("server CPU µs", |row| {
        optional(row.server_cpu_ns_per_op, |ns| digits(ns / 1e3))
    }),
    Column("p50 µs", |row| microseconds(row.p50_ns)),
    Column("p99 µs", |row| microseconds(row.p99_ns)),
    Column("lanes filled", |row| optional(row.lanes_filled, digits)),
    Column("batched %", |row| optional(row.batched_percent, digits)),
    Column("full", |row| {
        optional(row.full_handshakes, |n| n.to_string())
    }),
    Column("server busy %", |row| {
        optional(row.server_busy_percent, digits)
    }),
    Column("client busy %", |row| {
        optional(row.client_busy_percent, digits)
    }),
];

/// Columns of `perf copy`.
pub const COPY: &[Column] = &[
    Column("messages", |row| optional(row.pool, |n| n.to_string())),
    Column("M ops/s", |row| digits(row.ops_per_s / 1e6)),
    Column("Gbit/s", |row| digits(row.gbit_per_s)),
    Column("ns/op", |row| digits(row.ns_per_op)),
    Column("±%", spread),
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

/// Columns of `perf latency`.
pub const LATENCY: &[Column] = &[
    Column("M ops/s", |row| digits(row.ops_per_s / 1e6)),
    Column("p50 µs", |row| microseconds(row.p50_ns)),
    Column("p90 µs", |row| microseconds(row.p90_ns)),
    Column("p99 µs", |row| microseconds(row.p99_ns)),
    Column("p99.9 µs", |row| microseconds(row.p99_9_ns)),
    Column("max µs", |row| microseconds(row.max_ns)),
];

/// Columns of `perf memory`.
pub const MEMORY: &[Column] = &[
    Column("B/session", |row| bytes(row.bytes_per_session)),
    Column("grown", |row| bytes(row.grown_per_session)),
    Column("B/context", |row| bytes(row.bytes_per_context)),
    Column("grown", |row| bytes(row.grown_per_context)),
    Column("peak MiB", |row| optional(row.peak_rss_bytes, mebibytes)),
];

/// Columns of `perf verify`.
pub const VERIFY: &[Column] = &[Column("result", |row| {
    optional(row.passed, |passed| {
        if passed { "pass" } else { "FAIL" }.to_owned()
    })
})];

/// Three or four digits that matter.
fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.1 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

fn optional<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map(show).unwrap_or_default()
}

fn bytes(count: Option<u64>) -> String {
    optional(count, |count| count.to_string())
}

fn spread(row: &Row) -> String {
    optional(row.spread_percent, |percent| format!("{percent:.1}"))
}

fn microseconds(nanoseconds: Option<u64>) -> String {
    optional(nanoseconds, |ns| {
        format!("{}.{:02}", ns / 1000, ns % 1000 / 10)
    })
}

/// The 99th percentile in times of a full batch.
#[expect(clippy::cast_precision_loss, reason = "below an hour")]
fn batches(row: &Row) -> String {
    let ratio = |p99: u64| Some(p99 as f64 / row.batch_ns? as f64);
    optional(row.p99_ns.and_then(ratio), digits)
}

fn mebibytes(bytes: u64) -> String {
    let tenths = bytes * 10 / (1 << 20);
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[expect(clippy::cast_precision_loss, reason = "lengths are below 2^21")]
fn per_byte(row: &Row) -> String {
    optional(row.core_cycles_per_op, |cycles| {
        digits(cycles / row.size as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_the_digits_that_matter() {
        let shown = [1234.4, 99.97, 12.34, 1.234, 0.0123, 0.0].map(digits);
        assert_eq!(shown, ["1234", "100", "12.3", "1.23", "0.0123", "0.00"]);
        assert_eq!(microseconds(Some(12_345)), "12.34");
        assert_eq!(mebibytes(3 << 19), "1.5");
    }
}
