//! Registers of digits: of 512 bits, or of 256.

mod fma;
mod ifma;
mod rounding;

pub(super) use ifma::load_pairs;
pub(super) use rounding::rounds_as_told;
pub(crate) use {fma::Fma, ifma::Ifma, rounding::TowardZero};

use super::detect::{Fma as FmaToken, Ifma as IfmaToken};
use crate::arch::digits::{DigitLanes, Portable};
use crate::machine::Digits;

/// Which registers of digits kernels run on, with the proof that this CPU has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DigitSet {
    /// 512 bits and 52-bit multiply-adds.
    Ifma(IfmaToken),
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
            Self::Fma(_) => Digits::Fma,
            Self::Portable => Digits::Plain,
        }
    }

    /// Lanes of a register.
    pub(crate) fn lanes(self) -> usize {
        match self {
            Self::Ifma(_) => Ifma::LANES,
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
