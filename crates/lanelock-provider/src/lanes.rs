//! Whether there are lanes for public keys: on this machine, and just now.

use std::sync::atomic::{AtomicBool, Ordering};

use lanelock::public_key::{Curve, KeyKind};
use lanelock::telemetry::{Inactive, module};
use lanelock_native::{Digits, Native, TierError};

use crate::algorithms::Algorithm;

/// Which keys run in lanes on this machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Lanes {
    /// All that [`Algorithm`] names.
    All,
    /// X25519, Ed25519, P-384 and ML-KEM: the CPU multiplies digits as doubles, and OpenSSL is as fast
    /// with RSA and P-256.
    WithoutRsaAndP256,
    /// None. Where there is ML-KEM alone, no exchange of TLS would run whole.
    Lacking(Inactive),
}

impl Lanes {
    /// What this CPU has, or the tier that the environment asks for.
    pub(crate) fn of_machine() -> Self {
        match Native::new() {
            Err(TierError::Unknown(_)) => Self::Lacking(Inactive::TierUnknown),
            Err(TierError::Unavailable(_)) => Self::Lacking(Inactive::TierUnavailable),
            Ok(native) => Self::of(native.map_or(Digits::Plain, |native| native.digits())),
        }
    }

    fn of(digits: Digits) -> Self {
        match digits {
            Digits::Ifma => Self::All,
            Digits::Fma => Self::WithoutRsaAndP256,
            Digits::Plain if Native::digits_of_cpu() > Digits::Plain => {
                Self::Lacking(Inactive::TierForced)
            }
            Digits::Plain => Self::Lacking(Inactive::Cpu),
        }
    }

    /// Why there are none; `None` if there are.
    pub(crate) fn lacking(self) -> Option<Inactive> {
        match self {
            Self::Lacking(why) => Some(why),
            _ => None,
        }
    }

    /// Whether some keys of `algorithm` run in them.
    pub(crate) fn has(self, algorithm: Algorithm) -> bool {
        match self {
            Self::All => true,
            Self::WithoutRsaAndP256 => algorithm != Algorithm::Rsa,
            Self::Lacking(_) => false,
        }
    }

    /// Whether keys of this kind do, one of those that [`Algorithm`] names.
    pub(crate) fn has_kind(self, kind: KeyKind) -> bool {
        match self {
            Self::All => true,
            Self::WithoutRsaAndP256 => !matches!(kind, KeyKind::Rsa(_) | KeyKind::Ec(Curve::P256)),
            Self::Lacking(_) => false,
        }
    }
}

/// Whether the CPU has AVX-512 IFMA, whatever the environment asks for.
pub(crate) fn is_ifma() -> bool {
    Native::digits_of_cpu() == Digits::Ifma
}

/// Whether telemetry was told that the system refuses something.
static IS_REFUSED: AtomicBool = AtomicBool::new(false);

/// The system has refused what an operation needs to run in lanes. It is tried again at a later one.
#[cold]
pub(crate) fn refused() {
    if !IS_REFUSED.swap(true, Ordering::Relaxed) {
        module::set_inactive(Some(Inactive::NoMemory));
    }
    module::missed();
}

/// What [`refused`] says, until [`granted`].
pub(crate) fn refusal() -> Option<Inactive> {
    IS_REFUSED
        .load(Ordering::Relaxed)
        .then_some(Inactive::NoMemory)
}

/// An operation has what it needs.
pub(crate) fn granted() {
    if IS_REFUSED.load(Ordering::Relaxed) && IS_REFUSED.swap(false, Ordering::Relaxed) {
        module::set_inactive(None);
    }
}

#[cfg(test)]
mod tests {
    use lanelock::engine::public_key::PublicKeyEngine;
    use lanelock::public_key::{Curve, KeyKind, MlKem};
    use lanelock_native::{Digits, Native, Tier};

    use super::Lanes;

    const KINDS: [KeyKind; 9] = [
        KeyKind::Rsa(2048),
        KeyKind::Rsa(3072),
        KeyKind::Rsa(4096),
        KeyKind::Ec(Curve::P256),
        KeyKind::Ec(Curve::P384),
        KeyKind::Ed25519,
        KeyKind::X25519,
        KeyKind::MlKem(MlKem::MlKem768),
        KeyKind::MlKem(MlKem::MlKem1024),
    ];

    #[test]
    fn keys_with_lanes_are_those_that_the_engine_offers() {
        for tier in Tier::available() {
            let native = Native::with_tier(tier).expect("available");
            let lanes = Lanes::of(native.digits());
            if native.digits() == Digits::Plain {
                assert!(lanes.lacking().is_some(), "{tier:?}");
                continue;
            }
            let rows = native.public_key().expect("its half").capabilities();
            for kind in KINDS {
                let is_offered = rows.iter().any(|row| row.spec.kind == kind);
                assert_eq!(lanes.has_kind(kind), is_offered, "{tier:?}: {kind}");
            }
        }
    }
}
