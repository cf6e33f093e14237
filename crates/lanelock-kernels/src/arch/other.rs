//! An architecture without registers of its own: plain integers.

pub(crate) mod sha;

pub(crate) use sha::{Sha, Sha512};

use core::fmt;

use super::blocks::{Kernel, Vector};
pub(crate) use super::no_digits::{DigitSet, on};
use super::register::Proof;
use super::words;
use super::{Block, Integers};
use crate::aes::KeySize;
use crate::aes::rounds::{ANY, PerRounds, WithRounds};
use crate::machine::{Machine, Tier};

/// No tier but the portable one.
pub(crate) fn machine(_: Tier) -> Option<Machine> {
    None
}

/// There is no instruction to ask for a line of the cache.
#[inline(always)]
pub(crate) fn prefetch(_: *const u8) {}

/// No line is asked for.
#[inline(always)]
pub(crate) fn is_asked_ahead() -> bool {
    false
}

/// The machine itself: there is no other one.
pub(crate) fn variants(machine: Machine) -> [Option<Machine>; 1] {
    [Some(machine)]
}

/// The instruction sets of a machine.
pub(crate) fn describe(_: Machine, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("plain integers")
}

/// Which registers AES runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockSet {
    /// One block in a plain integer.
    Portable,
}

impl BlockSet {
    /// Runs `kernel` on these registers.
    ///
    /// # Safety
    /// The contract of `kernel`.
    pub(crate) unsafe fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the kernel's contract is the caller's.
        unsafe { Block::enter((), kernel) }
    }

    /// As [`Self::run`], for any key size.
    ///
    /// # Safety
    /// The contract of `kernel`.
    pub(crate) unsafe fn run_sized<K: PerRounds>(self, _: KeySize, kernel: K) {
        // SAFETY: as in `run`.
        unsafe { Block::enter((), (kernel, WithRounds::<ANY>)) }
    }

    /// As [`Self::run`], for a kernel that multiplies blocks.
    ///
    /// # Safety
    /// The contract of `kernel`.
    pub(crate) unsafe fn run_products<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the caller's promise.
        unsafe { self.run(kernel) }
    }

    /// As [`Self::run_sized`], for a kernel that multiplies blocks.
    ///
    /// # Safety
    /// The contract of `kernel`; every key of it has this size.
    pub(crate) unsafe fn run_sized_products<K: PerRounds>(self, size: KeySize, kernel: K) {
        // SAFETY: the caller's promise.
        unsafe { self.run_sized(size, kernel) }
    }

    /// As [`Self::run_products`], for a kernel that does little else.
    ///
    /// # Safety
    /// The contract of `kernel`.
    pub(crate) unsafe fn run_hash<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the caller's promise.
        unsafe { self.run(kernel) }
    }

    /// There is no choice of products.
    pub(crate) fn with_four_products(self, _: bool) -> Self {
        self
    }

    /// Whether products of blocks run beside rounds of AES, where that is known.
    pub(crate) fn multiplies_beside_rounds(self) -> bool {
        false
    }

    /// Blocks of a register.
    pub(crate) fn count(self) -> usize {
        Block::BLOCKS
    }

    /// The S-box on each byte of a word, if there is an instruction for it.
    pub(crate) fn sub_word(self) -> Option<unsafe fn(u32) -> u32> {
        None
    }
}

/// Which registers of words kernels run on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WordSet {
    /// One word in a plain integer.
    Portable,
}

impl WordSet {
    /// Runs `kernel` on these registers.
    ///
    /// # Safety
    /// The contract of `kernel`.
    pub(crate) unsafe fn run<K: words::Kernel>(self, kernel: K) {
        ().enter((kernel, words::On::<Integers>(())));
    }
}

/// Evaluates an expression with a name for the registers of a set.
macro_rules! of_words {
    ($set:expr, |$registers:ident| $body:expr) => {{
        let $crate::arch::WordSet::Portable = $set;
        type $registers = $crate::arch::Integers;
        $body
    }};
}
pub(crate) use of_words;
