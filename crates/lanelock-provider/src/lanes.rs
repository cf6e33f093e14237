//! Whether there are lanes for public keys: on this machine, and just now.

use std::sync::atomic::{AtomicBool, Ordering};

use lanelock::telemetry::{Inactive, module};
use lanelock_native::{Native, Tier, TierError};

/// Why there are none; `None` if there are.
pub(crate) fn lacking() -> Option<Inactive> {
    match Native::new() {
        Err(TierError::Unknown(_)) => Some(Inactive::TierUnknown),
        Err(TierError::Unavailable(_)) => Some(Inactive::TierUnavailable),
        Ok(Some(native)) if native.has_digit_lanes() => None,
        Ok(_) if is_ifma() => Some(Inactive::TierForced),
        Ok(_) => Some(Inactive::NoIfma),
    }
}

/// Whether the CPU has lanes, whatever the environment asks for.
pub(crate) fn is_ifma() -> bool {
    Native::with_tier(Tier::Avx512).is_ok_and(|native| native.has_digit_lanes())
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
