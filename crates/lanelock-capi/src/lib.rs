//! The C interface of lanelock: what `lanelock.h` declares.
//!
//! Functions have C's names and are documented for readers of the header, which `tools/header`
//! generates from this crate. Each is one call of the boundary, which checks handles and pointers as
//! far as possible, stops panics, and turns an error into a number and a sentence.
//!
//! An operation is a record of 128 bytes that the program keeps. A burst is read from such records
//! into the queue pair's own array of the core's operations, field by field and in the same order, and
//! statuses are written back; no byte of a message is copied, and nothing is allocated.

#![allow(
    non_camel_case_types,
    reason = "types have the names that C programs use"
)]

mod algorithm;
mod alike;
mod boundary;
mod device;
mod error;
mod handle;
mod key;
mod key_capability;
mod key_op;
mod key_queue;
mod key_session;
mod key_waiting;
mod op;
mod pointer;
mod queue_pair;
mod session;
mod sized;
mod stats;
mod timer;
mod version;
mod view;

pub use algorithm::*;
pub use device::*;
pub use error::*;
pub use key::*;
pub use key_capability::*;
pub use key_op::*;
pub use key_queue::*;
pub use key_session::*;
pub use op::*;
pub use queue_pair::*;
pub use session::*;
pub use stats::*;
pub use version::*;
