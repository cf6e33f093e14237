//! Residues in lanes: Montgomery multiplication in digits of 52 bits, R = 2^(52 N).
//!
//! The product of two numbers below α M and β M is below (α β M / R + 1) M. R is more than 16 M, so
//! that α β ≤ 16 is enough for a result below 2 M: sums need no reduction before they are
//! multiplied. So is one factor below M, whatever number of N digits the other is.

#![allow(clippy::needless_range_loop)] // an index names the digit on both sides

mod inverse;

use core::fmt::Debug;
use core::marker::PhantomData;

use inverse::Inverse;

use super::columns::{Columns, carry};
use super::inverse::Inverter;
use super::{negative_inverse, power_of_two};
use crate::arch::digits::{DIGIT_BITS, DigitLanes, Words};
use crate::arch::register::{Code, Proof};
use crate::wipe::{Plain, wipe};

/// An odd number M of N digits, below R / 16.
pub(in crate::public_key) trait Modulus<const N: usize>:
    Copy + Debug + 'static
{
    /// M.
    const M: [u64; N];
    /// −1 / M modulo 2⁵².
    const FACTOR: u64 = negative_inverse(Self::M[0]);
    /// R modulo M: one, in Montgomery's form.
    const ONE: [u64; N] = power_of_two(&Self::M, 52 * N);
    /// R² modulo M: what brings a number into Montgomery's form.
    const SQUARE: [u64; N] = power_of_two(&Self::M, 104 * N);
    /// Divides R², so that both the number and its inverse are in Montgomery's form.
    const INVERTER: Inverter<N, DIGIT_BITS> = Inverter::new(&Self::M, &Self::SQUARE);

    /// Adds the multiple of M that makes column `i` a multiple of 2⁵², and carries it into the next
    /// one; what it leaves in column `i` is not read.
    #[inline(always)]
    fn clear<V: DigitLanes>(t: &mut Columns<V, N>, i: usize) {
        let proof = t.low[0].proof();
        let m = V::run(proof, Splat::<V, N>(proof, &Self::M));
        t.clear(i, &m, V::splat(proof, Self::FACTOR));
    }
}

/// The modulus of a field: a prime near a power of two, so that reducing a little is cheap.
pub(in crate::public_key) trait Prime<const N: usize>: Modulus<N> {
    /// Adds a multiple of M to a number between −16 M and 16 M, its digits not carried and each
    /// below 2⁵⁷, that makes it positive and below 1.01 M.
    fn fold<V: DigitLanes>(digits: &mut [V; N]);
}

/// One number per lane, in Montgomery's form or plain, its digits below 2⁵². Below 2 M unless the
/// method that made it says otherwise.
#[derive(Clone, Copy, Debug)]
pub(in crate::public_key) struct Residue<V, M, const N: usize> {
    digits: [V; N],
    modulus: PhantomData<M>,
}

