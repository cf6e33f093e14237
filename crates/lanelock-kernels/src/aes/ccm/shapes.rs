//! Which messages run side by side, which in lanes, and which one after the other.

use core::mem::MaybeUninit;
use core::{ptr, slice};

use super::Job;
use crate::machine::{Machine, Tier};

/// Jobs of which those of one shape are picked out at a time.
pub(super) const PICKED: usize = 64;

/// Some of the jobs of a call, all different.
pub(super) type Picked<'l, 'k> = &'l [*mut Job<'k>];

/// The jobs as they lie.
#[inline(always)]
pub(super) fn fill<'l, 'k>(
    list: &'l mut [MaybeUninit<*mut Job<'k>>; PICKED],
    jobs: &mut [Job<'k>],
) -> &'l mut [*mut Job<'k>] {
    let (base, list) = (jobs.as_mut_ptr(), &mut list[..jobs.len()]);
    for (n, place) in list.iter_mut().enumerate() {
        place.write(base.wrapping_add(n));
    }
    // SAFETY: each has been written.
    unsafe { slice::from_raw_parts_mut(list.as_mut_ptr().cast(), list.len()) }
}

/// Puts fours of one shape that are faster side by side than in lanes before the others; returns how
/// many jobs are in them.
///
/// # Safety
/// The list is that of [`fill`], of two jobs at least.
#[inline(always)]
pub(super) unsafe fn order(machine: Machine, list: &mut [*mut Job<'_>]) -> usize {
    if list.len() < 4 || machine.tier == Tier::Portable {
        return 0;
    }
    let lanes = 8 * machine.blocks.count();
    // SAFETY: the caller's promise.
    unsafe {
        let most = most_in_fours(list, lanes);
        let shape = (*list[0]).shape();
        if list.iter().all(|&job| (*job).shape() == shape) {
            return if shape.0 <= most {
                list.len() / 4 * 4
            } else {
                0
            };
        }
        if list.len() <= lanes {
            // They fit the lanes all at once, where short ones cost nothing.
            return 0;
        }
        pick(list, most)
    }
}

/// [`order`], where the fours are of the first few shapes, with at most `most` bytes.
///
/// # Safety
/// As for [`order`].
#[inline(never)]
unsafe fn pick<'k>(list: &mut [*mut Job<'k>], most: usize) -> usize {
    #[derive(Clone, Copy)]
    struct Open<'k> {
        shape: (usize, usize),
        jobs: [*mut Job<'k>; 4],
        count: usize,
    }
    let mut open = [Open {
        shape: (0, 0),
        jobs: [ptr::null_mut(); 4],
        count: 0,
    }; 4];
    let (mut shapes, mut fours) = (0, 0);
    // From the end of the list, which is written anew.
    let (first, mut others) = (list[0], list.len());
    for n in 0..list.len() {
        let job = first.wrapping_add(n);
        // SAFETY: the caller's promise.
        let shape = unsafe { (*job).shape() };
        let mut at = 0;
        while at < shapes && open[at].shape != shape {
            at += 1;
        }
        if shape.0 > most || at == open.len() {
            others -= 1;
            list[others] = job;
            continue;
        }
        if at == shapes {
            (open[at].shape, shapes) = (shape, shapes + 1);
        }
        let Open { jobs, count, .. } = &mut open[at];
        jobs[*count] = job;
        *count = (*count + 1) % 4;
        if *count == 0 {
            list[fours..][..4].copy_from_slice(jobs);
            fours += 4;
        }
    }
    for left in open {
        for &job in &left.jobs[..left.count] {
            others -= 1;
            list[others] = job;
        }
    }
    fours
}

/// Most bytes of messages that are faster in fours than in lanes: where those are not filled, any
/// number; and where each has a key of its own, lanes have more to gather. Registers of 512 bits gain more
/// from being filled.
///
/// # Safety
/// As for [`order`].
unsafe fn most_in_fours(jobs: Picked<'_, '_>, lanes: usize) -> usize {
    if jobs.len() < 8 {
        return usize::MAX;
    }
    // SAFETY: the caller's promise.
    let one_key = unsafe { ptr::eq((*jobs[0]).key, (*jobs[1]).key) };
    match (lanes > 16 && jobs.len() > lanes / 4, one_key) {
        (false, true) => 512,
        (false, false) => 768,
        (true, true) => 192,
        (true, false) => 384,
    }
}

/// Whether lanes would cost these jobs more than they save.
///
/// # Safety
/// As for [`order`].
pub(super) unsafe fn one_by_one(jobs: Picked<'_, '_>) -> bool {
    match jobs.len() {
        1 => true,
        // SAFETY: the caller's promise.
        2 | 3 => jobs.iter().all(|&job| unsafe { (*job).len } <= 256),
        _ => false,
    }
}
