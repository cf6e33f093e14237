//! Montgomery multiplication in lanes (Montgomery, "Modular multiplication without trial
//! division", 1985), column by column and a block of digits at a time.
//!
//! A product of two blocks is 200 multiply-adds into 20 columns, which stay in registers while the
//! products of a block column are summed. Columns are plain sums of 52-bit halves: 4 per digit of
//! the numbers at most, doubled for cross products, so below 2^(52 + 10) with 80 digits; they are
//! carried only when a block is finished.
//!
//! Registers whose multiply-adds take several instructions go another way to the same results
//! ([`scanning`]).
//!
//! Results are below ab/R + n. So they are below 2n whenever ab ≤ R·n, which the 8 spare bits of
//! each block grant to factors up to 2^(4·`B`)·n, and to any number below R times one below n.

use super::number::BLOCK;
use super::scanning;
use super::wide::Wide;
use crate::arch::digits::DigitLanes;
use crate::arch::register::{Code, Proof};
use crate::public_key::digits::columns;

/// Sums of a block column and of the one above.
type Columns<L> = columns::Columns<L, BLOCK>;

/// The modulus of each lane.
#[derive(Debug)]
pub(super) struct Moduli<L: DigitLanes, const B: usize> {
    /// n
    pub n: Wide<L, B>,
    /// −1/n modulo 2^104, in digits.
    pub inverse: [L; 2],
}

impl<L: DigitLanes, const B: usize> Moduli<L, B> {
    /// a ← a·b/R mod n
    #[inline(always)]
    pub fn multiply(&self, a: &mut Wide<L, B>, b: &Wide<L, B>) {
        a.proof().call(Multiply { moduli: self, a, b });
    }

    /// a ← a²/R mod n, `times` times.
    #[inline(always)]
    pub fn square(&self, a: &mut Wide<L, B>, times: usize) {
        let moduli = self;
        a.proof().call(Square { moduli, a, times });
    }
}

/// result ← a·b + c, which `N` = 2·`P` blocks hold.
#[inline(always)]
pub(super) fn multiply_add<L: DigitLanes, const P: usize, const N: usize>(
    result: &mut Wide<L, N>,
    a: &Wide<L, P>,
    b: &Wide<L, P>,
    c: &Wide<L, P>,
) {
    const { assert!(N == 2 * P) };
    a.proof().call(MultiplyAdd { result, a, b, c });
}

struct Multiply<'a, L: DigitLanes, const B: usize> {
    moduli: &'a Moduli<L, B>,
    a: &'a mut Wide<L, B>,
    b: &'a Wide<L, B>,
}

impl<L: DigitLanes, const B: usize> Code for Multiply<'_, L, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { moduli, a, b } = self;
        if L::BY_COLUMNS {
            return scanning::Reduction::new(&moduli.n, moduli.inverse).multiply(a, b);
        }
        let proof = a.proof();
        let mut quotient = Wide::zero(proof);
        let mut columns = Columns::zero(proof);
        for k in 0..2 * B {
            for (i, j) in column_pairs::<B>(k) {
                columns.add_product(&a.0[i], &b.0[j]);
            }
            moduli.reduce(&mut columns, &mut quotient, a, k);
        }
    }
}

struct Square<'a, L: DigitLanes, const B: usize> {
    moduli: &'a Moduli<L, B>,
    a: &'a mut Wide<L, B>,
    times: usize,
}

impl<L: DigitLanes, const B: usize> Code for Square<'_, L, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { moduli, a, times } = self;
        if L::BY_COLUMNS {
            let mut reduction = scanning::Reduction::new(&moduli.n, moduli.inverse);
            for _ in 0..times {
                reduction.square(a);
            }
            return;
        }
        let proof = a.proof();
        let mut quotient = Wide::zero(proof);
        for _ in 0..times {
            let mut above = [L::zero(proof); BLOCK];
            for k in 0..2 * B {
                let mut columns = Columns::zero(proof);
                for (i, j) in column_pairs::<B>(k).take_while(|(i, j)| i < j) {
                    columns.add_product(&a.0[i], &a.0[j]);
                }
                if k % 2 == 0 {
                    columns.double_and_add_square(&a.0[k / 2]);
                } else {
                    columns.double();
                }
                columns.add_low(&above);
                moduli.reduce(&mut columns, &mut quotient, a, k);
                above = columns.low;
            }
        }
    }
}

struct MultiplyAdd<'a, L: DigitLanes, const P: usize, const N: usize> {
    result: &'a mut Wide<L, N>,
    a: &'a Wide<L, P>,
    b: &'a Wide<L, P>,
    c: &'a Wide<L, P>,
}

impl<L: DigitLanes, const P: usize, const N: usize> Code for MultiplyAdd<'_, L, P, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { result, a, b, c } = self;
        if L::BY_COLUMNS {
            return scanning::multiply_add(result, a, b, c);
        }
        let mut columns = Columns::zero(a.proof());
        for k in 0..N {
            if k < P {
                columns.add_low(&c.0[k]);
            }
            for (i, j) in column_pairs::<P>(k) {
                columns.add_product(&a.0[i], &b.0[j]);
            }
            columns.carry_low(&mut result.0[k]);
            columns.advance();
        }
    }
}

impl<L: DigitLanes, const B: usize> Moduli<L, B> {
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
                columns.add_product(&self.n.0[j], &quotient.0[i]);
            }
        }
        if k < B {
            columns.clear_low(&self.n.0[0], self.inverse[0], &mut quotient.0[k]);
        } else {
            columns.carry_low(&mut result.0[k - B]);
        }
        columns.advance();
    }
}

/// The blocks (i, j), both below `B`, with i + j = `k`, in the order of i.
#[inline(always)]
fn column_pairs<const B: usize>(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (k.saturating_sub(B - 1)..B.min(k + 1)).map(move |i| (i, k - i))
}
