//! What a machine authenticates with, and which messages run by themselves and which in lanes.

#![allow(unsafe_code)] // hands pointers to the kernels
#![allow(clippy::needless_range_loop)] // an index names the lane in every array

use super::BLOCK;
use super::field::{Element, Secret};
use super::lanes::{Columns, Item, LANES, RUNS, TEXT, absorb_lanes, in_lanes};
use super::running::Running;
use super::spread::spread;
use crate::arch::words::{Registers, WordLanes};
use crate::arch::{DigitSet, WordSet, of_words, on};
use crate::arrays::from_fn;
use crate::machine::{Digits, Machine};
use crate::wipe::wipe;

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

/// Up to this many blocks plain integers are done before a lane is set up.
const SHORT: usize = 6;

/// Up to this many messages have no use for lanes of digits of their own.
const FEW_OF_DIGITS: usize = 5;

/// A burst of messages.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) messages: usize,
    /// Whether all have one length.
    pub(crate) are_alike: bool,
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

    /// Whether a message of so many blocks in a burst of this shape is best absorbed by itself.
    #[inline]
    pub(crate) fn runs_alone(self, burst: Shape, blocks: usize) -> bool {
        match self {
            Self::Digits(digits) if digits.kind() == Digits::Plain => true,
            Self::Digits(_) => {
                burst.messages <= FEW_OF_DIGITS
                    || blocks <= SHORT
                    || blocks >= SPREAD_OF_MANY[usize::from(burst.are_alike)]
            }
            Self::Words(_) => false,
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
    pub(super) fn together_among(self, items: &[Item]) -> usize {
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

/// One long run in all lanes.
///
/// # Safety
/// `from` is valid for reading `blocks` blocks, at least one.
#[inline(never)]
pub(super) unsafe fn together(
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
