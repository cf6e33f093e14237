//! What Keccak and Poly1305 ask of a register of 64-bit words beyond what every hash does.

use super::WordLanes;
use crate::arch::register::{Proof, Register};

/// What Keccak's permutation asks of a register, which has a word of one state or of each of several.
///
/// # Safety
/// `COUNT` is the number of words that `load` reads and `store` writes.
pub unsafe trait Logic: Copy {
    /// The proof that the instructions of this register exist.
    type Proof: Proof;
    /// How many states.
    const COUNT: usize;

    /// The same word of every state.
    fn splat(proof: Self::Proof, word: u64) -> Self;
    /// `self ^ other`
    #[must_use]
    fn xor(self, other: Self) -> Self;
    /// `self ^ b ^ c`
    #[must_use]
    fn xor3(self, b: Self, c: Self) -> Self;
    /// `self ^ (!b & c)`
    #[must_use]
    fn xor_and_not(self, b: Self, c: Self) -> Self;
    /// Rotates right by `R`; `R + L` is 64.
    #[must_use]
    fn rotate<const R: i32, const L: i32>(self) -> Self;

    /// Reads the words in the order of the states.
    ///
    /// # Safety
    /// `words` is valid for reading `COUNT`.
    unsafe fn load(proof: Self::Proof, words: *const u64) -> Self;

    /// Writes the words in the order of the states.
    ///
    /// # Safety
    /// `words` is valid for writing `COUNT`.
    unsafe fn store(self, words: *mut u64);
}

// SAFETY: as for `WordLanes`.
unsafe impl<V: LongLanes> Logic for V {
    type Proof = <V as Register>::Proof;
    const COUNT: usize = <V as WordLanes>::COUNT;

    #[inline(always)]
    fn splat(proof: Self::Proof, word: u64) -> Self {
        WordLanes::splat(proof, word)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        WordLanes::xor(self, other)
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        WordLanes::xor3(self, b, c)
    }

    #[inline(always)]
    fn xor_and_not(self, b: Self, c: Self) -> Self {
        LongLanes::xor_and_not(self, b, c)
    }

    #[inline(always)]
    fn rotate<const R: i32, const L: i32>(self) -> Self {
        WordLanes::rotate::<R, L>(self)
    }

    #[inline(always)]
    unsafe fn load(proof: Self::Proof, words: *const u64) -> Self {
        // SAFETY: the caller's promise, passed on.
        unsafe { WordLanes::load(proof, words) }
    }

    #[inline(always)]
    unsafe fn store(self, words: *mut u64) {
        // SAFETY: the caller's promise, passed on.
        unsafe { LongLanes::store(self, words) }
    }
}

/// A register of 64-bit words, one of each of as many messages.
///
/// # Safety
/// As for [`WordLanes`].
pub unsafe trait LongLanes: WordLanes<Word = u64> {
    /// `self ^ (!b & c)`
    #[must_use]
    fn xor_and_not(self, b: Self, c: Self) -> Self;
    /// `self & other`
    #[must_use]
    fn and(self, other: Self) -> Self;
    /// Shifts left by `N`, zeros enter.
    #[must_use]
    fn shift_left<const N: i32>(self) -> Self;
    /// The product of the low halves.
    #[must_use]
    fn multiply(self, other: Self) -> Self;
    /// `self` plus the product of the low halves of `a` and `b`.
    #[must_use]
    #[inline(always)]
    fn add_product(self, a: Self, b: Self) -> Self {
        self.add(a.multiply(b))
    }

    /// The two little-endian words at `*at[lane] + offset`, for each lane.
    ///
    /// # Safety
    /// `at` is valid for reading `COUNT` pointers, and each of them, plus `offset`, for reading 16
    /// bytes. No alignment is needed.
    unsafe fn load_pairs(proof: Self::Proof, at: *const *const u8, offset: usize) -> (Self, Self);

    /// Eight little-endian words from `*at[lane] + offset`, for each lane.
    ///
    /// # Safety
    /// `at` is valid for reading `COUNT` pointers, and each of them, plus `offset`, for reading 64
    /// bytes. No alignment is needed.
    unsafe fn load_words(proof: Self::Proof, at: *const *const u8, offset: usize) -> [Self; 8];

    /// Writes the words in the order of the lanes.
    ///
    /// # Safety
    /// `words` is valid for writing `COUNT`.
    unsafe fn store(self, words: *mut u64);
}
