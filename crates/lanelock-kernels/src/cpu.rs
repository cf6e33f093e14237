//! Which instructions this CPU has, as values: holding a token is the proof.
//!
//! This module is the only place that asks the CPU. A kernel takes the token of its tier by value,
//! so "the feature was checked" is a fact of the types.

#![allow(unsafe_code)] // CPUID

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};

/// A kernel tier, from the widest to the narrowest.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Tier {
    /// AVX-512 F, BW, VL, DQ, VBMI, VBMI2 with VAES and VPCLMULQDQ.
    Avx512,
    /// AVX2 with AES-NI, PCLMULQDQ, BMI2.
    Avx2,
    /// AES-NI, PCLMULQDQ, SSSE3 and SSE4.1.
    AesNi,
}

macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $found:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// Asks the CPU and the operating system.
            #[must_use]
            pub fn detect() -> Option<Self> {
                $found(&Features::read()).then_some(Self(()))
            }
        }
    };
}

token!(
    /// Proof of AVX-512 F, BW, VL, DQ, VBMI, VBMI2, VAES and VPCLMULQDQ, and of [`Avx2`].
    Avx512,
    |f: &Features| f.zmm && f.avx512 && f.avx2
);
token!(
    /// Proof of AVX2, AES-NI, PCLMULQDQ and BMI2.
    Avx2,
    |f: &Features| f.ymm && f.avx2
);
token!(
    /// Proof of AES-NI, PCLMULQDQ, SSSE3 and SSE4.1.
    AesNi,
    |f: &Features| f.aes
);
token!(
    /// Proof of the SHA extensions with SSSE3 and SSE4.1.
    ShaNi,
    |f: &Features| f.sha
);
token!(
    /// Proof of AVX-512 IFMA, and of everything [`Avx512`] proves.
    Ifma,
    |f: &Features| f.zmm && f.avx512 && f.avx2 && f.ifma
);

/// What CPUID and XCR0 say.
#[derive(Default)]
struct Features {
    ymm: bool,
    zmm: bool,
    avx2: bool,
    avx512: bool,
    aes: bool,
    sha: bool,
    ifma: bool,
}

impl Features {
    #[cfg(target_arch = "x86_64")]
    fn read() -> Self {
        let has = |word: u32, bits: &[u32]| bits.iter().all(|bit| word >> bit & 1 == 1);
        let highest = __cpuid(0).eax;
        if highest < 7 {
            return Self::default();
        }
        let one = __cpuid(1);
        let seven = __cpuid_count(7, 0);
        let saved = if has(one.ecx, &[27]) {
            // SAFETY: OSXSAVE (leaf 1, ECX bit 27) says that XGETBV exists.
            unsafe { xcr0() }
        } else {
            0
        };
        Self {
            ymm: saved & 0x06 == 0x06,
            zmm: saved & 0xe6 == 0xe6,
            // AVX, AES, PCLMULQDQ; BMI1, AVX2, BMI2.
            avx2: has(one.ecx, &[28, 25, 1]) && has(seven.ebx, &[3, 5, 8]),
            // F, DQ, BW, VL; VBMI, VBMI2, VAES, VPCLMULQDQ.
            avx512: has(seven.ebx, &[16, 17, 30, 31]) && has(seven.ecx, &[1, 6, 9, 10]),
            // SSSE3, SSE4.1, AES, PCLMULQDQ.
            aes: has(one.ecx, &[9, 19, 25, 1]),
            sha: has(one.ecx, &[9, 19]) && has(seven.ebx, &[29]),
            ifma: has(seven.ebx, &[21]),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn read() -> Self {
        Self::default()
    }
}

/// The register sets that the operating system saves.
///
/// # Safety
/// The CPU must have XGETBV.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "xsave")]
unsafe fn xcr0() -> u64 {
    // SAFETY: XGETBV exists, as the caller promises; register 0 always does.
    unsafe { _xgetbv(0) }
}
