//! From how many operations on lanes are faster than OpenSSL, which runs them one at a time.

use lanelock_kernels::Digits;
use lanelock_public_key::Operation::{Decrypt, Derive, Encrypt, Generate, Sign, Verify};
use lanelock_public_key::{Curve, KeyKind, KeySpec};

/// Fewest operations that pay: the time of one batch over that of one operation of OpenSSL 3.0, rounded
/// up, as `lanelock perf pubkey --batch 1 --engine native,openssl` printed them: on Zen 3 for FMA, whose
/// batches are of four; on Zen 4 for IFMA, whose batches are of eight, and on Emerald Rapids for its
/// signatures with P-256.
pub(super) fn of(digits: Digits, spec: KeySpec) -> usize {
    match (digits, spec.kind, spec.operation) {
        (Digits::Fma, KeyKind::X25519, Derive) => 2,
        (Digits::Fma, KeyKind::Ec(Curve::P256), Sign) => 2,
        (Digits::Fma, KeyKind::Ec(Curve::P256), Verify | Derive | Generate) => 3,
        (Digits::Fma, KeyKind::Ec(Curve::P384), Verify) => 2,
        (Digits::Fma, KeyKind::Rsa(_), Sign | Decrypt | Verify | Encrypt) => 2,
        (Digits::Ifma, KeyKind::X25519, Derive) => 2,
        (Digits::Ifma, KeyKind::Ec(Curve::P256), Verify | Derive) => 2,
        (Digits::Ifma, KeyKind::Rsa(2048), Sign | Decrypt) => 3,
        (Digits::Ifma, KeyKind::Rsa(_), Sign | Decrypt | Verify | Encrypt) => 2,
        _ => 1,
    }
}
