//! The batches of each curve on each machine.

#![allow(unsafe_code)] // calls functions that enable the instructions

use super::batch::{self, Agreement, Decompression, Generation, Signing, Verification};
use super::multiply::{self, Multiples};
use super::parameters::Parameters;
use super::{P256, P384};
use crate::arch::digits::Words;
use crate::arch::on;
use crate::machine::Machine;
use crate::public_key::digits;
use crate::wipe::Plain;

/// The numbers and the batches of a curve.
pub trait Batches: Sized + 'static {
    /// A number of each lane.
    type Digits: Plain + Default;
    /// The multiples of the base point.
    type Multiples: Plain + Send + Sync;

    /// Puts the number of `bytes`, most significant first, into `lane`.
    fn load(digits: &mut Self::Digits, lane: usize, bytes: &[u8]);
    /// The number in `lane` to `bytes`, most significant first.
    fn store(digits: &Self::Digits, lane: usize, bytes: &mut [u8]);
    /// Computes the multiples of the base point.
    fn fill(machine: Machine, multiples: &mut Self::Multiples);
    fn generate(
        machine: Machine,
        multiples: &Self::Multiples,
        batch: &mut Generation<Self::Digits>,
    );
    fn decompress(machine: Machine, batch: &mut Decompression<Self::Digits>);
    fn agree(machine: Machine, batch: &mut Agreement<Self::Digits>);
    fn sign(machine: Machine, multiples: &Self::Multiples, batch: &mut Signing<Self::Digits>);
    fn verify(
        machine: Machine,
        multiples: &Self::Multiples,
        batch: &mut Verification<Self::Digits>,
    );
}

macro_rules! batches {
    ($curve:ident, $digits:literal) => {
        impl Batches for $curve {
            type Digits = [Words; $digits];
            type Multiples =
                [Multiples<$digits>; multiply::base_digits(<$curve as Parameters<$digits>>::BITS)];

            fn load(digits: &mut Self::Digits, lane: usize, bytes: &[u8]) {
                digits::put(digits, lane, bytes);
            }

            fn store(digits: &Self::Digits, lane: usize, bytes: &mut [u8]) {
                digits::get(digits, lane, bytes);
            }

            fn fill(machine: Machine, multiples: &mut Self::Multiples) {
                on!(
                    machine.digits,
                    |V, proof, multiples: &mut [Multiples<$digits>]| {
                        multiply::fill::<V, $curve, $digits>(proof, multiples)
                    }
                );
            }

            fn generate(
                machine: Machine,
                multiples: &Self::Multiples,
                batch: &mut Generation<Self::Digits>,
            ) {
                on!(machine.digits, |V,
                                     proof,
                                     multiples: &[Multiples<$digits>],
                                     batch: &mut Generation<
                    [Words; $digits],
                >| {
                    batch::generate::<V, $curve, $digits>(proof, multiples, batch)
                });
            }

            fn decompress(machine: Machine, batch: &mut Decompression<Self::Digits>) {
                on!(machine.digits, |V,
                                     proof,
                                     batch: &mut Decompression<
                    [Words; $digits],
                >| {
                    batch::decompress::<V, $curve, $digits>(proof, batch)
                });
            }

            fn agree(machine: Machine, batch: &mut Agreement<Self::Digits>) {
                on!(
                    machine.digits,
                    |V, proof, batch: &mut Agreement<[Words; $digits]>| {
                        batch::agree::<V, $curve, $digits>(proof, batch)
                    }
                );
            }

            fn sign(
                machine: Machine,
                multiples: &Self::Multiples,
                batch: &mut Signing<Self::Digits>,
            ) {
                on!(
                    machine.digits,
                    |V,
                     proof,
                     multiples: &[Multiples<$digits>],
                     batch: &mut Signing<[Words; $digits]>| {
                        batch::sign::<V, $curve, $digits>(proof, multiples, batch)
                    }
                );
            }

            fn verify(
                machine: Machine,
                multiples: &Self::Multiples,
                batch: &mut Verification<Self::Digits>,
            ) {
                on!(machine.digits, |V,
                                     proof,
                                     multiples: &[Multiples<$digits>],
                                     batch: &mut Verification<
                    [Words; $digits],
                >| {
                    batch::verify::<V, $curve, $digits>(proof, multiples, batch)
                });
            }
        }
    };
}

batches!(P256, 5);
batches!(P384, 8);
