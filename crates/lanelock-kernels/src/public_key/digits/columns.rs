//! Products in lanes, column by column, and Montgomery's reduction of them ("Modular
//! multiplication without trial division", 1985).
//!
//! Columns are plain sums of halves of 104-bit products, not carried. Each row of a product adds two
//! halves below 2⁵² to a column at most. The users say how many rows there are; columns must stay
//! below 2⁶³.

#![allow(clippy::needless_range_loop)] // an index names the digit on both sides

use super::{DIGIT, by_columns};
use crate::arch::digits::{DIGIT_BITS, DigitLanes};
use crate::arch::register::Code;
use crate::arrays::each;

/// The 2 N columns of a product of N digits by N. RSA's numbers are blocks of N digits: there, `low`
/// is one column of blocks and `high` the one above.
#[derive(Clone, Copy, Debug)]
pub(in crate::public_key) struct Columns<V, const N: usize> {
    pub low: [V; N],
    pub high: [V; N],
}

impl<V: DigitLanes, const N: usize> Columns<V, N> {
    #[inline(always)]
    pub fn zero(proof: V::Proof) -> Self {
        Self::from_low([V::zero(proof); N])
    }

    /// A number of N digits.
    #[inline(always)]
    pub fn from_low(low: [V; N]) -> Self {
        let high = [V::zero(low[0].proof()); N];
        Self { low, high }
    }

    /// Column `k`.
    #[inline(always)]
    pub fn at(&mut self, k: usize) -> &mut V {
        if k < N {
            &mut self.low[k]
        } else {
            &mut self.high[k - N]
        }
    }

    /// Adds the low half of `a` · `b` to column `k` and the high half to the next one.
    #[inline(always)]
    pub fn mul_add(&mut self, k: usize, a: V, b: V) {
        *self.at(k) = self.at(k).mul_add_low(a, b);
        *self.at(k + 1) = self.at(k + 1).mul_add_high(a, b);
    }

    /// [`Self::mul_add`] of the low 52 bits of `a` and 2^`LEFT`, where `LEFT` + `RIGHT` is 52.
    #[inline(always)]
    pub fn add_shifted<const LEFT: u32, const RIGHT: u32>(&mut self, k: usize, a: V) {
        if V::BY_COLUMNS {
            let [below, above] = shifted::<V, LEFT, RIGHT>(a);
            *self.at(k) = self.at(k).add(below);
            *self.at(k + 1) = self.at(k + 1).add(above);
        } else {
            self.mul_add(k, a, V::splat(a.proof(), 1 << LEFT));
        }
    }

    /// Subtracts the product of the low 52 bits of `a` and 2^`LEFT`, where `LEFT` + `RIGHT` is 52. Columns
    /// may be negative then.
    #[inline(always)]
    pub fn sub_shifted<const LEFT: u32, const RIGHT: u32>(&mut self, k: usize, a: V) {
        let [below, above] = shifted::<V, LEFT, RIGHT>(a);
        *self.at(k) = self.at(k).sub(below);
        *self.at(k + 1) = self.at(k + 1).sub(above);
    }

    /// Adds the products of the digits of `a` from `first` on and `b`, digit `i` of its number.
    #[inline(always)]
    fn add_row(&mut self, i: usize, first: usize, a: &[V; N], b: V) {
        let columns = self;
        let task = AddRow {
            columns,
            i,
            first,
            a,
            b,
        };
        V::run(b.proof(), task);
    }

    /// Adds `a` · `b`: N rows.
    #[inline(always)]
    pub fn add_product(&mut self, a: &[V; N], b: &[V; N]) {
        let columns = self;
        V::run(a[0].proof(), AddProduct { columns, a, b });
    }

    /// Doubles the columns.
    #[inline(always)]
    pub fn double(&mut self) {
        for k in 0..2 * N {
            *self.at(k) = self.at(k).add(*self.at(k));
        }
    }

