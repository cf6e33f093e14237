//! Many messages through the lanes of a kernel.

#![allow(unsafe_code)] // hands pointers to the kernels
#![allow(clippy::needless_range_loop)] // an index names the lane in every array

use super::BLOCK;
use super::absorb::absorb;
use super::authenticator::{Authenticator, together};
use super::field::{Element, Secret};
use super::narrow;
use crate::arch::digits::{MAX_LANES, Words};
use crate::arch::on;
use crate::arrays::from_fn;
use crate::lockstep::{self, Board};
use crate::wipe::wipe;

/// Lanes in flight: those of two registers.
pub(super) const LANES: usize = 2 * MAX_LANES;

/// Runs of a message: associated data and its tail, text and its tail.
pub(crate) const RUNS: usize = 4;

/// The run that is the text of an AEAD's message.
pub(super) const TEXT: usize = 2;

/// Sums and multipliers, limb by limb, one column per lane.
#[repr(align(64))]
pub(super) struct Columns {
    pub(super) h: [[Words; 2]; 3],
    pub(super) r: [[Words; 2]; 3],
}

/// A message: its one-time key and runs of whole blocks, in order. Runs may be empty.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    pub(crate) secret: Secret,
    pub(crate) runs: [(*const u8, usize); RUNS],
    /// What was absorbed so far; zero at first.
    pub(crate) sum: Element,
}

/// Many items, one per lane; long runs have all lanes.
///
/// # Safety
/// As [`authenticate`](super::authenticate).
pub(super) unsafe fn in_lanes(authenticator: Authenticator, items: &mut [Item]) {
    let mut lanes = Lanes {
        authenticator,
        together_from: authenticator.together_among(items),
        items,
        next: 0,
        columns: Columns::ZERO,
        at: [core::ptr::null(); LANES],
        left: [0; LANES],
        run: [0; LANES],
        owner: [0; LANES],
        active: 0,
    };
    // SAFETY: the runs are valid, as the caller promises.
    unsafe {
        while lanes.active < LANES && lanes.begin(lanes.active) {
            lanes.active += 1;
        }
        let extremes = lockstep::extremes(lanes.left());
        lockstep::run(&mut lanes, extremes);
    }
    lanes.columns.clear();
}

/// Items in flight.
struct Lanes<'i> {
    authenticator: Authenticator,
    /// Runs of so many blocks have all lanes.
    together_from: usize,
    /// Those from `next` on have not begun.
    items: &'i mut [Item],
    next: usize,
    columns: Columns,
    at: [*const u8; LANES],
    left: [usize; LANES],
    /// The run of its item that comes after this one.
    run: [usize; LANES],
    owner: [usize; LANES],
    active: usize,
}

impl Lanes<'_> {
    /// Gives a lane the next item that has blocks; `false` if there is none.
    ///
    /// # Safety
    /// As [`authenticate`](super::authenticate).
    #[inline(always)]
    unsafe fn begin(&mut self, lane: usize) -> bool {
        while let Some(item) = self.items.get(self.next) {
            self.columns.put(lane, item.secret.r, item.sum);
            (self.owner[lane], self.run[lane]) = (self.next, 0);
            self.next += 1;
            // SAFETY: the caller's promise.
            if unsafe { self.next_run(lane) } {
                return true;
            }
            self.end(lane);
        }
        false
    }

    /// Gives a lane the next run of its item; `false` if there is none. A long one runs now.
    ///
    /// # Safety
    /// As [`authenticate`](super::authenticate).
    #[inline(always)]
    unsafe fn next_run(&mut self, lane: usize) -> bool {
        let item = self.owner[lane];
        while let Some(&(from, blocks)) = self.items[item].runs.get(self.run[lane]) {
            self.run[lane] += 1;
            if blocks >= self.together_from {
                let (secret, sum) = (&self.items[item].secret, self.columns.sum(lane));
                // SAFETY: the run is valid, as the caller promises.
                let sum = unsafe { together(self.authenticator, secret, sum, from, blocks) };
                self.columns.put(lane, secret.r, sum);
            } else if blocks > 0 {
                (self.at[lane], self.left[lane]) = (from, blocks);
                return true;
            }
        }
        false
    }

    /// Takes an item's sum out of its lane.
    fn end(&mut self, lane: usize) {
        self.items[self.owner[lane]].sum = self.columns.sum(lane);
    }
}

