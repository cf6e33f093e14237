//! Arithmetic modulo p = 2²⁵⁵ − 19, one number in each lane.
//!
//! Digits have weight 2⁵¹, so that the 52-bit multiply-adds take digits that are a little over
//! 51 bits. Two types keep the bounds: an [`Element`] is carried and may be multiplied, a [`Wide`]
//! is what a multiplication leaves: sums, and differences, are made there, and carried once.

#![allow(clippy::needless_range_loop)] // an index names the digit on both sides

mod multiply;
mod sums;

use multiply::{Product, Square};
use sums::{Carried, Difference, Select, Sum};

use crate::arch::digits::{DigitLanes, MAX_LANES};
use crate::public_key::digits::inverse::{Invert, Inverter};
use crate::wipe::{Plain, wipe};

/// Digits of a number.
pub(super) const DIGITS: usize = 5;
/// Bits of a digit.
pub(super) const RADIX: u32 = 51;
/// The largest digit of a reduced number.
pub(super) const DIGIT: u64 = (1 << RADIX) - 1;

/// Registers of numbers that share an inversion.
pub(super) const GROUPS: usize = 4;

/// One number for each lane, ready to be multiplied.
///
/// Invariant: digits are below 2⁵¹ + 2¹⁶. The number may exceed p.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<V>(pub(super) [V; DIGITS]);

/// One number for each lane, in digits that are not carried.
///
/// Invariant: digits are below 2⁶². A product's are below [`Wide::PRODUCT`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide<V>([V; DIGITS]);

#[allow(unsafe_code)] // the promise of `Plain`
// SAFETY: an array of plain data.
unsafe impl<V: Plain> Plain for Element<V> {}

impl<V: DigitLanes> Element<V> {
    /// The same number in every lane; digits below 2⁵¹.
    #[inline(always)]
    pub(super) fn splat(proof: V::Proof, digits: &[u64; DIGITS]) -> Self {
        let mut element = [V::zero(proof); DIGITS];
        for i in 0..DIGITS {
            element[i] = V::splat(proof, digits[i]);
        }
        Self(element)
    }

    #[inline(always)]
    pub(super) fn zero(proof: V::Proof) -> Self {
        Self([V::zero(proof); DIGITS])
    }

    #[inline(always)]
    pub(super) fn one(proof: V::Proof) -> Self {
        Self::splat(proof, &[1, 0, 0, 0, 0])
    }

    /// From numbers below 2²⁵⁶ in words; bit 255 is dropped.
    #[inline(always)]
    pub(super) fn from_words(words: [V; 4]) -> Self {
        let mask = V::splat(words[0].proof(), DIGIT);
        let [a, b, c, d] = words;
        Self([
            a.and(mask),
            a.shift_right::<51>().or(b.shift_left::<13>()).and(mask),
            b.shift_right::<38>().or(c.shift_left::<26>()).and(mask),
            c.shift_right::<25>().or(d.shift_left::<39>()).and(mask),
            d.shift_right::<12>().and(mask),
        ])
    }

    /// The numbers modulo p, in words.
    #[inline(always)]
    pub(super) fn to_words(self) -> [V; 4] {
        let [a, b, c, d, e] = self.reduce().0;
        [
            a.or(b.shift_left::<51>()),
            b.shift_right::<13>().or(c.shift_left::<38>()),
            c.shift_right::<26>().or(d.shift_left::<25>()),
            d.shift_right::<39>().or(e.shift_left::<12>()),
        ]
    }

    /// The smallest digits of the same number modulo p.
    #[inline(always)]
    pub(super) fn reduce(self) -> Self {
        let proof = self.0[0].proof();
        let mask = V::splat(proof, DIGIT);
        // The number is below 2²⁵⁵ + 2²²¹, less than 2p. It is at least p if adding 19 reaches bit
        // 255: then q is 1, 19 stay added and bit 255 goes.
        let mut q = self.0[0].add(V::splat(proof, 19)).shift_right::<51>();
        for i in 1..DIGITS {
            q = self.0[i].add(q).shift_right::<51>();
        }
        let mut digits = self.0;
        digits[0] = digits[0].add(times_19(q));
        for i in 0..DIGITS - 1 {
            digits[i + 1] = digits[i + 1].add(digits[i].shift_right::<51>());
            digits[i] = digits[i].and(mask);
        }
        digits[4] = digits[4].and(mask);
        Self(digits)
    }

    /// Which lanes are zero modulo p.
    #[inline(always)]
    pub(super) fn is_zero(self) -> V::Mask {
        let [a, b, c, d, e] = self.reduce().0;
        a.or(b).or(c).or(d.or(e)).is_zero()
    }

    /// `a` in the lanes of `mask`, `b` in the others.
    #[inline(always)]
    pub(super) fn select(mask: V::Mask, a: Self, b: Self) -> Self {
        V::run(a.0[0].proof(), Select(mask, a, b))
    }

    /// Exchanges the two in the lanes of `mask`.
    #[inline(always)]
    pub(super) fn swap(mask: V::Mask, a: &mut Self, b: &mut Self) {
        (*a, *b) = (Self::select(mask, *b, *a), Self::select(mask, *a, *b));
    }

