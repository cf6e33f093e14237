//! What a measurement reports: one row for each cell, under names that scripts rely on.
//! See [`crate::report::json::Schema`].

use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// Everything one command measured, with the machine it ran on.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report {
    /// Where it ran.
    pub machine: Machine,
    /// The command line that repeats it.
    pub command: String,
    /// One row for each cell.
    pub results: Vec<Row>,
}

/// One cell: a contestant doing one kind of work.
///
/// Fields after `ns_per_op` are present where they have a value. The HTML report and the CSV
/// writer use the same names.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Row {
    /// Name of the algorithm, `aes-128-cbc+hmac-sha1` say.
    pub algorithm: String,
    /// `encrypt`, `decrypt`, `compute` or `verify`.
    pub operation: String,
    /// An engine (`openssl`), a peer (`evp`) or a baseline (`clone-per-op`).
    pub contestant: String,
    /// Length of a message in bytes; for a mix of lengths their mean, rounded.
    pub size: u64,
    /// Operations handed over at a time.
    pub burst: u64,
    /// Keys in use, taken in turn.
    pub sessions: u64,
    /// Threads at work, each with a queue pair of its own.
    pub threads: u64,
    /// Operations per second, all threads together.
    pub ops_per_s: f64,
    /// 10^9 bits of message per second, all threads together.
    pub gbit_per_s: f64,
    /// Time that one thread spends on one operation, in nanoseconds.
    pub ns_per_op: f64,

    /// `perf pubkey`: operations handed over at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// `perf pubkey --rate` and `--load`: operations that arrived per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_ops_per_s: Option<u64>,
    /// The same in percent of what full batches do, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_percent: Option<u64>,
    /// Time of one full batch, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_ns: Option<u64>,
    /// When what had arrived was run: `single`, `deadline` or `adaptive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Lanes filled in the average batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes_filled: Option<f64>,
    /// `perf tls`: handshakes in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
    /// Handshakes that the client checked and the server counted as full, each with a private-key
    /// operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_handshakes: Option<u64>,
    /// Processor time that the server spends on one handshake, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpu_ns_per_op: Option<f64>,
    /// Share of the time in which the server was on its core, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_busy_percent: Option<f64>,
    /// Share of the time in which the clients were on theirs, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_busy_percent: Option<f64>,
    /// Handshakes whose private-key operation ran in a batch on lanes, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batched_percent: Option<f64>,
    /// Number of the server's core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_core: Option<u64>,
    /// The mix of lengths, as `length:weight,…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imix: Option<String>,
    /// `in-place` or `separate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// Pieces that each message is split into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<u64>,
    /// Messages in each thread's pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<u64>,
    /// Additional data of each message, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aad: Option<u64>,
    /// Which of several ways through its library a peer took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// `ops_per_s` divided by that of the reference in the same cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The contestant that `ratio` compares with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// `perf uplift`: by how much the engine is faster than this baseline, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplift_percent: Option<f64>,
    /// Spread of the rounds: half the distance between the quartiles, in percent of the median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_percent: Option<f64>,

    /// `perf cycles`: ticks of the time-stamp counter that one thread spends on one operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles_per_op: Option<f64>,
    /// The same in cycles of the core at the frequency it was seen to run at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_cycles_per_op: Option<f64>,
    /// The part of `cycles_per_op` that the `null` engine needs too: building the operation,
    /// validation, grouping, reading the status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framework_cycles_per_op: Option<f64>,
    /// The rest of `cycles_per_op`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine_cycles_per_op: Option<f64>,

    /// `perf latency`: from handing an operation over to knowing its status, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// 90 of 100 operations take at most this long, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90_ns: Option<u64>,
    /// 99 of 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// 999 of 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_9_ns: Option<u64>,
    /// The slowest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
    /// Points of the latency curve: share of operations in percent, nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_curve: Option<Vec<(f64, u64)>>,

    /// `perf memory`: bytes that a session holds, as the engine counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_session: Option<u64>,
    /// More for each queue pair that has used it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_context: Option<u64>,
    /// By how much the process grew for each session, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown_per_session: Option<u64>,
    /// By how much it grew for each context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown_per_context: Option<u64>,
    /// Most memory that the process ever held, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,

    /// `perf verify`: whether every answer was right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
}
