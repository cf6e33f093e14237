//! Scalar multiplication in constant time: windows of signed bits, tables of odd multiples.
//!
//! An odd scalar below 2^L is a sum of ± 2^i over all i < L, in one way: bit i + 1 of the scalar
//! says whether the sign of 2^i is plus, and the highest is plus. W such signs are an odd digit
//! between −2^W and 2^W, so that no digit is zero; of an even scalar k, the multiple is taken with
//! n − k and negated.
//!
//! Digits are added from the highest on. Before a digit D is added at 2^i the sum is a multiple A of
//! 2^(i + W), positive since the highest digit is, and |D| 2^i is less: as integers, A is never
//! ± D 2^i. Modulo n it could be if A ± D 2^i were n; as n is odd, i would be 0. So the last sum, and
//! no other, takes care of equal points: with the widths here they are so for one scalar, n − 38 of
//! P-384. (It is infinite for the scalar n, which stands for 0.)

#![allow(clippy::needless_range_loop)] // an index names the digit on both sides

use super::parameters::Parameters;
use super::point::{Affine, Point};
use crate::arch::digits::{DIGIT_BITS, DigitLanes, MAX_LANES, Mask, Words};
use crate::arch::register::{Code, Proof};
use crate::public_key::digits::residue::{Modulus, Residue};
use crate::wipe::{Plain, wipe};

/// An integer below n.
pub(super) type Scalar<V, C, const N: usize> = Residue<V, <C as Parameters<N>>::Order, N>;

/// Signs in a digit of a scalar that multiplies any point, and odd multiples in its table.
const WIDTH: usize = 5;
const MULTIPLES: usize = 1 << (WIDTH - 1);

/// Signs in a digit of a scalar that multiplies the base point, and odd multiples per digit.
const FIXED_WIDTH: usize = 7;
const FIXED_MULTIPLES: usize = 1 << (FIXED_WIDTH - 1);

/// Tables of sixteen that hold a digit of all multiples.
const ROWS: usize = FIXED_MULTIPLES / 16;
type Row = [[Words; 2]; ROWS];

/// The odd multiples of 2^(7 i) · G for one i: affine, in Montgomery's form, digit by digit.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Multiples<const N: usize> {
    x: [Row; N],
    y: [Row; N],
}

// SAFETY: arrays of integers.
#[allow(unsafe_code)]
unsafe impl<const N: usize> Plain for Multiples<N> {}

/// Digits of a scalar of `bits` bits that multiplies the base point.
pub(super) const fn base_digits(bits: usize) -> usize {
    bits.div_ceil(FIXED_WIDTH)
}

impl<const N: usize> Multiples<N> {
    /// The multiple numbered `index` of each lane.
    #[inline(always)]
    fn lookup<V: DigitLanes, C: Parameters<N>>(&self, index: V) -> Affine<V, C, N> {
        Affine {
            x: lookup(&self.x, index),
            y: lookup(&self.y, index),
        }
    }
}

/// The multiple numbered `index` of each lane, one coordinate.
#[inline(always)]
fn lookup<V: DigitLanes, M: Modulus<N>, const N: usize>(
    digits: &[Row; N],
    index: V,
) -> Residue<V, M, N> {
    let proof = index.proof();
    let no_bit4 = index.and(V::splat(proof, 16)).is_zero();
    let no_bit5 = index.and(V::splat(proof, 32)).is_zero();
    let mut found = [index; N];
    for i in 0..N {
        let [a, b, c, d] = &digits[i];
        let low = V::select(no_bit4, V::lookup(a, index), V::lookup(b, index));
        let high = V::select(no_bit4, V::lookup(c, index), V::lookup(d, index));
        found[i] = V::select(no_bit5, low, high);
    }
    Residue::carried(found)
}

/// The digits of a scalar, highest first.
struct Signs<V, const N: usize> {
    /// The signs that are left, from the top bit on.
    bits: [V; N],
    /// 2^W: to multiply by it is to shift by a digit.
    shift: V,
}

