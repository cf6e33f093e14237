//! What the tests and fuzz targets of all crates share: engines for tests, and independent models to
//! hold the core against. Random numbers are `fastrand`'s, from a seed that the test names.
//!
//! [`ToyEngine`] offers every algorithm with arithmetic that a few lines repeat on flat slices
//! ([`math`]), reads every byte that an operation entitles it to and writes every byte that it may
//! write. [`Probe`] hands each batch or valid operation to a closure, [`KeyLanes`] each of public keys to a
//! function. [`check_operation`], [`check_cursor`] and [`check_segments`] turn arbitrary bytes into a
//! case and panic if the core disagrees with the model: proptest and cargo-fuzz both drive them.
//! [`message`] describes one operation and its result; `lanelock-conformance` uses it with a
//! reference of its own.
//! [`allocations`] is for tests that nothing is allocated, [`freed`] for tests that no key is left in freed memory,
//! with an engine that leaves some in [`stale`], [`stack`] for those that none is left on the stack, [`in_child`] for
//! those of processes that fork, [`copy_program`] and [`write_script`] for those that start what they wrote,
//! [`provider_module`] for tests that load the OpenSSL provider as programs do.

pub mod allocations;
mod bytes;
mod child;
mod cursor;
mod engine;
pub mod freed;
mod guard;
mod key_lanes;
pub mod math;
mod menu;
pub mod message;
mod operation;
mod probe;
mod program;
mod provider;
mod segments;
pub mod stack;
pub mod stale;

pub use bytes::Bytes;
pub use child::in_child;
pub use cursor::check_cursor;
pub use engine::{Call, ToyEngine, Trouble, Watch, device};
pub use key_lanes::{KeyLanes, KeyLanesEngine, key_device};
pub use menu::MENU;
pub use operation::{Verdict, check_operation};
pub use probe::{Probe, ProbeSession};
pub use program::{copy_program, write_script};
pub use provider::{has_lanes, lanes, provider_module};
pub use segments::check_segments;