// SAFETY: registers and a value of no size.
#[allow(unsafe_code)]
unsafe impl<V: Plain, M: Copy, const N: usize> Plain for Residue<V, M, N> {}

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Residue<V, M, N> {
    /// A number from its digits, each below 2⁵².
    #[inline(always)]
    pub fn new(digits: [V; N]) -> Self {
        Self {
            digits,
            modulus: PhantomData,
        }
    }

    /// The same number in every lane.
    #[inline(always)]
    pub fn constant(proof: V::Proof, digits: &[u64; N]) -> Self {
        Self::new(V::run(proof, Splat::<V, N>(proof, digits)))
    }

    /// One in Montgomery's form.
    #[inline(always)]
    pub fn one(proof: V::Proof) -> Self {
        Self::constant(proof, &M::ONE)
    }

    /// A number per lane, any that fits the digits.
    #[inline(always)]
    pub fn load(proof: V::Proof, words: &[Words; N]) -> Self {
        Self::new(V::run(proof, Load::<V, N>(proof, words)))
    }

    /// The inverse of [`Self::load`].
    #[inline(always)]
    pub fn store(self, words: &mut [Words; N]) {
        V::run(self.proof(), Store(&self.digits, words));
    }

    /// The proof that these registers exist.
    #[inline(always)]
    pub fn proof(self) -> V::Proof {
        self.digits[0].proof()
    }

    /// Digit `i`.
    #[inline(always)]
    pub fn digit(self, i: usize) -> V {
        self.digits[i]
    }

    /// The same digits, taken as a number modulo `O`.
    #[inline(always)]
    pub fn transmute<O: Modulus<N>>(self) -> Residue<V, O, N> {
        Residue::new(self.digits)
    }

    /// A number from digits that are not carried yet; they may be negative, the number is not.
    #[inline(always)]
    pub fn carried(mut digits: [V; N]) -> Self {
        carry(&mut digits);
        Self::new(digits)
    }

    /// Brings a plain number below 8 M into Montgomery's form.
    #[inline(always)]
    #[must_use]
    pub fn to_montgomery(self) -> Self {
        let square = Self::constant(self.proof(), &M::SQUARE);
        self.proof().call(Product(self, square))
    }

    /// Brings a number from Montgomery's form back; at most M.
    #[inline(always)]
    #[must_use]
    pub fn to_plain(self) -> Self {
        self.proof().call(Quotient(self))
    }

    /// Sum: below α M + β M.
    #[inline(always)]
    #[must_use]
    pub fn add(self, other: Self) -> Self {
        V::run(self.proof(), Sum(self, other))
    }

    /// Montgomery product.
    #[inline(always)]
    #[must_use]
    pub fn mul(self, other: Self) -> Self {
        V::run_product(self.proof(), Product(self, other))
    }

    /// `self` · `a` + `b` · `c`; the two products together are below 16 M².
    #[inline(always)]
    #[must_use]
    pub fn mul_add(self, a: Self, b: Self, c: Self) -> Self {
        V::run_product(self.proof(), Products([self, b], [a, c]))
    }

    /// Montgomery square.
    #[inline(always)]
    #[must_use]
    pub fn square(self) -> Self {
        V::run_product(self.proof(), Square(self))
    }

    /// The number below M, from one below 2 M.
    #[inline(always)]
    #[must_use]
    pub fn canonical(self) -> Self {
        let (less, below) = self.minus_modulus();
        Self::select(below, self, less)
    }

    /// Which lanes are below M.
    #[inline(always)]
    pub fn is_reduced(self) -> V::Mask {
        self.minus_modulus().1
    }

    /// Which lanes are zero, of a canonical number.
    #[inline(always)]
    pub fn is_zero(self) -> V::Mask {
        let mut any = self.digits[0];
        for i in 1..N {
            any = any.or(self.digits[i]);
        }
        any.is_zero()
    }

    /// Which lanes are odd.
    #[inline(always)]
    pub fn is_odd(self) -> V::Mask {
        self.digits[0].shift_left::<63>().is_negative()
    }

    /// M − `self`, of a number that is at most M.
    #[inline(always)]
    #[must_use]
    pub fn negative(self) -> Self {
        V::run(
            self.proof(),
            Less(Self::constant(self.proof(), &M::M), self),
        )
    }

    /// `a` in the lanes of `mask`, `b` in the others.
    #[inline(always)]
    pub fn select(mask: V::Mask, a: Self, b: Self) -> Self {
        V::run(a.proof(), Select(mask, a, b))
    }

    /// 1 / `self` in Montgomery's form; M is a prime. Zero stays zero.
    #[inline(always)]
    #[must_use]
    pub fn invert(self) -> Self {
        self.proof().call(Inverse(self))
    }

    /// `self` − M, and which lanes of it are negative.
    #[inline(always)]
    fn minus_modulus(self) -> (Self, V::Mask) {
        let less = V::run(
            self.proof(),
            Less(self, Self::constant(self.proof(), &M::M)),
        );
        (less, less.digits[N - 1].is_negative())
    }
}

