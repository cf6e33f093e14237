//! Which instructions this CPU has, as values: holding a token is the proof.
//!
//! This module is the only place that asks the CPU. A kernel takes the token of its tier by value,
//! so "the feature was checked" is a fact of the types.

use core::sync::atomic::{AtomicU32, Ordering};

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

impl Tier {
    /// Every tier there is, widest first.
    pub const ALL: [Tier; 3] = [Tier::Avx512, Tier::Avx2, Tier::AesNi];

    /// The tiers this CPU can run, widest first.
    pub fn available() -> impl Iterator<Item = Tier> {
        Self::ALL.into_iter().filter(|tier| tier.is_available())
    }

    /// Whether this CPU and its operating system can run the tier.
    pub fn is_available(self) -> bool {
        match self {
            Tier::Avx512 => Avx512::detect().is_some(),
            Tier::Avx2 => Avx2::detect().is_some(),
            Tier::AesNi => AesNi::detect().is_some(),
        }
    }

    /// The name used in reports and to force a tier.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Avx512 => "avx512",
            Tier::Avx2 => "avx2",
            Tier::AesNi => "aesni",
        }
    }

    /// The tier called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Tier> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }
}

macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $bits:expr, implies $($method:ident: $lower:ident),*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(Proof);

        impl $name {
            /// The proof, if this CPU and its operating system support every instruction of it.
            #[inline]
            pub fn detect() -> Option<Self> {
                let need = $bits;
                if features() & need == need { PROOF.map(Self) } else { None }
            }

            /// Stands for code that needs the token, which does not exist on this architecture.
            #[cfg(not(target_arch = "x86_64"))]
            pub(crate) fn never(self) -> ! {
                match self.0 {}
            }

            $(
                /// The narrower proof this one contains.
                #[inline]
                pub fn $method(self) -> $lower {
                    $lower(self.0)
                }
            )*
        }
    };
}

token! {
    /// AES-NI, PCLMULQDQ, SSSE3 and SSE4.1.
    AesNi, AESNI, implies
}
token! {
    /// AVX2 with AES-NI, PCLMULQDQ, BMI1 and BMI2.
    Avx2, AESNI | AVX2, implies aesni: AesNi
}
token! {
    /// VAES and VPCLMULQDQ on 256-bit registers, on top of [`Avx2`].
    Vaes256, AESNI | AVX2 | VAES, implies avx2: Avx2, aesni: AesNi
}
token! {
    /// AVX-512 F, BW, VL, DQ, VBMI and VBMI2 with VAES and VPCLMULQDQ.
    Avx512, AESNI | AVX2 | VAES | AVX512, implies vaes256: Vaes256, avx2: Avx2, aesni: AesNi
}
token! {
    /// AVX-512 IFMA, on top of [`Avx512`].
    Ifma, AESNI | AVX2 | VAES | AVX512 | IFMA, implies avx512: Avx512
}
token! {
    /// SHA-1 and SHA-256 rounds, on top of [`AesNi`].
    ShaNi, AESNI | SHANI, implies aesni: AesNi
}

const AESNI: u32 = 1;
const AVX2: u32 = 1 << 1;
const VAES: u32 = 1 << 2;
const AVX512: u32 = 1 << 3;
const SHANI: u32 = 1 << 4;
const IFMA: u32 = 1 << 5;
const KNOWN: u32 = 1 << 31;

/// The feature groups of this CPU, asked once.
#[inline]
fn features() -> u32 {
    static CACHE: AtomicU32 = AtomicU32::new(0);
    let cached = CACHE.load(Ordering::Relaxed);
    if cached != 0 {
        return cached;
    }
    let found = ask() | KNOWN;
    CACHE.store(found, Ordering::Relaxed);
    found
}

/// What a token holds: nothing on x86-64, elsewhere a value that cannot exist.
#[cfg(target_arch = "x86_64")]
type Proof = ();
#[cfg(target_arch = "x86_64")]
const PROOF: Option<Proof> = Some(());

