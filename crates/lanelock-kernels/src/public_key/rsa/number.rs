//! One number in digits of 52 bits, in plain integers: keys are prepared with it, and messages
//! enter and leave the lanes through it.
//!
//! No branch and no address depends on a value.

use core::fmt;
use core::hint::black_box;

use crate::arch::digits::DIGIT_BITS;
use crate::public_key::digits::{self, DIGIT, split};
use crate::wipe::wipe;

/// Digits of a block, the unit in which the lanes multiply.
pub(super) const BLOCK: usize = 10;

/// Bits of a block.
pub(super) const BLOCK_BITS: usize = 520;

/// Bytes of a block.
pub(super) const BLOCK_BYTES: usize = 65;

/// A number of `B` blocks, below R = 2^(520·`B`); the least significant digit is the first. Wiped
/// when dropped.
///
/// Invariant: no digit is above [`DIGIT`].
#[derive(Clone)]
pub(super) struct Digits<const B: usize>([[u64; BLOCK]; B]);

impl<const B: usize> Digits<B> {
    pub const ZERO: Self = Self([[0; BLOCK]; B]);

    /// A number that is one digit.
    pub fn small(digit: u64) -> Self {
        debug_assert!(digit <= DIGIT);
        let mut number = Self::ZERO;
        number.0[0][0] = digit;
        number
    }

    /// The number in `bytes`, most significant first, if it is below R. Zeros may lead.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (excess, kept) = bytes.split_at(bytes.len().saturating_sub(BLOCK_BYTES * B));
        if excess.iter().fold(0, |any, byte| any | byte) != 0 {
            return None;
        }
        let mut number = Self::ZERO;
        digits::from_bytes(number.digits_mut(), kept);
        Some(number)
    }

    /// Writes the number to all of `bytes`, most significant first.
    ///
    /// The number must fit: digits that have no room are left out.
    pub fn write_bytes(&self, bytes: &mut [u8]) {
        digits::to_bytes(self.digits(), bytes);
    }

    /// The digits, block by block.
    #[inline(always)]
    pub fn blocks(&self) -> &[[u64; BLOCK]; B] {
        &self.0
    }

    /// As [`Self::blocks`], to be written.
    #[inline(always)]
    pub fn blocks_mut(&mut self) -> &mut [[u64; BLOCK]; B] {
        &mut self.0
    }

    /// All digits.
    pub fn digits(&self) -> &[u64] {
        self.0.as_flattened()
    }

    /// As [`Self::digits`], to be written.
    pub fn digits_mut(&mut self) -> &mut [u64] {
        self.0.as_flattened_mut()
    }

    /// Bits `at` to `at + width`, which is at most 52 bits wide. `at` is public.
    #[inline]
    pub fn window(&self, at: usize, width: usize) -> u64 {
        const BITS: usize = DIGIT_BITS as usize;
        let (digit, shift) = (at / BITS, at % BITS);
        let next = self.digits().get(digit + 1).copied().unwrap_or(0);
        let bits = self.digits()[digit] >> shift | next << (BITS - shift);
        bits & ((1 << width) - 1)
    }

    /// Whether this number is odd.
    pub fn is_odd(&self) -> bool {
        self.window(0, 1) == 1
    }

    /// Whether two numbers are equal.
    pub fn equals(&self, other: &Self) -> bool {
        let pairs = self.digits().iter().zip(other.digits());
        black_box(pairs.fold(0, |any, (a, b)| any | (a ^ b))) == 0
    }

    /// Whether this number is below `other`.
    pub fn is_below(&self, other: &Self) -> bool {
        digits::is_below(self.digits(), other.digits()) != 0
    }

    /// Subtracts `other` where `mask` has ones, modulo R; the borrow at the end, 0 or 1.
    pub fn subtract(&mut self, other: &Self, mask: u64) -> u64 {
        digits::subtract(self.digits_mut(), other.digits(), mask)
    }

    /// Subtracts `modulus` if this number is not below it.
    pub fn reduce_once(&mut self, modulus: &Self) {
        digits::reduce_once(self.digits_mut(), modulus.digits());
    }

    /// Doubles a number below `modulus`, modulo `modulus`, which is below R/2.
    pub fn double(&mut self, modulus: &Self) {
        digits::double(self.digits_mut(), modulus.digits());
    }

    /// Halves the number, rounding down.
    pub fn halve(&mut self) {
        let mut carry = 0;
        for digit in self.digits_mut().iter_mut().rev() {
            let low = *digit & 1;
            *digit = *digit >> 1 | carry << (DIGIT_BITS - 1);
            carry = low;
        }
    }

    /// The product of two numbers, if `W` is large enough for it; otherwise modulo 2^(520·`W`).
    pub fn product<const A: usize, const W: usize>(&self, other: &Digits<A>) -> Digits<W> {
        let mut product = Digits::<W>::ZERO;
        for (i, a) in self.digits().iter().enumerate() {
            let mut carry = 0;
            let column = product.digits_mut().iter_mut().skip(i);
            let digits = other.digits().iter().chain(core::iter::repeat(&0));
            for (sum, b) in column.zip(digits) {
                (*sum, carry) = split(u128::from(*a) * u128::from(*b) + u128::from(*sum + carry));
            }
        }
        product
    }
}

impl<const B: usize> Drop for Digits<B> {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl<const B: usize> fmt::Debug for Digits<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digits<{B}>(..)")
    }
}
