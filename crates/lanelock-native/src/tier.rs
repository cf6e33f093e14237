//! The tier that an engine runs on: chosen by asking the CPU or by the environment, never changed after.

use std::fmt;

use lanelock_core::{SessionError, environment};
use lanelock_kernels::hash::{Algorithm, Kernels};
use lanelock_kernels::{Machine, Tier, chacha, keccak};

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

/// What [`VARIABLE`] asks for, else the widest; `None` if this CPU has no tier that is faster than
/// OpenSSL.
pub(crate) fn of_environment() -> Result<Option<Machine>, TierError> {
    match environment::variable(VARIABLE) {
        Some(name) => named(&name.to_string_lossy()).map(Some),
        None => Ok(Some(Machine::best()).filter(|machine| machine.tier() != Tier::Portable)),
    }
}

fn named(name: &str) -> Result<Machine, TierError> {
    let tier = Tier::from_name(name).ok_or_else(|| TierError::Unknown(name.to_owned()))?;
    of_tier(tier)
}

/// The widest registers of `tier`.
pub(crate) fn of_tier(tier: Tier) -> Result<Machine, TierError> {
    Machine::of_tier(tier).ok_or(TierError::Unavailable(tier))
}

/// What a hash runs on; `None` where the machine has nothing faster than OpenSSL for it. Whoever
/// asks for plain integers by name gets them.
pub(crate) fn hash<A: Algorithm>(machine: Machine) -> Option<&'static Kernels<A>> {
    let kernels = Kernels::of(machine);
    (kernels.is_accelerated() || machine.tier() == Tier::Portable).then_some(kernels)
}

/// What SHA-3 runs on; `None` where the machine has nothing faster than OpenSSL.
pub(crate) fn keccak(machine: Machine) -> Option<Machine> {
    let has = keccak::has_lanes(machine) || machine.tier() == Tier::Portable;
    has.then_some(machine)
}

/// What ChaCha20 runs on; `None` where the machine has nothing faster than OpenSSL.
pub(crate) fn chacha(machine: Machine) -> Option<chacha::Kernels> {
    (machine.tier() != Tier::AesNi).then(|| chacha::Kernels::of(machine))
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
                let have = names(&mut Tier::available());
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
        let error = named("avx1024").unwrap_err();
        assert_eq!(
            error.to_string(),
            "LANELOCK_TIER=avx1024: no such tier; there are: avx512, avx512bw, avx2, aesni, neon, portable"
        );
    }

    #[test]
    fn a_tier_that_cannot_run_is_an_error_that_says_what_can() {
        let text = TierError::Unavailable(Tier::Avx512).to_string();
        let start = "LANELOCK_TIER=avx512: this CPU cannot run it; it has: ";
        assert!(text.starts_with(start), "{text}");
        for tier in Tier::ALL {
            assert_eq!(named(tier.name()).is_ok(), tier.is_available());
        }
    }
}
