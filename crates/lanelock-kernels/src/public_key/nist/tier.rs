//! The batches of each curve on each instruction set.

#![allow(unsafe_code)] // calls functions that enable the instructions

use super::batch::{self, Agreement, Decompression, Generation, Signing, Verification};
use super::digits;
use super::multiply::{self, Multiples};
use super::parameters::Parameters;
use super::{P256, P384};
use crate::cpu;
#[cfg(target_arch = "x86_64")]
use crate::public_key::lanes::Ifma;
use crate::public_key::lanes::{Portable, Words};
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

/// Calls `$($body)::+::<lanes, curve, digits>(proof, arguments)` inside a function with the instructions.
macro_rules! on {
    ($isa:expr, $curve:ident $digits:literal, $($body:ident)::+, $($name:ident: $type:ty),*) => {
        match $isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Ifma(token) => {
                #[target_feature(
                    enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma,bmi1,bmi2"
                )]
                fn ifma(token: cpu::Ifma, $($name: $type),*) {
                    $($body)::+::<Ifma, $curve, $digits>(token, $($name),*);
                }
                // SAFETY: the token is the proof of these instructions.
                unsafe { ifma(token, $($name),*) }
            }
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Ifma(_) => unreachable!("there is no token on other CPUs"),
            Isa::Portable => $($body)::+::<Portable, $curve, $digits>((), $($name),*),
        }
    };
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
                on!(isa, $curve $digits, multiply::fill, multiples: &mut [Multiples<$digits>]);
            }

            fn generate(isa: Isa, multiples: &Self::Multiples, batch: &mut Generation<Self::Digits>) {
                on!(isa, $curve $digits, batch::generate, multiples: &[Multiples<$digits>],
                    batch: &mut Generation<[Words; $digits]>);
            }

            fn decompress(isa: Isa, batch: &mut Decompression<Self::Digits>) {
                on!(isa, $curve $digits, batch::decompress,
                    batch: &mut Decompression<[Words; $digits]>);
            }

            fn agree(isa: Isa, batch: &mut Agreement<Self::Digits>) {
                on!(isa, $curve $digits, batch::agree, batch: &mut Agreement<[Words; $digits]>);
            }

            fn sign(isa: Isa, multiples: &Self::Multiples, batch: &mut Signing<Self::Digits>) {
                on!(isa, $curve $digits, batch::sign, multiples: &[Multiples<$digits>],
                    batch: &mut Signing<[Words; $digits]>);
            }

            fn verify(isa: Isa, multiples: &Self::Multiples, batch: &mut Verification<Self::Digits>) {
                on!(isa, $curve $digits, batch::verify, multiples: &[Multiples<$digits>],
                    batch: &mut Verification<[Words; $digits]>);
            }
        }
    };
}

batches!(P256, 5);
batches!(P384, 8);
