//! What the CPU has: the only place that asks.

use super::{BlockSet, WordSet};
use crate::arch::register::{Code, Proof};
use crate::machine::{Machine, Tier};

/// The registers of a tier, if this CPU and its operating system have them.
pub(crate) fn machine(tier: Tier) -> Option<Machine> {
    if tier != Tier::Neon {
        return None;
    }
    let token = Neon::detect()?;
    Some(Machine {
        tier,
        blocks: BlockSet::Neon(token),
        words: WordSet::Neon(token),
        sha: Sha::detect(),
        sha512: Sha512::detect(),
        ..Machine::PORTABLE
    })
}

macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $bits:expr, $compiled:expr, $features:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// The proof, if this CPU and its operating system support every instruction of it.
            fn detect() -> Option<Self> {
                ($compiled || features() & $bits == $bits).then_some(Self(()))
            }
        }

        impl Proof for $name {
            #[inline(always)]
            fn enter<C: Code>(self, code: C) -> C::Output {
                trait Compiled<C: Code> {
                    /// # Safety
                    /// The CPU has the instructions of this token.
                    unsafe fn compiled(code: C) -> C::Output;
                    fn boundary(proof: $name, code: C) -> C::Output;
                }
                // Of a tuple, so that it is compiled where the kernel is: see [`Code`].
                impl<C: Code> Compiled<C> for (C,) {
                    #[target_feature(enable = $features)]
                    unsafe fn compiled(code: C) -> C::Output {
                        code.run()
                    }
                    // rustc 1.95 ignores `inline(never)` on functions with target features.
                    #[inline(never)]
                    fn boundary(_: $name, code: C) -> C::Output {
                        // SAFETY: the token is the proof of these instructions.
                        unsafe { Self::compiled(code) }
                    }
                }
                <(C,)>::boundary(self, code)
            }
        }
    };
}

token! {
    /// NEON with AES and PMULL.
    Neon, AES | PMULL, cfg!(all(target_feature = "neon", target_feature = "aes")),
    "neon,aes"
}
token! {
    /// SHA-1 and SHA-256, on top of [`Neon`].
    Sha, AES | PMULL | SHA1 | SHA2,
    cfg!(all(target_feature = "neon", target_feature = "aes", target_feature = "sha2")),
    "neon,aes,sha2"
}
token! {
    /// SHA-512 and SHA-3, on top of NEON.
    Sha512, SHA3 | SHA512, cfg!(target_feature = "sha3"),
    "neon,sha3"
}

impl Neon {
    /// The proof, of what the caller knows.
    ///
    /// # Safety
    /// The CPU has these instructions.
    #[inline(always)]
    pub(super) unsafe fn assume() -> Self {
        Self(())
    }
}

impl Sha {
    /// The narrower proof this one contains.
    #[inline(always)]
    pub(crate) fn blocks(self) -> Neon {
        Neon(())
    }
}

/// Plain integers are part of every instruction set.
impl From<Neon> for () {
    #[inline(always)]
    fn from(_: Neon) {}
}

// Bits of Linux's AT_HWCAP (arch/arm64/include/uapi/asm/hwcap.h): the kernel shows what it also
// saves. Elsewhere, what the target promises is all that is known.
const AES: u64 = 1 << 3;
const PMULL: u64 = 1 << 4;
const SHA1: u64 = 1 << 5;
const SHA2: u64 = 1 << 6;
const SHA3: u64 = 1 << 17;
const SHA512: u64 = 1 << 21;

/// The feature bits of this CPU.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn features() -> u64 {
    unsafe extern "C" {
        fn getauxval(kind: core::ffi::c_ulong) -> core::ffi::c_ulong;
    }
    const AT_HWCAP: core::ffi::c_ulong = 16;
    // SAFETY: of the C library, which looks up a number in what the kernel gave the process.
    unsafe { getauxval(AT_HWCAP) }
}

/// None but those the target promises.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn features() -> u64 {
    0
}
