//! AES: key schedules, the block cipher on vectors, and the modes built from it.
//!
//! Each mode is written once over `vector::Vector` (one, two or four blocks per register) and
//! instantiated per instruction set. [`reference`](mod@reference) is the portable counterpart
//! every instantiation is tested against.

#![allow(clippy::precedence)] // shifts before xor, as in every description of these algorithms
#![allow(clippy::needless_range_loop)] // the index of a register is its place in all arrays

pub mod cbc;
pub mod ccm;
mod chain;
pub mod ctr;
pub mod ecb;
pub mod gcm;
pub mod interleave;
pub mod key;
pub mod mac;
mod message;
pub mod reference;
mod rounds;
mod sweep;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;
pub mod xts;

pub use key::{DecryptKey, EncryptKey, KeySize};
pub use message::{Message, Records};

use crate::cpu::{AesNi, Avx512, Tier, Vaes256};
use vector::Kernel;

/// Bytes in a block.
pub const BLOCK: usize = 16;

/// The instruction set that kernels run on, with the proof that this CPU has it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Isa {
    /// Four blocks per register.
    Avx512(Avx512),
    /// Two blocks per register.
    Vaes256(Vaes256),
    /// One block per register.
    AesNi(AesNi),
}

impl Isa {
    /// What `tier` means for AES on this CPU; `None` when the CPU cannot run the tier.
    ///
    /// An AVX2 machine without VAES works on 128-bit registers.
    pub fn of_tier(tier: Tier) -> Option<Self> {
        match tier {
            Tier::Avx512 => Avx512::detect().map(Self::Avx512),
            Tier::Avx2 => Vaes256::detect()
                .map(Self::Vaes256)
                .or_else(|| Some(Self::AesNi(crate::cpu::Avx2::detect()?.aesni()))),
            Tier::AesNi => AesNi::detect().map(Self::AesNi),
        }
    }

    /// The widest instruction set of this CPU.
    pub fn best() -> Option<Self> {
        Tier::ALL.into_iter().find_map(Self::of_tier)
    }

    /// The name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Avx512(_) => "avx512",
            Self::Vaes256(_) => "vaes256",
            Self::AesNi(_) => "aesni",
        }
    }

    /// Runs `kernel` on this instruction set.
    ///
    /// # Safety
    /// The contract of `kernel`.
    #[inline]
    #[cfg(target_arch = "x86_64")]
    unsafe fn run<K: Kernel>(self, kernel: K) -> K::Output {
        use vector::Vector;
        match self {
            // SAFETY: the token in each variant proves that the CPU has the vector's
            // instructions; the kernel's contract is the caller's.
            Self::Avx512(_) => unsafe { x86::Zmm::enter(kernel) },
            // SAFETY: as above.
            Self::Vaes256(_) => unsafe { x86::Ymm::enter(kernel) },
            // SAFETY: as above.
            Self::AesNi(_) => unsafe { x86::Xmm::enter(kernel) },
        }
    }

    /// Never called: the token does not exist on other architectures.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn run<K: Kernel>(self, _: K) -> K::Output {
        match self {
            Self::Avx512(token) => token.never(),
            Self::Vaes256(token) => token.never(),
            Self::AesNi(token) => token.never(),
        }
    }
}

/// Makes the compiler believe that what `written` points to is read: the wiping of memory that
/// is about to go stays.
#[inline(always)]
fn keep(written: *const u8) {
    // SAFETY: no instructions; the pointer is only named.
    unsafe { core::arch::asm!("/* {} */", in(reg) written, options(nostack, preserves_flags)) }
}
