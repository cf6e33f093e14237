//! Montgomery multiplication by product scanning, two columns at a time (Koç, Acar, Kaliski, "Analyzing
//! and comparing Montgomery multiplication algorithms", 1996: FIPS), for registers whose multiply-adds
//! take several instructions.
//!
//! All products of two columns, those of the quotient too, are summed in registers; each of them is
//! loaded, rather than a column. Two digits of the quotient are computed at once, as the second would
//! wait for the products of the first; and meanwhile the products of the next columns run, whose sums
//! are joined with what is carried last.

use super::number::BLOCK;
use super::wide::Wide;
use crate::arch::digits::{DIGIT_BITS, DigitLanes};
use crate::public_key::digits::DIGIT;
use crate::public_key::digits::columns::split;
use crate::wipe::wipe;

/// Two columns, and the high halves of the second one.
type Sums<L> = [L; 3];

/// The digits of a number in the form that products are made of. Wiped when dropped.
struct Factors<L: DigitLanes, const B: usize>([[L::Factor; BLOCK]; B]);

impl<L: DigitLanes, const B: usize> Factors<L, B> {
    #[inline(always)]
    fn of(number: &Wide<L, B>) -> Self {
        let mut factors = Self::zero(number.proof());
        for i in 0..B {
            factors.0[i] = L::factors(&number.0[i]);
        }
        factors
    }

    #[inline(always)]
    fn zero(proof: L::Proof) -> Self {
        Self([[L::zero(proof).factor(); BLOCK]; B])
    }

    #[inline(always)]
    fn digits(&self) -> &[L::Factor] {
        self.0.as_flattened()
    }
}

impl<L: DigitLanes, const B: usize> Drop for Factors<L, B> {
    #[inline(always)]
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// Moduli and the quotient of what is reduced.
pub(super) struct Reduction<L: DigitLanes, const B: usize> {
    n: Factors<L, B>,
    inverse: [L::Factor; 2],
    quotient: Factors<L, B>,
}

impl<L: DigitLanes, const B: usize> Reduction<L, B> {
    /// Of `n` and −1/n modulo 2¹⁰⁴.
    #[inline(always)]
    pub fn new(n: &Wide<L, B>, inverse: [L; 2]) -> Self {
        Self {
            n: Factors::of(n),
            inverse: L::factors(&inverse),
            quotient: Factors::zero(n.proof()),
        }
    }

    /// a ← a·b/R mod n
    #[inline(always)]
    pub fn multiply(&mut self, a: &mut Wide<L, B>, b: &Wide<L, B>) {
        let (left, right) = (Factors::of(a), Factors::of(b));
        let mut carried = L::zero(a.proof());
        for k in (0..2 * BLOCK * B).step_by(2) {
            let mut sums = [L::zero(a.proof()); 3];
            add_product::<L>(&mut sums, k, left.digits(), right.digits());
            carried = self.reduce(sums, carried, a, k);
        }
    }

    /// a ← a²/R mod n
    #[inline(always)]
    pub fn square(&mut self, a: &mut Wide<L, B>) {
        let factors = Factors::of(a);
        let mut carried = L::zero(a.proof());
        for k in (0..2 * BLOCK * B).step_by(2) {
            let mut sums = [L::zero(a.proof()); 3];
            add_square::<L>(&mut sums, k, factors.digits());
            carried = self.reduce(sums, carried, a, k);
        }
    }

