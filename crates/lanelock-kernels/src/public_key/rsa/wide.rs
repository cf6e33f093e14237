//! Numbers, one per lane, digit by digit.

use super::number::{BLOCK, Digits};
use crate::arch::digits::{DigitLanes, MAX_LANES, Words};
use crate::arch::register::{Code, Proof};
use crate::arrays::map;
use crate::public_key::digits::columns::split;
use crate::wipe::wipe;

/// One block of digits of a number per lane.
pub(super) type Block<L> = [L; BLOCK];

/// A number of `B` blocks per lane, each below R = 2^(520·`B`). Wiped when dropped.
///
/// Invariant: between operations, no digit is above 2^52 − 1.
#[derive(Debug)]
pub(super) struct Wide<L: DigitLanes, const B: usize>(pub [Block<L>; B]);

impl<L: DigitLanes, const B: usize> Wide<L, B> {
    /// Zero in every lane.
    #[inline(always)]
    pub fn zero(proof: L::Proof) -> Self {
        Self([[L::zero(proof); BLOCK]; B])
    }

    /// The number of each lane, in `B` blocks. Numbers that no lane has are left out.
    #[inline(always)]
    pub fn gather(proof: L::Proof, numbers: [&[[u64; BLOCK]]; MAX_LANES]) -> Self {
        proof.call(Gather::<L, B> { proof, numbers })
    }

    /// The inverse of [`Self::gather`]; zeros where there is no lane.
    #[inline(always)]
    pub fn scatter(&self) -> [Digits<B>; MAX_LANES] {
        self.proof().call(Scatter(self))
    }

    /// Copies `other`.
    #[inline(always)]
    pub fn set(&mut self, other: &Self) {
        self.0 = other.0;
    }

    /// `a` in the lanes of `mask`, `b` in the others.
    #[inline(always)]
    pub fn select(&mut self, mask: L::Mask, a: &Self, b: &Self) {
        self.each(|block, digit| L::select(mask, a.0[block][digit], b.0[block][digit]));
    }

    /// Adds `other`; the sum must be below R.
    #[inline(always)]
    pub fn add(&mut self, other: &Self) {
        let mut carry = L::zero(self.proof());
        for (a, b) in self.digits_mut().zip(other.digits()) {
            (*a, carry) = split(a.add(*b).add(carry));
        }
    }

    /// Subtracts `other` modulo R; the lanes in which it was larger.
    #[inline(always)]
    pub fn subtract(&mut self, other: &Self) -> L::Mask {
        let mut borrow = L::zero(self.proof());
        for (a, b) in self.digits_mut().zip(other.digits()) {
            (*a, borrow) = split(a.sub(*b).add(borrow));
        }
        borrow.is_negative()
    }

    /// Reduces numbers below three times `modulus`.
    #[inline(always)]
    pub fn reduce(&mut self, modulus: &Self) {
        for _ in 0..2 {
            let mut reduced = Self::zero(self.proof());
            reduced.set(self);
            let below = reduced.subtract(modulus);
            self.each_of(|own, block, digit| L::select(below, own, reduced.0[block][digit]));
        }
    }

    /// The lanes in which two numbers are equal.
    #[inline(always)]
    pub fn equals(&self, other: &Self) -> L::Mask {
        let zero = L::zero(self.proof());
        let pairs = self.digits().zip(other.digits());
        pairs.fold(zero, |any, (a, b)| any.or(a.xor(*b))).is_zero()
    }

    /// The proof that the lanes are.
    #[inline(always)]
    pub fn proof(&self) -> L::Proof {
        self.0[0][0].proof()
    }

    /// Sets each digit to what `value` says.
    #[inline(always)]
    fn each(&mut self, value: impl Fn(usize, usize) -> L) {
        self.each_of(|_, block, digit| value(block, digit));
    }

    /// Sets each digit to what `value` makes of it.
    #[inline(always)]
    fn each_of(&mut self, value: impl Fn(L, usize, usize) -> L) {
        for block in 0..B {
            for digit in 0..BLOCK {
                self.0[block][digit] = value(self.0[block][digit], block, digit);
            }
        }
    }

    #[inline(always)]
    fn digits(&self) -> impl Iterator<Item = &L> {
        self.0.as_flattened().iter()
    }

    #[inline(always)]
    fn digits_mut(&mut self) -> impl Iterator<Item = &mut L> {
        self.0.as_flattened_mut().iter_mut()
    }
}

impl<L: DigitLanes, const B: usize> Drop for Wide<L, B> {
    #[inline(always)]
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

/// The lanes whose bit is set.
#[inline(always)]
pub(super) fn mask<L: DigitLanes>(proof: L::Proof, lanes: [bool; MAX_LANES]) -> L::Mask {
    let bits = lanes
        .iter()
        .rev()
        .fold(0, |bits, lane| bits << 1 | u8::from(*lane));
    L::mask(proof, bits)
}

struct Gather<'n, L: DigitLanes, const B: usize> {
    proof: L::Proof,
    numbers: [&'n [[u64; BLOCK]]; MAX_LANES],
}

impl<L: DigitLanes, const B: usize> Code for Gather<'_, L, B> {
    type Output = Wide<L, B>;

    #[inline(always)]
    fn run(self) -> Wide<L, B> {
        let Self { proof, numbers } = self;
        let mut wide = Wide::zero(proof);
        for block in 0..B {
            for digit in 0..BLOCK {
                let words = map(numbers, |number| number[block][digit]);
                wide.0[block][digit] = L::load(proof, &words);
            }
        }
        wide
    }
}

struct Scatter<'w, L: DigitLanes, const B: usize>(&'w Wide<L, B>);

impl<L: DigitLanes, const B: usize> Code for Scatter<'_, L, B> {
    type Output = [Digits<B>; MAX_LANES];

    #[inline(always)]
    fn run(self) -> Self::Output {
        let mut numbers = [const { Digits::ZERO }; MAX_LANES];
        let mut words: Words = [0; MAX_LANES];
        for (block, digits) in self.0.0.iter().enumerate() {
            for (digit, lanes) in digits.iter().enumerate() {
                lanes.store(&mut words);
                for (number, word) in numbers.iter_mut().zip(words).take(L::LANES) {
                    number.blocks_mut()[block][digit] = word;
                }
            }
        }
        wipe(&mut words);
        numbers
    }
}
