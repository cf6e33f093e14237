//! 64-bit lanes, four or eight: what the big-number kernels are written over.
//!
//! A number is an array of registers, one per digit of at most 52 bits; a lane is one number. The
//! multiply-adds are those of AVX-512 IFMA; other registers give the same values by other means, and
//! [`Portable`] in plain integers.

#![allow(dead_code)] // each kernel uses the part it needs

#[cfg(test)]
mod tests;

use core::ops::Range;

pub(crate) use super::portable::Portable;
use super::register::{Code, Proof, Register};
use crate::wipe::{Plain, wipe};

/// Most lanes of a register.
pub(crate) const MAX_LANES: usize = 8;

/// Bits of a digit that the multiply-adds take and give.
pub(crate) const DIGIT_BITS: u32 = 52;

/// One word for each lane: the first ones, where a register has fewer than there are words.
pub(crate) type Words = [u64; MAX_LANES];

/// A register of 64-bit words.
///
/// No method's time or addresses depend on a value.
pub(crate) trait DigitLanes: Register + Plain + core::fmt::Debug {
    /// How many words: a power of two, at most [`MAX_LANES`].
    const LANES: usize;

    /// A choice for each lane.
    type Mask: Mask;

    /// A digit in the form that products are made of.
    type Factor: Plain;

    /// Whether values stay in registers, so that short functions are best inlined.
    const IN_REGISTERS: bool;

    /// Whether a multiply-add takes several instructions: kernels then sum products column by column,
    /// by [`Self::add_products`], and multiply by small constants with shifts.
    const BY_COLUMNS: bool;

    /// The same word in every lane.
    fn splat(proof: Self::Proof, word: u64) -> Self;

    /// Zero in every lane.
    #[inline(always)]
    fn zero(proof: Self::Proof) -> Self {
        Self::splat(proof, 0)
    }

    /// One word for each lane.
    fn load(proof: Self::Proof, words: &Words) -> Self;

    /// The inverse of [`Self::load`]; words that no lane has stay.
    fn store(self, words: &mut Words);

    /// Sum modulo 2⁶⁴.
    #[must_use]
    fn add(self, other: Self) -> Self;
    /// Difference modulo 2⁶⁴.
    #[must_use]
    fn sub(self, other: Self) -> Self;
    /// `self & other`
    #[must_use]
    fn and(self, other: Self) -> Self;
    /// `self | other`
    #[must_use]
    fn or(self, other: Self) -> Self;
    /// `self ^ other`
    #[must_use]
    fn xor(self, other: Self) -> Self;
    /// Shifts left by `N` < 64; zeros enter.
    #[must_use]
    fn shift_left<const N: u32>(self) -> Self;
    /// Shifts right by `N` < 64; zeros enter.
    #[must_use]
    fn shift_right<const N: u32>(self) -> Self;
    /// Shifts right by `N` < 64; copies of the sign enter.
    #[must_use]
    fn shift_right_signed<const N: u32>(self) -> Self;

    /// `self` + the low 52 bits of the product of the low 52 bits of `a` and `b`, modulo 2⁶⁴.
    #[must_use]
    fn mul_add_low(self, a: Self, b: Self) -> Self;
    /// `self` + bits 52 to 103 of the product of the low 52 bits of `a` and `b`, modulo 2⁶⁴.
    #[must_use]
    fn mul_add_high(self, a: Self, b: Self) -> Self;

    /// `self`, which is below 2⁵².
    #[must_use]
    fn factor(self) -> Self::Factor;

    /// Adds the products of the first of `a` with the last of `b`, the second with the last but
    /// one, and so on: their low `BITS` bits to `low`, and what is above them, which must be below 2⁵²,
    /// to `high`. `BITS` is 51 or 52.
    ///
    /// # Panics
    /// If the lengths differ.
    fn add_products<const BITS: u32>(
        low: &mut Self,
        high: &mut Self,
        a: &[Self::Factor],
        b: &[Self::Factor],
    );

    /// The digits in the form that products are made of.
    #[inline(always)]
    fn factors<const N: usize>(digits: &[Self; N]) -> [Self::Factor; N] {
        let mut factors = [digits[0].factor(); N];
        for i in 1..N {
            factors[i] = digits[i].factor();
        }
        factors
    }

