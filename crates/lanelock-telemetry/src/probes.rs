//! The USDT probes. What their arguments are is the crate's documentation.

#![allow(unsafe_code)] // the probes' nop is inline assembly

use std::ffi::CStr;

use probe::probe;

/// How an operation ended, as `complete` says it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    Failure = 0,
    Success = 1,
    Cancelled = 2,
}

#[inline]
pub(crate) fn inactive(code: u64, reason: &CStr) {
    probe!(lanelock, inactive, code, reason.as_ptr());
}

#[inline]
pub(crate) fn submit(op: u64, algorithm: &CStr) {
    probe!(lanelock, submit, op, algorithm.as_ptr());
}

#[inline]
pub(crate) fn batch_start(batch: u64, algorithm: &CStr, lanes: u64) {
    probe!(lanelock, batch_start, batch, algorithm.as_ptr(), lanes);
}

#[inline]
pub(crate) fn batch_end(batch: u64, lanes: u64, nanoseconds: u64) {
    probe!(lanelock, batch_end, batch, lanes, nanoseconds);
}

#[inline]
pub(crate) fn complete(op: u64, wait_nanoseconds: u64, outcome: Outcome) {
    probe!(lanelock, complete, op, wait_nanoseconds, outcome as u64);
}
