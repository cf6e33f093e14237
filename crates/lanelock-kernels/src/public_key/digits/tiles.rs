//! [`Columns`] for registers whose multiply-adds take several instructions: one column after the
//! other, so that few sums are in registers, and in tiles, so that the code stays short: straight code
//! for ten digits by ten is more than a CPU keeps decoded.

use core::ops::Range;

use super::DIGIT;
use super::columns::Columns;
use crate::arch::digits::{DIGIT_BITS, DigitLanes};
use crate::arch::register::{Code, Proof};
use crate::arrays::each;

/// Digits of the sides of a tile, for numbers that do not fit one.
const SIDE: usize = 5;

/// Digits of the largest numbers whose products are one tile.
const LARGEST: usize = 8;

/// Adds `a` · `b`.
#[inline(always)]
pub(super) fn add_product<V: DigitLanes, const N: usize>(
    columns: &mut Columns<V, N>,
    a: &[V; N],
    b: &[V; N],
) {
    let proof = a[0].proof();
    let (a, b) = (V::factors(a), V::factors(b));
    if N <= LARGEST {
        let Columns { low, high } = columns;
        return (Tile {
            low,
            high,
            a: &a,
            b: &b,
        })
        .run();
    }
    for (i, a) in sides(&a).into_iter().enumerate() {
        for (j, b) in sides(&b).into_iter().enumerate() {
            let (low, high) = columns.tile(i + j);
            proof.call(Tile::<V, SIDE> { low, high, a, b });
        }
    }
}

/// Doubles the columns and adds `a`².
#[inline(always)]
pub(super) fn double_and_add_square<V: DigitLanes, const N: usize>(
    columns: &mut Columns<V, N>,
    a: &[V; N],
) {
    let a = V::factors(a);
    let Columns { low, high } = columns;
    each!(N, |I| {
        add_column(low, high, I, 0..I.div_ceil(2), &a, &a);
    });
    each!(N, |I| {
        add_column(low, high, N + I, I + 1..(N + I).div_ceil(2), &a, &a);
    });
    columns.double();
    let Columns { low, high } = columns;
    each!(N, |I| {
        add_column(low, high, 2 * I, I..I + 1, &a, &a);
    });
}

/// See [`Columns::clear_low`].
#[inline(always)]
pub(super) fn clear_low<V: DigitLanes, const N: usize>(
    columns: &mut Columns<V, N>,
    modulus: &[V; N],
    factor: V,
    multiple: &mut [V; N],
) {
    let proof = factor.proof();
    let modulus = V::factors(modulus);
    if N <= LARGEST {
        let Columns { low, high } = columns;
        let modulus = &modulus;
        return (Clear {
            low,
            high,
            modulus,
            factor,
            multiple,
        })
        .run();
    }
    let [lower, upper] = sides(&modulus);
    for (i, multiple) in multiple.chunks_exact_mut(SIDE).enumerate() {
        let multiple: &mut [V; SIDE] = multiple.try_into().expect("a side of a tile");
        let (low, high) = columns.tile(i);
        proof.call(Clear {
            low,
            high,
            modulus: lower,
            factor,
            multiple,
        });
        let digits = V::factors(multiple);
        let (low, high) = columns.tile(i + 1);
        proof.call(Tile {
            low,
            high,
            a: &digits,
            b: upper,
        });
    }
}

impl<V: DigitLanes, const N: usize> Columns<V, N> {
    /// The columns of tile `i` of three, each of which begins in the middle of the one before.
    #[inline(always)]
    fn tile(&mut self, i: usize) -> (&mut [V; SIDE], &mut [V; SIDE]) {
        assert!(N == 2 * SIDE);
        let [a, b] = sides_mut(&mut self.low);
        let [c, d] = sides_mut(&mut self.high);
        match i {
            0 => (a, b),
            1 => (b, c),
            _ => (c, d),
        }
    }
}

/// Adds `a` · `b` to 2 T columns.
struct Tile<'a, V: DigitLanes, const T: usize> {
    low: &'a mut [V; T],
    high: &'a mut [V; T],
    a: &'a [V::Factor; T],
    b: &'a [V::Factor; T],
}

impl<V: DigitLanes, const T: usize> Code for Tile<'_, V, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { low, high, a, b } = self;
        each!(T, |I| {
            add_column(low, high, I, 0..I + 1, a, b);
        });
        each!(T, |I| {
            add_column(low, high, T + I, I + 1..T, a, b);
        });
    }
}

/// [`Columns::clear_low`] of the T lowest digits of a modulus.
struct Clear<'a, V: DigitLanes, const T: usize> {
    low: &'a mut [V; T],
    high: &'a mut [V; T],
    modulus: &'a [V::Factor; T],
    factor: V,
    multiple: &'a mut [V; T],
}

impl<V: DigitLanes, const T: usize> Code for Clear<'_, V, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            low,
            high,
            modulus,
            factor,
            multiple,
        } = self;
        let proof = factor.proof();
        let mut digits = *modulus;
        each!(T, |I| {
            add_column(low, high, I, 0..I, &digits, modulus);
            multiple[I] = V::zero(proof).mul_add_low(low[I], factor);
            digits[I] = multiple[I].factor();
            // With the product of the lowest digits, the column becomes the next multiple of 2⁵².
            let carry = low[I]
                .add(V::splat(proof, DIGIT))
                .shift_right::<DIGIT_BITS>();
            add_column(low, high, I, I..I + 1, &digits, modulus);
            let next = at(low, high, I + 1);
            *next = next.add(carry);
        });
        each!(T, |I| {
            add_column(low, high, T + I, I + 1..T, &digits, modulus);
        });
    }
}

/// Adds the products of `a[i]`, `i` of a range, and `b` that belong to column `k`.
#[inline(always)]
fn add_column<V: DigitLanes, const T: usize>(
    low: &mut [V; T],
    high: &mut [V; T],
    k: usize,
    range: Range<usize>,
    a: &[V::Factor; T],
    b: &[V::Factor; T],
) {
    if range.is_empty() {
        return;
    }
    let (mut below, mut above) = (*at(low, high, k), *at(low, high, k + 1));
    V::add_column::<DIGIT_BITS, T>((&mut below, &mut above), k, range, a, b);
    (*at(low, high, k), *at(low, high, k + 1)) = (below, above);
}

/// Column `k`.
#[inline(always)]
fn at<'a, V, const T: usize>(low: &'a mut [V; T], high: &'a mut [V; T], k: usize) -> &'a mut V {
    if k < T { &mut low[k] } else { &mut high[k - T] }
}

/// The lower and the upper half.
#[inline(always)]
fn sides<T, const N: usize>(digits: &[T; N]) -> [&[T; SIDE]; 2] {
    let halves = (digits.first_chunk(), digits.last_chunk());
    let (Some(lower), Some(upper)) = halves else {
        unreachable!("numbers of two tiles have {N} digits")
    };
    [lower, upper]
}

/// See [`sides`].
#[inline(always)]
fn sides_mut<T, const N: usize>(digits: &mut [T; N]) -> [&mut [T; SIDE]; 2] {
    let (lower, upper) = digits.split_at_mut(SIDE);
    let halves = (lower.first_chunk_mut(), upper.first_chunk_mut());
    let (Some(lower), Some(upper)) = halves else {
        unreachable!("numbers of two tiles have {N} digits")
    };
    [lower, upper]
}
