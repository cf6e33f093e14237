//! The batches of each curve on each instruction set.

#![allow(unsafe_code)] // calls functions that enable the instructions

use super::batch::{self, Agreement, Decompression, Generation, Signing, Verification};
use super::digits;
use super::multiply::{self, Multiples};
use super::parameters::Parameters;
use super::{P256, P384};
use crate::cpu;
use crate::public_key::lanes::{Words, on};
use crate::wipe::Plain;

/// The instructions that a batch runs on.
#[derive(Clone, Copy, Debug)]
pub enum Isa {
    /// AVX-512 IFMA: the eight lanes of a register.
    Ifma(cpu::Ifma),
    /// Plain integers, lane by lane: any CPU, and slower than one operation at a time elsewhere.
    Portable,
}

/// The numbers and the batches of a curve.
pub trait Batches: Sized + 'static {
    /// A number of each lane.
    type Digits: Plain + Default;
    /// The multiples of the base point.
    type Multiples: Plain + Send + Sync;
    /// None of them yet.
    const EMPTY: Self::Multiples;

    /// Puts the number of `bytes`, most significant first, into `lane`.
    fn load(digits: &mut Self::Digits, lane: usize, bytes: &[u8]);
    /// The number in `lane` to `bytes`, most significant first.
    fn store(digits: &Self::Digits, lane: usize, bytes: &mut [u8]);
    /// Computes the multiples of the base point.
    fn fill(isa: Isa, multiples: &mut Self::Multiples);
    fn generate(isa: Isa, multiples: &Self::Multiples, batch: &mut Generation<Self::Digits>);
    fn decompress(isa: Isa, batch: &mut Decompression<Self::Digits>);
    fn agree(isa: Isa, batch: &mut Agreement<Self::Digits>);
    fn sign(isa: Isa, multiples: &Self::Multiples, batch: &mut Signing<Self::Digits>);
    fn verify(isa: Isa, multiples: &Self::Multiples, batch: &mut Verification<Self::Digits>);
}

macro_rules! batches {
    ($curve:ident, $digits:literal) => {
        impl Batches for $curve {
            type Digits = [Words; $digits];
            type Multiples =
                [Multiples<$digits>; multiply::base_digits(<$curve as Parameters<$digits>>::BITS)];
            const EMPTY: Self::Multiples =
                [Multiples::EMPTY; multiply::base_digits(<$curve as Parameters<$digits>>::BITS)];

            fn load(digits: &mut Self::Digits, lane: usize, bytes: &[u8]) {
                digits::load(digits, lane, bytes);
            }

            fn store(digits: &Self::Digits, lane: usize, bytes: &mut [u8]) {
                digits::store(digits, lane, bytes);
            }

            fn fill(isa: Isa, multiples: &mut Self::Multiples) {
                on!(Isa of isa, |V, proof, multiples: &mut [Multiples<$digits>]| {
                    multiply::fill::<V, $curve, $digits>(proof, multiples)
                });
            }

            fn generate(
                isa: Isa,
                multiples: &Self::Multiples,
                batch: &mut Generation<Self::Digits>,
            ) {
                on!(Isa of isa, |V, proof, multiples: &[Multiples<$digits>],
                    batch: &mut Generation<[Words; $digits]>| {
                    batch::generate::<V, $curve, $digits>(proof, multiples, batch)
                });
            }

            fn decompress(isa: Isa, batch: &mut Decompression<Self::Digits>) {
                on!(Isa of isa, |V, proof, batch: &mut Decompression<[Words; $digits]>| {
                    batch::decompress::<V, $curve, $digits>(proof, batch)
                });
            }

            fn agree(isa: Isa, batch: &mut Agreement<Self::Digits>) {
                on!(Isa of isa, |V, proof, batch: &mut Agreement<[Words; $digits]>| {
                    batch::agree::<V, $curve, $digits>(proof, batch)
                });
            }

            fn sign(isa: Isa, multiples: &Self::Multiples, batch: &mut Signing<Self::Digits>) {
                on!(Isa of isa, |V, proof, multiples: &[Multiples<$digits>],
                    batch: &mut Signing<[Words; $digits]>| {
                    batch::sign::<V, $curve, $digits>(proof, multiples, batch)
                });
            }

            fn verify(
                isa: Isa,
                multiples: &Self::Multiples,
                batch: &mut Verification<Self::Digits>,
            ) {
                on!(Isa of isa, |V, proof, multiples: &[Multiples<$digits>],
                    batch: &mut Verification<[Words; $digits]>| {
                    batch::verify::<V, $curve, $digits>(proof, multiples, batch)
                });
            }
        }
    };
}

batches!(P256, 5);
batches!(P384, 8);
