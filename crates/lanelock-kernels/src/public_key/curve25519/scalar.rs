//! Arithmetic modulo L, the order of the base point (RFC 8032, section 5.1), eight numbers at a
//! time: Montgomery multiplication with R = 2²⁶⁰, in digits of 52 bits.

#![allow(clippy::needless_range_loop)] // an index names the digit on both sides

use super::point::OddDigits;
use crate::arch::digits::{DIGIT_BITS, Lanes};
use crate::wipe::Plain;

const DIGITS: usize = 5;
const MASK: u64 = (1 << DIGIT_BITS) - 1;

/// L − 2²⁵²
const TAIL: u128 = 27_742_317_777_372_353_535_851_937_790_883_648_493;

#[allow(clippy::cast_possible_truncation)] // digits of 52 bits
const L: [u64; DIGITS] = [
    TAIL as u64 & MASK,
    (TAIL >> 52) as u64 & MASK,
    (TAIL >> 104) as u64,
    0,
    1 << 44,
];

/// −1/L modulo 2⁵²: each step doubles the bits that are right, from 3 on.
const NEGATIVE_INVERSE: u64 = {
    let mut inverse = L[0];
    let mut bits = 3;
    while bits < DIGIT_BITS {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(L[0].wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse.wrapping_neg() & MASK
};

/// R modulo L.
const R: [u64; DIGITS] = power_of_two(260);
/// R² modulo L.
const R_SQUARED: [u64; DIGITS] = power_of_two(520);

/// One number below L for each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar<V>([V; DIGITS]);

#[allow(unsafe_code)] // the promise of `Plain`
// SAFETY: an array of plain data.
unsafe impl<V: Plain> Plain for Scalar<V> {}

impl<V: Lanes> Scalar<V> {
    #[inline(always)]
    pub(super) fn zero(proof: V::Proof) -> Self {
        Self([V::zero(proof); DIGITS])
    }

    #[inline(always)]
    pub(super) fn proof(&self) -> V::Proof {
        self.0[0].proof()
    }

    /// A number below 2²⁵⁶ modulo L.
    #[inline(always)]
    pub(super) fn from_words(words: [V; 4]) -> Self {
        Self(digits(words)).mul_montgomery(Self::splat(words[0].proof(), &R))
    }

    /// A number that is below L.
    #[inline(always)]
    pub(super) fn from_reduced_words(words: [V; 4]) -> Self {
        Self(digits(words))
    }

    /// A number below 2⁵¹² modulo L.
    #[inline(always)]
    pub(super) fn from_wide_words(words: [V; 8]) -> Self {
        let mask = V::splat(words[0].proof(), MASK);
        let [a, b, c, d, e, f, g, h] = words;
        let mut low = digits([a, b, c, d]);
        low[4] = low[4].or(e.shift_left::<48>()).and(mask);
        let high = [
            e.shift_right::<4>().and(mask),
            e.shift_right::<56>().or(f.shift_left::<8>()).and(mask),
            f.shift_right::<44>().or(g.shift_left::<20>()).and(mask),
            g.shift_right::<32>().or(h.shift_left::<32>()).and(mask),
            h.shift_right::<20>(),
        ];
        // The high part weighs R.
        let proof = a.proof();
        let low = Self(low).mul_montgomery(Self::splat(proof, &R));
        let high = Self(high).mul_montgomery(Self::splat(proof, &R_SQUARED));
        low.add(high)
    }

    #[inline(always)]
    pub(super) fn to_words(self) -> [V; 4] {
        let [a, b, c, d, e] = self.0;
        [
            a.or(b.shift_left::<52>()),
            b.shift_right::<12>().or(c.shift_left::<40>()),
            c.shift_right::<24>().or(d.shift_left::<28>()),
            d.shift_right::<36>().or(e.shift_left::<16>()),
        ]
    }

    /// `self` · R, a factor for [`Self::mul_montgomery`].
    #[inline(always)]
    pub(super) fn to_montgomery(self) -> Self {
        self.mul_montgomery(Self::splat(self.0[0].proof(), &R_SQUARED))
    }

    /// `self` + `other`
    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        let mut sum = self.0;
        for i in 0..DIGITS {
            sum[i] = sum[i].add(other.0[i]);
        }
        Self(carry(sum)).subtract_order()
    }

    /// `self` · `other` / R; one of the two may be any number below R.
    #[inline(always)]
    pub(super) fn mul_montgomery(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        let proof = a[0].proof();
        let zero = V::zero(proof);
        let order = Self::splat(proof, &L).0;
        let negative_inverse = V::splat(proof, NEGATIVE_INVERSE);
        // Each round adds at most four parts below 2⁵² to a digit, and a carry.
        let mut sum = [zero; DIGITS + 1];
        for i in 0..DIGITS {
            for j in 0..DIGITS {
                sum[j] = sum[j].mul_add_low(a[i], b[j]);
                sum[j + 1] = sum[j + 1].mul_add_high(a[i], b[j]);
            }
            let multiple = zero.mul_add_low(sum[0], negative_inverse);
            for j in 0..DIGITS {
                sum[j] = sum[j].mul_add_low(multiple, order[j]);
                sum[j + 1] = sum[j + 1].mul_add_high(multiple, order[j]);
            }
            // The lowest 52 bits are zero now.
            sum[1] = sum[1].add(sum[0].shift_right::<52>());
            for j in 0..DIGITS {
                sum[j] = sum[j + 1];
            }
            sum[DIGITS] = zero;
        }
        let [a, b, c, d, e, _] = sum;
        Self(carry([a, b, c, d, e])).subtract_order()
    }

    /// The same multiple of the base point by an odd number below 2²⁵⁴.
    #[inline(always)]
    pub(super) fn odd_digits(self) -> OddDigits<V> {
        let proof = self.0[0].proof();
        let even = self.is_even();
        let order = Self::splat(proof, &L).0;
        let mut odd = self.0;
        for i in 0..DIGITS {
            odd[i] = odd[i].add(V::select(even, order[i], V::zero(proof)));
        }
        OddDigits::new(Self(carry(odd)).to_words())
    }

    #[inline(always)]
    pub(super) fn is_even(self) -> V::Mask {
        self.0[0].and(V::splat(self.0[0].proof(), 1)).is_zero()
    }

    #[inline(always)]
    fn splat(proof: V::Proof, digits: &[u64; DIGITS]) -> Self {
        let mut scalar = [V::zero(proof); DIGITS];
        for i in 0..DIGITS {
            scalar[i] = V::splat(proof, digits[i]);
        }
        Self(scalar)
    }

    /// A number below 2L modulo L.
    #[inline(always)]
    fn subtract_order(self) -> Self {
        let proof = self.0[0].proof();
        let (mask, order) = (V::splat(proof, MASK), Self::splat(proof, &L).0);
        let mut reduced = self.0;
        let mut borrow = V::zero(proof);
        for i in 0..DIGITS {
            let digit = self.0[i].sub(order[i]).add(borrow);
            borrow = digit.shift_right_signed::<52>();
            reduced[i] = digit.and(mask);
        }
        let below = borrow.is_negative();
        for i in 0..DIGITS {
            reduced[i] = V::select(below, self.0[i], reduced[i]);
        }
        Self(reduced)
    }
}

/// Whether a little-endian string is a number below L: section 5.1.7, step 1. Not for secrets.
pub(super) fn is_reduced(words: &[u64; 4]) -> bool {
    #[allow(clippy::cast_possible_truncation)] // words of the constant
    const ORDER: [u64; 4] = [TAIL as u64, (TAIL >> 64) as u64, 0, 1 << 60];
    words.iter().rev().lt(ORDER.iter().rev())
}

/// Words in digits; the highest is below 2⁴⁸.
#[inline(always)]
fn digits<V: Lanes>([a, b, c, d]: [V; 4]) -> [V; DIGITS] {
    let mask = V::splat(a.proof(), MASK);
    [
        a.and(mask),
        a.shift_right::<52>().or(b.shift_left::<12>()).and(mask),
        b.shift_right::<40>().or(c.shift_left::<24>()).and(mask),
        c.shift_right::<28>().or(d.shift_left::<36>()).and(mask),
        d.shift_right::<16>(),
    ]
}

/// Digits below 2⁵²; the highest takes what remains.
#[inline(always)]
fn carry<V: Lanes>(mut digits: [V; DIGITS]) -> [V; DIGITS] {
    let mask = V::splat(digits[0].proof(), MASK);
    for i in 0..DIGITS - 1 {
        digits[i + 1] = digits[i + 1].add(digits[i].shift_right::<52>());
        digits[i] = digits[i].and(mask);
    }
    digits
}

/// 2 to the power `exponent`, modulo L.
const fn power_of_two(exponent: u32) -> [u64; DIGITS] {
    let mut power = [1, 0, 0, 0, 0];
    let mut n = 0;
    while n < exponent {
        let mut reduced = [0; DIGITS];
        let (mut carry, mut borrow) = (0, 0);
        let mut i = 0;
        while i < DIGITS {
            power[i] = 2 * power[i] + carry;
            carry = power[i] >> DIGIT_BITS;
            power[i] &= MASK;
            let digit = power[i].wrapping_sub(L[i] + borrow);
            borrow = digit >> 63;
            reduced[i] = digit & MASK;
            i += 1;
        }
        if borrow == 0 {
            power = reduced;
        }
        n += 1;
    }
    power
}

#[cfg(test)]
mod tests;