impl<V: DigitLanes, const N: usize> Signs<V, N> {
    /// The signs of `odd`, in digits of `width` of which there are `count`.
    #[inline(always)]
    fn new<C: Parameters<N>>(odd: Scalar<V, C, N>, width: usize, count: usize) -> Self {
        let proof = odd.proof();
        let splat = |bit: usize| V::splat(proof, 1 << bit);
        // Bit 1 of the scalar is the lowest sign; the highest, a one, comes into the top bit.
        let spare = DIGIT_BITS as usize * N - width * count;
        let mut bits = [V::zero(proof); N];
        for i in 0..N {
            bits[i] = odd.digit(i).shift_right::<1>();
            if i + 1 < N {
                let above = odd.digit(i + 1).and(splat(0));
                bits[i] = bits[i].or(above.shift_left::<51>());
            }
        }
        let mut signs = Self {
            bits,
            shift: splat(spare),
        };
        signs.shift_left();
        signs.bits[N - 1] = signs.bits[N - 1].or(splat(51));
        signs.shift = splat(width);
        signs
    }

    /// The next digit: the number of its odd multiple, and the lanes where it is negative.
    #[inline(always)]
    fn next(&mut self) -> (V, V::Mask) {
        let proof = self.shift.proof();
        let one = V::splat(proof, 1);
        let half = self.shift.shift_right::<1>(); // the sign of the digit
        let top = V::zero(proof).mul_add_high(self.bits[N - 1], self.shift);
        self.shift_left();
        let negative = top.and(half).is_zero();
        let flip = V::select(negative, self.shift.sub(one), V::zero(proof));
        (top.xor(flip).and(half.sub(one)), negative)
    }

    #[inline(always)]
    fn shift_left(&mut self) {
        let zero = V::zero(self.shift.proof());
        for i in (0..N).rev() {
            let below = if i > 0 { self.bits[i - 1] } else { zero };
            let low = zero.mul_add_low(self.bits[i], self.shift);
            self.bits[i] = low.mul_add_high(below, self.shift);
        }
    }
}

/// `scalar` · `point`, the point of order n. A scalar of zero makes it infinite.
#[inline(always)]
pub(super) fn multiply<V: DigitLanes, C: Parameters<N>, const N: usize>(
    scalar: Scalar<V, C, N>,
    point: &Affine<V, C, N>,
) -> Point<V, C, N> {
    scalar.proof().call(Multiply(scalar, point))
}

/// `scalar` · G, with the multiples of [`fill`].
#[inline(always)]
pub(super) fn multiply_base<V: DigitLanes, C: Parameters<N>, const N: usize>(
    scalar: Scalar<V, C, N>,
    multiples: &[Multiples<N>],
) -> Point<V, C, N> {
    scalar
        .proof()
        .call(MultiplyBase::<V, C, N>(scalar, multiples))
}

struct Multiply<'p, V: DigitLanes, C: Parameters<N>, const N: usize>(
    Scalar<V, C, N>,
    &'p Affine<V, C, N>,
);

impl<V: DigitLanes, C: Parameters<N>, const N: usize> Code for Multiply<'_, V, C, N> {
    type Output = Point<V, C, N>;

    #[inline(always)]
    fn run(self) -> Point<V, C, N> {
        let Self(scalar, point) = self;
        let plus = V::mask(point.x.proof(), 0);
        let (odd, negate) = make_odd::<V, C, N>(scalar);
        let mut table = [point.to_jacobian(); MULTIPLES];
        let twice = table[0].double();
        for i in 1..MULTIPLES {
            // (2 i − 1) P and 2 P, which differ as n is a prime above both; a sum is not infinite.
            table[i] = table[i - 1].add(&twice, plus);
        }
        let count = C::BITS.div_ceil(WIDTH);
        let mut signs = Signs::new::<C>(odd, WIDTH, count);
        let (index, _) = signs.next(); // the highest is positive
        let mut sum = select_multiple(&table, index);
        for left in (0..count - 1).rev() {
            for _ in 0..WIDTH {
                sum = sum.double();
            }
            let (index, negative) = signs.next();
            let multiple = select_multiple(&table, index);
            sum = if left > 0 {
                sum.add(&multiple, negative)
            } else {
                sum.add_or_double(&multiple, negative)
            };
        }
        sum.y = Residue::select(negate, sum.y.opposite(), sum.y);
        wipe(&mut table);
        sum
    }
}

struct MultiplyBase<'m, V: DigitLanes, C: Parameters<N>, const N: usize>(
    Scalar<V, C, N>,
    &'m [Multiples<N>],
);