    /// [`Self::add_products`] of those of `a[i]`, `i` of `range`, and `b` that belong to column `k`.
    #[inline(always)]
    fn add_column<const BITS: u32, const N: usize>(
        (low, high): (&mut Self, &mut Self),
        k: usize,
        range: Range<usize>,
        a: &[Self::Factor; N],
        b: &[Self::Factor; N],
    ) {
        let Range { start, end } = range;
        let (a, b) = (&a[start..end], &b[k + 1 - end..k + 1 - start]);
        Self::add_products::<BITS>(low, high, a, b);
    }

    /// Two columns at once: [`Self::add_products`] of `a` and all of `b` but its last to the first two
    /// sums, of `a` and all of `b` but its first to the last two. With 52 bits.
    ///
    /// # Panics
    /// If `b` is not longer than `a` by one.
    #[inline(always)]
    fn add_two_columns(sums: &mut [Self; 3], a: &[Self::Factor], b: &[Self::Factor]) {
        add_two_columns(sums, a, b);
    }

    /// The low 52 bits of the product of two digits.
    #[inline(always)]
    fn low_product(proof: Self::Proof, a: Self::Factor, b: Self::Factor) -> Self::Factor {
        low_product::<Self>(proof, a, b)
    }

    /// The same values, of which the compiler computes `later` after `earlier`: where others wait for
    /// `earlier`, and what follows `later` fills the time until it is there.
    #[inline(always)]
    #[must_use]
    fn in_order(earlier: Self, later: Self) -> [Self; 2] {
        [earlier, later]
    }

    /// Which lanes are zero.
    fn is_zero(self) -> Self::Mask;
    /// Which lanes have bit 63 set.
    fn is_negative(self) -> Self::Mask;
    /// `a` in the lanes of `mask`, `b` in the others.
    #[must_use]
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;

    /// `table[index]` for each lane: the whole table is read, and the index stays in registers.
    ///
    /// Bits of the index from 4 on are ignored.
    fn lookup(table: &[Words; 2], index: Self) -> Self;

    /// Lane `i` is what lane `i` ⊕ `distance` was, a distance below [`Self::LANES`].
    #[inline(always)]
    #[must_use]
    fn crossed(self, distance: usize) -> Self {
        let (mut words, mut crossed) = ([0; MAX_LANES], [0; MAX_LANES]);
        self.store(&mut words);
        for lane in 0..Self::LANES {
            crossed[lane] = words[lane ^ distance];
        }
        let result = Self::load(self.proof(), &crossed);
        wipe(&mut words);
        wipe(&mut crossed);
        result
    }

    /// What the first lane was, in every lane.
    #[inline(always)]
    #[must_use]
    fn first(self) -> Self {
        let mut words = [0; MAX_LANES];
        self.store(&mut words);
        let first = Self::splat(self.proof(), words[0]);
        wipe(&mut words);
        first
    }

    /// Rows as columns: lane `i` of result `j` is word `j` of row `i`. Rows that no lane has are not
    /// read.
    fn transpose(proof: Self::Proof, rows: [&Words; MAX_LANES]) -> [Self; MAX_LANES];

    /// The two little-endian words at `*at[lane] + offset`, for each lane.
    ///
    /// # Safety
    /// `at` is valid for reading [`Self::LANES`] pointers and each of them, plus `offset`, for reading 16
    /// bytes. No alignment is needed.
    unsafe fn load_pairs(proof: Self::Proof, at: *const *const u8, offset: usize) -> (Self, Self);

    /// The two little-endian words of blocks of 16 bytes that lie side by side, a block for each lane.
    /// In the lanes below `first` they are zero.
    ///
    /// # Safety
    /// The blocks from number `first` on are valid for reading, counted from `at`; those before are not
    /// read. No alignment is needed.
    #[inline(always)]
    unsafe fn load_blocks(proof: Self::Proof, at: *const u8, first: usize) -> (Self, Self) {
        let (mut low, mut high) = ([0; MAX_LANES], [0; MAX_LANES]);
        for lane in first..Self::LANES {
            // SAFETY: one of the blocks that the caller promises.
            let block = unsafe { at.wrapping_add(16 * lane).cast::<[[u8; 8]; 2]>().read() };
            low[lane] = u64::from_le_bytes(block[0]);
            high[lane] = u64::from_le_bytes(block[1]);
        }
        (Self::load(proof, &low), Self::load(proof, &high))
    }

