//! What Keccak and Poly1305 ask of a register of 64-bit words beyond what every hash does.

use super::WordLanes;

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
