//! What every lanelock engine must pass: known answers, Wycheproof, and a differential checker
//! that compares an engine with an independent reference on random messages in every layout.
//!
//! Nothing depends on a particular engine. A [`Subject`] is a device and the name of one of its
//! engines; the suites run against it and return plain counts and failures, which the `lanelock
//! check` command prints and tests assert on.
//!
//! ```text
//! vectors, Wycheproof ─→ known answer ─┐
//!                                      ├─→ message ─→ engine ─→ observed ─┐
//! seed ─→ scenario ─→ shapes ──────────┘      └─────→ reference ─→ expected ─→ compare ─→ shrink
//! ```

#![forbid(unsafe_code)]

pub mod differential;
pub mod known;
mod packed;
pub mod progress;
pub mod public_key;
pub mod reference;
mod rng;
pub mod subject;
pub mod suite;
pub mod vectors;
pub mod wycheproof;

pub use differential::Level;
pub use lanelock_testkit::message;
pub use progress::Progress;
pub use subject::Subject;
