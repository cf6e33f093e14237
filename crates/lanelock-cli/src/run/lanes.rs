//! Which keys have lanes on this CPU.

use lanelock_native::{Digits, Native};

/// The keys that run in lanes, for a sentence; `None` if none do.
pub(super) fn keys() -> Option<&'static str> {
    match Native::digits_of_cpu() {
        Digits::Ifma | Digits::AvxIfma | Digits::Fma => {
            Some("RSA of 2048 to 4096 bits, P-256, P-384, Ed25519, X25519")
        }
        Digits::Plain => None,
    }
}
