//! Montgomery multiplication in eight lanes (Montgomery, "Modular multiplication without trial
//! division", 1985), column by column and a block of digits at a time.
//!
//! A product of two blocks is 200 multiply-adds into 20 columns, which stay in registers while the
//! products of a block column are summed. Columns are plain sums of 52-bit halves: 4 per digit of
//! the numbers at most, doubled for cross products, so below 2^(52 + 10) with 80 digits; they are
//! carried only when a block is finished.
//!
//! Results are below ab/R + n. So they are below 2n whenever ab ≤ R·n, which the 8 spare bits of
//! each block grant to factors up to 2^(4·`B`)·n, and to any number below R times one below n.

use super::number::{BLOCK, DIGIT};
use super::wide::{Block, Wide};
use crate::arch::digits::{DIGIT_BITS, Lanes, Work};
use crate::arrays::map;

/// `body` with `I` = 0 … 9. The compiler does not unroll loops of this size, and columns whose
/// number it does not know would be in memory.
macro_rules! each_digit {
    ($body:block) => {
        each_digit!(0 1 2 3 4 5 6 7 8 9 $body)
    };
    ($($digit:literal)* $body:block) => {
        $({
            const I: usize = $digit;
            $body
        })*
    };
}

/// Sums of a block column and of the one above.
type Columns<L> = [L; 2 * BLOCK];

/// The moduli of eight lanes.
#[derive(Debug)]
pub(super) struct Moduli<L: Lanes, const B: usize> {
    /// n
    pub n: Wide<L, B>,
    /// −1/n modulo 2^52
    pub inverse: L,
}

impl<L: Lanes, const B: usize> Moduli<L, B> {
    /// a ← a·b/R mod n
    #[inline(always)]
    pub fn multiply(&self, a: &mut Wide<L, B>, b: &Wide<L, B>) {
        L::outlined(a.proof(), Multiply { moduli: self, a, b });
    }

    /// a ← a²/R mod n, `times` times.
    #[inline(always)]
    pub fn square(&self, a: &mut Wide<L, B>, times: usize) {
        let moduli = self;
        L::outlined(a.proof(), Square { moduli, a, times });
    }
}

/// result ← a·b + c, which `N` = 2·`P` blocks hold.
#[inline(always)]
pub(super) fn multiply_add<L: Lanes, const P: usize, const N: usize>(
    result: &mut Wide<L, N>,
    a: &Wide<L, P>,
    b: &Wide<L, P>,
    c: &Wide<L, P>,
) {
    const { assert!(N == 2 * P) };
    L::outlined(a.proof(), MultiplyAdd { result, a, b, c });
}

struct Multiply<'a, L: Lanes, const B: usize> {
    moduli: &'a Moduli<L, B>,
    a: &'a mut Wide<L, B>,
    b: &'a Wide<L, B>,
}

impl<L: Lanes, const B: usize> Work for Multiply<'_, L, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { moduli, a, b } = self;
        let proof = a.proof();
        let mut quotient = Wide::zero(proof);
        let mut columns = [L::zero(proof); 2 * BLOCK];
        for k in 0..2 * B {
            for (i, j) in column_pairs::<B>(k) {
                accumulate(&mut columns, &a.0[i], &b.0[j]);
            }
            moduli.reduce(&mut columns, &mut quotient, a, k);
        }
    }
}

struct Square<'a, L: Lanes, const B: usize> {
    moduli: &'a Moduli<L, B>,
    a: &'a mut Wide<L, B>,
    times: usize,
}

impl<L: Lanes, const B: usize> Work for Square<'_, L, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { moduli, a, times } = self;
        let proof = a.proof();
        let mut quotient = Wide::zero(proof);
        for _ in 0..times {
            let mut above = [L::zero(proof); BLOCK];
            for k in 0..2 * B {
                let mut columns = [L::zero(proof); 2 * BLOCK];
                for (i, j) in column_pairs::<B>(k).take_while(|(i, j)| i < j) {
                    accumulate(&mut columns, &a.0[i], &a.0[j]);
                }
                if k % 2 == 0 {
                    accumulate_square(&mut columns, &a.0[k / 2]);
                } else {
                    columns = map(columns, |column| column.add(column));
                }
                for (column, above) in columns.iter_mut().zip(above) {
                    *column = column.add(above);
                }
                moduli.reduce(&mut columns, &mut quotient, a, k);
                above.copy_from_slice(&columns[..BLOCK]);
            }
        }
    }
}

struct MultiplyAdd<'a, L: Lanes, const P: usize, const N: usize> {
    result: &'a mut Wide<L, N>,
    a: &'a Wide<L, P>,
    b: &'a Wide<L, P>,
    c: &'a Wide<L, P>,
}

impl<L: Lanes, const P: usize, const N: usize> Work for MultiplyAdd<'_, L, P, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { result, a, b, c } = self;
        let mut columns = [L::zero(a.proof()); 2 * BLOCK];
        for k in 0..N {
            if k < P {
                for (column, digit) in columns.iter_mut().zip(c.0[k]) {
                    *column = column.add(digit);
                }
            }
            for (i, j) in column_pairs::<P>(k) {
                accumulate(&mut columns, &a.0[i], &b.0[j]);
            }
            carry(&mut columns, &mut result.0[k]);
            advance(&mut columns);
        }
    }
}

