//! Registers of digits: of 512 bits, or of 256.

mod avx2;
mod avx_ifma;
mod fma;
mod ifma;
mod rounding;

#[cfg(test)]
pub(crate) use avx_ifma::EvexIfma;
pub(super) use ifma::load_pairs;
pub(super) use rounding::rounds_as_told;
pub(crate) use {avx_ifma::AvxIfma, fma::Fma, ifma::Ifma, rounding::TowardZero};

#[cfg(test)]
use super::detect::EvexIfma as EvexIfmaToken;
use super::detect::{AvxIfma as AvxIfmaToken, Fma as FmaToken, Ifma as IfmaToken};
use crate::arch::digits::{DigitLanes, Portable};
use crate::machine::Digits;

/// Which registers of digits kernels run on, with the proof that this CPU has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DigitSet {
    /// 512 bits and 52-bit multiply-adds.
    Ifma(IfmaToken),
    /// 256 bits and 52-bit multiply-adds.
    AvxIfma(AvxIfmaToken),
    /// The same in the encoding of AVX-512, which more CPUs can test.
    #[cfg(test)]
    EvexIfma(EvexIfmaToken),
    /// 256 bits, and multiply-adds of doubles.
    Fma(FmaToken),
    /// Plain integers, lane by lane.
    Portable,
}

impl DigitSet {
    /// How these multiply.
    pub(crate) fn kind(self) -> Digits {
        match self {
            Self::Ifma(_) => Digits::Ifma,
            Self::AvxIfma(_) => Digits::AvxIfma,
            #[cfg(test)]
            Self::EvexIfma(_) => Digits::AvxIfma,
            Self::Fma(_) => Digits::Fma,
            Self::Portable => Digits::Plain,
        }
    }

    /// Lanes of a register.
    pub(crate) fn lanes(self) -> usize {
        match self {
            Self::Ifma(_) => Ifma::LANES,
            Self::AvxIfma(_) => AvxIfma::LANES,
            #[cfg(test)]
            Self::EvexIfma(_) => EvexIfma::LANES,
            Self::Fma(_) => Fma::LANES,
            Self::Portable => Portable::LANES,
        }
    }
}

/// Evaluates an expression on the registers of a set, compiled for them: [`Proof::enter`] for what
/// has no type parameters of its own.
///
/// [`Proof::enter`]: crate::arch::register::Proof::enter
///
/// `on!(set, |Lanes, proof, name: Type, ...| expression)`, where the names are variables of the
/// caller.
macro_rules! on {
    ($set:expr, |$lanes:ident, $proof:ident $(, $name:ident: $type:ty)*| $body:expr) => {
        match $set {
            $crate::arch::DigitSet::Ifma(token) => {
                #[target_feature(
                    enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma,bmi1,bmi2"
                )]
                fn compiled($proof: $crate::arch::IfmaToken, $($name: $type),*) {
                    type $lanes = $crate::arch::Ifma;
                    $body;
                }
                // SAFETY: the token is the proof of these instructions.
                unsafe { compiled(token, $($name),*) }
            }
            $crate::arch::DigitSet::AvxIfma(token) => {
                #[target_feature(enable = "avx2,avxifma,bmi1,bmi2")]
                fn compiled($proof: $crate::arch::AvxIfmaToken, $($name: $type),*) {
                    type $lanes = $crate::arch::AvxIfma;
                    $body;
                }
                // SAFETY: the token is the proof of these instructions.
                unsafe { compiled(token, $($name),*) }
            }
            #[cfg(test)]
            $crate::arch::DigitSet::EvexIfma(token) => {
                #[target_feature(enable = "avx2,avx512vl,avx512ifma,bmi1,bmi2")]
                fn compiled($proof: $crate::arch::EvexIfmaToken, $($name: $type),*) {
                    type $lanes = $crate::arch::EvexIfma;
                    $body;
                }
                // SAFETY: the token is the proof of these instructions.
                unsafe { compiled(token, $($name),*) }
            }
            $crate::arch::DigitSet::Fma(token) => {
                #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
                fn compiled($proof: $crate::arch::FmaToken, $($name: $type),*) {
                    type $lanes = $crate::arch::Fma;
                    $body;
                }
                let _rounding = $crate::arch::TowardZero::set();
                // SAFETY: the token is the proof of these instructions.
                unsafe { compiled(token, $($name),*) }
            }
            $crate::arch::DigitSet::Portable => {
                type $lanes = $crate::arch::digits::Portable;
                let $proof = ();
                $body;
            }
        }
    };
}
pub(crate) use on;
