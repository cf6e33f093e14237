//! What public-key queues do, for whoever looks from outside: counters and histograms in a page
//! of shared memory that `lanelock stats` reads while the process runs, and USDT probes.
//!
//! # The page
//!
//! A process has one, made by its first operation, or by the OpenSSL provider when it is switched off or
//! cannot run an operation in lanes: a memory file (`memfd_create(2)`) called
//! [`PAGE_NAME`], mapped shared and sealed against a change of its size. It touches no disk, and
//! goes with the process; a reader finds it in `/proc/PID/fd`. A forked child makes a page of its
//! own. The environment variable [`SWITCH`] set to `off` leaves it out.
//!
//! A queue has a block of the page for each algorithm that it has been given. The block has one
//! writer, the thread that uses the queue, which adds with plain loads and stores: no locked
//! instruction, and no cache line that two threads write. When the queue goes, its counts are
//! added to those of the queues that went before. Time is counted in nanoseconds, in histograms
//! whose buckets are at most 1/16 wide.
//!
//! Cost: two readings of the clock for each batch, and some additions for each operation; the example
//! `cost` measures it, and `lanelock perf pubkey --uncounted` beside real work.
//!
//! # The probes
//!
//! Provider `lanelock`, in every program and module that links this crate (`readelf -n`,
//! `bpftrace -l 'usdt:FILE:lanelock:*'`). A probe that nobody uses is a `nop`. All arguments are
//! 64 bits wide; `algorithm` points to a name that ends with a zero, such as `rsa-2048-sign`, and
//! is valid during the probe. Nanoseconds are 0 in a process without a page.
//!
//! | probe | arguments |
//! |---|---|
//! | `submit` | operation, algorithm |
//! | `batch_start` | batch, algorithm (of its first operation), operations in it |
//! | `batch_end` | batch, operations in it, nanoseconds |
//! | `complete` | operation, nanoseconds waited in the queue, outcome: 1 success, 0 failure, 2 cancelled before it ran |
//!
//! Operations and batches have numbers that no other of the process has. All four probes of an
//! operation fire on the thread that uses the queue; between `submit` and `complete` of one
//! operation there may be any number of other operations, and exactly one batch.
//!
//! A fifth, `inactive`, fires once in a process whose OpenSSL provider runs nothing in lanes: number of
//! the reason, and the reason in words ([`Inactive`]).

#![deny(unsafe_code)]

mod histogram;
mod inactive;
mod layout;
mod memory;
pub mod module;
mod observer;
mod page;
mod probes;
pub mod reader;
mod sender;

pub use histogram::Histogram;
pub use inactive::Inactive;
pub use observer::observer;

/// Name of the memory file, as `/proc/PID/fd` shows it.
pub const PAGE_NAME: &str = "lanelock-stats";

/// The environment variable that leaves the page out if it is `off`. Neither variable is read in a
/// privileged program ([`lanelock_core::environment`]).
pub const SWITCH: &str = "LANELOCK_STATS";

/// The environment variable with the name of an abstract Unix datagram socket, a slash and a token.
/// Each process sends it the token and the descriptor of its page, read-only, so that whoever listens
/// can read it after the process has ended. It hears the processes that it has started, and no other.
pub const SOCKET: &str = "LANELOCK_STATS_SOCKET";
