//! Registers of 32-bit and 64-bit words: those of NEON, and integers.

mod neon;

use super::detect::Neon;
use crate::arch::Integers;
use crate::arch::register::Proof;
use crate::arch::words::{Kernel, Moves, On, Registers};

/// Which registers of words kernels run on, with the proof that this CPU has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WordSet {
    /// 128 bits.
    Neon(Neon),
    /// One word in a plain integer.
    Portable,
}

impl WordSet {
    /// Runs `kernel` compiled for these registers.
    ///
    /// # Safety
    /// The contract of `kernel`.
    #[inline]
    pub(crate) unsafe fn run<K: Kernel>(self, kernel: K) {
        match self {
            Self::Neon(proof) => proof.enter((kernel, On::<NeonWords>(proof))),
            Self::Portable => ().enter((kernel, On::<Integers>(()))),
        }
    }
}

/// The registers of NEON.
#[derive(Clone, Copy, Debug)]
pub struct NeonWords;

impl Registers for NeonWords {
    const NAME: &'static str = "neon";
    const BITS: usize = 128;
    const FILE: usize = 32;
    type Proof = Neon;
    type Single = u64;
    type SingleProof = ();
    type U32 = neon::U32x4;
    type U64 = neon::U64x2;
    type Rows = neon::U32x4;
    type Moves = Moves;

    #[inline(always)]
    unsafe fn assume() -> Neon {
        // SAFETY: the caller's promise, passed on.
        unsafe { Neon::assume() }
    }

    #[inline(always)]
    fn single(_: Neon) {}

    #[inline(always)]
    fn moves(_: Neon) -> Moves {
        Moves
    }
}

/// Evaluates an expression with a name for the registers of a set.
macro_rules! of_words {
    ($set:expr, |$registers:ident| $body:expr) => {
        match $set {
            $crate::arch::WordSet::Neon(_) => {
                type $registers = $crate::arch::NeonWords;
                $body
            }
            $crate::arch::WordSet::Portable => {
                type $registers = $crate::arch::Integers;
                $body
            }
        }
    };
}
pub(crate) use of_words;
