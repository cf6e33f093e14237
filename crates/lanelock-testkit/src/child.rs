//! What a forked child finds.

#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `run` returns in a forked child; `false` if it panics there.
///
/// # Panics
/// If there is no child.
pub fn in_child(run: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child takes no lock that another thread of the harness could have held, but for
    // the allocator's, which glibc opens again in the child.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork");
    if child == 0 {
        let verdict = catch_unwind(AssertUnwindSafe(run));
        // SAFETY: ends the child without the destructors that are its parent's.
        unsafe { libc::_exit(i32::from(!verdict.unwrap_or(false))) };
    }
    let mut status = -1;
    // SAFETY: the child is this process's, and `status` outlives the call.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    (ended, status) == (child, 0)
}
