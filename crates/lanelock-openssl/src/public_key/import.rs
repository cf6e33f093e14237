//! From components to libcrypto's keys, with the checks that take arithmetic.

use lanelock_public_key::{
    Curve, DomainParameters, Key, KeyError, KeyKind, PublicKey, PublicParts, RsaCrt, RsaPublic,
    RsaSecret, SecretKey, SecretParts,
};

use super::names;
use crate::NAME;
use crate::ffi::{CurveGroup, Failed, KeyParams, Library, Number, PKey, version};

/// Makes libcrypto's key.
pub(super) fn key(library: &Library, key: &Key) -> Result<PKey, Failed> {
    match key {
        Key::Secret(key) => secret(library, key),
        Key::Public(key) => public(library, key),
        Key::None => Err(Failed::MISUSE),
    }
}

/// Refuses an invalid key.
pub(super) fn check(library: &Library, key: &Key) -> Result<(), KeyError> {
    match key {
        Key::None => Ok(()),
        Key::Public(key) => check_public(library, key),
        Key::Secret(key) => check_secret(library, key),
    }
}

/// The public half of `key`, computed, or taken where no computation is needed.
pub(super) fn public_of(library: &Library, key: &SecretKey) -> Result<PublicKey, KeyError> {
    let kind = key.kind();
    let engine = |failed: Failed| KeyError::Engine {
        engine: NAME,
        why: format!("public key of {kind}: {failed}"),
    };
    match (key.parts(), kind) {
        (SecretParts::Scalar(scalar), KeyKind::Ec(curve)) => {
            let group = CurveGroup::new(curve).map_err(|_| lacks(kind))?;
            let Some(point) = group.public_of(scalar).map_err(engine)? else {
                let why = "the scalar is not below the order of the curve";
                return Err(KeyError::refused(kind, why));
            };
            PublicKey::ec(curve, &point)
        }
        (SecretParts::Raw(bytes), _) => {
            let name = names::key_type(kind).ok_or_else(|| lacks(kind))?;
            let pair = PKey::pair(library, name, raw_secret(kind, bytes)).map_err(engine)?;
            let public = pair.octets(c"pub", 4096);
            PublicKey::raw(kind, &public.ok_or_else(|| engine(Failed::MISUSE))?)
        }
        _ => key.public_key().ok_or_else(|| lacks(kind)),
    }
}

/// This libcrypto does not know the kind.
pub(super) fn lacks(kind: KeyKind) -> KeyError {
    KeyError::unsupported(kind, format!("unsupported by the loaded {}", version()))
}

fn public(library: &Library, key: &PublicKey) -> Result<PKey, Failed> {
    let name = names::key_type(key.kind()).ok_or(Failed::MISUSE)?;
    let none = KeyParams::new();
    let parts = match (key.parts(), key.kind()) {
        (PublicParts::Rsa(rsa), _) => none.integer(c"n", &rsa.n).integer(c"e", &rsa.e),
        (PublicParts::Point(point), KeyKind::Ec(curve)) => {
            on_curve(none, curve)?.octets(c"pub", point)
        }
        (PublicParts::Raw(bytes), _) => none.octets(c"pub", bytes),
        (PublicParts::Dh(group, y) | PublicParts::Dsa(group, y), _) => {
            in_group(none, group).integer(c"pub", y)
        }
        _ => return Err(Failed::MISUSE),
    };
    PKey::public(library, name, parts)
}

fn secret(library: &Library, key: &SecretKey) -> Result<PKey, Failed> {
    let kind = key.kind();
    let name = names::key_type(kind).ok_or(Failed::MISUSE)?;
    let parts = match (key.parts(), kind) {
        (SecretParts::Rsa(rsa), _) => rsa_pair(rsa),
        (SecretParts::Scalar(scalar), KeyKind::Ec(curve)) => {
            let public = CurveGroup::new(curve)?.public_of(scalar)?;
            on_curve(KeyParams::new(), curve)?
                .integer(c"priv", scalar)
                .octets(c"pub", &public.ok_or(Failed::MISUSE)?)
        }
        (SecretParts::Raw(bytes), _) => raw_secret(kind, bytes),
        (SecretParts::Exponent(group, x), _) => {
            let public = key.public_key().ok_or(Failed::MISUSE)?;
            let (PublicParts::Dh(_, y) | PublicParts::Dsa(_, y)) = public.parts() else {
                return Err(Failed::MISUSE);
            };
            in_group(KeyParams::new(), group)
                .integer(c"pub", y)
                .integer(c"priv", x)
        }
        _ => return Err(Failed::MISUSE),
    };
    PKey::pair(library, name, parts)
}

fn rsa_pair(rsa: &RsaSecret) -> KeyParams {
    let parts = KeyParams::new()
        .integer(c"n", &rsa.public.n)
        .integer(c"e", &rsa.public.e)
        .integer(c"d", &rsa.d);
    match &rsa.crt {
        None => parts,
        Some(crt) => parts
            .integer(c"rsa-factor1", &crt.p)
            .integer(c"rsa-factor2", &crt.q)
            .integer(c"rsa-exponent1", &crt.dp)
            .integer(c"rsa-exponent2", &crt.dq)
            .integer(c"rsa-coefficient1", &crt.qinv),
    }
}

fn raw_secret(kind: KeyKind, bytes: &[u8]) -> KeyParams {
    let is_seed = match kind {
        KeyKind::MlKem(_) => bytes.len() == 64,
        KeyKind::MlDsa(_) => bytes.len() == 32,
        _ => false,
    };
    KeyParams::new().octets(if is_seed { c"seed" } else { c"priv" }, bytes)
}

