//! What the CPU has, asked once: the only place that asks.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU32, Ordering};

use super::blocks::Products;
use super::digits::rounds_as_told;
use super::{BlockSet, DigitSet, TowardZero, WordSet, frame};
use crate::arch::register::{Code, Proof};
use crate::machine::{Machine, ShaPace, Tier};

/// The widest registers of a tier, if this CPU and its operating system have them.
pub(crate) fn machine(tier: Tier) -> Option<Machine> {
    let narrow = Machine {
        tier,
        blocks: BlockSet::Xmm(AesNi::detect()?),
        sha: ShaNi::detect(),
        sha_pace: match features() {
            found if found & INTEL != 0 => ShaPace::OneByOne,
            found if found & SPARSE_SHA1 != 0 => ShaPace::SparseSha1,
            _ => ShaPace::Overlapping,
        },
        ..Machine::PORTABLE
    };
    match tier {
        Tier::Avx512 => {
            let token = Avx512::detect()?;
            Some(Machine {
                blocks: BlockSet::Zmm(token, products()),
                words: WordSet::Zmm(token.bw(), Some(token)),
                digits: Ifma::detect().map_or_else(narrow_digits, DigitSet::Ifma),
                keyed_registers: if token.begins_two_rounds() { 8 } else { 4 },
                ..narrow
            })
        }
        Tier::Avx512Bw => {
            let token = Avx512Bw::detect()?;
            Some(Machine {
                words: WordSet::Zmm(token, None),
                blocks: BlockSet::XmmAvx(token.avx2()),
                digits: narrow_digits(),
                // The CPUs without VAES begin one round a cycle, and it takes four.
                keyed_registers: 4,
                ..narrow
            })
        }
        Tier::Avx2 => {
            let token = Avx2::detect()?;
            Some(Machine {
                words: WordSet::Ymm(token),
                blocks: Vaes256::detect().map_or(BlockSet::XmmAvx(token), BlockSet::Ymm),
                digits: narrow_digits(),
                ..narrow
            })
        }
        Tier::AesNi => Some(narrow),
        Tier::Neon | Tier::Portable => None,
    }
}

/// Intel's cores multiply where they shuffle, and add where rounds of AES begin.
fn products() -> Products {
    if features() & INTEL == 0 {
        Products::Three
    } else {
        Products::Four
    }
}

/// The fastest digits of 256 bits.
fn narrow_digits() -> DigitSet {
    if let Some(token) = AvxIfma::detect() {
        return DigitSet::AvxIfma(token);
    }
    #[cfg(test)]
    if let Some(token) = EvexIfma::detect() {
        return DigitSet::EvexIfma(token);
    }
    digits_of_doubles()
}

/// Those that every CPU with FMA has.
pub(super) fn digits_of_doubles() -> DigitSet {
    Fma::detect().map_or(DigitSet::Portable, DigitSet::Fma)
}

macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $bits:expr, $features:literal, implies $($method:ident: $lower:ident),*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// The proof, if this CPU and its operating system support every instruction of it.
            #[allow(dead_code)] // some are only ever implied by others
            fn detect() -> Option<Self> {
                let need = $bits;
                (features() & need == need).then_some(Self(()))
            }

            /// The proof, of what the caller knows.
            ///
            /// # Safety
            /// The CPU has these instructions.
            #[allow(dead_code)] // of registers of words alone
            #[inline(always)]
            pub(super) unsafe fn assume() -> Self {
                Self(())
            }

            $(
                /// The narrower proof this one contains.
                #[inline(always)]
                pub(crate) fn $method(self) -> $lower {
                    $lower(())
                }
            )*
        }

        impl Proof for $name {
            #[inline(always)]
            fn enter<C: Code>(self, code: C) -> C::Output {
                let _rounding = ($bits & FMA != 0).then(TowardZero::set);
                self.call(code)
            }

            #[inline(always)]
            fn call<C: Code>(self, code: C) -> C::Output {
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
                        if const { $bits & AVX2 != 0 && C::SPILLS_LINES } {
                            frame::align();
                        }
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
    /// AES-NI, PCLMULQDQ, SSSE3 and SSE4.1.
    AesNi, AESNI,
    "aes,pclmulqdq,ssse3,sse4.1",
    implies
}
token! {
    /// BMI1 and BMI2: plain integers with and-not in one instruction, and rotations to another
    /// register.
    Bmi, AVX2,
    "bmi1,bmi2",
    implies
}
token! {
    /// AVX2 with AES-NI, PCLMULQDQ, BMI1 and BMI2.
    Avx2, AESNI | AVX2,
    "aes,pclmulqdq,ssse3,sse4.1,avx2,bmi1,bmi2",
    implies aesni: AesNi, bmi: Bmi
}
token! {
    /// Fused multiply-adds of doubles, on top of [`Avx2`]. The code is run with rounding toward zero, which
    /// they obey.
    Fma, AESNI | AVX2 | FMA,
    "aes,pclmulqdq,ssse3,sse4.1,avx2,bmi1,bmi2,fma",
    implies avx2: Avx2
}
token! {
    /// AVX-IFMA, on top of [`Avx2`]: 52-bit multiply-adds of 256-bit registers without AVX-512.
    AvxIfma, AESNI | AVX2 | AVX_IFMA,
    "aes,pclmulqdq,ssse3,sse4.1,avx2,bmi1,bmi2,avxifma",
    implies avx2: Avx2
}
#[cfg(test)]
token! {
    /// The same multiply-adds in the encoding of AVX-512: what tests run the code of [`AvxIfma`] with.
    EvexIfma, AESNI | AVX2 | AVX512 | IFMA,
    "aes,pclmulqdq,ssse3,sse4.1,avx2,bmi1,bmi2,avx512vl,avx512ifma",
    implies avx2: Avx2
}
token! {
    /// VAES and VPCLMULQDQ on 256-bit registers, on top of [`Avx2`].
    Vaes256, AESNI | AVX2 | VAES,
    "aes,pclmulqdq,ssse3,sse4.1,avx2,bmi1,bmi2,vaes,vpclmulqdq",
    implies avx2: Avx2
}
token! {
    /// AVX-512 F, BW, VL and DQ, on top of [`Avx2`].
    Avx512Bw, AESNI | AVX2 | AVX512BW,
    "aes,pclmulqdq,ssse3,sse4.1,avx2,bmi1,bmi2,avx512f,avx512bw,avx512vl,avx512dq",
    implies avx2: Avx2
}
token! {
    /// AVX-512 VBMI and VBMI2, and GFNI, with VAES and VPCLMULQDQ, on top of [`Avx512Bw`].
    Avx512, AESNI | AVX2 | VAES | AVX512BW | AVX512,
    "aes,pclmulqdq,ssse3,sse4.1,avx2,bmi1,bmi2,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,gfni",
    implies aesni: AesNi, bw: Avx512Bw
}
token! {
    /// AVX-512 IFMA, on top of [`Avx512`].
    Ifma, AESNI | AVX2 | VAES | AVX512BW | AVX512 | IFMA,
    "aes,pclmulqdq,ssse3,sse4.1,avx2,bmi1,bmi2,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,gfni,avx512ifma",
    implies
}
token! {
    /// SHA-1 and SHA-256 rounds, on top of [`AesNi`].
    ShaNi, AESNI | SHANI,
    "aes,pclmulqdq,ssse3,sse4.1,sha",
    implies blocks: AesNi
}

impl Avx512 {
    /// Whether two rounds of AES on such registers begin in one cycle, rather than one.
    fn begins_two_rounds(self) -> bool {
        features() & TWO_ROUNDS != 0
    }
}

/// Plain integers are part of every instruction set.
impl From<Bmi> for () {
    #[inline(always)]
    fn from(_: Bmi) {}
}

/// Plain integers are part of every instruction set.
impl From<Avx512> for () {
    #[inline(always)]
    fn from(_: Avx512) {}
}

/// Plain integers are part of every instruction set.
impl From<Avx512Bw> for () {
    #[inline(always)]
    fn from(_: Avx512Bw) {}
}

/// The wider proof contains the narrower one.
impl From<Avx512> for Avx512Bw {
    #[inline(always)]
    fn from(proof: Avx512) -> Self {
        proof.bw()
    }
}

/// Plain integers are part of every instruction set.
impl From<Avx2> for () {
    #[inline(always)]
    fn from(_: Avx2) {}
}

const AESNI: u32 = 1;
const AVX2: u32 = 1 << 1;
const VAES: u32 = 1 << 2;
const AVX512: u32 = 1 << 3; // VBMI, VBMI2, GFNI
const SHANI: u32 = 1 << 4;
const IFMA: u32 = 1 << 5;
const TWO_ROUNDS: u32 = 1 << 6;
const FMA: u32 = 1 << 7;
const INTEL: u32 = 1 << 8;
const AVX512BW: u32 = 1 << 9; // F, DQ, BW, VL
const AVX_IFMA: u32 = 1 << 10;
const SPARSE_SHA1: u32 = 1 << 11;
const KNOWN: u32 = 1 << 31;

/// What [`features`] has found; zero before it was asked.
static CACHE: AtomicU32 = AtomicU32::new(0);

/// Whether lines of a long message come sooner if they are asked for. AMD's CPUs, which see by themselves what
/// is read next, then have fewer on their way. To be asked in hot loops: no call, once there is a machine.
#[inline(always)]
pub(crate) fn is_asked_ahead() -> bool {
    CACHE.load(Ordering::Relaxed) & INTEL != 0
}

/// The feature groups of this CPU, asked once.
#[inline]
fn features() -> u32 {
    let cached = CACHE.load(Ordering::Relaxed);
    if cached != 0 {
        return cached;
    }
    let found = ask() | KNOWN;
    CACHE.store(found, Ordering::Relaxed);
    found
}

/// CPUID leaves 1 and 7, of which two subleaves, and XCR0: registers the operating system does not save
/// do not count.
#[allow(unused_unsafe)] // CPUID became a safe function after 1.89
fn ask() -> u32 {
    // SAFETY: every x86-64 CPU has CPUID, and leaf 0 states the highest leaf.
    let (zero, one) = unsafe { (__cpuid(0), __cpuid(1)) };
    let amd = zero.ebx == u32::from_le_bytes(*b"Auth"); // "AuthenticAMD"

    let seven = (zero.eax >= 7).then(|| {
        // SAFETY: leaf 0 says that leaf 7 exists.
        unsafe { __cpuid_count(7, 0) }
    });
    let (ebx7, ecx7) = seven.map_or((0, 0), |leaf| (leaf.ebx, leaf.ecx));
    let eax71 = seven.filter(|leaf| leaf.eax >= 1).map_or(0, |_| {
        // SAFETY: subleaf 0 of leaf 7 says that subleaf 1 exists.
        unsafe { __cpuid_count(7, 1) }.eax
    });
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
    // No bit says so: rounds of SHA of one message keep the only unit of Intel's cores busy.
    if zero.ebx == u32::from_le_bytes(*b"Genu") {
        found |= INTEL; // "GenuineIntel"
    }
    if sse && all(one.ecx, &[1, 25]) {
        found |= AESNI; // PCLMULQDQ, AES
    }
    let family = (one.eax >> 8 & 15) + (one.eax >> 20 & 255);
    if sse && all(ebx7, &[29]) {
        found |= SHANI;
        // No bit says so: AMD's family 17h from model 30h on (Zen 2). Those below, Zen and Zen+, have datapaths of
        // 128 bits, which lanes go through in two turns.
        let model = (one.eax >> 4 & 15) | (one.eax >> 12 & 0xf0);
        if amd && family == 0x17 && model >= 0x30 {
            found |= SPARSE_SHA1;
        }
    }
    if saves_ymm && all(one.ecx, &[28]) && all(ebx7, &[3, 5, 8]) {
        found |= AVX2; // AVX; BMI1, AVX2, BMI2
        if all(ecx7, &[9, 10]) {
            found |= VAES; // VAES, VPCLMULQDQ
        }
        if all(eax71, &[23]) {
            found |= AVX_IFMA;
        }
        // SAFETY: AVX and FMA, whose state the system saves.
        if all(one.ecx, &[12]) && unsafe { rounds_as_told() } {
            found |= FMA;
        }
    }
    if saves_zmm && all(ebx7, &[16, 17, 30, 31]) {
        found |= AVX512BW;
    }
    if found & AVX512BW != 0 && all(ecx7, &[1, 6, 8]) {
        found |= AVX512;
        if all(ebx7, &[21]) {
            found |= IFMA;
        }
        // No bit says so: AMD's family 1Ah (Zen 5) has the datapaths, all others so far have not.
        if amd && family >= 0x1a {
            found |= TWO_ROUNDS;
        }
    }
    found
}
