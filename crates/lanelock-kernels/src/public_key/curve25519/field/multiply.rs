//! Products and squares modulo p.

#![allow(clippy::needless_range_loop)] // an index names the digit on both sides

use core::ops::Range;

use super::{DIGITS, Element, RADIX, Wide};
use crate::arch::digits::DigitLanes;
use crate::arch::register::Code;
use crate::arrays::each;

/// Columns that products of digits begin in.
const STARTS: usize = 2 * DIGITS - 1;

/// The product, not carried: 50 multiply-adds.
///
/// A product of two digits below 2⁵¹ + 2¹⁶ has a high part h < 2⁵⁰ + 2¹⁷, which weighs two in
/// the next column, and a low part below 2⁵². Column 5 has most: 4 low parts and twice 5 high
/// parts, 6.5 · 2⁵² or so, which come back 19-fold beside the one low part of column 0.
pub(super) struct Product<V>(pub(super) Element<V>, pub(super) Element<V>);

impl<V: DigitLanes> Code for Product<V> {
    type Output = Wide<V>;

    #[inline(always)]
    fn run(self) -> Wide<V> {
        let (a, b) = (self.0.0, self.1.0);
        let mut columns = [V::zero(a[0].proof()); 10];
        if V::BY_COLUMNS {
            let (a, b) = (V::factors(&a), V::factors(&b));
            each!(STARTS, |K| {
                let (from, to) = (K.saturating_sub(DIGITS - 1), DIGITS.min(K + 1));
                add_column(&mut columns, K, from..to, &a, &b);
            });
            return Wide::fold(columns);
        }
        for i in 0..DIGITS {
            for j in 0..DIGITS {
                columns[i + j + 1] = columns[i + j + 1].mul_add_high(a[i], b[j]);
            }
        }
        for k in 1..10 {
            columns[k] = columns[k].shift_left::<1>();
        }
        for i in 0..DIGITS {
            for j in 0..DIGITS {
                columns[i + j] = columns[i + j].mul_add_low(a[i], b[j]);
            }
        }
        Wide::fold(columns)
    }
}

/// The square, not carried: 30 multiply-adds.
///
/// Products of different digits count twice. They are added first and doubled together, high
/// parts twice: once because there are two, once for their weight in the next column.
pub(super) struct Square<V>(pub(super) Element<V>);

impl<V: DigitLanes> Code for Square<V> {
    type Output = Wide<V>;

    #[inline(always)]
    fn run(self) -> Wide<V> {
        let a = self.0.0;
        let mut columns = [V::zero(a[0].proof()); 10];
        if V::BY_COLUMNS {
            let a = V::factors(&a);
            each!(STARTS, |K| {
                let (from, to) = (K.saturating_sub(DIGITS - 1), K.div_ceil(2));
                add_column(&mut columns, K, from..to, &a, &a);
            });
            for k in 1..STARTS {
                columns[k] = columns[k].add(columns[k]);
            }
            each!(DIGITS, |I| {
                add_column(&mut columns, 2 * I, I..I + 1, &a, &a);
            });
            return Wide::fold(columns);
        }
        for i in 0..DIGITS {
            for j in i + 1..DIGITS {
                columns[i + j + 1] = columns[i + j + 1].mul_add_high(a[i], a[j]);
            }
        }
        for k in 2..9 {
            columns[k] = columns[k].shift_left::<1>();
        }
        for i in 0..DIGITS {
            columns[2 * i + 1] = columns[2 * i + 1].mul_add_high(a[i], a[i]);
            for j in i + 1..DIGITS {
                columns[i + j] = columns[i + j].mul_add_low(a[i], a[j]);
            }
        }
        for k in 1..10 {
            columns[k] = columns[k].shift_left::<1>();
        }
        for i in 0..DIGITS {
            columns[2 * i] = columns[2 * i].mul_add_low(a[i], a[i]);
        }
        Wide::fold(columns)
    }
}

/// Adds the products of `a[i]`, `i` of a range, and `b` that belong to column `k`.
#[inline(always)]
fn add_column<V: DigitLanes>(
    columns: &mut [V; 10],
    k: usize,
    range: Range<usize>,
    a: &[V::Factor; DIGITS],
    b: &[V::Factor; DIGITS],
) {
    let (mut low, mut high) = (columns[k], columns[k + 1]);
    V::add_column::<RADIX, DIGITS>((&mut low, &mut high), k, range, a, b);
    (columns[k], columns[k + 1]) = (low, high);
}
