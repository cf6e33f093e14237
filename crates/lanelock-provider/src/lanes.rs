//! Whether there are lanes for public keys: on this machine, and just now.

use std::sync::atomic::{AtomicBool, Ordering};

use lanelock::telemetry::{Inactive, module};
use lanelock_native::{Digits, Native, TierError};

/// What keys run on in lanes, on this CPU or in the tier that the environment asks for: all that
/// [`Algorithm`] names.
///
/// # Errors
/// Why none do. Where there is ML-KEM alone, no exchange of TLS would run whole.
///
/// [`Algorithm`]: crate::algorithms::Algorithm
pub(crate) fn of_machine() -> Result<Digits, Inactive> {
    match Native::new() {
        Err(TierError::Unknown(_)) => Err(Inactive::TierUnknown),
        Err(TierError::Unavailable(_)) => Err(Inactive::TierUnavailable),
        Ok(native) => check(native.map_or(Digits::Plain, |native| native.digits())),
    }
}

fn check(digits: Digits) -> Result<Digits, Inactive> {
    match digits {
        Digits::Ifma | Digits::Fma => Ok(digits),
        Digits::Plain if Native::digits_of_cpu() > Digits::Plain => Err(Inactive::TierForced),
        Digits::Plain => Err(Inactive::Cpu),
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

    use super::check;

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
            let lanes = check(native.digits());
            assert_eq!(lanes.is_err(), native.digits() == Digits::Plain, "{tier:?}");
            let rows = native.public_key().expect("its half").capabilities();
            for kind in KINDS {
                let is_offered = rows.iter().any(|row| row.spec.kind == kind);
                let is_expected = lanes.is_ok() || matches!(kind, KeyKind::MlKem(_));
                assert_eq!(is_offered, is_expected, "{tier:?}: {kind}");
            }
        }
    }
}