    /// The number as a sum to add to or subtract from.
    #[inline(always)]
    pub(super) fn wide(self) -> Wide<V> {
        Wide(self.0)
    }

    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        self.wide().add(other.wide()).carry()
    }

    #[inline(always)]
    pub(super) fn sub(self, other: Self) -> Self {
        self.wide().sub(other.wide()).carry()
    }

    #[inline(always)]
    pub(super) fn mul(self, other: Self) -> Self {
        self.mul_wide(other).carry()
    }

    #[inline(always)]
    pub(super) fn square(self) -> Self {
        self.square_wide().carry()
    }

    /// The product, not carried.
    #[inline(always)]
    pub(super) fn mul_wide(self, other: Self) -> Wide<V> {
        V::run_product(self.0[0].proof(), Product(self, other))
    }

    /// The square, not carried.
    #[inline(always)]
    pub(super) fn square_wide(self) -> Wide<V> {
        V::run_product(self.0[0].proof(), Square(self))
    }

    /// `addend` + `factor` · `self`, not carried; `factor` is below 2²⁰.
    #[inline(always)]
    pub(super) fn mul_small(self, factor: u32, addend: Wide<V>) -> Wide<V> {
        debug_assert!(factor < 1 << 20);
        let factor = V::splat(self.0[0].proof(), factor.into());
        let mut high = [V::zero(self.0[0].proof()); DIGITS];
        let mut sum = addend.0;
        for i in 0..DIGITS {
            high[i] = high[i].mul_add_high(self.0[i], factor).shift_left::<1>();
            sum[i] = sum[i].mul_add_low(self.0[i], factor);
        }
        sum[0] = sum[0].add(times_19(high[4]));
        for i in 1..DIGITS {
            sum[i] = sum[i].add(high[i - 1]);
        }
        Wide(sum)
    }

    /// The inverse of each of `elements`, or zero for zero, by one inversion.
    ///
    /// # Panics
    /// If there are more than [`GROUPS`].
    #[inline(always)]
    pub(super) fn invert_all(elements: &mut [Self]) {
        let Some(first) = elements.first() else {
            return;
        };
        let proof = first.0[0].proof();
        let (zero, one) = (Self::zero(proof), Self::one(proof));
        // `before[i]` is the product of the elements up to and without `i`.
        let mut before = [one; GROUPS];
        let mut product = one;
        for (i, element) in elements.iter().enumerate() {
            before[i] = product;
            product = product.mul(Self::select(element.is_zero(), one, *element));
        }
        let mut inverse = product.inverses();
        for (i, element) in elements.iter_mut().enumerate().rev() {
            let is_zero = element.is_zero();
            let factor = Self::select(is_zero, one, *element);
            *element = Self::select(is_zero, zero, inverse.mul(before[i]));
            inverse = inverse.mul(factor);
        }
        wipe(&mut before);
    }
}

/// Divides one modulo p.
const INVERTER: Inverter<DIGITS, RADIX> =
    Inverter::new(&[DIGIT - 18, DIGIT, DIGIT, DIGIT, DIGIT], &[1, 0, 0, 0, 0]);

impl<V: DigitLanes> Invert for Element<V> {
    const LANES: usize = V::LANES;

    #[inline(always)]
    fn product(self, other: Self) -> Self {
        self.mul(other)
    }

    #[inline(always)]
    fn crossed(self, distance: usize) -> Self {
        let mut crossed = self.0;
        for i in 0..DIGITS {
            crossed[i] = self.0[i].crossed(distance);
        }
        Self(crossed)
    }

    #[inline(always)]
    fn inverse_of_first(self) -> Self {
        let mut words = [0; MAX_LANES];
        let mut first = [0; DIGITS];
        let reduced = self.reduce();
        for i in 0..DIGITS {
            reduced.0[i].store(&mut words);
            first[i] = words[0];
        }
        let mut inverse = INVERTER.divide_by(&first);
        let inverses = Self::splat(self.0[0].proof(), &inverse);
        wipe(&mut words);
        wipe(&mut first);
        wipe(&mut inverse);
        inverses
    }
}

impl<V: DigitLanes> Wide<V> {
    /// Digits of a product are below this: 19 · 6.5 + 1 low parts, see [`Product`].
    const PRODUCT: u64 = 250 << RADIX;

    /// A multiple of p with digits no smaller than a product's.
    const BIAS: [u64; DIGITS] = {
        let factor = 256;
        let bias = [
            factor * (DIGIT - 18),
            factor * DIGIT,
            factor * DIGIT,
            factor * DIGIT,
            factor * DIGIT,
        ];
        assert!(bias[0] >= Self::PRODUCT);
        bias
    };

    /// Ten columns of weight 2⁵¹ as five: 2²⁵⁵ ≡ 19.
    #[inline(always)]
    fn fold(columns: [V; 10]) -> Self {
        let mut sum = [columns[0]; DIGITS];
        for k in 0..DIGITS {
            sum[k] = columns[k].add(times_19(columns[k + 5]));
        }
        Self(sum)
    }

    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        V::run(self.0[0].proof(), Sum(self, other))
    }

    /// `self` − `other`, which is a product or an element: not a sum of products.
    #[inline(always)]
    pub(super) fn sub(self, other: Self) -> Self {
        V::run(self.0[0].proof(), Difference(self, other))
    }

    /// The same number, in digits that may be multiplied.
    #[inline(always)]
    pub(super) fn carry(self) -> Element<V> {
        V::run(self.0[0].proof(), Carried(self))
    }
}

#[inline(always)]
fn times_19<V: DigitLanes>(x: V) -> V {
    x.shift_left::<4>().add(x.shift_left::<1>().add(x))
}

#[cfg(test)]
mod tests;