fn on_curve(parts: KeyParams, curve: Curve) -> Result<KeyParams, Failed> {
    Ok(parts.text(c"group", names::curve(curve).ok_or(Failed::MISUSE)?))
}

fn in_group(parts: KeyParams, group: &DomainParameters) -> KeyParams {
    let parts = parts.integer(c"p", &group.p).integer(c"g", &group.g);
    if group.q.is_empty() {
        return parts;
    }
    parts.integer(c"q", &group.q)
}

fn check_public(library: &Library, key: &PublicKey) -> Result<(), KeyError> {
    let kind = key.kind();
    if let PublicParts::Rsa(rsa) = key.parts() {
        exponent_is_served(kind, rsa)?;
    }
    let made = public(library, key).map_err(|failed| {
        let why = match key.parts() {
            PublicParts::Point(_) => format!("not a point of the curve ({failed})"),
            _ => failed.to_string(),
        };
        KeyError::refused(kind, why)
    })?;
    match key.parts() {
        // libcrypto would look for small factors of the modulus; X25519 has nothing to check.
        PublicParts::Rsa(_) | PublicParts::Raw(_) => Ok(()),
        _ => made
            .check_public(library)
            .map_err(|failed| KeyError::refused(kind, format!("public key: {failed}"))),
    }
}

fn check_secret(library: &Library, key: &SecretKey) -> Result<(), KeyError> {
    let kind = key.kind();
    if let SecretParts::Rsa(rsa) = key.parts() {
        exponent_is_served(kind, &rsa.public)?;
        return match check_rsa(rsa) {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(KeyError::refused(kind, why)),
            Err(failed) => Err(KeyError::refused(kind, failed.to_string())),
        };
    }
    let refused = |failed: Failed| KeyError::refused(kind, failed.to_string());
    if let SecretParts::Exponent(..) = key.parts() {
        let pair = secret(library, key).map_err(refused)?;
        let checked = pair
            .check_public(library)
            .and_then(|()| pair.check_pair(library));
        return checked.map_err(refused);
    }
    let computed = public_of(library, key)?;
    let Some(given) = key.public_key() else {
        return Ok(());
    };
    // A compressed point is compared as libcrypto reads it.
    let same = match given.parts() {
        PublicParts::Point(point) if point.len() != 1 + 2 * field_len(kind) => {
            check_public(library, &given)?;
            match computed.parts() {
                PublicParts::Point(full) => compressed(full) == *point,
                _ => false,
            }
        }
        _ => given == computed,
    };
    if same {
        return Ok(());
    }
    Err(KeyError::refused(kind, "the public half is another key's"))
}

/// libcrypto bounds the cost of a public operation: `OPENSSL_RSA_SMALL_MODULUS_BITS` and
/// `OPENSSL_RSA_MAX_PUBEXP_BITS` of openssl/rsa.h.
fn exponent_is_served(kind: KeyKind, key: &RsaPublic) -> Result<(), KeyError> {
    const SMALL_MODULUS: usize = 3072 / 8;
    const LARGE_EXPONENT: usize = 64 / 8;
    if key.n.len() <= SMALL_MODULUS || key.e.len() <= LARGE_EXPONENT {
        return Ok(());
    }
    let why = format!(
        "the public exponent has {} bytes; with a modulus of more than 3072 bits at most 8 are \
         supported",
        key.e.len()
    );
    Err(KeyError::unsupported(kind, why))
}

fn field_len(kind: KeyKind) -> usize {
    match kind {
        KeyKind::Ec(curve) => curve.field_len(),
        _ => 0,
    }
}

/// SEC 1, 2.3.3: the parity of y, and x.
fn compressed(full: &[u8]) -> Vec<u8> {
    let len = (full.len() - 1) / 2;
    let parity = full[2 * len] & 1;
    [&[2 | parity][..], &full[1..=len]].concat()
}

/// What is wrong with the numbers of an RSA key, if anything (RFC 8017, 3.2). Whether p and q are
/// prime is not asked: it takes longer than a hundred signatures. Nor is anything of a key without
/// them. Each result is checked with the public exponent instead.
fn check_rsa(rsa: &RsaSecret) -> Result<Option<&'static str>, Failed> {
    let Some(RsaCrt { p, q, dp, dq, qinv }) = &rsa.crt else {
        return Ok(None);
    };
    let one = Number::from_bytes(&[1])?;
    let (e, d) = (
        Number::from_bytes(&rsa.public.e)?,
        Number::from_bytes(&rsa.d)?,
    );
    let (p, q) = (Number::from_bytes(p)?, Number::from_bytes(q)?);
    if !p.times(&q)?.equals(&Number::from_bytes(&rsa.public.n)?) {
        return Ok(Some("p·q is not the modulus"));
    }
    let qinv = Number::from_bytes(qinv)?;
    if !qinv.times(&q)?.modulo(&p)?.equals(&one) {
        return Ok(Some("qinv is not the inverse of q modulo p"));
    }
    let (p1, q1) = (p.minus(&one)?, q.minus(&one)?);
    for (exponent, order) in [(dp, &p1), (dq, &q1)] {
        if !d.modulo(order)?.equals(&Number::from_bytes(exponent)?) {
            return Ok(Some(
                "dp or dq is not the remainder of the private exponent",
            ));
        }
        if !e.times(&d)?.modulo(order)?.equals(&one) {
            return Ok(Some("the private exponent does not undo the public one"));
        }
    }
    Ok(None)
}