impl<L: Lanes, const B: usize> Moduli<L, B> {
    /// Adds the products of quotient and modulus to block column `k`, finishes it, and makes the
    /// column above the first one. A finished column of the lower half is a block of the quotient,
    /// one of the upper half a block of the result: the factors that a later column needs are
    /// above it.
    #[inline(always)]
    fn reduce(
        &self,
        columns: &mut Columns<L>,
        quotient: &mut Wide<L, B>,
        result: &mut Wide<L, B>,
        k: usize,
    ) {
        for (i, j) in column_pairs::<B>(k) {
            if i != k {
                accumulate(columns, &self.n.0[j], &quotient.0[i]);
            }
        }
        if k < B {
            self.cancel(columns, &mut quotient.0[k]);
        } else {
            carry(columns, &mut result.0[k - B]);
        }
        advance(columns);
    }

    /// Adds the multiple of the modulus that makes the lower column zero, and carries into the
    /// upper one; the quotient digits that do it.
    ///
    /// A quotient digit waits for the one before it: two multiply-adds and a sum, which is as long
    /// as the other products of a digit take. So the carry, which is known without the product of
    /// the lowest digits, and the high half that the next digit needs are summed apart.
    #[inline(always)]
    fn cancel(&self, columns: &mut Columns<L>, quotient: &mut Block<L>) {
        let (n, inverse) = (&self.n.0[0], self.inverse);
        L::run(
            self.n.proof(),
            Cancel {
                n,
                inverse,
                columns,
                quotient,
            },
        );
    }
}

/// See [`Moduli::cancel`].
struct Cancel<'a, L> {
    n: &'a Block<L>,
    inverse: L,
    columns: &'a mut Columns<L>,
    quotient: &'a mut Block<L>,
}

impl<L: Lanes> Work for Cancel<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            n,
            inverse,
            columns,
            quotient,
        } = self;
        let proof = inverse.proof();
        let (zero, low) = (L::zero(proof), L::splat(proof, DIGIT));
        each_digit!({
            let digit = zero.mul_add_low(columns[I], inverse);
            quotient[I] = digit;
            // The sum becomes the next multiple of 2^52.
            let carry = columns[I].add(low).shift_right::<DIGIT_BITS>();
            columns[I + 1] = columns[I + 1].add(carry).mul_add_low(digit, n[1]);
            columns[I + 1] = columns[I + 1].add(zero.mul_add_high(digit, n[0]));
            for j in 2..BLOCK {
                columns[I + j] = columns[I + j].mul_add_low(digit, n[j]);
                columns[I + j] = columns[I + j].mul_add_high(digit, n[j - 1]);
            }
            columns[I + BLOCK] = columns[I + BLOCK].mul_add_high(digit, n[BLOCK - 1]);
        });
    }
}

/// The blocks (i, j), both below `B`, with i + j = `k`, in the order of i.
#[inline(always)]
fn column_pairs<const B: usize>(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (k.saturating_sub(B - 1)..B.min(k + 1)).map(move |i| (i, k - i))
}

/// Adds a·b.
#[inline(always)]
fn accumulate<L: Lanes>(columns: &mut Columns<L>, a: &Block<L>, b: &Block<L>) {
    L::run(a[0].proof(), Accumulate { columns, a, b });
}

struct Accumulate<'a, L> {
    columns: &'a mut Columns<L>,
    a: &'a Block<L>,
    b: &'a Block<L>,
}

impl<L: Lanes> Work for Accumulate<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { columns, a, b } = self;
        each_digit!({
            for j in 0..BLOCK {
                columns[I + j] = columns[I + j].mul_add_low(a[j], b[I]);
                columns[I + j + 1] = columns[I + j + 1].mul_add_high(a[j], b[I]);
            }
        });
    }
}

/// Doubles the columns and adds a².
#[inline(always)]
fn accumulate_square<L: Lanes>(columns: &mut Columns<L>, a: &Block<L>) {
    L::run(a[0].proof(), AccumulateSquare { columns, a });
}

struct AccumulateSquare<'a, L> {
    columns: &'a mut Columns<L>,
    a: &'a Block<L>,
}

impl<L: Lanes> Work for AccumulateSquare<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { columns, a } = self;
        each_digit!({
            for j in 0..BLOCK {
                if j > I {
                    columns[I + j] = columns[I + j].mul_add_low(a[j], a[I]);
                    columns[I + j + 1] = columns[I + j + 1].mul_add_high(a[j], a[I]);
                }
            }
        });
        each_digit!({
            let (low, high) = (columns[2 * I], columns[2 * I + 1]);
            columns[2 * I] = low.add(low).mul_add_low(a[I], a[I]);
            columns[2 * I + 1] = high.add(high).mul_add_high(a[I], a[I]);
        });
    }
}

/// Carries the lower column into digits and into the upper one.
#[inline(always)]
fn carry<L: Lanes>(columns: &mut Columns<L>, digits: &mut Block<L>) {
    let low = L::splat(columns[0].proof(), DIGIT);
    for i in 0..BLOCK {
        digits[i] = columns[i].and(low);
        columns[i + 1] = columns[i + 1].add(columns[i].shift_right::<DIGIT_BITS>());
    }
}

/// Makes the column above the first one.
#[inline(always)]
fn advance<L: Lanes>(columns: &mut Columns<L>) {
    let zero = L::zero(columns[0].proof());
    for i in 0..BLOCK {
        columns[i] = columns[i + BLOCK];
        columns[i + BLOCK] = zero;
    }
}
