//! What measurements report: a type of row for each kind, under names that scripts rely on. See
//! [`crate::report::json::Schema`].
//!
//! JSON, CSV and the page's table take names and order of the fields from here.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::machine::Machine;

/// Everything one command measured, with the machine it ran on.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where it ran.
    pub machine: Machine,
    /// The command line that repeats it.
    pub command: String,
    /// One row for each contestant in each cell.
    pub results: Vec<Row>,
}

/// A row of any kind.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Row {
    /// `perf throughput`, `perf uplift` and `perf copy`.
    Throughput(Throughput),
    /// `perf cycles`.
    Cycles(Cycles),
    /// `perf latency`.
    Latency(Latency),
    /// `perf memory`.
    Memory(Memory),
    /// `perf verify`.
    Verdict(Verdict),
    /// `perf pubkey`.
    KeyBatch(KeyBatch),
    /// `perf pubkey --rate` and `--load`.
    KeyLoad(KeyLoad),
    /// `perf tls`.
    Handshakes(Handshakes),
}

/// A row of one kind.
pub trait Measured: Into<Row> {
    /// What every row has.
    fn common(&self) -> &Common;

    /// What messages were like, where there were any.
    fn messages(&self) -> Option<&Messages> {
        None
    }
}

/// What every row has: who did what how fast. Speeds are 0 where they are not measured.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Common {
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
}

/// What the messages of a cell are like.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Messages {
    /// The mix of lengths, as `length:weight,…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imix: Option<String>,
    /// `in-place` or `separate`; none where there is no output but a tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    /// Pieces that each message is split into.
    pub segments: u64,
    /// Messages in each thread's pool.
    pub pool: u64,
    /// Additional data of each message, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aad: Option<u64>,
}

/// How a row compares with another of its cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// `ops_per_s` divided by that of the reference in the same cell.
    pub ratio: f64,
    /// The contestant that `ratio` compares with.
    pub reference: String,
}

/// How long operations took, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// Half of the operations take at most this long.
    pub p50_ns: u64,
    /// 90 of 100.
    pub p90_ns: u64,
    /// 99 of 100.
    pub p99_ns: u64,
    /// 999 of 1000.
    pub p99_9_ns: u64,
    /// The slowest.
    pub max_ns: u64,
    /// Points of the curve: share of operations in percent, nanoseconds.
    pub latency_curve: Vec<(f64, u64)>,
}

/// How much was done in how much time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Throughput {
    #[serde(flatten)]
    pub common: Common,
    #[serde(flatten)]
    pub messages: Messages,
    /// Which of several ways through its library a peer took; none for engines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    #[serde(flatten)]
    pub comparison: Option<Comparison>,
    /// `perf uplift`: by how much the engine is faster than this baseline, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplift_percent: Option<f64>,
    /// Spread of the rounds: half the distance between the quartiles, in percent of the median.
    pub spread_percent: f64,
}

/// Where the cycles of an operation go.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cycles {
    #[serde(flatten)]
    pub throughput: Throughput,
    /// Ticks of the time-stamp counter that one thread spends on one operation.
    pub cycles_per_op: f64,
    /// The same in cycles of the core at the frequency it was seen to run at.
    pub core_cycles_per_op: f64,
    /// None for a peer, which does without the framework.
    #[serde(flatten)]
    pub shares: Option<Shares>,
}

/// The two parts of `cycles_per_op`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// What the `null` engine needs too: building the operation, validation, grouping, reading the
    /// status.
    pub framework_cycles_per_op: f64,
    /// The rest.
    pub engine_cycles_per_op: f64,
}

/// How long operations take, from handing one over to knowing its status.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Latency {
    #[serde(flatten)]
    pub common: Common,
    #[serde(flatten)]
    pub messages: Messages,
    #[serde(flatten)]
    pub percentiles: Percentiles,
}

