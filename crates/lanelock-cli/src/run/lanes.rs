//! Which keys have lanes on this CPU.

use lanelock_native::{Digits, Native, Tier};

/// How the CPU multiplies digits, on its widest tier.
pub(super) fn digits() -> Digits {
    let tiers = [Tier::Avx512, Tier::Avx2].into_iter();
    let mut engines = tiers.filter_map(|tier| Native::with_tier(tier).ok());
    let widest = engines.next();
    widest.map_or(Digits::Plain, |native| native.digits())
}

/// The keys that run in lanes with such digits, for a sentence; empty if none do.
pub(super) fn keys(digits: Digits) -> &'static str {
    match digits {
        Digits::Ifma => "RSA of 2048 to 4096 bits, P-256, P-384, Ed25519, X25519",
        Digits::Fma => "P-384, Ed25519, X25519; RSA and P-256 need AVX-512 IFMA",
        Digits::Plain => "",
    }
}