    /// Doubles the columns and adds `a`²: N rows.
    #[inline(always)]
    pub fn double_and_add_square(&mut self, a: &[V; N]) {
        let columns = self;
        V::run(a[0].proof(), DoubleAndAddSquare { columns, a });
    }

    /// Adds the multiple of `modulus` that makes column `i` a multiple of 2⁵², and carries that
    /// into the next one, but leaves the column as it is; the multiple, a digit. `factor` is
    /// −1 / `modulus` modulo 2⁵².
    ///
    /// The next digit waits for this one: two multiply-adds and a sum, which is as long as the other
    /// products of a row take. So the carry, which is known without the product of the lowest
    /// digits, and the high half that the next digit needs are summed apart.
    #[inline(always)]
    pub fn clear(&mut self, i: usize, modulus: &[V; N], factor: V) -> V {
        let task = Clear {
            columns: self,
            i,
            modulus,
            factor,
        };
        V::run(factor.proof(), task)
    }

    /// Adds the products of different digits of `a`, each pair once.
    #[inline(always)]
    pub fn add_cross_products(&mut self, a: &[V; N]) {
        each!(N, |I| {
            self.add_row(I, I + 1, a, a[I]);
        });
    }

    /// Doubles the lower half and adds the squares of `digits` to it, of which there are N / 2.
    #[inline(always)]
    pub fn double_low_and_add_squares(&mut self, digits: &[V]) {
        for i in 0..N {
            let doubled = self.low[i].add(self.low[i]);
            let digit = digits[i / 2];
            self.low[i] = match i % 2 {
                0 => doubled.mul_add_low(digit, digit),
                _ => doubled.mul_add_high(digit, digit),
            };
        }
    }

    /// [`Self::clear`] of the lower half, whose columns may be negative; the digits of the multiple. Each
    /// of them is begun before the products of the one before, which take as long as it does.
    #[inline(always)]
    pub fn clear_low(&mut self, modulus: &[V; N], factor: V, multiple: &mut [V; N]) {
        let task = ClearLow {
            columns: self,
            modulus,
            factor,
            multiple,
        };
        V::run(factor.proof(), task);
    }
}

/// The halves of the product of the low 52 bits of `a` and 2^`LEFT`.
#[inline(always)]
fn shifted<V: DigitLanes, const LEFT: u32, const RIGHT: u32>(a: V) -> [V; 2] {
    const { assert!(LEFT + RIGHT == DIGIT_BITS) };
    let low = V::splat(a.proof(), DIGIT);
    [
        a.shift_left::<LEFT>().and(low),
        a.and(low).shift_right::<RIGHT>(),
    ]
}

/// See [`Columns::add_row`].
struct AddRow<'a, V, const N: usize> {
    columns: &'a mut Columns<V, N>,
    i: usize,
    first: usize,
    a: &'a [V; N],
    b: V,
}

impl<V: DigitLanes, const N: usize> Code for AddRow<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for j in self.first..N {
            self.columns.mul_add(self.i + j, self.a[j], self.b);
        }
    }
}

/// See [`Columns::add_product`].
struct AddProduct<'a, V, const N: usize> {
    columns: &'a mut Columns<V, N>,
    a: &'a [V; N],
    b: &'a [V; N],
}

impl<V: DigitLanes, const N: usize> Code for AddProduct<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { columns, a, b } = self;
        if V::BY_COLUMNS {
            return by_columns::add_product(columns, a, b);
        }
        each!(N, |I| {
            columns.add_row(I, 0, a, b[I]);
        });
    }
}

/// See [`Columns::double_and_add_square`].
struct DoubleAndAddSquare<'a, V, const N: usize> {
    columns: &'a mut Columns<V, N>,
    a: &'a [V; N],
}

impl<V: DigitLanes, const N: usize> Code for DoubleAndAddSquare<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { columns, a } = self;
        if V::BY_COLUMNS {
            return by_columns::double_and_add_square(columns, a);
        }
        columns.add_cross_products(a);
        columns.double();
        each!(N, |I| {
            columns.mul_add(2 * I, a[I], a[I]);
        });
    }
}

