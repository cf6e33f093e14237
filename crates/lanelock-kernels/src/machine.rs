//! The registers and instructions that kernels run on, as a value: holding one is the proof that
//! this CPU and its operating system have them.

use core::fmt;

use crate::arch;

/// A kernel tier, from the widest to the narrowest. Every tier has a name on every architecture;
/// those of another one are not available.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Tier {
    /// AVX-512 F, BW, VL, DQ, VBMI, VBMI2, and GFNI, with VAES and VPCLMULQDQ.
    Avx512,
    /// AVX-512 F, BW, VL, DQ with AES-NI and PCLMULQDQ: Intel's Skylake-SP, Cascade Lake, Cooper Lake.
    Avx512Bw,
    /// AVX2 with AES-NI, PCLMULQDQ, BMI2; VAES and VPCLMULQDQ on 256 bits, and AVX-IFMA or else FMA,
    /// where the CPU has them.
    Avx2,
    /// AES-NI, PCLMULQDQ, SSSE3 and SSE4.1.
    AesNi,
    /// 64-bit Arm's NEON with AES and PMULL; SHA-1 and SHA-256 instructions where the CPU has them.
    Neon,
    /// Plain integers, on any CPU, in constant time: for comparison, and for CPUs without any of
    /// the others. OpenSSL is faster.
    Portable,
}

impl Tier {
    /// Every tier there is, widest first.
    pub const ALL: [Tier; 6] = [
        Tier::Avx512,
        Tier::Avx512Bw,
        Tier::Avx2,
        Tier::AesNi,
        Tier::Neon,
        Tier::Portable,
    ];

    /// The tiers this CPU can run, widest first; never empty.
    pub fn available() -> impl Iterator<Item = Tier> {
        Self::ALL.into_iter().filter(|tier| tier.is_available())
    }

    /// Whether this CPU and its operating system can run the tier.
    pub fn is_available(self) -> bool {
        Machine::of_tier(self).is_some()
    }

    /// The name used in reports and to force a tier.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Avx512 => "avx512",
            Tier::Avx512Bw => "avx512bw",
            Tier::Avx2 => "avx2",
            Tier::AesNi => "aesni",
            Tier::Neon => "neon",
            Tier::Portable => "portable",
        }
    }

    /// The tier called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Tier> {
        Self::ALL.into_iter().find(|tier| tier.name() == name)
    }
}

/// How a machine multiplies digits of 52 bits, from the slowest to the fastest: which public-key
/// operations are faster in lanes than one after the other depends on it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Digits {
    /// As plain integers, lane by lane.
    Plain,
    /// As doubles, by fused multiply-adds, of four lanes.
    Fma,
    /// By the multiply-adds of AVX-IFMA, of four lanes.
    AvxIfma,
    /// By the multiply-adds of AVX-512 IFMA, of eight lanes.
    Ifma,
}

/// How rounds of SHA-1 and SHA-256 as instructions follow each other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ShaPace {
    /// Those of several messages overlap.
    Overlapping,
    /// They overlap, but four rounds of SHA-1 begin every four cycles: lanes of 256 bits, if most are used, are
    /// faster.
    SparseSha1,
    /// The CPU is as long with each message as if there were no other.
    OneByOne,
}

/// What kernels run on: for each kind of register, the widest of a tier.
///
/// The only way to one is to ask the CPU, so kernels take it for the proof that its instructions
/// exist. Every kernel runs on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub(crate) tier: Tier,
    /// Registers of AES blocks.
    pub(crate) blocks: arch::BlockSet,
    /// Registers of 32-bit and 64-bit words.
    pub(crate) words: arch::WordSet,
    /// Registers of 52-bit digits.
    pub(crate) digits: arch::DigitSet,
    /// Rounds of SHA-1 and SHA-256 as instructions.
    pub(crate) sha: Option<arch::Sha>,
    pub(crate) sha_pace: ShaPace,
    /// Rounds of SHA-512 as instructions.
    pub(crate) sha512: Option<arch::Sha512>,
    /// Registers of AES blocks in flight, 4 or 8, where each lane has a key of its own: as many as a
    /// round takes cycles, times the rounds that begin in a cycle.
    pub(crate) keyed_registers: usize,
}

impl Machine {
    /// Plain integers, which every CPU has.
    pub const PORTABLE: Self = Self {
        tier: Tier::Portable,
        blocks: arch::BlockSet::Portable,
        words: arch::WordSet::Portable,
        digits: arch::DigitSet::Portable,
        sha: None,
        sha_pace: ShaPace::Overlapping,
        sha512: None,
        keyed_registers: 8,
    };

    /// The widest registers of this CPU.
    #[must_use]
    pub fn best() -> Self {
        let mut available = Tier::ALL.into_iter().filter_map(Self::of_tier);
        available.next().unwrap_or(Self::PORTABLE)
    }

    /// The widest registers of `tier`; `None` when this CPU cannot run it.
    #[must_use]
    pub fn of_tier(tier: Tier) -> Option<Self> {
        match tier {
            Tier::Portable => Some(Self::PORTABLE),
            tier => arch::machine(tier),
        }
    }

