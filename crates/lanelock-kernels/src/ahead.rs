//! Lines of a long message that are asked for before they are read. A CPU looks ahead as far as its queues
//! reach, and rounds that wait for each other fill those within a few hundred bytes.

use crate::arch::{is_asked_ahead, prefetch, unknown};

/// How far ahead, in bytes: sixteen lines on their way, about as many as a CPU keeps track of.
const AHEAD: usize = 1024;

const LINE: usize = 64;

/// Bytes of a message that are asked for while the one before it is run.
const NEXT: usize = 1536;

/// Asks for the `bytes` that lie [`AHEAD`] behind the first `done` of a message, which has `len`, at least
/// `bytes`; for its last ones where it ends before, and for none where that much is not left, or the CPU is
/// better at it.
#[inline(always)]
pub(crate) fn ask(message: *const u8, len: usize, done: usize, bytes: usize) {
    if len - done <= AHEAD || !is_asked_ahead() {
        return;
    }
    // Else the compiler finds out ahead of a loop what hardly any message asks for.
    let last = unknown(len) - bytes;
    let first = message.wrapping_add((done + AHEAD).min(last));
    for line in 0..bytes / LINE {
        prefetch(first.wrapping_add(LINE * line));
    }
}

/// Asks for the first [`NEXT`] bytes of a message that is next. That pays where it is not in the cache, as those
/// of bursts of many keys are not.
#[inline(always)]
pub(crate) fn ask_next(message: *const u8, len: usize) {
    for at in (0..len.min(NEXT)).step_by(LINE) {
        prefetch(message.wrapping_add(at));
    }
}
