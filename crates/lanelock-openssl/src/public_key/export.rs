//! From libcrypto's keys to components.

use lanelock_public_key::{Curve, KeyError, KeyKind, PublicKey, RsaNumbers, SecretKey};
use zeroize::Zeroizing;

use super::names;
use crate::ffi::PKey;

/// The components of a secret key.
pub(super) fn secret(key: &PKey) -> Result<SecretKey, KeyError> {
    if key.is_a(c"RSA") || key.is_a(c"RSA-PSS") {
        let required = |name| {
            key.integer(name)
                .ok_or_else(|| missing("a number of an RSA key"))
        };
        let optional = |name| key.integer(name).unwrap_or_default();
        return SecretKey::rsa(&RsaNumbers {
            n: &required(c"n")?,
            e: &required(c"e")?,
            d: &required(c"d")?,
            p: &optional(c"rsa-factor1"),
            q: &optional(c"rsa-factor2"),
            dp: &optional(c"rsa-exponent1"),
            dq: &optional(c"rsa-exponent2"),
            qinv: &optional(c"rsa-coefficient1"),
        });
    }
    named_curve(key)?;
    if let Some(curve) = curve_of(key) {
        let scalar = key.integer(c"priv").ok_or_else(|| missing("the scalar"))?;
        let point = point(key)?;
        return SecretKey::ec(curve, &scalar, Some(&point));
    }
    if let Some(kind) = raw_kind(key) {
        let bytes = key
            .octets(c"priv", 8192)
            .ok_or_else(|| missing("the secret half"))?;
        let secret = SecretKey::raw(kind, &bytes)?;
        return secret.with_public(&public(key)?);
    }
    if let Some(numbers) = Group::of(key) {
        let x = key
            .integer(c"priv")
            .ok_or_else(|| missing("the secret exponent"))?;
        let Group { p, q, g, y } = &numbers;
        return match key.is_a(c"DSA") {
            true => SecretKey::dsa(p, q, g, y, &x),
            false => SecretKey::dh(p, q, g, y, &x),
        };
    }
    Err(unknown())
}

/// The components of a public key.
pub(super) fn public(key: &PKey) -> Result<PublicKey, KeyError> {
    if key.is_a(c"RSA") || key.is_a(c"RSA-PSS") {
        let number = |name| {
            key.integer(name)
                .ok_or_else(|| missing("a number of an RSA key"))
        };
        return PublicKey::rsa(&number(c"n")?, &number(c"e")?);
    }
    named_curve(key)?;
    if let Some(curve) = curve_of(key) {
        return PublicKey::ec(curve, &point(key)?);
    }
    if let Some(kind) = raw_kind(key) {
        let bytes = key
            .octets(c"pub", 8192)
            .ok_or_else(|| missing("the public half"))?;
        return PublicKey::raw(kind, &bytes);
    }
    if let Some(Group { p, q, g, y }) = Group::of(key) {
        return match key.is_a(c"DSA") {
            true => PublicKey::dsa(&p, &q, &g, &y),
            false => PublicKey::dh(&p, &q, &g, &y),
        };
    }
    Err(unknown())
}

/// The uncompressed point, whatever form the container had.
pub(super) fn point(key: &PKey) -> Result<Vec<u8>, KeyError> {
    let encoded = key
        .octets(c"pub", 256)
        .ok_or_else(|| missing("the point"))?;
    if encoded.first() == Some(&4) {
        return Ok(encoded.to_vec());
    }
    // From its coordinates.
    let len = curve_of(key).ok_or_else(unknown)?.field_len();
    let mut full = vec![4];
    for name in [c"qx", c"qy"] {
        let coordinate = key.integer(name).ok_or_else(|| missing("a coordinate"))?;
        full.extend_from_slice(&coordinate[coordinate.len() - len..]);
    }
    Ok(full)
}

struct Group {
    p: Zeroizing<Vec<u8>>,
    q: Zeroizing<Vec<u8>>,
    g: Zeroizing<Vec<u8>>,
    y: Zeroizing<Vec<u8>>,
}

impl Group {
    fn of(key: &PKey) -> Option<Self> {
        if !key.is_a(c"DH") && !key.is_a(c"DHX") && !key.is_a(c"DSA") {
            return None;
        }
        Some(Self {
            p: key.integer(c"p")?,
            q: key.integer(c"q").unwrap_or_default(),
            g: key.integer(c"g")?,
            y: key.integer(c"pub")?,
        })
    }
}

fn curve_of(key: &PKey) -> Option<Curve> {
    if !key.is_a(c"EC") && !key.is_a(c"SM2") {
        return None;
    }
    match key.group()?.as_str() {
        "prime256v1" | "P-256" => Some(Curve::P256),
        "secp384r1" | "P-384" => Some(Curve::P384),
        "secp521r1" | "P-521" => Some(Curve::P521),
        "SM2" | "sm2" => Some(Curve::Sm2),
        _ => None,
    }
}

fn raw_kind(key: &PKey) -> Option<KeyKind> {
    let is = |kind: &&KeyKind| names::key_type(**kind).is_some_and(|name| key.is_a(name));
    names::RAW.iter().find(is).copied()
}

/// Refuses a curve with explicit parameters (RFC 5480, 2.1.1, requires a name): they can differ
/// from the named curve's in a detail.
fn named_curve(key: &PKey) -> Result<(), KeyError> {
    if !key.has_explicit_curve() {
        return Ok(());
    }
    Err(KeyError::Container {
        why: "its curve is given by explicit parameters; use a named curve".to_owned(),
    })
}

fn missing(what: &str) -> KeyError {
    KeyError::Container {
        why: format!("{what} is missing"),
    }
}

fn unknown() -> KeyError {
    KeyError::Container {
        why: "its key is of an unsupported kind or curve".to_owned(),
    }
}
