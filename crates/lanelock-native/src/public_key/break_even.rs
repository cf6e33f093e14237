//! From how many operations on lanes are faster than OpenSSL, which runs them one at a time.

use lanelock_kernels::Digits;
use lanelock_public_key::Operation::{Decrypt, Derive, Encrypt, Generate, Sign, Verify};
use lanelock_public_key::{Curve, KeyKind, KeySpec};

/// Fewest operations that pay: the time of one batch over that of one operation of OpenSSL 3.0, rounded
/// up, as `lanelock perf pubkey --batch 1 --engine native,openssl` printed them: on Zen 3 for FMA, whose
/// batches are of four; on Zen 4 for IFMA, whose batches are of eight, and on Emerald Rapids for its
/// signatures with P-256. Batches of AVX-IFMA are of four as well; their numbers follow from FMA's, of
/// which a batch takes 1.8 times as long for X25519, 1.9 times for RSA and 1.4 times for the other curves,
/// and from signatures with P-256, of which four take 0.74 times as long as OpenSSL with one.
pub(super) fn of(digits: Digits, spec: KeySpec) -> usize {
    match (digits, spec.kind, spec.operation) {
        (Digits::Fma | Digits::AvxIfma, KeyKind::X25519, Derive) => 2,
        (Digits::Fma, KeyKind::Ec(Curve::P256), Sign) => 2,
        (Digits::Fma, KeyKind::Ec(Curve::P256), Verify | Derive | Generate) => 3,
        (Digits::AvxIfma, KeyKind::Ec(Curve::P256), Verify | Derive | Generate) => 2,
        (Digits::Fma | Digits::AvxIfma, KeyKind::Ec(Curve::P384), Verify) => 2,
        (Digits::Fma | Digits::AvxIfma, KeyKind::Rsa(_), Sign | Decrypt | Verify | Encrypt) => 2,
        (Digits::Ifma, KeyKind::X25519, Derive) => 2,
        (Digits::Ifma, KeyKind::Ec(Curve::P256), Verify | Derive) => 2,
        (Digits::Ifma, KeyKind::Rsa(2048), Sign | Decrypt) => 3,
        (Digits::Ifma, KeyKind::Rsa(_), Sign | Decrypt | Verify | Encrypt) => 2,
        _ => 1,
    }
}