impl Board for Lanes<'_> {
    fn left(&mut self) -> &mut [usize] {
        &mut self.left[..self.active]
    }

    /// Ends of messages are runs like others.
    unsafe fn end_together(&mut self, _: usize) -> bool {
        false
    }

    unsafe fn step(&mut self, blocks: usize) {
        for lane in self.active..self.active.next_multiple_of(MAX_LANES) {
            self.at[lane] = self.at[0];
        }
        let (columns, at) = (&mut self.columns, &self.at);
        // SAFETY: every lane in flight, and those filled up with the first one's pointer, have
        // `blocks` blocks.
        unsafe { absorb_lanes(self.authenticator, columns, at, self.active, blocks) };
    }

    unsafe fn advance(&mut self, lane: usize, blocks: usize) {
        self.at[lane] = self.at[lane].wrapping_add(blocks * BLOCK);
    }

    unsafe fn refill(&mut self, lane: usize) -> bool {
        // SAFETY: the runs are valid, as `authenticate`'s caller promised.
        unsafe {
            self.next_run(lane) || {
                self.end(lane);
                self.begin(lane)
            }
        }
    }

    unsafe fn close(&mut self, lane: usize) {
        self.active -= 1;
        let last = self.active;
        self.at[lane] = self.at[last];
        self.left[lane] = self.left[last];
        self.run[lane] = self.run[last];
        self.owner[lane] = self.owner[last];
        self.columns.copy(last, lane);
    }
}

/// Absorbs `blocks` blocks in each of `lanes` lanes.
///
/// # Safety
/// The first `lanes` pointers, rounded up to a register, are valid for reading `blocks` blocks.
pub(super) unsafe fn absorb_lanes(
    authenticator: Authenticator,
    columns: &mut Columns,
    at: &[*const u8; LANES],
    lanes: usize,
    blocks: usize,
) {
    let digits = match authenticator {
        Authenticator::Digits(digits) => digits,
        Authenticator::Words(words) => {
            let absorb = narrow::Absorb {
                columns,
                at,
                lanes,
                blocks,
            };
            // SAFETY: the caller's promise, passed on.
            return unsafe { words.run(absorb) };
        }
    };
    let (at, two) = (at.as_ptr(), lanes > MAX_LANES);
    on!(digits, |V,
                 proof,
                 columns: &mut Columns,
                 at: *const *const u8,
                 two: bool,
                 blocks: usize| {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            if two {
                absorb::<V, 2>(proof, columns, at, blocks)
            } else {
                absorb::<V, 1>(proof, columns, at, blocks)
            }
        }
    });
}

impl Columns {
    pub(super) const ZERO: Self = Self {
        h: [[[0; MAX_LANES]; 2]; 3],
        r: [[[0; MAX_LANES]; 2]; 3],
    };

    #[inline]
    pub(super) fn put(&mut self, lane: usize, r: Element, sum: Element) {
        for limb in 0..3 {
            self.r[limb].as_flattened_mut()[lane] = r.0[limb];
            self.h[limb].as_flattened_mut()[lane] = sum.0[limb];
        }
    }

    #[inline]
    pub(super) fn sum(&self, lane: usize) -> Element {
        Element(from_fn(|limb| self.h[limb].as_flattened()[lane]))
    }

    #[inline]
    fn copy(&mut self, from: usize, to: usize) {
        for column in self.h.iter_mut().chain(&mut self.r) {
            let column = column.as_flattened_mut();
            column[to] = column[from];
        }
    }

    pub(super) fn clear(&mut self) {
        wipe(&mut self.h);
        wipe(&mut self.r);
    }
}
