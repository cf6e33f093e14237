//! Memory that is asked for before it is read.

#![allow(unsafe_code)] // an instruction that only has a name in `std::arch`

/// A cache line.
const LINE: usize = 64;

/// Most bytes that are asked for: what fits the second cache beside the burst that runs.
const MOST: usize = 1 << 16;

/// Asks for as many bytes behind `values` as they have, if they lie side by side: the next burst's, if it
/// has values like these.
#[inline]
pub(crate) fn behind(values: &[&[u8]]) {
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return;
    };
    let end = last.as_ptr_range().end;
    let len = end.addr().wrapping_sub(first.as_ptr().addr());
    if len <= MOST {
        for at in (0..len).step_by(LINE) {
            line(end.wrapping_add(at));
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn line(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint. It never faults, whatever the address, and changes no memory.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn line(_: *const u8) {}
