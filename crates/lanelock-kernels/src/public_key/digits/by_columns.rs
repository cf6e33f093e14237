//! [`Columns`] for registers whose multiply-adds take several instructions: one column after the other,
//! so that few sums are in registers.

#![allow(clippy::needless_range_loop)] // an index names the digit on both sides

use core::ops::Range;

use super::DIGIT;
use super::columns::Columns;
use crate::arch::digits::{DIGIT_BITS, DigitLanes};
use crate::arrays::each;

/// Adds `a` · `b`.
#[inline(always)]
pub(super) fn add_product<V: DigitLanes, const N: usize>(
    columns: &mut Columns<V, N>,
    a: &[V; N],
    b: &[V; N],
) {
    let (a, b) = (V::factors(a), V::factors(b));
    let Columns { low, high } = columns;
    each!(N, |I| {
        add_column(low, high, I, 0..I + 1, &a, &b);
    });
    each!(N, |I| {
        add_column(low, high, N + I, I + 1..N, &a, &b);
    });
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

/// See [`Columns::clear`].
#[inline(always)]
pub(super) fn clear<V: DigitLanes, const N: usize>(
    columns: &mut Columns<V, N>,
    i: usize,
    modulus: &[V; N],
    factor: V,
) -> V {
    let proof = factor.proof();
    let mask = V::splat(proof, DIGIT);
    let (column, mut digit, mut unused) = (*columns.at(i), V::zero(proof), V::zero(proof));
    add_one(&mut digit, &mut unused, column.and(mask), factor);
    let carry = column.add(mask).shift_right::<DIGIT_BITS>();
    *columns.at(i + 1) = columns.at(i + 1).add(carry);
    for j in 0..N {
        let (mut low, mut high) = (*columns.at(i + j), *columns.at(i + j + 1));
        add_one(&mut low, &mut high, digit, modulus[j]);
        (*columns.at(i + j), *columns.at(i + j + 1)) = (low, high);
    }
    digit
}

/// Adds the halves of a product of digits.
#[inline(always)]
fn add_one<V: DigitLanes>(low: &mut V, high: &mut V, a: V, b: V) {
    V::add_products::<DIGIT_BITS>(low, high, &[a.factor()], &[b.factor()]);
}

/// Adds the products of `a[i]`, `i` of a range, and `b` that belong to column `k`.
#[inline(always)]
fn add_column<V: DigitLanes, const N: usize>(
    low: &mut [V; N],
    high: &mut [V; N],
    k: usize,
    range: Range<usize>,
    a: &[V::Factor; N],
    b: &[V::Factor; N],
) {
    if range.is_empty() {
        return;
    }
    let (mut below, mut above) = (*at(low, high, k), *at(low, high, k + 1));
    V::add_column::<DIGIT_BITS, N>((&mut below, &mut above), k, range, a, b);
    (*at(low, high, k), *at(low, high, k + 1)) = (below, above);
}

/// Column `k`.
#[inline(always)]
fn at<'a, V, const N: usize>(low: &'a mut [V; N], high: &'a mut [V; N], k: usize) -> &'a mut V {
    if k < N { &mut low[k] } else { &mut high[k - N] }
}
