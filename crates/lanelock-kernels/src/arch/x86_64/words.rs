//! Registers of 32-bit and 64-bit words: those of AVX-512, of AVX2, and integers.

mod xmm;
mod ymm;
mod zmm;

use core::marker::PhantomData;

pub(super) use self::ymm::transpose_four;
use self::zmm::Wide;
use super::detect::{Avx2, Avx512, Avx512Bw, Bmi};
use super::pad::MaskedMoves;
use crate::arch::Integers;
use crate::arch::register::Proof;
use crate::arch::words::{Kernel, Moves, On, Registers};

/// Which registers of words kernels run on, with the proof that this CPU has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WordSet {
    /// 512 bits; and the permutations of their bytes, where the CPU has those.
    Zmm(Avx512Bw, Option<Avx512>),
    /// 256 bits.
    Ymm(Avx2),
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
            Self::Zmm(_, Some(proof)) if K::PERMUTES_BYTES => {
                proof.enter((kernel, On::<Zmm<Avx512>>(proof)));
            }
            Self::Zmm(proof, _) if K::BESIDE_INTEGERS => {
                proof.avx2().enter((kernel, On::<Ymm>(proof.avx2())));
            }
            Self::Zmm(proof, _) => proof.enter((kernel, On::<Zmm>(proof))),
            Self::Ymm(proof) => proof.enter((kernel, On::<Ymm>(proof))),
            Self::Portable => ().enter((kernel, On::<Integers>(()))),
        }
    }
}

/// The 512-bit registers, with the instructions that `P` is the proof of.
#[derive(Clone, Copy, Debug)]
pub struct Zmm<P = Avx512Bw>(PhantomData<P>);

/// The 256-bit registers.
#[derive(Clone, Copy, Debug)]
pub struct Ymm;

impl<P: Wide> Registers for Zmm<P> {
    const NAME: &'static str = "avx512";
    const BITS: usize = 512;
    const FILE: usize = 32;
    type Proof = P;
    type Single = xmm::U64x1;
    type SingleProof = P;
    type U32 = zmm::U32x16<P>;
    type U64 = zmm::U64x8<P>;
    type Rows = zmm::U32x16<P>;
    type Moves = MaskedMoves;

    #[inline(always)]
    unsafe fn assume() -> P {
        // SAFETY: the caller's promise, passed on.
        unsafe { P::assume() }
    }

    #[inline(always)]
    fn single(proof: P) -> P {
        proof
    }

    #[inline(always)]
    fn moves(proof: P) -> MaskedMoves {
        MaskedMoves(proof.into())
    }

    #[inline(always)]
    unsafe fn sieve(proof: P, from: *const u8, to: *mut i16, bound: i16) -> usize {
        // SAFETY: the caller's promise, passed on.
        unsafe { proof.sieve(from, to, bound) }
    }
}

impl Registers for Ymm {
    const NAME: &'static str = "avx2";
    const BITS: usize = 256;
    const FILE: usize = 16;
    type Proof = Avx2;
    type Single = u64;
    type SingleProof = Bmi;
    type U32 = ymm::U32x8;
    type U64 = ymm::U64x4;
    type Rows = ymm::U32x8;
    type Moves = Moves;

    #[inline(always)]
    unsafe fn assume() -> Avx2 {
        // SAFETY: the caller's promise, passed on.
        unsafe { Avx2::assume() }
    }

    #[inline(always)]
    fn single(proof: Avx2) -> Bmi {
        proof.bmi()
    }

    #[inline(always)]
    fn moves(_: Avx2) -> Moves {
        Moves
    }

    #[inline(always)]
    unsafe fn sieve(proof: Avx2, from: *const u8, to: *mut i16, bound: i16) -> usize {
        // SAFETY: the caller's promise, passed on.
        unsafe { ymm::sieve(proof, from, to, bound) }
    }
}

/// Evaluates an expression with a name for the registers of a set.
macro_rules! of_words {
    ($set:expr, |$registers:ident| $body:expr) => {
        match $set {
            $crate::arch::WordSet::Zmm(..) => {
                type $registers = $crate::arch::Zmm;
                $body
            }
            $crate::arch::WordSet::Ymm(_) => {
                type $registers = $crate::arch::Ymm;
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
