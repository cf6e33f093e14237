//! Multiples of the base point, from a table that holds the odd multiples of each power of 32.

#![allow(clippy::needless_range_loop)] // an index names the digit on both sides

use super::field::{DIGITS, Element, GROUPS};
use super::point::{Addend, Extended, OddDigits, Projective, WINDOW_BITS, WINDOWS};
use super::scalar::Scalar;
use super::single::{MULTIPLES, Single};
use crate::arch::digits::{DigitLanes, MAX_LANES, Words};

/// One digit of the sixteen multiples.
type Column = [Words; MULTIPLES / MAX_LANES];

/// The multiples of one power of 32: the digits of y + x, y − x and 2d·x·y.
#[repr(align(64))]
struct Window([Column; 3 * DIGITS]);

/// 98 KiB.
#[allow(long_running_const_eval)] // 816 points
static POWERS: [Window; WINDOWS] = {
    let mut windows =
        [const { Window([[[0; MAX_LANES]; MULTIPLES / MAX_LANES]; 3 * DIGITS]) }; WINDOWS];
    let mut power = Single::BASE;
    let mut w = 0;
    while w < WINDOWS {
        let multiples = power.odd_multiples();
        let mut i = 0;
        while i < 3 * DIGITS {
            let mut m = 0;
            while m < MULTIPLES {
                windows[w].0[i][m / MAX_LANES][m % MAX_LANES] =
                    multiples[m][i / DIGITS][i % DIGITS];
                m += 1;
            }
            i += 1;
        }
        let mut bit = 0;
        while bit < WINDOW_BITS {
            power = power.add(power);
            bit += 1;
        }
        w += 1;
    }
    windows
};

/// `start` + `scalar` · B, for an odd scalar. Neither time nor addresses depend on it: a table is
/// read whole and looked up in registers.
#[inline(always)]
pub(super) fn add_multiple<V: DigitLanes>(start: Extended<V>, scalar: OddDigits<V>) -> Extended<V> {
    let mut scalar = scalar;
    let mut sum = start;
    for window in &POWERS {
        let (place, negative) = scalar.take_lowest();
        let mut addend = [Element::zero(place.proof()); 3];
        for i in 0..3 {
            for j in 0..DIGITS {
                addend[i].0[j] = V::lookup(&window.0[DIGITS * i + j], place);
            }
        }
        sum = sum.add(Addend(addend), negative);
    }
    sum
}

/// Encodes `scalar` · B for at most [`GROUPS`] groups of lanes, as many points as there is room
/// for in `encoded`; in the same time for all scalars.
#[inline(always)]
pub(super) fn encode_multiples<V: DigitLanes>(scalars: &[Scalar<V>], encoded: &mut [[u8; 32]]) {
    let Some(first) = scalars.first() else { return };
    let neutral = Extended::neutral(first.proof());
    let mut points = [neutral.projective; GROUPS];
    let points = &mut points[..scalars.len()];
    for (point, scalar) in points.iter_mut().zip(scalars) {
        *point = add_multiple(neutral, scalar.odd_digits()).projective;
    }
    Projective::encode_all(points, encoded);
}
