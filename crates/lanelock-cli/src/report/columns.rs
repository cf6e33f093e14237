//! What the tables of each measurement show of a row.

use crate::figures::{digits, mebibytes, microseconds};
use crate::row::{
    Comparison, Cycles, Handshakes, KeyBatch, KeyLoad, Latency, Measured, Memory, Throughput,
    Verdict,
};

/// A column: its title, and what a row has in it. A column in which no row has anything is left
/// out of a table.
pub struct Column<R>(pub &'static str, pub fn(&R) -> String);

/// Columns of `perf throughput`.
pub const THROUGHPUT: &[Column<Throughput>] = &[
    Column("M ops/s", millions),
    Column("Gbit/s", |row| digits(row.common.gbit_per_s)),
    Column("ns/op", |row| digits(row.common.ns_per_op)),
    Column("±%", |row| spread(row.spread_percent)),
    Column("ratio", |row| ratio(&row.comparison)),
    Column("route", |row| row.route.clone().unwrap_or_default()),
];

/// Columns of `perf copy`.
pub const COPY: &[Column<Throughput>] = &[
    Column("messages", |row| row.messages.pool.to_string()),
    Column("M ops/s", millions),
    Column("Gbit/s", |row| digits(row.common.gbit_per_s)),
    Column("ns/op", |row| digits(row.common.ns_per_op)),
    Column("±%", |row| spread(row.spread_percent)),
    Column("ratio", |row| ratio(&row.comparison)),
];

/// Columns of `perf pubkey`.
pub const PUBKEY: &[Column<KeyBatch>] = &[
    Column("ops/s", |row| format!("{:.0}", row.common.ops_per_s)),
    Column("µs/op", |row| digits(row.common.ns_per_op / 1e3)),
    Column("±%", |row| spread(row.spread_percent)),
    Column("ratio", |row| ratio(&row.comparison)),
];

/// Columns of `perf pubkey --rate`.
pub const PUBKEY_LATENCY: &[Column<KeyLoad>] = &[
    Column("policy", |row| row.policy.clone()),
    Column("load %", |row| some(row.load_percent, |n| n.to_string())),
    Column("offered/s", |row| row.offered_ops_per_s.to_string()),
    Column("done/s", |row| format!("{:.0}", row.common.ops_per_s)),
    Column("p50 µs", |row| microseconds(row.percentiles.p50_ns)),
    Column("p99 µs", |row| microseconds(row.percentiles.p99_ns)),
    Column("p99.9 µs", |row| microseconds(row.percentiles.p99_9_ns)),
    Column("max µs", |row| microseconds(row.percentiles.max_ns)),
    Column("p99 in batches", batches),
    Column("lanes filled", |row| some(row.lanes_filled, digits)),
];

/// Columns of `perf tls`.
pub const TLS: &[Column<Handshakes>] = &[
    Column("connections", |row| row.connections.to_string()),
    Column("handshakes/s", |row| format!("{:.0}", row.common.ops_per_s)),
    Column("±%", |row| spread(row.spread_percent)),
    Column("ratio", |row| ratio(&row.comparison)),
    Column("server CPU µs", |row| {
        some(row.server_cpu_ns_per_op, |ns| digits(ns / 1e3))
    }),
    Column("p50 µs", |row| microseconds(row.percentiles.p50_ns)),
    Column("p99 µs", |row| microseconds(row.percentiles.p99_ns)),
    Column("lanes filled", |row| some(row.lanes_filled, digits)),
    Column("batched %", |row| some(row.batched_percent, digits)),
    Column("full", |row| row.full_handshakes.to_string()),
    Column("server busy %", |row| some(row.server_busy_percent, digits)),
    Column("client busy %", |row| digits(row.client_busy_percent)),
];

/// Columns of `perf cycles`.
pub const CYCLES: &[Column<Cycles>] = &[
    Column("ns/op", |row| digits(row.common().ns_per_op)),
    Column("cycles/op", |row| digits(row.cycles_per_op)),
    Column("framework", |row| {
        some(row.shares, |of| digits(of.framework_cycles_per_op))
    }),
    Column("engine", |row| {
        some(row.shares, |of| digits(of.engine_cycles_per_op))
    }),
    Column("core cycles/op", |row| digits(row.core_cycles_per_op)),
    Column("per byte", per_byte),
];

/// Columns of `perf latency`.
pub const LATENCY: &[Column<Latency>] = &[
    Column("M ops/s", millions),
    Column("p50 µs", |row| microseconds(row.percentiles.p50_ns)),
    Column("p90 µs", |row| microseconds(row.percentiles.p90_ns)),
    Column("p99 µs", |row| microseconds(row.percentiles.p99_ns)),
    Column("p99.9 µs", |row| microseconds(row.percentiles.p99_9_ns)),
    Column("max µs", |row| microseconds(row.percentiles.max_ns)),
];

/// Columns of `perf memory`.
pub const MEMORY: &[Column<Memory>] = &[
    Column("B/session", |row| row.bytes_per_session.to_string()),
    Column("grown", |row| {
        some(row.grown_per_session, |n| n.to_string())
    }),
    Column("B/context", |row| row.bytes_per_context.to_string()),
    Column("grown", |row| {
        some(row.grown_per_context, |n| n.to_string())
    }),
    Column("peak MiB", |row| mebibytes(row.peak_rss_bytes)),
];

/// Columns of `perf verify`.
pub const VERIFY: &[Column<Verdict>] = &[Column("result", |row| {
    if row.passed { "pass" } else { "FAIL" }.to_owned()
})];

fn millions(row: &impl Measured) -> String {
    digits(row.common().ops_per_s / 1e6)
}

fn some<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map(show).unwrap_or_default()
}

fn ratio(comparison: &Option<Comparison>) -> String {
    some(comparison.as_ref(), |comparison| digits(comparison.ratio))
}

fn spread(percent: f64) -> String {
    format!("{percent:.1}")
}

/// The 99th percentile in times of a full batch.
#[expect(clippy::cast_precision_loss, reason = "below an hour")]
fn batches(row: &KeyLoad) -> String {
    some(row.batch_ns, |batch| {
        digits(row.percentiles.p99_ns as f64 / batch as f64)
    })
}

#[expect(clippy::cast_precision_loss, reason = "lengths are below 2^21")]
fn per_byte(row: &Cycles) -> String {
    digits(row.core_cycles_per_op / row.common().size as f64)
}