impl<V: DigitLanes, M: Prime<N>, const N: usize> Residue<V, M, N> {
    /// A number below 1.01 M that is congruent to the one with these digits; see [`Prime::fold`].
    #[inline(always)]
    pub fn folded(digit: impl Fn(usize) -> V) -> Self {
        let proof = digit(0).proof();
        V::run(proof, Folded(Self::new(each(proof, digit))))
    }

    /// Difference: below 1.01 M.
    #[inline(always)]
    #[must_use]
    pub fn sub(self, other: Self) -> Self {
        Self::folded(|i| self.digits[i].sub(other.digits[i]))
    }

    /// A square root of `self`, in lanes that have one; M is a prime and 3 modulo 4. With the
    /// exponent (M + 1) / 4: its square is the number times its power (M − 1) / 2, which is 1.
    #[inline(always)]
    #[must_use]
    pub fn square_root(self) -> Self {
        const { assert!(M::M[0] & 3 == 3) };
        // (M − 3) / 4
        let mut exponent = M::M;
        for i in 0..N {
            let above = if i + 1 < N { M::M[i + 1] } else { 0 };
            exponent[i] = M::M[i] >> 2 | (above & 3) << 50;
        }
        self.proof().call(Power(self, exponent)).mul(self)
    }

    /// −`self`: below 1.01 M.
    #[inline(always)]
    #[must_use]
    pub fn opposite(self) -> Self {
        let zero = V::zero(self.proof());
        Self::folded(|i| zero.sub(self.digits[i]))
    }
}

/// The same digits in every lane.
struct Splat<'a, V: DigitLanes, const N: usize>(V::Proof, &'a [u64; N]);
/// See [`Residue::load`].
struct Load<'a, V: DigitLanes, const N: usize>(V::Proof, &'a [Words; N]);
/// See [`Residue::store`].
struct Store<'a, V, const N: usize>(&'a [V; N], &'a mut [Words; N]);
/// See [`Residue::select`].
struct Select<V: DigitLanes, M, const N: usize>(V::Mask, Residue<V, M, N>, Residue<V, M, N>);
/// A sum.
struct Sum<V, M, const N: usize>(Residue<V, M, N>, Residue<V, M, N>);
/// A difference; it may be negative, and then the highest digit is.
struct Less<V, M, const N: usize>(Residue<V, M, N>, Residue<V, M, N>);
/// See [`Residue::folded`].
struct Folded<V, M, const N: usize>(Residue<V, M, N>);
/// The number divided by R.
struct Quotient<V, M, const N: usize>(Residue<V, M, N>);
/// Montgomery product.
struct Product<V, M, const N: usize>(Residue<V, M, N>, Residue<V, M, N>);
/// The sum of the Montgomery products of two pairs.
struct Products<V, M, const N: usize>([Residue<V, M, N>; 2], [Residue<V, M, N>; 2]);
/// Montgomery square.
struct Square<V, M, const N: usize>(Residue<V, M, N>);
/// A power; the exponent is no secret.
struct Power<V, M, const N: usize>(Residue<V, M, N>, [u64; N]);

impl<V: DigitLanes, const N: usize> Code for Splat<'_, V, N> {
    type Output = [V; N];

    #[inline(always)]
    fn run(self) -> [V; N] {
        each(self.0, |i| V::splat(self.0, self.1[i]))
    }
}

impl<V: DigitLanes, const N: usize> Code for Load<'_, V, N> {
    type Output = [V; N];

    #[inline(always)]
    fn run(self) -> [V; N] {
        each(self.0, |i| V::load(self.0, &self.1[i]))
    }
}