#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy, Debug)]
enum Proof {}
#[cfg(not(target_arch = "x86_64"))]
const PROOF: Option<Proof> = None;

#[cfg(not(target_arch = "x86_64"))]
fn ask() -> u32 {
    0
}

/// CPUID leaves 1 and 7, and XCR0: registers the operating system does not save do not count.
#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe)] // CPUID became a safe function after 1.89
fn ask() -> u32 {
    use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
    // SAFETY: every x86-64 CPU has CPUID, and leaf 0 states the highest leaf.
    let (highest, one) = unsafe { (__cpuid(0).eax, __cpuid(1)) };
    let seven = (highest >= 7).then(|| {
        // SAFETY: leaf 0 says that leaf 7 exists.
        unsafe { __cpuid_count(7, 0) }
    });
    let (ebx7, ecx7) = seven.map_or((0, 0), |leaf| (leaf.ebx, leaf.ecx));
    let all = |register: u32, bits: &[u32]| bits.iter().all(|bit| register >> bit & 1 == 1);

    const OSXSAVE: u32 = 27;
    let xcr0 = if all(one.ecx, &[OSXSAVE]) {
        // SAFETY: OSXSAVE says that XGETBV exists and that user code may run it.
        unsafe { _xgetbv(0) }
    } else {
        0
    };
    let saves_ymm = xcr0 & 0x06 == 0x06; // SSE and AVX state
    let saves_zmm = xcr0 & 0xe6 == 0xe6; // and opmask, upper halves, upper sixteen

    let sse = all(one.ecx, &[9, 19]); // SSSE3, SSE4.1
    let mut found = 0;
    if sse && all(one.ecx, &[1, 25]) {
        found |= AESNI; // PCLMULQDQ, AES
    }
    if sse && all(ebx7, &[29]) {
        found |= SHANI;
    }
    if saves_ymm && all(one.ecx, &[28]) && all(ebx7, &[3, 5, 8]) {
        found |= AVX2; // AVX; BMI1, AVX2, BMI2
        if all(ecx7, &[9, 10]) {
            found |= VAES; // VAES, VPCLMULQDQ
        }
    }
    // F, DQ, BW, VL; VBMI, VBMI2.
    if saves_zmm && all(ebx7, &[16, 17, 30, 31]) && all(ecx7, &[1, 6]) {
        found |= AVX512;
        if all(ebx7, &[21]) {
            found |= IFMA;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Avx2, Avx512, Ifma, ShaNi, Tier, Vaes256};
    use crate::testing::has;

    #[test]
    fn names_lead_back_to_their_tier() {
        for tier in Tier::ALL {
            assert_eq!(Tier::from_name(tier.name()), Some(tier));
        }
        assert_eq!(Tier::from_name("sse2"), None);
    }

    #[test]
    fn a_wider_tier_brings_the_narrower_ones() {
        let available: std::vec::Vec<_> = Tier::available().collect();
        assert!(Tier::ALL.ends_with(&available), "{available:?}");
    }

    #[test]
    fn agrees_with_the_standard_library() {
        let aesni = has!("aes") && has!("pclmulqdq");
        assert_eq!(Tier::AesNi.is_available(), aesni);
        assert_eq!(
            Avx2::detect().is_some(),
            has!("avx2") && has!("aes") && has!("bmi2")
        );
        let vaes = has!("vaes") && has!("vpclmulqdq");
        assert_eq!(Vaes256::detect().is_some(), vaes && has!("avx2"));
        assert_eq!(
            Avx512::detect().is_some(),
            vaes && has!("avx512vbmi2") && has!("avx512bw")
        );
        assert_eq!(
            Ifma::detect().is_some(),
            vaes && has!("avx512vbmi2") && has!("avx512ifma")
        );
        assert_eq!(ShaNi::detect().is_some(), aesni && has!("sha"));
    }
}