/// What sessions and contexts take, in bytes.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Memory {
    #[serde(flatten)]
    pub common: Common,
    #[serde(flatten)]
    pub messages: Messages,
    /// What a session holds, as the engine counts it.
    pub bytes_per_session: u64,
    /// More for each queue pair that has used it.
    pub bytes_per_context: u64,
    /// By how much the process grew for each session, where there are enough to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grown_per_session: Option<u64>,
    /// By how much it grew for each context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grown_per_context: Option<u64>,
    /// Most memory that the process ever held.
    pub peak_rss_bytes: u64,
}

/// Whether a contestant's answers are right.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    #[serde(flatten)]
    pub common: Common,
    /// Whether every answer was right.
    pub passed: bool,
    /// What was not, in words.
    #[serde(skip)]
    pub wrong: Vec<String>,
}

/// Public-key operations in batches.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KeyBatch {
    #[serde(flatten)]
    pub common: Common,
    /// Operations handed over at a time.
    pub batch: u64,
    #[serde(flatten)]
    pub comparison: Option<Comparison>,
    /// As in [`Throughput`].
    pub spread_percent: f64,
}

/// Public-key operations that arrive by themselves.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KeyLoad {
    #[serde(flatten)]
    pub common: Common,
    /// Operations that arrived per second.
    pub offered_ops_per_s: u64,
    /// The same in percent of what full batches do, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_percent: Option<u64>,
    /// Time of one full batch, in nanoseconds, if a contestant has lanes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_ns: Option<u64>,
    /// When what had arrived was run: `single`, `deadline` or `adaptive`.
    pub policy: String,
    /// Lanes filled in the average batch, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes_filled: Option<f64>,
    #[serde(flatten)]
    pub percentiles: Percentiles,
}

/// Handshakes of a TLS server.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Handshakes {
    #[serde(flatten)]
    pub common: Common,
    /// Lanes filled in the average batch, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes_filled: Option<f64>,
    /// Handshakes in flight.
    pub connections: u64,
    /// Handshakes that the client checked and the server counted as full, each with a private-key
    /// operation.
    pub full_handshakes: u64,
    /// Processor time that the server spends on one handshake, in nanoseconds, if its process is
    /// known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpu_ns_per_op: Option<f64>,
    /// Share of the time in which the server was on its core, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_busy_percent: Option<f64>,
    /// Share of the time in which the clients were on theirs, in percent.
    pub client_busy_percent: f64,
    /// Handshakes whose private-key operation ran in a batch on lanes, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batched_percent: Option<f64>,
    /// Number of the server's core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_core: Option<u64>,
    #[serde(flatten)]
    pub comparison: Option<Comparison>,
    /// As in [`Throughput`].
    pub spread_percent: f64,
    #[serde(flatten)]
    pub percentiles: Percentiles,
}

macro_rules! measured {
    ($($kind:ident: $($common:ident).+ $(, $($messages:ident).+)?;)*) => {
        $(
            impl Measured for $kind {
                fn common(&self) -> &Common {
                    &self.$($common).+
                }
                $(fn messages(&self) -> Option<&Messages> {
                    Some(&self.$($messages).+)
                })?
            }

            impl From<$kind> for Row {
                fn from(row: $kind) -> Self {
                    Self::$kind(row)
                }
            }
        )*

        impl Row {
            /// What every row has.
            pub fn common(&self) -> &Common {
                match self {
                    $(Self::$kind(row) => row.common(),)*
                }
            }
        }
    };
}

measured! {
    Throughput: common, messages;
    Cycles: throughput.common, throughput.messages;
    Latency: common, messages;
    Memory: common, messages;
    Verdict: common;
    KeyBatch: common;
    KeyLoad: common;
    Handshakes: common;
}

impl Row {
    /// Fields by name, in the order of their declaration; lists, which have no place in a table,
    /// are left out.
    pub fn fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(mut fields)) => {
                fields.retain(|_, value| !value.is_array());
                fields
            }
            _ => Map::new(),
        }
    }
}

/// The names of the rows' fields, each once, in the order of their first appearance.
pub fn names(rows: &[Map<String, Value>]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(Map::keys) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}