/// See [`Columns::clear`].
struct Clear<'a, V, const N: usize> {
    columns: &'a mut Columns<V, N>,
    i: usize,
    modulus: &'a [V; N],
    factor: V,
}

impl<V: DigitLanes, const N: usize> Code for Clear<'_, V, N> {
    type Output = V;

    #[inline(always)]
    fn run(self) -> V {
        let Self {
            columns,
            i,
            modulus,
            factor,
        } = self;
        let proof = factor.proof();
        let (zero, low) = (V::zero(proof), V::splat(proof, DIGIT));
        if V::BY_COLUMNS {
            return by_columns::clear(columns, i, modulus, factor);
        }
        let digit = zero.mul_add_low(*columns.at(i), factor);
        // The column becomes the next multiple of 2⁵².
        let carry = columns.at(i).add(low).shift_right::<DIGIT_BITS>();
        let next = columns.at(i + 1).add(carry);
        let next = next.mul_add_low(digit, modulus[1]);
        *columns.at(i + 1) = next.add(zero.mul_add_high(digit, modulus[0]));
        for j in 2..N {
            *columns.at(i + j) = columns.at(i + j).mul_add_low(digit, modulus[j]);
            *columns.at(i + j) = columns.at(i + j).mul_add_high(digit, modulus[j - 1]);
        }
        *columns.at(i + N) = columns.at(i + N).mul_add_high(digit, modulus[N - 1]);
        digit
    }
}

/// See [`Columns::clear_low`].
struct ClearLow<'a, V, const N: usize> {
    columns: &'a mut Columns<V, N>,
    modulus: &'a [V; N],
    factor: V,
    multiple: &'a mut [V; N],
}

impl<V: DigitLanes, const N: usize> Code for ClearLow<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            columns,
            modulus,
            factor,
            multiple,
        } = self;
        let proof = factor.proof();
        let (zero, low) = (V::zero(proof), V::splat(proof, DIGIT));
        multiple[0] = zero.mul_add_low(columns.low[0], factor);
        each!(N, |I| {
            let mut digit = multiple[I];
            let carry = columns.low[I].add(low).shift_right_signed::<DIGIT_BITS>();
            let next = columns.at(I + 1).add(carry);
            let next = next.mul_add_low(digit, modulus[1]);
            let next = next.add(zero.mul_add_high(digit, modulus[0]));
            *columns.at(I + 1) = next;
            if I + 1 < N {
                let following = zero.mul_add_low(next, factor);
                [multiple[I + 1], digit] = V::in_order(following, digit);
            }
            for j in 2..N {
                *columns.at(I + j) = columns.at(I + j).mul_add_low(digit, modulus[j]);
                *columns.at(I + j) = columns.at(I + j).mul_add_high(digit, modulus[j - 1]);
            }
            *columns.at(I + N) = columns.at(I + N).mul_add_high(digit, modulus[N - 1]);
        });
    }
}

/// Leaves 52 bits in each digit; the highest keeps what is above, and the sign.
#[inline(always)]
pub(in crate::public_key) fn carry<V: DigitLanes, const N: usize>(digits: &mut [V; N]) {
    V::run(digits[0].proof(), Carry(digits));
}

/// See [`carry`].
struct Carry<'a, V, const N: usize>(&'a mut [V; N]);

impl<V: DigitLanes, const N: usize> Code for Carry<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let digits = self.0;
        for i in 0..N - 1 {
            let (low, above) = split(digits[i]);
            digits[i] = low;
            digits[i + 1] = digits[i + 1].add(above);
        }
    }
}

/// The low 52 bits, and what is above them, with its sign.
#[inline(always)]
pub(in crate::public_key) fn split<V: DigitLanes>(sum: V) -> (V, V) {
    let low = sum.and(V::splat(sum.proof(), DIGIT));
    (low, sum.shift_right_signed::<DIGIT_BITS>())
}
