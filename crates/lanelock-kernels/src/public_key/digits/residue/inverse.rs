//! Inverses of residues.

#![allow(clippy::needless_range_loop)] // an index names the digit on both sides

use super::{Modulus, Residue};
use crate::arch::digits::{DigitLanes, MAX_LANES};
use crate::arch::register::Code;
use crate::public_key::digits::inverse::Invert;
use crate::wipe::wipe;

/// See [`Residue::invert`].
pub(super) struct Inverse<V, M, const N: usize>(pub Residue<V, M, N>);

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Code for Inverse<V, M, N> {
    type Output = Residue<V, M, N>;

    #[inline(always)]
    fn run(self) -> Residue<V, M, N> {
        let number = self.0.canonical();
        let proof = number.proof();
        let is_zero = number.is_zero();
        let inverse = Residue::select(is_zero, Residue::one(proof), number).inverses();
        Residue::select(is_zero, Residue::new([V::zero(proof); N]), inverse)
    }
}

impl<V: DigitLanes, M: Modulus<N>, const N: usize> Invert for Residue<V, M, N> {
    const LANES: usize = V::LANES;

    #[inline(always)]
    fn product(self, other: Self) -> Self {
        self.mul(other)
    }

    #[inline(always)]
    fn crossed(self, distance: usize) -> Self {
        let mut crossed = self.digits;
        for i in 0..N {
            crossed[i] = self.digits[i].crossed(distance);
        }
        Self::new(crossed)
    }

    #[inline(always)]
    fn inverse_of_first(self) -> Self {
        let mut words = [[0; MAX_LANES]; N];
        self.canonical().store(&mut words);
        let mut first = [0; N];
        for i in 0..N {
            first[i] = words[i][0];
        }
        let mut inverse = M::INVERTER.divide_by(&first);
        let inverses = Self::constant(self.proof(), &inverse);
        wipe(&mut words);
        wipe(&mut first);
        wipe(&mut inverse);
        inverses
    }
}