    /// The sum of all lanes modulo 2⁶⁴.
    #[inline(always)]
    fn sum(self) -> u64 {
        let mut words = [0; MAX_LANES];
        self.store(&mut words);
        let sum = words
            .iter()
            .fold(0, |sum: u64, &word| sum.wrapping_add(word));
        wipe(&mut words);
        sum
    }

    /// Chooses lane `i` if bit `i` is set. Bits that no lane has are ignored.
    fn mask(proof: Self::Proof, bits: u8) -> Self::Mask;

    /// Which lanes of two registers are equal.
    #[inline(always)]
    fn equals(self, other: Self) -> Self::Mask {
        self.xor(other).is_zero()
    }

    /// Runs `code`, a product of many digits: in place where multiply-adds are single instructions, else
    /// as a call. Straight code of all products of an operation is more than a CPU keeps decoded.
    #[inline(always)]
    fn run_product<C: Code>(proof: Self::Proof, code: C) -> C::Output {
        if Self::BY_COLUMNS {
            proof.call(code)
        } else {
            Self::run(proof, code)
        }
    }

    /// Runs `code` in place where values stay in registers, else by [`Proof::enter`].
    #[inline(always)]
    fn run<C: Code>(proof: Self::Proof, code: C) -> C::Output {
        if Self::IN_REGISTERS {
            code.run()
        } else {
            proof.enter(code)
        }
    }
}

/// [`DigitLanes::add_products`] by multiply-adds.
#[inline(always)]
pub(super) fn add_products<V: DigitLanes, const BITS: u32>(
    low: &mut V,
    high: &mut V,
    a: &[V],
    b: &[V],
) {
    const { assert!(BITS == DIGIT_BITS || BITS + 1 == DIGIT_BITS) };
    assert!(a.len() == b.len());
    let zero = V::zero(low.proof());
    for (&a, &b) in a.iter().zip(b.iter().rev()) {
        let (below, above) = (zero.mul_add_low(a, b), zero.mul_add_high(a, b));
        if BITS == DIGIT_BITS {
            (*low, *high) = (low.add(below), high.add(above));
        } else {
            let top = below.shift_right::<{ DIGIT_BITS - 1 }>();
            *low = low.add(below.sub(top.shift_left::<{ DIGIT_BITS - 1 }>()));
            *high = high.add(above.shift_left::<1>()).add(top);
        }
    }
}

/// [`DigitLanes::add_two_columns`], a column after the other.
#[inline(always)]
pub(super) fn add_two_columns<V: DigitLanes>(sums: &mut [V; 3], a: &[V::Factor], b: &[V::Factor]) {
    let [low, middle, high] = sums;
    V::add_products::<DIGIT_BITS>(low, middle, a, &b[..a.len()]);
    V::add_products::<DIGIT_BITS>(middle, high, a, &b[1..]);
}

/// [`DigitLanes::low_product`] of both halves.
#[inline(always)]
pub(super) fn low_product<V: DigitLanes>(proof: V::Proof, a: V::Factor, b: V::Factor) -> V::Factor {
    let [mut low, mut high] = [V::zero(proof); 2];
    V::add_products::<DIGIT_BITS>(&mut low, &mut high, &[a], &[b]);
    low.factor()
}

/// A choice for each lane. It is looked into only by [`Mask::bits`], so that code which branches on
/// one says so.
pub(crate) trait Mask: Copy + core::fmt::Debug {
    /// Bit `i` is set if lane `i` is chosen, and no bit that no lane has: for public results.
    fn bits(self) -> u8;
    /// The lanes of both.
    #[must_use]
    fn and(self, other: Self) -> Self;
    /// The lanes of either.
    #[must_use]
    fn or(self, other: Self) -> Self;
    /// The lanes of exactly one.
    #[must_use]
    fn xor(self, other: Self) -> Self;
    /// The other lanes.
    #[must_use]
    fn not(self) -> Self;
}
