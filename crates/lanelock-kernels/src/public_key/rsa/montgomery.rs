//! Montgomery multiplication in lanes (Montgomery, "Modular multiplication without trial
//! division", 1985), column by column and a block of digits at a time.
//!
//! Products of blocks ([`karatsuba`](super::karatsuba)) are sums of columns that stay in registers
//! while a block column is summed. They are plain sums of 52-bit halves, carried only when a block is
//! finished: with numbers of 8 blocks, 32 products of less than 28·2^52 come to a column, which stays
//! below 2^62.
//!
//! Montgomery's quotient waits for a chain of products, digit by digit. So only the last of the lower
//! blocks goes that way: each one before is carried and multiplied by 1/2^520 modulo n, a number known
//! beforehand, which moves it to the next block without a quotient (Orup, "Simplifying quotient
//! determination in high-radix modular multiplication", 1995, likewise by a multiple of n). The
//! lowest block is known, and carried, long before the product is complete.
//!
//! Registers whose multiply-adds take several instructions go another way to the same results, modulo
//! n ([`scanning`]).
//!
//! Both the moved blocks and the quotient add less than n, so results are below ab/R + 2n. They are
//! below 3n whenever ab ≤ R·n, which the 8 spare bits of each block grant to factors up to
//! 2^(4·`B`)·n, and to any number below R times one below n.

use super::karatsuba::{Differences, Factor, sum_products};
use super::number::BLOCK;
use super::scanning;
use super::wide::{Block, Wide};
use crate::arch::digits::DigitLanes;
use crate::arch::register::{Code, Proof};
use crate::public_key::digits::columns;
use crate::wipe::wipe;

/// Sums of a block column and of the one above.
type Columns<L> = columns::Columns<L, BLOCK>;

/// The modulus of each lane.
#[derive(Debug)]
pub(super) struct Moduli<L: DigitLanes, const B: usize> {
    /// n
    pub n: Factor<L, B>,
    /// 1/2^520 modulo n
    pub shift: Factor<L, B>,
    /// −1/n modulo 2^104, in digits.
    pub inverse: [L; 2],
}

impl<L: DigitLanes, const B: usize> Moduli<L, B> {
    /// a ← a·b/R mod n
    #[inline(always)]
    pub fn multiply(&self, space: &mut Space<L, B>, a: &mut Wide<L, B>, b: &Wide<L, B>) {
        let moduli = self;
        a.proof().call(Multiply {
            moduli,
            space,
            a,
            b,
        });
    }

    /// a ← a²/R mod n, `times` times.
    #[inline(always)]
    pub fn square(&self, space: &mut Space<L, B>, a: &mut Wide<L, B>, times: usize) {
        let moduli = self;
        a.proof().call(Square {
            moduli,
            space,
            a,
            times,
        });
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

/// Where products are and their quotients: one for many of them. Wiped when dropped.
pub(super) struct Space<L: DigitLanes, const B: usize> {
    /// The block columns of a product of two numbers but the lowest one, which is the first block of
    /// the quotient, and the carry from that.
    product: [[Block<L>; 2]; B],
    carry: L,
    quotient: Wide<L, B>,
    differences: Differences<L, B>,
}

impl<L: DigitLanes, const B: usize> Space<L, B> {
    #[inline(always)]
    pub fn new(proof: L::Proof) -> Self {
        Self {
            product: [[[L::zero(proof); BLOCK]; 2]; B],
            carry: L::zero(proof),
            quotient: Wide::zero(proof),
            differences: Differences::zero(proof),
        }
    }

    /// The product becomes a·b.
    #[inline(always)]
    fn multiply(&mut self, a: &Wide<L, B>, b: &Wide<L, B>) {
        self.differences.set(b, 0);
        let mut carried = [L::zero(a.proof()); BLOCK];
        for k in 0..2 * B - 1 {
            let pairs = column_pairs::<B>(k).map(|(i, j)| self.differences.pair(&a.0[i], b, j));
            let columns = sum_products(&carried, pairs);
            self.finish(k, &columns.low);
            carried = columns.high;
        }
        self.finish(2 * B - 1, &carried);
    }

    /// The product becomes a²: products of different digits once, doubled.
    #[inline(always)]
    fn square(&mut self, a: &Wide<L, B>) {
        let mut carried = [L::zero(a.proof()); BLOCK];
        for k in 0..2 * B {
            let mut columns = Columns::from_low(carried);
            if k == 1 {
                // Not earlier: the upper blocks have only just been carried.
                self.differences.set(a, 1);
            }
            if (1..2 * B - 2).contains(&k) {
                let different = column_pairs::<B>(k).take_while(|(i, j)| i < j);
                let pairs = different.map(|(i, j)| self.differences.pair(&a.0[i], a, j));
                columns = sum_products(&carried, pairs);
            }
            let squared = &a.0[k / 2];
            if k % 2 == 0 {
                columns.add_cross_products(squared);
            }
            columns.double_low_and_add_squares(&squared[BLOCK / 2 * (k % 2)..]);
            self.finish(k, &columns.low);
            carried = columns.high;
        }
    }

    /// Takes block column `k` of the product, to which nothing more is added.
    #[inline(always)]
    fn finish(&mut self, k: usize, column: &Block<L>) {
        if k == 0 {
            self.carry = carry_block(column, &mut self.quotient.0[0]);
        } else {
            self.product.as_flattened_mut()[k] = *column;
        }
    }
}

impl<L: DigitLanes, const B: usize> Drop for Space<L, B> {
    #[inline(always)]
    fn drop(&mut self) {
        wipe(self.product.as_flattened_mut());
        wipe(core::slice::from_mut(&mut self.carry));
    }
}

struct Multiply<'a, L: DigitLanes, const B: usize> {
    moduli: &'a Moduli<L, B>,
    space: &'a mut Space<L, B>,
    a: &'a mut Wide<L, B>,
    b: &'a Wide<L, B>,
}

impl<L: DigitLanes, const B: usize> Code for Multiply<'_, L, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            moduli,
            space,
            a,
            b,
        } = self;
        if L::BY_COLUMNS {
            return scanning::Reduction::new(&moduli.n.number, moduli.inverse).multiply(a, b);
        }
        space.multiply(a, b);
        moduli.reduce(space, a);
    }
}

