//! Many messages through the lanes of a kernel.

#![allow(unsafe_code)] // hands pointers to the kernels
#![allow(clippy::needless_range_loop)] // an index names the lane in every array

use super::BLOCK;
use super::absorb::absorb;
use super::field::{Element, Secret};
use super::narrow;
use super::running::Running;
use crate::arch::digits::{MAX_LANES, Words};
use crate::arch::words::{Registers, WordLanes};
use crate::arch::{DigitSet, WordSet, of_words, on};
use crate::arrays::from_fn;
use crate::lockstep::{self, Board};
use crate::machine::{Digits, Machine};
use crate::wipe::wipe;

/// Lanes in flight: those of two registers.
pub(super) const LANES: usize = 2 * MAX_LANES;

/// Runs of a message: associated data and its tail, text and its tail.
pub(crate) const RUNS: usize = 4;

/// The run that is the text of an AEAD's message.
pub(super) const TEXT: usize = 2;

/// From this many blocks on, one message is cut into pieces that run in all lanes. Below, cutting
/// and joining costs more than it saves.
const CUT: usize = 96;

/// Up to this many messages have no use for lanes of their own.
const ALONE: usize = 2;

/// [`CUT`] for a message alone in registers of digits, whose other lanes would be idle.
const CUT_ALONE: usize = 40;

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

/// What a machine absorbs blocks with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Authenticator {
    /// Registers of [`MAX_LANES`] digits, with limbs of 44 bits; plain integers run one message after
    /// the other.
    Digits(DigitSet),
    /// Registers of 64-bit words, with limbs of 26 bits.
    Words(WordSet),
}

impl Authenticator {
    /// The fastest one of `machine`.
    pub(crate) fn of(machine: Machine) -> Self {
        let lanes = of_words!(machine.words, |S| <S as Registers>::U64::COUNT);
        if machine.digits() != Digits::Ifma && lanes > 1 {
            Self::Words(machine.words)
        } else {
            Self::Digits(machine.digits)
        }
    }
}

/// Absorbs all runs of all items.
///
/// # Safety
/// Every run is valid for reading its number of blocks.
pub(crate) unsafe fn authenticate(authenticator: Authenticator, items: &mut [Item]) {
    let cut_from = match authenticator {
        Authenticator::Digits(digits) if digits.kind() == Digits::Plain => usize::MAX,
        Authenticator::Digits(_) => CUT_ALONE,
        Authenticator::Words(_) => CUT,
    };
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if items.len() <= ALONE || cut_from == usize::MAX {
            one_by_one(authenticator, items, cut_from);
        } else {
            in_lanes(authenticator, items);
        }
    }
}

/// A few items: plain integers, or all lanes for a run of `cut_from` blocks or more.
///
/// # Safety
/// As [`authenticate`].
unsafe fn one_by_one(authenticator: Authenticator, items: &mut [Item], cut_from: usize) {
    for item in items {
        // The sum stays in registers.
        let mut sum = Running::new(&item.secret, item.sum);
        for (at, blocks) in item.runs {
            // SAFETY: the run is valid, as the caller promises.
            unsafe {
                if blocks >= cut_from {
                    let total = cut(authenticator, &item.secret, sum.sum(), at, blocks);
                    sum = Running::new(&item.secret, total);
                } else {
                    sum.absorb(at, blocks);
                }
            }
        }
        item.sum = sum.sum();
        sum.wipe();
    }
}