    /// Finishes columns `k` and `k` + 1 of the product `sums`, as digits of the quotient below R and of
    /// `result` above; what is carried to the next ones.
    #[inline(always)]
    fn reduce(&mut self, mut sums: Sums<L>, carried: L, result: &mut Wide<L, B>, k: usize) -> L {
        let digits = BLOCK * B;
        let quotient = self.quotient.0.as_flattened_mut();
        let n = self.n.0.as_flattened();
        if k >= digits {
            add_product::<L>(&mut sums, k, quotient, n);
            sums[0] = sums[0].add(carried);
            return carry::<L>(sums, &mut result.0.as_flattened_mut()[k - digits..]);
        }
        L::add_two_columns(&mut sums, &quotient[..k], &n[1..k + 2]);
        let [mut first, mut second, mut third] = sums;
        first = first.add(carried);
        [quotient[k], quotient[k + 1]] = next_digits(first, second, self.inverse);
        let carry = zeroed(first);
        add_one::<L>(&mut first, &mut second, quotient[k], n[0]);
        add_one::<L>(&mut second, &mut third, quotient[k], n[1]);
        second = second.add(carry);
        let carry = zeroed(second);
        add_one::<L>(&mut second, &mut third, quotient[k + 1], n[0]);
        third.add(carry)
    }
}

/// The digits of the quotient that make two columns multiples of 2⁵²: their low 104 bits times the
/// inverse.
#[inline(always)]
fn next_digits<L: DigitLanes>(first: L, second: L, inverse: [L::Factor; 2]) -> [L::Factor; 2] {
    let proof = first.proof();
    let second = second.add(first.shift_right::<DIGIT_BITS>());
    let columns = [low_factor(first), low_factor(second)];
    let [mut sum, mut unused] = [L::zero(proof); 2];
    add_one::<L>(&mut unused, &mut sum, columns[0], inverse[0]);
    L::add_products::<DIGIT_BITS>(&mut sum, &mut unused, &columns, &inverse);
    [
        L::low_product(proof, columns[0], inverse[0]),
        low_factor(sum),
    ]
}

/// The low 52 bits of a column, to multiply.
#[inline(always)]
fn low_factor<L: DigitLanes>(column: L) -> L::Factor {
    column.and(L::splat(column.proof(), DIGIT)).factor()
}

/// result ← a·b + c, which `N` = 2·`P` blocks hold.
#[inline(always)]
pub(super) fn multiply_add<L: DigitLanes, const P: usize, const N: usize>(
    result: &mut Wide<L, N>,
    a: &Wide<L, P>,
    b: &Wide<L, P>,
    c: &Wide<L, P>,
) {
    let (a, b) = (Factors::of(a), Factors::of(b));
    let (c, result) = (c.0.as_flattened(), result.0.as_flattened_mut());
    let mut carried = L::zero(c[0].proof());
    for k in (0..result.len()).step_by(2) {
        let mut sums = [carried, L::zero(carried.proof()), L::zero(carried.proof())];
        if k < c.len() {
            (sums[0], sums[1]) = (sums[0].add(c[k]), c[k + 1]);
        }
        add_product::<L>(&mut sums, k, a.digits(), b.digits());
        carried = carry::<L>(sums, &mut result[k..]);
    }
}

/// Adds what of `a` · `b` belongs to columns `k`, even, and `k` + 1.
#[inline(always)]
fn add_product<L: DigitLanes>(sums: &mut Sums<L>, k: usize, a: &[L::Factor], b: &[L::Factor]) {
    let digits = a.len();
    let [low, middle, high] = sums;
    if k < digits {
        add_one::<L>(middle, high, a[k + 1], b[0]);
        L::add_two_columns(sums, &a[..=k], &b[..k + 2]);
    } else {
        let first = k + 1 - digits;
        add_one::<L>(low, middle, a[first], b[digits - 1]);
        L::add_two_columns(sums, &a[first + 1..], &b[first..]);
    }
}

/// Adds what of `a`² belongs to columns `k`, even, and `k` + 1: products of different digits once,
/// doubled.
#[inline(always)]
fn add_square<L: DigitLanes>(sums: &mut Sums<L>, k: usize, a: &[L::Factor]) {
    let (digits, half) = (a.len(), k / 2);
    let mut cross = [L::zero(sums[0].proof()); 3];
    let [low, middle, high] = &mut cross;
    if half + 1 < digits {
        add_one::<L>(middle, high, a[half], a[half + 1]);
        let first = if k < digits {
            0
        } else {
            let first = k + 1 - digits;
            add_one::<L>(low, middle, a[first], a[digits - 1]);
            first + 1
        };
        L::add_two_columns(&mut cross, &a[first..half], &a[half + 1..k + 2 - first]);
    }
    for (sum, cross) in sums.iter_mut().zip(cross) {
        *sum = sum.add(cross).add(cross);
    }
    let [low, middle, _] = sums;
    add_one::<L>(low, middle, a[half], a[half]);
}

/// Adds `a` · `b`.
#[inline(always)]
fn add_one<L: DigitLanes>(low: &mut L, high: &mut L, a: L::Factor, b: L::Factor) {
    L::add_products::<DIGIT_BITS>(low, high, &[a], &[b]);
}

/// The first two of `digits` from two columns; what is carried.
#[inline(always)]
fn carry<L: DigitLanes>([low, middle, high]: Sums<L>, digits: &mut [L]) -> L {
    let (first, above) = split(low);
    let (second, above) = split(middle.add(above));
    (digits[0], digits[1]) = (first, second);
    high.add(above)
}

/// What is carried from a column that its quotient makes a multiple of 2⁵²: the next one, without its
/// product.
#[inline(always)]
fn zeroed<L: DigitLanes>(column: L) -> L {
    let most = column.add(L::splat(column.proof(), DIGIT));
    most.shift_right::<DIGIT_BITS>()
}
