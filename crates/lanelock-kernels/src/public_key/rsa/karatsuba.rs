//! Products of blocks from products of their halves: three of five digits by five instead of four
//! (Karatsuba, Ofman, "Multiplication of multidigit numbers on automata", 1963).
//!
//! With Y = 2^260 and blocks a₀ + a₁·Y and b₀ + b₁·Y the product is
//! (1 + Y)·(a₀·b₀ + Y·a₁·b₁) + Y·(a₁ − a₀)·(b₀ − b₁). What the first parenthesis multiplies is
//! summed in 15 columns, of all pairs of a block column at once.
//!
//! A product adds less than 28·2^52 to a column, where digit by digit it were 20·2^52, and may take
//! 2·2^52 from it: columns can be negative.

use super::number::BLOCK;
use super::wide::{Block, Wide};
use crate::arch::digits::DigitLanes;
use crate::arch::register::Code;
use crate::public_key::digits::columns::{Columns, split};
use crate::wipe::wipe;

/// Digits of half a block.
const HALF: usize = BLOCK / 2;

/// The difference of a block's halves modulo Y, in digits, and what was borrowed from Y: −1 if the
/// difference is negative, else 0.
type Difference<L> = ([L; HALF], L);

/// A number that is multiplied by others, with its blocks' differences. Wiped when dropped.
#[derive(Debug)]
pub(super) struct Factor<L: DigitLanes, const B: usize> {
    pub number: Wide<L, B>,
    differences: Differences<L, B>,
}

impl<L: DigitLanes, const B: usize> Factor<L, B> {
    #[inline(always)]
    pub fn new(number: Wide<L, B>) -> Self {
        let mut differences = Differences::zero(number.proof());
        differences.set(&number, 0);
        Self {
            number,
            differences,
        }
    }

    /// `a` and block `j`, to be multiplied.
    #[inline(always)]
    pub fn pair<'p>(&'p self, a: &'p Block<L>, j: usize) -> Pair<'p, L> {
        self.differences.pair(a, &self.number, j)
    }
}

/// The differences b₀ − b₁ of a number's blocks. Wiped when dropped.
#[derive(Debug)]
pub(super) struct Differences<L: DigitLanes, const B: usize>([[L; HALF + 1]; B]);

impl<L: DigitLanes, const B: usize> Differences<L, B> {
    #[inline(always)]
    pub fn zero(proof: L::Proof) -> Self {
        Self([[L::zero(proof); HALF + 1]; B])
    }

    /// Becomes those of `number`, from block `first` on.
    #[inline(always)]
    pub fn set(&mut self, number: &Wide<L, B>, first: usize) {
        for i in first..B {
            let (low, high) = number.0[i].split_at(HALF);
            let (digits, borrow) = difference(low, high);
            self.0[i][..HALF].copy_from_slice(&digits);
            self.0[i][HALF] = borrow;
        }
    }

    /// `a` and block `j` of the number that these differences are of, to be multiplied.
    #[inline(always)]
    pub fn pair<'p>(&'p self, a: &'p Block<L>, number: &'p Wide<L, B>, j: usize) -> Pair<'p, L> {
        Pair {
            a,
            b: &number.0[j],
            difference: &self.0[j],
        }
    }
}

impl<L: DigitLanes, const B: usize> Drop for Differences<L, B> {
    #[inline(always)]
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Two blocks, and b₀ − b₁.
#[derive(Clone, Copy)]
pub(super) struct Pair<'p, L: DigitLanes> {
    a: &'p Block<L>,
    b: &'p Block<L>,
    difference: &'p [L; HALF + 1],
}

/// The sum of the products of `pairs`, and of `carried` in its lower half.
#[inline(always)]
pub(super) fn sum_products<'p, L: DigitLanes + 'p>(
    carried: &Block<L>,
    pairs: impl Iterator<Item = Pair<'p, L>> + Clone,
) -> Columns<L, BLOCK> {
    L::run(carried[0].proof(), SumProducts { carried, pairs })
}

/// See [`sum_products`].
struct SumProducts<'c, L, I> {
    carried: &'c Block<L>,
    pairs: I,
}

impl<'p, L: DigitLanes + 'p, I: Iterator<Item = Pair<'p, L>> + Clone> Code
    for SumProducts<'_, L, I>
{
    type Output = Columns<L, BLOCK>;

    #[inline(always)]
    fn run(self) -> Columns<L, BLOCK> {
        let Self { carried, pairs } = self;
        let proof = carried[0].proof();
        let mut outer = [L::zero(proof); BLOCK + HALF];
        for Pair { a, b, .. } in pairs.clone() {
            add_product(&mut outer[..BLOCK], &a[..HALF], &b[..HALF]);
            add_product(&mut outer[HALF..], &a[HALF..], &b[HALF..]);
        }
        let mut sum = Columns::zero(proof);
        let mut middle = [L::zero(proof); BLOCK];
        for i in 0..HALF {
            sum.low[i] = carried[i].add(outer[i]);
            middle[i] = carried[i + HALF].add(outer[i]).add(outer[i + HALF]);
            middle[i + HALF] = outer[i + HALF].add(outer[i + BLOCK]);
            sum.high[i + HALF] = outer[i + BLOCK];
        }
        for Pair { a, difference, .. } in pairs {
            // Computed here, while the multiply-adds above are still running.
            let (a, a_borrow) = difference_of(a);
            let (b, b_borrow) = difference.split_at(HALF);
            let b_borrow = b_borrow[0];
            // What borrowed from Y is too large by Y, and the product by Y times the other.
            for i in 0..HALF {
                let excess = a_borrow.and(b[i]).add(b_borrow.and(a[i]));
                middle[i + HALF] = middle[i + HALF].sub(excess);
            }
            add_product(&mut middle, &a, b);
            sum.high[HALF] = sum.high[HALF].sub(a_borrow.and(b_borrow));
        }
        let (lower, upper) = middle.split_at(HALF);
        sum.low[HALF..].copy_from_slice(lower);
        sum.high[..HALF].copy_from_slice(upper);
        sum
    }
}

/// Adds the product of two halves.
#[inline(always)]
fn add_product<L: DigitLanes>(columns: &mut [L], a: &[L], b: &[L]) {
    for j in 0..HALF {
        // Two multiply-adds to a column follow each other five instructions apart.
        for i in 0..HALF {
            columns[i + j] = columns[i + j].mul_add_low(a[i], b[j]);
        }
        for i in 0..HALF {
            columns[i + j + 1] = columns[i + j + 1].mul_add_high(a[i], b[j]);
        }
    }
}

/// a₁ − a₀
#[inline(always)]
fn difference_of<L: DigitLanes>(block: &Block<L>) -> Difference<L> {
    let (low, high) = block.split_at(HALF);
    difference(high, low)
}

/// The difference of two halves.
#[inline(always)]
fn difference<L: DigitLanes>(a: &[L], b: &[L]) -> Difference<L> {
    let mut borrow = L::zero(a[0].proof());
    let mut digits = [borrow; HALF];
    for i in 0..HALF {
        (digits[i], borrow) = split(a[i].sub(b[i]).add(borrow));
    }
    (digits, borrow)
}
