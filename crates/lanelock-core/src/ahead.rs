//! Lines of the cache that are asked for before they are read: with a thousand keys each operation waits
//! for its session, and for what that points to.

#![allow(unsafe_code)] // a hint to the CPU

use crate::session::SessionInner;

/// Asks for the line of a session that every operation reads.
#[inline(always)]
pub(crate) fn ask_for_session(session: &SessionInner) {
    prefetch(std::ptr::from_ref(session).cast());
}

/// Asks for the first lines of the engine's part, where keys are.
#[inline(always)]
pub(crate) fn ask_for_key(session: &SessionInner) {
    let key = session.engine_ptr();
    for line in 0..3 {
        prefetch(key.wrapping_add(64 * line));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint. It never faults, whatever the address, and changes no memory.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch(_: *const u8) {}