struct Square<'a, L: DigitLanes, const B: usize> {
    moduli: &'a Moduli<L, B>,
    space: &'a mut Space<L, B>,
    a: &'a mut Wide<L, B>,
    times: usize,
}

impl<L: DigitLanes, const B: usize> Code for Square<'_, L, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            moduli,
            space,
            a,
            times,
        } = self;
        if L::BY_COLUMNS {
            let mut reduction = scanning::Reduction::new(&moduli.n.number, moduli.inverse);
            for _ in 0..times {
                reduction.square(a);
            }
            return;
        }
        for _ in 0..times {
            space.square(a);
            moduli.reduce(space, a);
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
        let zero = [L::zero(a.proof()); BLOCK];
        let block = |k: usize| c.0.get(k).copied().unwrap_or(zero);
        let mut columns = Columns {
            low: block(0),
            high: block(1),
        };
        for k in 0..N {
            for (i, j) in column_pairs::<P>(k) {
                columns.add_product(&a.0[i], &b.0[j]);
            }
            let carry = carry_block(&columns.low, &mut result.0[k]);
            columns.low = columns.high;
            columns.low[0] = columns.low[0].add(carry);
            columns.high = block(k + 2);
        }
    }
}

impl<L: DigitLanes, const B: usize> Moduli<L, B> {
    /// result ← product/R mod n
    ///
    /// A finished block column of the lower half is a block of the quotient, one of the upper half a block
    /// of the result.
    #[inline(always)]
    fn reduce(&self, space: &mut Space<L, B>, result: &mut Wide<L, B>) {
        const { assert!(B >= 2) };
        let quotient = &mut space.quotient;
        let product = space.product.as_flattened();
        let mut carried = [L::zero(space.carry.proof()); BLOCK];
        carried[0] = space.carry;
        for (k, column) in (1..).zip(&product[1..]) {
            for (sum, finished) in carried.iter_mut().zip(column) {
                *sum = sum.add(*finished);
            }
            let mut columns = Columns::from_low(carried);
            if k + 1 < 2 * B {
                let moved = k.saturating_sub(B)..k.min(B - 1);
                let moved = moved.map(|i| self.shift.pair(&quotient.0[i], k - 1 - i));
                let last = (k >= B).then(|| self.n.pair(&quotient.0[B - 1], k + 1 - B));
                columns = sum_products(&carried, moved.chain(last));
            }
            let mut carry =
                |block| columns.high[0] = columns.high[0].add(carry_block(&columns.low, block));
            if k + 1 < B {
                carry(&mut quotient.0[k]);
            } else if k + 1 == B {
                columns.clear_low(&self.n.number.0[0], self.inverse[0], &mut quotient.0[k]);
            } else {
                carry(&mut result.0[k - B]);
            }
            carried = columns.high;
        }
    }
}

/// The blocks (i, j), both below `B`, with i + j = `k`, in the order of i.
#[inline(always)]
fn column_pairs<const B: usize>(k: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    (k.saturating_sub(B - 1)..B.min(k + 1)).map(move |i| (i, k - i))
}

/// Carries sums, which may be negative, into the digits of a block; what is above it.
#[inline(always)]
fn carry_block<L: DigitLanes>(sums: &Block<L>, block: &mut Block<L>) -> L {
    let mut carry = L::zero(sums[0].proof());
    for i in 0..BLOCK {
        (block[i], carry) = columns::split(sums[i].add(carry));
    }
    carry
}
