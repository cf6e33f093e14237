//! Sums, differences, choices and carries modulo p.

#![allow(clippy::needless_range_loop)] // an index names the digit on both sides

use super::{DIGIT, DIGITS, Element, Wide, times_19};
use crate::arch::digits::DigitLanes;
use crate::arch::register::Code;

/// The sum, not carried.
pub(super) struct Sum<V>(pub(super) Wide<V>, pub(super) Wide<V>);

impl<V: DigitLanes> Code for Sum<V> {
    type Output = Wide<V>;

    #[inline(always)]
    fn run(self) -> Wide<V> {
        let Self(mut sum, other) = self;
        for i in 0..DIGITS {
            sum.0[i] = sum.0[i].add(other.0[i]);
        }
        sum
    }
}

/// The first less the second, which is a product or an element, not carried.
pub(super) struct Difference<V>(pub(super) Wide<V>, pub(super) Wide<V>);

impl<V: DigitLanes> Code for Difference<V> {
    type Output = Wide<V>;

    #[inline(always)]
    fn run(self) -> Wide<V> {
        let Self(mut sum, other) = self;
        let proof = sum.0[0].proof();
        for i in 0..DIGITS {
            let bias = V::splat(proof, Wide::<V>::BIAS[i]);
            sum.0[i] = sum.0[i].add(bias).sub(other.0[i]);
        }
        sum
    }
}

/// The first in the lanes of the mask, the second in the others.
pub(super) struct Select<V: DigitLanes>(
    pub(super) V::Mask,
    pub(super) Element<V>,
    pub(super) Element<V>,
);

impl<V: DigitLanes> Code for Select<V> {
    type Output = Element<V>;

    #[inline(always)]
    fn run(self) -> Element<V> {
        let Self(mask, a, mut b) = self;
        for i in 0..DIGITS {
            b.0[i] = V::select(mask, a.0[i], b.0[i]);
        }
        b
    }
}

/// One carry from each digit to the next, all at once.
///
/// Digits below 2⁶² leave carries below 2¹¹, 19 of which come back to digit 0.
pub(super) struct Carried<V>(pub(super) Wide<V>);

impl<V: DigitLanes> Code for Carried<V> {
    type Output = Element<V>;

    #[inline(always)]
    fn run(self) -> Element<V> {
        let wide = self.0.0;
        let proof = wide[0].proof();
        let (mask, nineteen) = (V::splat(proof, DIGIT), V::splat(proof, 19));
        let mut digits = wide;
        for i in 0..DIGITS {
            digits[i] = digits[i].and(mask);
        }
        let above = wide[4].shift_right::<51>();
        digits[0] = match V::BY_COLUMNS {
            true => digits[0].add(times_19(above)),
            false => digits[0].mul_add_low(above, nineteen),
        };
        for i in 1..DIGITS {
            digits[i] = digits[i].add(wide[i - 1].shift_right::<51>());
        }
        Element(digits)
    }
}
