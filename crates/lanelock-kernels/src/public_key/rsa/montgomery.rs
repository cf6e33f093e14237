//! Montgomery multiplication in lanes (Montgomery, "Modular multiplication without trial
//! division", 1985), column by column and a block of digits at a time.
//!
//! A product of two blocks is 200 multiply-adds into 20 columns, which stay in registers while the
//! products of a block column are summed. Columns are plain sums of 52-bit halves: 4 per digit of
//! the numbers at most, doubled for cross products, so below 2^(52 + 10) with 80 digits; they are
//! carried only when a block is finished.
//!
//! Montgomery's quotient waits for a chain of products, digit by digit. So only the last of the lower
//! blocks goes that way: each one before is carried and multiplied by 1/2^520 modulo n, a number known
//! beforehand, which moves it to the next block without a quotient (Orup, "Simplifying quotient
//! determination in high-radix modular multiplication", 1995, likewise by a multiple of n).
//!
//! Registers whose multiply-adds take several instructions go another way to the same results, modulo
//! n ([`scanning`]).
//!
//! Both the moved blocks and the quotient add less than n, so results are below ab/R + 2n. They are
//! below 3n whenever ab ≤ R·n, which the 8 spare bits of each block grant to factors up to
//! 2^(4·`B`)·n, and to any number below R times one below n.

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
    pub n: Wide<L, B>,
    /// 1/2^520 modulo n
    pub shift: Wide<L, B>,
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
    product: Product<L, B>,
    quotient: Wide<L, B>,
}

impl<L: DigitLanes, const B: usize> Space<L, B> {
    #[inline(always)]
    pub fn new(proof: L::Proof) -> Self {
        Self {
            product: Product::zero(proof),
            quotient: Wide::zero(proof),
        }
    }
}

/// The columns of a product of two numbers of `B` blocks, a block at a time. Wiped when dropped.
struct Product<L: DigitLanes, const B: usize>([[Block<L>; 2]; B]);

impl<L: DigitLanes, const B: usize> Product<L, B> {
    #[inline(always)]
    fn zero(proof: L::Proof) -> Self {
        Self([[[L::zero(proof); BLOCK]; 2]; B])
    }

    /// Becomes a·b.
    #[inline(always)]
    fn multiply(&mut self, a: &Wide<L, B>, b: &Wide<L, B>) {
        let mut columns = Columns::zero(a.proof());
        for (k, product) in self.0.as_flattened_mut().iter_mut().enumerate() {
            for (i, j) in column_pairs::<B>(k) {
                columns.add_product(&a.0[i], &b.0[j]);
            }
            *product = columns.low;
            columns.advance([L::zero(a.proof()); BLOCK]);
        }
    }

    /// Becomes a²: products of different digits once, doubled.
    #[inline(always)]
    fn square(&mut self, a: &Wide<L, B>) {
        let mut columns = Columns::zero(a.proof());
        for (k, product) in self.0.as_flattened_mut().iter_mut().enumerate() {
            for (i, j) in column_pairs::<B>(k).take_while(|(i, j)| i < j) {
                columns.add_product(&a.0[i], &a.0[j]);
            }
            let squared = &a.0[k / 2];
            if k % 2 == 0 {
                columns.add_cross_products(squared);
            }
            columns.double_low_and_add_squares(&squared[BLOCK / 2 * (k % 2)..]);
            *product = columns.low;
            columns.advance([L::zero(a.proof()); BLOCK]);
        }
    }
}

impl<L: DigitLanes, const B: usize> Drop for Product<L, B> {
    #[inline(always)]
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut());
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
            return scanning::Reduction::new(&moduli.n, moduli.inverse).multiply(a, b);
        }
        space.product.multiply(a, b);
        moduli.reduce(space, a);
        a.cut();
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
            let mut reduction = scanning::Reduction::new(&moduli.n, moduli.inverse);
            for _ in 0..times {
                reduction.square(a);
            }
            return;
        }
        for _ in 0..times {
            space.product.square(a);
            moduli.reduce(space, a);
        }
        a.cut();
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
            columns.carry_low(&mut result.0[k]);
            columns.advance(block(k + 2));
        }
        result.cut();
    }
}

impl<L: DigitLanes, const B: usize> Moduli<L, B> {
    /// result ← product/R mod n, whose digits may have bits above the 52.
    ///
    /// A finished block column of the lower half is a block of the quotient, one of the upper half a block
    /// of the result.
    #[inline(always)]
    fn reduce(&self, space: &mut Space<L, B>, result: &mut Wide<L, B>) {
        let Space { product, quotient } = space;
        let product = product.0.as_flattened();
        let mut columns = Columns {
            low: product[0],
            high: product[1],
        };
        for k in 0..2 * B {
            for i in k.saturating_sub(B)..k.min(B - 1) {
                columns.add_product(&self.shift.0[k - 1 - i], &quotient.0[i]);
            }
            if k >= B && k + 1 < 2 * B {
                columns.add_product(&self.n.0[k + 1 - B], &quotient.0[B - 1]);
            }
            if k + 1 < B {
                columns.carry_low(&mut quotient.0[k]);
            } else if k + 1 == B {
                columns.clear_low(&self.n.0[0], self.inverse[0], &mut quotient.0[k]);
            } else {
                columns.carry_low(&mut result.0[k - B]);
            }
            let zero = [L::zero(self.n.proof()); BLOCK];
            columns.advance(product.get(k + 2).copied().unwrap_or(zero));
        }
    }
}

/// The blocks (i, j), both below `B`, with i + j = `k`, in the order of i.
#[inline(always)]
fn column_pairs<const B: usize>(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (k.saturating_sub(B - 1)..B.min(k + 1)).map(move |i| (i, k - i))
}