    /// Every machine that this CPU can be, widest first: those of its tiers, and each also without
    /// what only some CPUs of the tier have. For tests.
    pub fn all() -> impl Iterator<Item = Self> {
        Tier::ALL
            .into_iter()
            .filter_map(Self::of_tier)
            .flat_map(arch::variants)
            .flatten()
    }

    /// Its tier.
    #[must_use]
    pub fn tier(self) -> Tier {
        self.tier
    }

    /// The same machine without the instructions made for SHA.
    #[must_use]
    pub fn without_sha(self) -> Self {
        Self {
            sha: None,
            sha512: None,
            ..self
        }
    }

    /// The same machine as it is where a round of AES begins once a cycle, and where it begins twice:
    /// chains under many keys then have other lanes; where rounds of SHA do not overlap, and where those of
    /// SHA-1 are sparse: then another number of messages is few; and with products of blocks made by four
    /// multiplications and by three. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn paces(self) -> [Self; 2] {
        let paces = [(4, ShaPace::OneByOne), (8, ShaPace::SparseSha1)];
        paces.map(|(keyed_registers, sha_pace)| Self {
            keyed_registers,
            sha_pace,
            blocks: self.blocks.with_four_products(keyed_registers == 4),
            ..self
        })
    }

    /// Whether registers of 512 bits go through datapaths of half the width, in two turns, as on AMD's Zen 4:
    /// there one round of AES begins in a cycle, and messages overlap in the instructions made for SHA.
    pub(crate) fn takes_turns(self) -> bool {
        self.blocks.count() == 4 && self.keyed_registers == 4 && self.sha_pace != ShaPace::OneByOne
    }

    /// Whether the CPU has instructions made for SHA-1 and SHA-256.
    #[must_use]
    pub fn has_sha(self) -> bool {
        self.sha.is_some()
    }

    /// AES blocks of a register.
    #[must_use]
    pub fn aes_blocks(self) -> usize {
        self.blocks.count()
    }

    /// How it multiplies the digits of big numbers.
    #[must_use]
    pub fn digits(self) -> Digits {
        self.digits.kind()
    }

    /// Big numbers of a register: operations of RSA and of the curves that run in lockstep.
    #[must_use]
    pub fn digit_lanes(self) -> usize {
        self.digits.lanes()
    }
}

/// Its instruction sets, as in "AVX-512, VAES, VPCLMULQDQ, SHA-NI".
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        arch::describe(*self, f)
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::{Digits, Machine, Tier};
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
        let of_this = |tier: &Tier| match tier {
            Tier::Neon => cfg!(target_arch = "aarch64"),
            Tier::Portable => true,
            _ => cfg!(target_arch = "x86_64"),
        };
        let all: std::vec::Vec<_> = Tier::ALL.into_iter().filter(of_this).collect();
        assert!(all.ends_with(&available), "{available:?}");
        assert_eq!(Machine::best().tier(), available[0]);
    }

    #[test]
    fn agrees_with_the_standard_library() {
        let aesni = has!("aes") && has!("pclmulqdq") && has!("ssse3") && has!("sse4.1");
        assert_eq!(Tier::AesNi.is_available(), aesni);
        let avx2 = aesni && has!("avx2") && has!("bmi1") && has!("bmi2");
        assert_eq!(Tier::Avx2.is_available(), avx2);
        let avx512bw =
            avx2 && has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq");
        assert_eq!(Tier::Avx512Bw.is_available(), avx512bw);
        let vaes = avx512bw && has!("vaes") && has!("vpclmulqdq");
        let avx512 = vaes && has!("avx512vbmi") && has!("avx512vbmi2") && has!("gfni");
        assert_eq!(Tier::Avx512.is_available(), avx512);
        let best = Machine::best();
        #[cfg(target_arch = "aarch64")]
        {
            use std::arch::is_aarch64_feature_detected as has_arm;
            let neon = has_arm!("neon") && has_arm!("aes") && has_arm!("pmull");
            assert_eq!(Tier::Neon.is_available(), neon);
            assert_eq!(best.has_sha(), neon && has_arm!("sha2"));
        }
        #[cfg(target_arch = "x86_64")]
        assert_eq!(best.has_sha(), aesni && has!("sha"));
        let digits = match best.tier() {
            Tier::Avx512 if has!("avx512ifma") => Digits::Ifma,
            Tier::Avx512 | Tier::Avx512Bw | Tier::Avx2 if has!("avxifma") => Digits::AvxIfma,
            Tier::Avx512 | Tier::Avx512Bw | Tier::Avx2 if has!("fma") => Digits::Fma,
            _ => Digits::Plain,
        };
        assert_eq!(best.digits(), digits);
        assert!(Tier::Portable.is_available());
    }

    #[test]
    fn says_what_it_is_made_of() {
        assert_eq!(Machine::PORTABLE.to_string(), "plain integers");
        let mut texts: std::vec::Vec<_> = Machine::all().map(|m| m.to_string()).collect();
        let count = texts.len();
        texts.dedup();
        assert_eq!(
            texts.len(),
            count,
            "each machine has a text of its own: {texts:?}"
        );
    }
}