impl<V: DigitLanes, C: Parameters<N>, const N: usize> Code for MultiplyBase<'_, V, C, N> {
    type Output = Point<V, C, N>;

    #[inline(always)]
    fn run(self) -> Point<V, C, N> {
        let Self(scalar, multiples) = self;
        let (odd, negate) = make_odd::<V, C, N>(scalar);
        let mut signs = Signs::new::<C>(odd, FIXED_WIDTH, multiples.len());
        let (lowest, higher) = multiples.split_first().expect("one for each digit");
        let (highest, between) = higher.split_last().expect("one for each digit");
        let (index, _) = signs.next(); // the highest is positive
        let mut sum = highest.lookup(index).to_jacobian();
        for multiples in between.iter().rev() {
            let (index, negative) = signs.next();
            sum = sum.add(&multiples.lookup(index), negative);
        }
        let (index, negative) = signs.next();
        sum = sum.add_or_double(&lowest.lookup(index), negative);
        sum.y = Residue::select(negate, sum.y.opposite(), sum.y);
        sum
    }
}

/// Computes the multiples of the base point.
#[inline(always)]
pub(super) fn fill<V: DigitLanes, C: Parameters<N>, const N: usize>(
    proof: V::Proof,
    multiples: &mut [Multiples<N>],
) {
    let plus = V::mask(proof, 0);
    let mut base = Affine::<V, C, N>::generator(proof).to_jacobian();
    for group in multiples.chunks_mut(V::LANES) {
        // Lane l: the base of digit l of the group.
        let mut bases = base;
        for lane in 0..group.len() {
            bases = Point::select(V::mask(proof, !0 << lane), &base, &bases);
            for _ in 0..FIXED_WIDTH {
                base = base.double();
            }
        }
        let twice = bases.double();
        let mut multiple = bases;
        for first in (0..FIXED_MULTIPLES).step_by(MULTIPLES) {
            // One inversion for all: `before[i]` is the product of the Z before i.
            let mut jacobian = [multiple; MULTIPLES];
            let mut before = [Residue::one(proof); MULTIPLES];
            let mut product = multiple.z;
            for i in 1..MULTIPLES {
                // Differ, and no sum is infinite: as in `multiply`, times a power of two.
                jacobian[i] = jacobian[i - 1].add(&twice, plus);
                before[i] = product;
                product = product.mul(jacobian[i].z);
            }
            multiple = jacobian[MULTIPLES - 1].add(&twice, plus);
            let mut inverse = product.invert();
            for i in (0..MULTIPLES).rev() {
                let affine = jacobian[i].to_affine(inverse.mul(before[i]));
                inverse = inverse.mul(jacobian[i].z);
                let mut words: [[Words; N]; 2] = [[[0; MAX_LANES]; N]; 2];
                affine.x.canonical().store(&mut words[0]);
                affine.y.canonical().store(&mut words[1]);
                for (lane, to) in group.iter_mut().enumerate() {
                    for digit in 0..N {
                        *word(&mut to.x[digit], first + i) = words[0][digit][lane];
                        *word(&mut to.y[digit], first + i) = words[1][digit][lane];
                    }
                }
            }
        }
    }
}

/// The digit of multiple `index`.
fn word(row: &mut Row, index: usize) -> &mut u64 {
    &mut row.as_flattened_mut().as_flattened_mut()[index]
}

/// The scalar or n minus it, whichever is odd, and the lanes where it is the latter.
#[inline(always)]
fn make_odd<V: DigitLanes, C: Parameters<N>, const N: usize>(
    scalar: Scalar<V, C, N>,
) -> (Scalar<V, C, N>, V::Mask) {
    let even = scalar.is_odd().not();
    (Residue::select(even, scalar.negative(), scalar), even)
}

/// The multiple numbered `index` of each lane. All of them are read.
#[inline(always)]
fn select_multiple<V: DigitLanes, C: Parameters<N>, const N: usize>(
    table: &[Point<V, C, N>; MULTIPLES],
    index: V,
) -> Point<V, C, N> {
    let mut found = table[0];
    for (number, multiple) in (1..).zip(&table[1..]) {
        let here = index.equals(V::splat(index.proof(), number));
        found = Point::select(here, multiple, &found);
    }
    found
}
