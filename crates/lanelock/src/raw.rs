//! Operations from raw pointers: for bindings to other languages, which have no borrows.

pub use lanelock_core::op::{RawForm, RawOp, RawOutput, RawRun};
