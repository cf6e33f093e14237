//! Why the OpenSSL provider of a process runs nothing in lanes.

use std::ffi::CStr;
use std::fmt;

/// The reason. Everything is the default provider's then.
///
/// ```
/// # use lanelock_telemetry as telemetry;
/// use telemetry::Inactive;
///
/// assert!(Inactive::Environment.is_switched_off());
/// println!("nothing runs in lanes: {}", Inactive::Cpu);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Inactive {
    /// The CPU, or its operating system, has neither AVX-512 IFMA nor AVX2 with FMA.
    Cpu,
    /// `LANELOCK_TIER` names a tier that has no lanes for public keys, and the CPU has one that does.
    TierForced,
    /// `LANELOCK_TIER` names no tier.
    TierUnknown,
    /// `LANELOCK_TIER` names a tier that the CPU cannot run.
    TierUnavailable,
    /// The kernel has refused memory, a descriptor or an engine. It is tried again later.
    NoMemory,
    /// The provider's section of the configuration has `enabled = no`.
    Configuration,
    /// The environment has `LANELOCK_DISABLE`.
    Environment,
    /// The application has not activated the default provider, or has unloaded it.
    NoDefaultProvider,
}

impl Inactive {
    /// All reasons; a reason's code in the page and in the probe is its place, counted from 1.
    pub const ALL: [Self; 8] = [
        Self::Cpu,
        Self::TierForced,
        Self::TierUnknown,
        Self::TierUnavailable,
        Self::NoMemory,
        Self::Configuration,
        Self::Environment,
        Self::NoDefaultProvider,
    ];

    /// Its number in the page and in the probe.
    pub(crate) const fn code(self) -> u64 {
        self as u64 + 1
    }

    pub(crate) fn from_code(code: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// Whether the provider was switched off.
    #[must_use]
    pub fn is_switched_off(self) -> bool {
        matches!(self, Self::Configuration | Self::Environment)
    }

    /// A clause that follows "because" or a colon, with the remedy where there is one.
    #[must_use]
    pub const fn as_c_str(self) -> &'static CStr {
        match self {
            Self::Cpu => c"this CPU has neither AVX-512 IFMA nor AVX2 with FMA",
            Self::TierForced => {
                c"LANELOCK_TIER forces a tier without lanes for public keys; unset it"
            }
            Self::TierUnknown => {
                c"LANELOCK_TIER has an unknown value; unset it, or set it to avx512"
            }
            Self::TierUnavailable => {
                c"LANELOCK_TIER asks for a tier that this CPU cannot run; unset it"
            }
            Self::NoMemory => {
                c"the system refused memory, a descriptor or an engine; it will try again later"
            }
            Self::Configuration => c"its configuration section has enabled = no",
            Self::Environment => c"LANELOCK_DISABLE is set in the environment",
            Self::NoDefaultProvider => {
                c"the application has not activated the default provider, which lanelock needs"
            }
        }
    }
}

impl fmt::Display for Inactive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_c_str().to_str().map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_code_and_its_words() {
        for (reason, code) in Inactive::ALL.into_iter().zip(1..) {
            assert_eq!(reason.code(), code);
            assert_eq!(Inactive::from_code(code), Some(reason));
            assert!(!reason.to_string().is_empty() && reason.to_string().is_ascii());
        }
        assert_eq!(Inactive::from_code(0), None);
        assert_eq!(Inactive::from_code(9), None);
    }
}
