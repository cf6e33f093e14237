//! Which messages run side by side, and which in lanes.

use core::cmp::Reverse;
use core::mem::MaybeUninit;
use core::{ptr, slice};

use super::Job;
use crate::machine::{Machine, Tier};

/// Jobs that are put in order at a time.
pub(super) const MOST: usize = 64;

/// Some of the jobs of a call, all different.
pub(super) type Jobs<'l, 'k> = &'l [*mut Job<'k>];

/// The jobs as they lie.
#[inline(always)]
pub(super) fn fill<'l, 'k>(
    list: &'l mut [MaybeUninit<*mut Job<'k>>; MOST],
    jobs: &mut [Job<'k>],
) -> &'l mut [*mut Job<'k>] {
    let (base, list) = (jobs.as_mut_ptr(), &mut list[..jobs.len()]);
    for (n, place) in list.iter_mut().enumerate() {
        place.write(base.wrapping_add(n));
    }
    // SAFETY: each has been written.
    unsafe { slice::from_raw_parts_mut(list.as_mut_ptr().cast(), list.len()) }
}

/// Puts those that are faster in fours than in lanes before the others, as [`Together`] wants them; returns
/// how many there are.
///
/// [`Together`]: super::Together
///
/// # Safety
/// The list is that of [`fill`], of two jobs at least.
#[inline(always)]
pub(super) unsafe fn order(machine: Machine, list: &mut [*mut Job<'_>]) -> usize {
    if machine.tier == Tier::Portable {
        return 0;
    }
    let lanes = 8 * machine.blocks.count();
    // SAFETY: the caller's promise.
    unsafe {
        let most = most_in_fours(list, lanes);
        let shape = (*list[0]).shape();
        if list.iter().all(|&job| (*job).shape() == shape) {
            return if shape.0 <= most { list.len() } else { 0 };
        }
        // Fewer long ones than these take less time in two fours than in lanes, most of which stay empty.
        sort(list, most, 8.min(lanes / 2))
    }
}

/// [`order`] of several shapes: those of at most `most` bytes, and all if fewer than `few` have more.
///
/// # Safety
/// As for [`order`].
#[inline(never)]
unsafe fn sort(list: &mut [*mut Job<'_>], most: usize, few: usize) -> usize {
    let mut short = 0;
    for n in 0..list.len() {
        // SAFETY: the caller's promise.
        if unsafe { (*list[n]).len } <= most {
            list.swap(short, n);
            short += 1;
        }
    }
    if list.len() - short < few {
        short = list.len();
    }
    list[..short].sort_unstable_by_key(|&job| {
        // SAFETY: the caller's promise.
        let (len, aad_len) = unsafe { (*job).shape() };
        Reverse((aad_len, len))
    });
    short
}

/// Most bytes of messages that are faster in fours, or in eights, than in lanes: where those are not filled, any
/// number; and where each has a key of its own, lanes have more to gather. Registers of 512 bits gain more
/// from being filled; of registers of one block, fours and the key stream beside them keep busy as many.
///
/// # Safety
/// As for [`order`].
unsafe fn most_in_fours(jobs: Jobs<'_, '_>, lanes: usize) -> usize {
    if jobs.len() < 8 {
        return usize::MAX;
    }
    // SAFETY: the caller's promise.
    let one_key = unsafe { ptr::eq((*jobs[0]).key, (*jobs[1]).key) };
    match (lanes, jobs.len(), one_key) {
        // Eights on registers of 512 bits as llvm-mca estimates: on Sapphire Rapids they wait for their own rounds.
        (32, 9.., true) => 2048,
        (8, ..) | (16 | 32, _, true) => usize::MAX,
        (32, 9.., false) => 384,
        _ => 768,
    }
}
