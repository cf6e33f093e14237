//! Registers of one, two and four AES blocks.

/// Operations that are one expression of intrinsics over the registers of the operands.
macro_rules! operations {
    ($($name:ident = |$a:ident $(, $b:ident)*| $result:expr;)*) => {$(
        #[inline(always)]
        fn $name(self $(, $b: Self)*) -> Self {
            let $a = self.0;
            $(let $b = $b.0;)*
            // SAFETY: `self.1` is the proof of the instructions.
            Self(unsafe { $result }, self.1)
        }
    )*};
}

mod xmm;
mod ymm;
mod zmm;

pub(crate) use xmm::Xmm;
use ymm::Ymm;
use zmm::Zmm;

use core::arch::asm;
use core::arch::x86_64::{_mm_aeskeygenassist_si128, _mm_cvtsi128_si32, _mm_set1_epi32};

use super::detect::{AesNi, Avx2, Avx512, Vaes256};
use crate::aes::KeySize;
use crate::aes::rounds::{ANY, PerRounds, WithRounds};
use crate::arch::Block;
use crate::arch::blocks::{Kernel, Vector};

/// The registers of one block where there is AVX2.
type XmmAvx = Xmm<true, Avx2>;

/// Which registers AES runs on, with the proof that this CPU has them.
#[derive(Clone, Copy, Debug)]
#[repr(u8)] // told apart by one byte, without the arithmetic of a niche
pub(crate) enum BlockSet {
    /// Four blocks per register, and how many multiplications a product of them takes.
    Zmm(Avx512, Products),
    /// Two blocks per register.
    Ymm(Vaes256),
    /// One block per register, in the encoding of AVX.
    XmmAvx(Avx2),
    /// One block per register.
    Xmm(AesNi),
    /// One block in plain integers.
    Portable,
}

/// The same address, of which the compiler knows nothing.
#[inline(always)]
fn unknown(mut at: *const u8) -> *const u8 {
    #[expect(
        clippy::pointers_in_nomem_asm_block,
        reason = "nothing is read or written"
    )]
    // SAFETY: no instructions.
    unsafe {
        asm!("/* {0} */", inout(reg) at, options(pure, nomem, nostack, preserves_flags))
    };
    at
}

/// How many carry-less multiplications a product of blocks takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Products {
    /// Three, and the sums of halves that they need.
    Three,
    /// Four. Sums would take turns with the rounds of AES, and what moves the halves with the
    /// multiplications.
    Four,
}

impl BlockSet {
    /// Runs `kernel` compiled for these registers.
    ///
    /// # Safety
    /// The contract of `kernel`.
    #[inline]
    pub(crate) unsafe fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the token in each variant proves that the CPU has the register's instructions;
        // the kernel's contract is the caller's.
        unsafe {
            match self {
                Self::Zmm(proof, _) => <Zmm>::enter(proof, kernel),
                Self::Ymm(proof) => Ymm::enter(proof, kernel),
                Self::XmmAvx(proof) => XmmAvx::enter(proof, kernel),
                Self::Xmm(proof) => <Xmm>::enter(proof, kernel),
                Self::Portable => Block::enter((), kernel),
            }
        }
    }

    /// Runs `kernel` compiled for these registers, and for the rounds of a key size where speed
    /// depends on that.
    ///
    /// # Safety
    /// The contract of `kernel`; every key of it has this size.
    #[inline]
    pub(crate) unsafe fn run_sized<K: PerRounds>(self, size: KeySize, kernel: K) {
        // SAFETY: as in `run`.
        unsafe {
            match self {
                Self::Zmm(proof, _) => enter_sized::<Zmm, K>(proof, size, kernel),
                Self::Ymm(proof) => enter_sized::<Ymm, K>(proof, size, kernel),
                Self::XmmAvx(proof) => enter_sized::<XmmAvx, K>(proof, size, kernel),
                Self::Xmm(proof) => enter_sized::<Xmm, K>(proof, size, kernel),
                Self::Portable => Block::enter((), (kernel, WithRounds::<ANY>)),
            }
        }
    }

    /// As [`Self::run`], for a kernel that multiplies blocks.
    ///
    /// # Safety
    /// The contract of `kernel`.
    #[inline]
    pub(crate) unsafe fn run_products<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: as in `run`.
        unsafe {
            match self {
                Self::Zmm(proof, Products::Four) => Zmm::<4>::enter(proof, kernel),
                _ => self.run(kernel),
            }
        }
    }

    /// As [`Self::run_sized`], for a kernel that multiplies blocks.
    ///
    /// # Safety
    /// The contract of `kernel`; every key of it has this size.
    #[inline]
    pub(crate) unsafe fn run_sized_products<K: PerRounds>(self, size: KeySize, kernel: K) {
        // SAFETY: as in `run`.
        unsafe {
            match self {
                Self::Zmm(proof, Products::Four) => {
                    enter_sized::<Zmm<4>, K>(proof, size, kernel);
                }
                _ => self.run_sized(size, kernel),
            }
        }
    }

    /// As [`Self::run_products`], for a kernel that does little else: blocks become polynomials where
    /// rounds of AES would run, not where products are made.
    ///
    /// # Safety
    /// The contract of `kernel`.
    #[inline]
    pub(crate) unsafe fn run_hash<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: as in `run`.
        unsafe {
            match self {
                Self::Zmm(proof, Products::Four) => Zmm::<4, false>::enter(proof, kernel),
                _ => self.run(kernel),
            }
        }
    }

    /// The same registers with products of four or three multiplications, where there is a choice. For
    /// tests.
    pub(crate) fn with_four_products(self, four: bool) -> Self {
        match (self, four) {
            (Self::Zmm(proof, _), true) => Self::Zmm(proof, Products::Four),
            (Self::Zmm(proof, _), false) => Self::Zmm(proof, Products::Three),
            (other, _) => other,
        }
    }

    /// Whether products of blocks run beside rounds of AES, which do not wait for them.
    pub(crate) fn multiplies_beside_rounds(self) -> bool {
        matches!(self, Self::Zmm(_, Products::Four))
    }

    /// Blocks of a register.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Zmm(..) => <Zmm>::BLOCKS,
            Self::Ymm(_) => Ymm::BLOCKS,
            Self::XmmAvx(_) | Self::Xmm(_) => <Xmm>::BLOCKS,
            Self::Portable => Block::BLOCKS,
        }
    }

    /// The S-box on each byte of a word, if there is an instruction for it.
    pub(crate) fn sub_word(self) -> Option<unsafe fn(u32) -> u32> {
        match self {
            Self::Portable => None,
            _ => Some(sub_word),
        }
    }
}

/// Runs `kernel` compiled for registers and the rounds of a key size.
///
/// # Safety
/// As for [`BlockSet::run_sized`].
#[inline(always)]
unsafe fn enter_sized<V: Vector, K: PerRounds>(proof: V::Proof, size: KeySize, kernel: K) {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            KeySize::Aes128 => V::enter(proof, (kernel, WithRounds::<10>)),
            KeySize::Aes192 => V::enter(proof, (kernel, WithRounds::<12>)),
            KeySize::Aes256 => V::enter(proof, (kernel, WithRounds::<14>)),
        }
    }
}

/// The S-box on each byte of a word.
///
/// # Safety
/// The CPU has AES-NI.
#[target_feature(enable = "aes")]
fn sub_word(word: u32) -> u32 {
    // The instruction's first result is the S-box of the second word.
    let words = _mm_aeskeygenassist_si128::<0>(_mm_set1_epi32(word.cast_signed()));
    _mm_cvtsi128_si32(words).cast_unsigned()
}
