//! The tier that an engine runs on: chosen by CPUID or by the environment, never changed after.

use std::fmt;

use lanelock_core::{SessionError, environment};
use lanelock_kernels::aes::Isa;
use lanelock_kernels::chacha;
use lanelock_kernels::cpu::{Avx2, Avx512, Ifma, ShaNi, Tier};
use lanelock_kernels::hash::{Algorithm, Kernels};

use crate::NAME;

/// The environment variable that forces a tier; see [`lanelock_core::environment`].
pub const VARIABLE: &str = "LANELOCK_TIER";

/// A tier that was asked for and cannot be had.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TierError {
    /// No tier has this name.
    Unknown(String),
    /// This CPU, or its operating system, cannot run the tier.
    Unavailable(Tier),
}

/// A tier with the proof that this CPU has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kit {
    tier: Tier,
    isa: Isa,
}

impl Kit {
    /// What [`VARIABLE`] asks for, else the widest; `None` if this CPU has no tier.
    pub(crate) fn of_environment() -> Result<Option<Self>, TierError> {
        match environment::variable(VARIABLE) {
            Some(name) => Self::named(&name.to_string_lossy()).map(Some),
            None => Ok(Tier::ALL.into_iter().find_map(Self::of)),
        }
    }

    fn named(name: &str) -> Result<Self, TierError> {
        let tier = Tier::from_name(name).ok_or_else(|| TierError::Unknown(name.to_owned()))?;
        Self::of(tier).ok_or(TierError::Unavailable(tier))
    }

    /// `tier`, if this CPU has it.
    pub(crate) fn of(tier: Tier) -> Option<Self> {
        let isa = Isa::of_tier(tier)?;
        Some(Self { tier, isa })
    }

    pub(crate) fn tier(self) -> Tier {
        self.tier
    }

    /// What AES runs on.
    pub(crate) fn isa(self) -> Isa {
        self.isa
    }

    /// What a hash runs on; `None` where the tier has nothing faster than OpenSSL for it.
    pub(crate) fn hash<A: Algorithm>(self) -> Option<&'static Kernels<A>> {
        let extension = ShaNi::detect();
        match self.tier {
            Tier::Avx512 => Some(Kernels::avx512(Avx512::detect()?, extension)),
            Tier::Avx2 => Some(Kernels::avx2(Avx2::detect()?, extension)),
            Tier::AesNi => extension.and_then(Kernels::sha_ni),
        }
    }

    /// What ChaCha20 runs on; `None` where the tier has nothing faster than OpenSSL.
    pub(crate) fn chacha(self) -> Option<chacha::Kernels> {
        match self.tier {
            Tier::Avx512 => Some(chacha::Kernels::avx512(Avx512::detect()?, Ifma::detect())),
            Tier::Avx2 => Some(chacha::Kernels::avx2(Avx2::detect()?)),
            Tier::AesNi => None,
        }
    }
}

/// The tier and its instruction sets.
impl fmt::Display for Kit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instructions = match (self.tier, self.isa) {
            (Tier::Avx512, _) => "AVX-512, VAES, VPCLMULQDQ",
            (Tier::Avx2, Isa::AesNi(_)) => "AVX2, AES-NI, PCLMULQDQ",
            (Tier::Avx2, _) => "AVX2, VAES, VPCLMULQDQ",
            (Tier::AesNi, _) => "SSE4.1, AES-NI, PCLMULQDQ",
        };
        let sha = if ShaNi::detect().is_some() {
            ", SHA-NI"
        } else {
            ""
        };
        write!(f, "tier {} ({instructions}{sha})", self.tier.name())
    }
}

impl fmt::Display for TierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |tiers: &mut dyn Iterator<Item = Tier>| {
            tiers.map(Tier::name).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Unknown(name) => {
                let all = names(&mut Tier::ALL.into_iter());
                write!(f, "{VARIABLE}={name}: no such tier; there are: {all}")
            }
            Self::Unavailable(tier) => {
                let have = match names(&mut Tier::available()) {
                    none if none.is_empty() => "none".to_owned(),
                    some => some,
                };
                let name = tier.name();
                write!(
                    f,
                    "{VARIABLE}={name}: this CPU cannot run it; it has: {have}"
                )
            }
        }
    }
}

impl std::error::Error for TierError {}

impl From<TierError> for SessionError {
    fn from(error: TierError) -> Self {
        Self::Engine {
            engine: NAME,
            why: error.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_tier_is_an_error_that_names_variable_value_and_tiers() {
        let error = Kit::named("avx1024").unwrap_err();
        assert_eq!(
            error.to_string(),
            "LANELOCK_TIER=avx1024: no such tier; there are: avx512, avx2, aesni"
        );
    }

    #[test]
    fn a_tier_that_cannot_run_is_an_error_that_says_what_can() {
        let text = TierError::Unavailable(Tier::Avx512).to_string();
        let start = "LANELOCK_TIER=avx512: this CPU cannot run it; it has: ";
        assert!(text.starts_with(start), "{text}");
        for tier in Tier::ALL {
            assert_eq!(Kit::named(tier.name()).is_ok(), tier.is_available());
        }
    }
}