impl<V: DigitLanes, const N: usize> Code for Store<'_, V, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for i in 0..N {
            self.0[i].store(&mut self.1[i]);
        }
    }
}

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Code for Select<V, M, N> {
    type Output = Residue<V, M, N>;

    #[inline(always)]
    fn run(self) -> Residue<V, M, N> {
        let Self(mask, a, b) = self;
        Residue::new(each(a.proof(), |i| {
            V::select(mask, a.digits[i], b.digits[i])
        }))
    }
}

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Code for Sum<V, M, N> {
    type Output = Residue<V, M, N>;

    #[inline(always)]
    fn run(self) -> Residue<V, M, N> {
        let Self(a, b) = self;
        Residue::carried(each(a.proof(), |i| a.digits[i].add(b.digits[i])))
    }
}

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Code for Less<V, M, N> {
    type Output = Residue<V, M, N>;

    #[inline(always)]
    fn run(self) -> Residue<V, M, N> {
        let Self(a, b) = self;
        Residue::carried(each(a.proof(), |i| a.digits[i].sub(b.digits[i])))
    }
}

impl<V: DigitLanes, M: Prime<N>, const N: usize> Code for Folded<V, M, N> {
    type Output = Residue<V, M, N>;

    #[inline(always)]
    fn run(self) -> Residue<V, M, N> {
        let mut digits = self.0.digits;
        M::fold(&mut digits);
        Residue::carried(digits)
    }
}

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Code for Quotient<V, M, N> {
    type Output = Residue<V, M, N>;

    #[inline(always)]
    fn run(self) -> Residue<V, M, N> {
        reduce(Columns::from_low(self.0.digits))
    }
}

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Code for Product<V, M, N> {
    type Output = Residue<V, M, N>;

    #[inline(always)]
    fn run(self) -> Residue<V, M, N> {
        let mut t = Columns::zero(self.0.proof());
        t.add_product(&self.0.digits, &self.1.digits);
        reduce(t)
    }
}

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Code for Products<V, M, N> {
    type Output = Residue<V, M, N>;

    #[inline(always)]
    fn run(self) -> Residue<V, M, N> {
        let Self([a, b], [c, d]) = self;
        let mut t = Columns::zero(a.proof());
        t.add_product(&a.digits, &c.digits);
        t.add_product(&b.digits, &d.digits);
        reduce(t)
    }
}

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Code for Square<V, M, N> {
    type Output = Residue<V, M, N>;

    #[inline(always)]
    fn run(self) -> Residue<V, M, N> {
        let mut t = Columns::zero(self.0.proof());
        t.double_and_add_square(&self.0.digits);
        reduce(t)
    }
}

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Code for Power<V, M, N> {
    type Output = Residue<V, M, N>;

    #[inline(always)]
    fn run(self) -> Residue<V, M, N> {
        let mut powers = [Residue::one(self.0.proof()); 16];
        for i in 1..16 {
            powers[i] = powers[i - 1].mul(self.0);
        }
        let mut result = powers[0];
        for digit in self.1.into_iter().rev() {
            for shift in (0..52).step_by(4).rev() {
                for _ in 0..4 {
                    result = result.square();
                }
                result = result.mul(powers[(digit >> shift & 15) as usize]);
            }
        }
        wipe(&mut powers);
        result
    }
}

/// The columns divided by R, modulo M. A column gains less than 2 N · 2⁵² and a carry, so that with
/// two products it stays below 2⁵⁸.
#[inline(always)]
fn reduce<V: DigitLanes, M: Modulus<N>, const N: usize>(mut t: Columns<V, N>) -> Residue<V, M, N> {
    for i in 0..N {
        V::run(t.low[0].proof(), Clear(&mut t, i, PhantomData::<M>));
    }
    Residue::carried(t.high)
}

/// See [`Modulus::clear`].
struct Clear<'a, V, M, const N: usize>(&'a mut Columns<V, N>, usize, PhantomData<M>);

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Code for Clear<'_, V, M, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        M::clear(self.0, self.1);
    }
}

/// The digits `digit(0)`, `digit(1)`, … A loop: what takes closures by itself is compiled without
/// the instructions, and not always inlined.
#[inline(always)]
fn each<V: DigitLanes, const N: usize>(proof: V::Proof, digit: impl Fn(usize) -> V) -> [V; N] {
    let mut digits = [V::zero(proof); N];
    for i in 0..N {
        digits[i] = digit(i);
    }
    digits
}
