//! What OpenSSL calls kinds of keys, curves and hashes.

use std::ffi::CStr;

use lanelock_core::Hash;
use lanelock_public_key::{Curve, KeyKind, MlDsa, MlKem};

/// The key type.
pub(super) fn key_type(kind: KeyKind) -> Option<&'static CStr> {
    Some(match kind {
        KeyKind::Rsa(_) => c"RSA",
        KeyKind::Ec(Curve::Sm2) => c"SM2",
        KeyKind::Ec(_) => c"EC",
        KeyKind::X25519 => c"X25519",
        KeyKind::X448 => c"X448",
        KeyKind::Ed25519 => c"ED25519",
        KeyKind::Ed448 => c"ED448",
        KeyKind::Dh(_) => c"DH",
        KeyKind::Dsa(_) => c"DSA",
        KeyKind::MlKem(MlKem::MlKem512) => c"ML-KEM-512",
        KeyKind::MlKem(MlKem::MlKem768) => c"ML-KEM-768",
        KeyKind::MlKem(MlKem::MlKem1024) => c"ML-KEM-1024",
        KeyKind::MlDsa(MlDsa::MlDsa44) => c"ML-DSA-44",
        KeyKind::MlDsa(MlDsa::MlDsa65) => c"ML-DSA-65",
        KeyKind::MlDsa(MlDsa::MlDsa87) => c"ML-DSA-87",
        _ => return None,
    })
}

/// Kinds that are strings of bytes.
pub(super) const RAW: &[KeyKind] = &[
    KeyKind::X25519,
    KeyKind::X448,
    KeyKind::Ed25519,
    KeyKind::Ed448,
    KeyKind::MlKem(MlKem::MlKem512),
    KeyKind::MlKem(MlKem::MlKem768),
    KeyKind::MlKem(MlKem::MlKem1024),
    KeyKind::MlDsa(MlDsa::MlDsa44),
    KeyKind::MlDsa(MlDsa::MlDsa65),
    KeyKind::MlDsa(MlDsa::MlDsa87),
];

/// The group of a curve.
pub(super) fn curve(curve: Curve) -> Option<&'static CStr> {
    Some(match curve {
        Curve::P256 => c"prime256v1",
        Curve::P384 => c"secp384r1",
        Curve::P521 => c"secp521r1",
        Curve::Sm2 => c"SM2",
        _ => return None,
    })
}

/// The finite-field group of this size (RFC 7919).
pub(super) fn ffdhe(bits: u32) -> Option<&'static CStr> {
    Some(match bits {
        2048 => c"ffdhe2048",
        3072 => c"ffdhe3072",
        4096 => c"ffdhe4096",
        6144 => c"ffdhe6144",
        8192 => c"ffdhe8192",
        _ => return None,
    })
}

/// A hash that signature schemes take.
pub(super) fn hash(hash: Hash) -> Option<&'static CStr> {
    hash.has_hmac()
        .then(|| crate::catalogue::hash_name(hash))
        .flatten()
}