/// Many items, one per lane; long runs are cut and run alone.
///
/// # Safety
/// As [`authenticate`].
unsafe fn in_lanes(authenticator: Authenticator, items: &mut [Item]) {
    let mut lanes = Lanes {
        authenticator,
        cut_from: if in_step(items) { usize::MAX } else { CUT },
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

/// Whether items of one form fill all lanes to the end, and not too many lie at the same place within
/// their page, where their lines would evict each other from the cache: long runs need not be cut.
fn in_step(items: &[Item]) -> bool {
    let Some(first) = items.first() else {
        return false;
    };
    let set = |item: &Item| item.runs[TEXT].0.addr() / 64 % 64;
    let alike = |item: &Item| (0..RUNS).all(|run| item.runs[run].1 == first.runs[run].1);
    first.runs[TEXT].1 >= CUT
        && items.len().is_multiple_of(LANES)
        && items.iter().all(alike)
        && items.iter().filter(|&item| set(item) == set(first)).count() <= items.len() / 3
}

/// Items in flight.
struct Lanes<'i> {
    authenticator: Authenticator,
    /// Runs of so many blocks are cut.
    cut_from: usize,
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
    /// As [`authenticate`].
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
    /// As [`authenticate`].
    #[inline(always)]
    unsafe fn next_run(&mut self, lane: usize) -> bool {
        let item = self.owner[lane];
        while let Some(&(from, blocks)) = self.items[item].runs.get(self.run[lane]) {
            self.run[lane] += 1;
            if blocks >= self.cut_from {
                let (secret, sum) = (&self.items[item].secret, self.columns.sum(lane));
                // SAFETY: the run is valid, as the caller promises.
                let sum = unsafe { cut(self.authenticator, secret, sum, from, blocks) };
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

/// One long run in all lanes: piece `i` of 16 equal ones weighs `r` to the power of the blocks
/// that follow it.
///
/// # Safety
/// `from` is valid for reading `blocks` blocks.
#[inline(never)]
unsafe fn cut(
    authenticator: Authenticator,
    secret: &Secret,
    sum: Element,
    from: *const u8,
    blocks: usize,
) -> Element {
    let r = secret.r;
    let mut columns = Columns::ZERO;
    let piece = blocks / LANES;
    let mut at = [from; LANES];
    for lane in 0..LANES {
        columns.put(lane, r, if lane == 0 { sum } else { Element::default() });
        at[lane] = from.wrapping_add(lane * piece * BLOCK);
    }
    // SAFETY: the pieces lie inside the run.
    unsafe { absorb_lanes(authenticator, &mut columns, &at, LANES, piece) };
    let mut weight = r.power_vartime(piece);
    let mut sums: [Element; LANES] = from_fn(|lane| columns.sum(lane));
    columns.clear();
    let mut left = LANES;
    while left > 1 {
        // Neighbours join: no pair waits for another.
        left /= 2;
        for i in 0..left {
            sums[i] = sums[2 * i].times(weight).plus(sums[2 * i + 1]);
        }
        weight = weight.times(weight);
    }
    let mut total = Running::new(secret, sums[0]);
    sums.iter_mut().for_each(|sum| wipe(&mut sum.0));
    let done = LANES * piece;
    // SAFETY: the rest of the run.
    unsafe { total.absorb(from.add(done * BLOCK), blocks - done) };
    let sum = total.sum();
    total.wipe();
    sum
}

/// Absorbs `blocks` blocks in each of `lanes` lanes.
///
/// # Safety
/// The first `lanes` pointers, rounded up to a register, are valid for reading `blocks` blocks.
unsafe fn absorb_lanes(
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
    const ZERO: Self = Self {
        h: [[[0; MAX_LANES]; 2]; 3],
        r: [[[0; MAX_LANES]; 2]; 3],
    };

    #[inline]
    fn put(&mut self, lane: usize, r: Element, sum: Element) {
        for limb in 0..3 {
            self.r[limb].as_flattened_mut()[lane] = r.0[limb];
            self.h[limb].as_flattened_mut()[lane] = sum.0[limb];
        }
    }

    #[inline]
    fn sum(&self, lane: usize) -> Element {
        Element(from_fn(|limb| self.h[limb].as_flattened()[lane]))
    }

    #[inline]
    fn copy(&mut self, from: usize, to: usize) {
        for column in self.h.iter_mut().chain(&mut self.r) {
            let column = column.as_flattened_mut();
            column[to] = column[from];
        }
    }

    fn clear(&mut self) {
        wipe(&mut self.h);
        wipe(&mut self.r);
    }
}
