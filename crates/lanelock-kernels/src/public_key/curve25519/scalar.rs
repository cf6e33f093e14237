//! Arithmetic modulo L, the order of the base point (RFC 8032, section 5.1), one number in each lane:
//! Montgomery multiplication with R = 2²⁶⁰, in digits of 52 bits.

use super::point::OddDigits;
use crate::arch::digits::{DigitLanes, Mask};
use crate::arrays::from_fn;
use crate::public_key::digits::residue::{Modulus, Residue};
use crate::public_key::digits::{DIGIT, from_words};
use crate::wipe::Plain;

const DIGITS: usize = 5;

/// L, in words, most significant first.
const ORDER: [u64; 4] = [
    0x1000_0000_0000_0000,
    0,
    0x14de_f9de_a2f7_9cd6,
    0x5812_631a_5cf5_d3ed,
];

/// L, which is below R / 16 as residues want it.
#[derive(Clone, Copy, Debug)]
struct Order;

impl Modulus<DIGITS> for Order {
    const M: [u64; DIGITS] = from_words(&ORDER);
}

/// One number below L for each lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar<V>(Residue<V, Order, DIGITS>);

#[allow(unsafe_code)] // the promise of `Plain`
// SAFETY: one plain datum.
unsafe impl<V: Plain> Plain for Scalar<V> {}

impl<V: DigitLanes> Scalar<V> {
    #[inline(always)]
    pub(super) fn zero(proof: V::Proof) -> Self {
        Self(Residue::constant(proof, &[0; DIGITS]))
    }

    #[inline(always)]
    pub(super) fn proof(&self) -> V::Proof {
        self.0.proof()
    }

    /// A number below 2²⁵⁶ modulo L.
    #[inline(always)]
    pub(super) fn from_words(words: [V; 4]) -> Self {
        let one = Residue::one(words[0].proof());
        Self(Residue::new(digits(words)).mul(one).canonical())
    }

    /// A number that is below L.
    #[inline(always)]
    pub(super) fn from_reduced_words(words: [V; 4]) -> Self {
        Self(Residue::new(digits(words)))
    }

    /// A number below 2⁵¹² modulo L.
    #[inline(always)]
    pub(super) fn from_wide_words(words: [V; 8]) -> Self {
        let mask = V::splat(words[0].proof(), DIGIT);
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
        let low = Residue::new(low).mul(Residue::one(proof));
        let high = Residue::new(high).mul(Residue::constant(proof, &Order::SQUARE));
        Self(low.canonical()).add(Self(high.canonical()))
    }

    #[inline(always)]
    pub(super) fn to_words(self) -> [V; 4] {
        let [a, b, c, d, e] = from_fn(|i| self.0.digit(i));
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
        Self(self.0.to_montgomery().canonical())
    }

    /// `self` + `other`
    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0).canonical())
    }

    /// `self` · `other` / R
    #[inline(always)]
    pub(super) fn mul_montgomery(self, other: Self) -> Self {
        Self(self.0.mul(other.0).canonical())
    }

    /// The same multiple of the base point by an odd number below 2²⁵⁴.
    #[inline(always)]
    pub(super) fn odd_digits(self) -> OddDigits<V> {
        let odd = self.0.add(Residue::constant(self.proof(), &Order::M));
        let odd = Residue::select(self.is_even(), odd, self.0);
        OddDigits::new(Self(odd).to_words())
    }

    #[inline(always)]
    pub(super) fn is_even(self) -> V::Mask {
        self.0.is_odd().not()
    }
}

/// Sets and clears the bits that RFC 7748, section 5, and RFC 8032, section 5.1.5, fix in a secret
/// little-endian scalar.
pub(super) fn clamp(scalar: &mut [u8; 32]) {
    scalar[0] &= 0xf8;
    scalar[31] &= 0x7f;
    scalar[31] |= 0x40;
}

/// Whether a little-endian string is a number below L: section 5.1.7, step 1. Not for secrets.
pub(super) fn is_reduced(words: &[u64; 4]) -> bool {
    words.iter().rev().lt(&ORDER)
}

/// Words in digits; the highest is below 2⁴⁸.
#[inline(always)]
fn digits<V: DigitLanes>([a, b, c, d]: [V; 4]) -> [V; DIGITS] {
    let mask = V::splat(a.proof(), DIGIT);
    [
        a.and(mask),
        a.shift_right::<52>().or(b.shift_left::<12>()).and(mask),
        b.shift_right::<40>().or(c.shift_left::<24>()).and(mask),
        c.shift_right::<28>().or(d.shift_left::<36>()).and(mask),
        d.shift_right::<16>(),
    ]
}

#[cfg(test)]
mod tests;
