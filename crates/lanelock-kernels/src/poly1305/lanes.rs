//! Many messages through the lanes of a kernel.

#![allow(unsafe_code)] // hands pointers to the kernels
#![allow(clippy::needless_range_loop)] // an index names the lane in every array

use super::BLOCK;
use super::absorb::absorb;
use super::field::{Element, Secret};
use super::narrow;
use super::running::Running;
use super::spread::spread;
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

/// From this many blocks on, a message in registers of words is cut into pieces that run in all lanes.
/// Below, cutting and joining costs more than it saves.
const CUT: usize = 96;

/// Up to this many messages have no use for lanes of words of their own.
const FEW_OF_WORDS: usize = 2;

/// From this many blocks on, neighbouring blocks of a message in registers of digits are spread over
/// the lanes. Below, plain integers are done before the powers are.
const SPREAD: usize = 12;

/// [`SPREAD`] among messages that have lanes of their own: of different lengths, or all alike.
const SPREAD_OF_MANY: [usize; 2] = [24, 96];

/// Up to this many messages have no use for lanes of digits of their own.
const FEW_OF_DIGITS: usize = 5;

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

    /// So many messages run one after the other.
    fn few(self) -> usize {
        match self {
            Self::Digits(digits) if digits.kind() == Digits::Plain => usize::MAX,
            Self::Digits(_) => FEW_OF_DIGITS,
            Self::Words(_) => FEW_OF_WORDS,
        }
    }

    /// From so many blocks on, one message runs in all lanes.
    #[inline]
    fn together_from(self) -> usize {
        match self {
            Self::Digits(digits) if digits.kind() == Digits::Plain => usize::MAX,
            Self::Digits(_) => SPREAD,
            Self::Words(_) => CUT,
        }
    }

    /// [`Self::together_from`] among these, which have lanes of their own.
    fn together_among(self, items: &[Item]) -> usize {
        match self {
            Self::Digits(_) => SPREAD_OF_MANY[usize::from(alike(items))],
            Self::Words(_) if in_step(items) => usize::MAX,
            Self::Words(_) => CUT,
        }
    }
}

/// Absorbs all runs of all items.
///
/// # Safety
/// Every run is valid for reading its number of blocks.
pub(crate) unsafe fn authenticate(authenticator: Authenticator, items: &mut [Item]) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if items.len() <= authenticator.few() {
            one_by_one(authenticator, items);
        } else {
            in_lanes(authenticator, items);
        }
    }
}

/// Absorbs `blocks` blocks of one message into `sum`: in all lanes if there are enough of them.
///
/// # Safety
/// `at` is valid for reading them.
#[inline(always)]
pub(crate) unsafe fn absorb_run(
    authenticator: Authenticator,
    secret: &Secret,
    sum: &mut Running,
    at: *const u8,
    blocks: usize,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe {
        if blocks >= authenticator.together_from() {
            let total = together(authenticator, secret, sum.sum(), at, blocks);
            *sum = Running::new(secret, total);
        } else {
            sum.absorb(at, blocks);
        }
    }
}

/// A few items, one after the other.
///
/// # Safety
/// As [`authenticate`].
unsafe fn one_by_one(authenticator: Authenticator, items: &mut [Item]) {
    for item in items {
        // The sum stays in registers.
        let mut sum = Running::new(&item.secret, item.sum);
        for (at, blocks) in item.runs {
            // SAFETY: the run is valid, as the caller promises.
            unsafe { absorb_run(authenticator, &item.secret, &mut sum, at, blocks) };
        }
        item.sum = sum.sum();
        sum.wipe();
    }
}

/// Many items, one per lane; long runs have all lanes.
///
/// # Safety
/// As [`authenticate`].
unsafe fn in_lanes(authenticator: Authenticator, items: &mut [Item]) {
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

/// Whether items of one form fill all lanes to the end, and not too many lie at the same place within
/// their page, where their lines would evict each other from the cache: long runs need not be cut.
fn in_step(items: &[Item]) -> bool {
    let Some(first) = items.first() else {
        return false;
    };
    let set = |item: &Item| item.runs[TEXT].0.addr() / 64 % 64;
    first.runs[TEXT].1 >= CUT
        && items.len().is_multiple_of(LANES)
        && alike(items)
        && items.iter().filter(|&item| set(item) == set(first)).count() <= items.len() / 3
}

/// Whether all items have as many blocks, run by run.
fn alike(items: &[Item]) -> bool {
    let [first, others @ ..] = items else {
        return true;
    };
    let same = |item: &Item| (0..RUNS).all(|run| item.runs[run].1 == first.runs[run].1);
    others.iter().all(same)
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

/// One long run in all lanes.
///
/// # Safety
/// `from` is valid for reading `blocks` blocks, at least one.
#[inline(never)]
unsafe fn together(
    authenticator: Authenticator,
    secret: &Secret,
    sum: Element,
    from: *const u8,
    blocks: usize,
) -> Element {
    let Authenticator::Digits(digits) = authenticator else {
        // SAFETY: the caller's promise, passed on.
        return unsafe { cut(authenticator, secret, sum, from, blocks) };
    };
    let (mut total, r) = (sum, &secret.r);
    let sum = &mut total;
    on!(digits, |V,
                 proof,
                 r: &Element,
                 sum: &mut Element,
                 from: *const u8,
                 blocks: usize| {
        // SAFETY: the caller's promise, passed on.
        unsafe { spread::<V>(proof, r, sum, from, blocks) }
    });
    total
}

/// One long run in registers of words: piece `i` of 16 equal ones weighs `r` to the power of the blocks
/// that follow it.
///
/// # Safety
/// `from` is valid for reading `blocks` blocks.
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
