//! The checks of a key that need no arithmetic: sizes, parity, ranges.

use std::cmp::Ordering;

use zeroize::Zeroizing;

use super::parts::{DomainParameters, RsaCrt, RsaPublic};
use super::{KeyError, KeyKind, RsaNumbers, secret};
use crate::algorithm::Curve;

/// Allowed modulus sizes, in bits.
const RSA_BITS: std::ops::RangeInclusive<u32> = 512..=16_384;
const GROUP_BITS: std::ops::RangeInclusive<u32> = 512..=10_000;

/// A public number, big-endian, without leading zeros; 0 is empty.
pub(super) fn normal(number: &[u8]) -> Vec<u8> {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    number[zeros..].to_vec()
}

/// Bit length of a public number in normal form.
pub(super) fn bits(number: &[u8]) -> u32 {
    let Some(first) = number.first() else {
        return 0;
    };
    u32::try_from(number.len() * 8).map_or(u32::MAX, |bits| bits - first.leading_zeros())
}

pub(super) fn rsa_public(kind: KeyKind, key: &RsaPublic) -> Result<(), KeyError> {
    if !RSA_BITS.contains(&bits(&key.n)) {
        let given = bits(&key.n) as usize;
        return Err(KeyError::length(
            "rsa",
            "modulus",
            given,
            "512 to 16384 bits",
        ));
    }
    if even(&key.n) {
        return Err(KeyError::refused(kind, "the modulus is even"));
    }
    if even(&key.e) || bits(&key.e) < 2 || !below(&key.e, &key.n) {
        let why = "the public exponent must be odd, at least 3 and below the modulus";
        return Err(KeyError::refused(kind, why));
    }
    Ok(())
}

/// The private exponent, as long as the modulus.
pub(super) fn rsa_exponent(
    kind: KeyKind,
    public: &RsaPublic,
    d: &[u8],
) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let why = "the private exponent is 0 or not below the modulus";
    in_range(d, &public.n).ok_or_else(|| KeyError::refused(kind, why))
}

/// The numbers of the Chinese remainder theorem, if they are given: p and q without leading zeros,
/// the others as long as their moduli.
pub(super) fn rsa_crt(
    kind: KeyKind,
    public: &RsaPublic,
    numbers: &RsaNumbers<'_>,
) -> Result<Option<RsaCrt>, KeyError> {
    let refused = |why: &str| KeyError::refused(kind, why);
    let five = [numbers.p, numbers.q, numbers.dp, numbers.dq, numbers.qinv];
    if five.iter().all(|number| number.is_empty()) {
        return Ok(None);
    }
    if five.iter().any(|number| number.is_empty()) {
        return Err(refused(
            "some of p, q, dp, dq and qinv are missing; give all or none",
        ));
    }
    let [p, q] = [numbers.p, numbers.q].map(secret::normal);
    if secret::is_even(&p) || secret::is_even(&q) {
        return Err(refused("a factor of the modulus is even"));
    }
    if secret::equal(&p, &q) {
        return Err(refused("the two factors of the modulus are equal"));
    }
    let [of_p, of_q] = [&p, &q].map(|factor| secret::bits(factor));
    let (sum, n) = (of_p + of_q, bits(&public.n));
    if of_p < 2 || of_q < 2 || sum != n && sum != n + 1 {
        let why = "the bit lengths of the factors do not add up to that of the modulus";
        return Err(refused(why));
    }
    let remainder = |number: &[u8], modulus: &[u8]| {
        let why = "dp, dq or qinv is 0 or not below its modulus";
        in_range(number, modulus).ok_or_else(|| refused(why))
    };
    Ok(Some(RsaCrt {
        dp: remainder(numbers.dp, &p)?,
        dq: remainder(numbers.dq, &q)?,
        qinv: remainder(numbers.qinv, &p)?,
        p,
        q,
    }))
}

pub(super) fn point(curve: Curve, point: &[u8]) -> Result<(), KeyError> {
    let kind = KeyKind::Ec(curve);
    let len = curve.field_len();
    let expected = match point.first() {
        Some(0) => return Err(KeyError::refused(kind, "the point is at infinity")),
        Some(2 | 3) => 1 + len,
        Some(4) => 1 + 2 * len,
        _ => {
            let why = "a point starts with 2 or 3 (compressed) or 4 (uncompressed)";
            return Err(KeyError::refused(kind, why));
        }
    };
    if point.len() != expected {
        let allowed = format!("{expected} bytes");
        return Err(KeyError::length(kind, "point", point.len(), allowed));
    }
    Ok(())
}

pub(super) fn raw_length(
    kind: KeyKind,
    field: &'static str,
    given: usize,
    secret: bool,
) -> Result<(), KeyError> {
    let allowed: &[usize] = match (kind, secret) {
        (KeyKind::X25519 | KeyKind::Ed25519, _) => &[32],
        (KeyKind::X448, _) => &[56],
        (KeyKind::Ed448, _) => &[57],
        (KeyKind::MlKem(set), false) => &[set.public_len()],
        (KeyKind::MlKem(set), true) => &[64, set.secret_len()],
        (KeyKind::MlDsa(set), false) => &[set.public_len()],
        (KeyKind::MlDsa(set), true) => &[32, set.secret_len()],
        _ => {
            return Err(KeyError::Mismatch {
                what: kind.to_string(),
                why: "keys of this kind are not byte strings; give their components".to_owned(),
            });
        }
    };
    if allowed.contains(&given) {
        return Ok(());
    }
    let list: Vec<_> = allowed.iter().map(ToString::to_string).collect();
    let allowed = format!("{} bytes", list.join(" or "));
    Err(KeyError::length(kind, field, given, allowed))
}

pub(super) fn domain(kind: KeyKind, domain: &DomainParameters) -> Result<(), KeyError> {
    if !GROUP_BITS.contains(&bits(&domain.p)) {
        let given = bits(&domain.p) as usize;
        return Err(KeyError::length(kind, "prime", given, "512 to 10000 bits"));
    }
    if even(&domain.p) {
        return Err(KeyError::refused(kind, "the prime is even"));
    }
    if bits(&domain.g) < 2 || !below(&domain.g, &domain.p) {
        let why = "the generator must be at least 2 and below the prime";
        return Err(KeyError::refused(kind, why));
    }
    if !domain.q.is_empty() && (even(&domain.q) || !below(&domain.q, &domain.p)) {
        let why = "the order of the subgroup is even or not below the prime";
        return Err(KeyError::refused(kind, why));
    }
    Ok(())
}

pub(super) fn dsa_domain(kind: KeyKind, group: &DomainParameters) -> Result<(), KeyError> {
    domain(kind, group)?;
    let given = bits(&group.q);
    if ![160, 224, 256].contains(&given) {
        let allowed = "160, 224 or 256 bits";
        return Err(KeyError::length(kind, "order", given as usize, allowed));
    }
    Ok(())
}

/// Refuses a public value that is not between 2 and p − 2: 0, 1 and p − 1 are of order 1 or 2.
pub(super) fn element(kind: KeyKind, domain: &DomainParameters, y: &[u8]) -> Result<(), KeyError> {
    // p is odd: p − 1 differs from it in the last bit alone.
    let mut last = domain.p.clone();
    if let Some(byte) = last.last_mut() {
        *byte ^= 1;
    }
    if bits(y) < 2 || !below(y, &last) {
        let why = "the public value must be at least 2 and at most p − 2";
        return Err(KeyError::refused(kind, why));
    }
    Ok(())
}

/// The secret exponent, as long as the order of the group, or the prime where that is unknown.
pub(super) fn exponent(
    kind: KeyKind,
    domain: &DomainParameters,
    x: &[u8],
) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let bound = if domain.q.is_empty() {
        &domain.p
    } else {
        &domain.q
    };
    let why = "the secret exponent is 0 or not below the order of the group";
    in_range(x, bound).ok_or_else(|| KeyError::refused(kind, why))
}

/// A secret number as long as its bound, if it is neither 0 nor at or above that bound.
fn in_range(number: &[u8], bound: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    secret::fixed(number, bound.len()).filter(|number| secret::is_in_range(number, bound))
}

fn even(number: &[u8]) -> bool {
    number.last().is_none_or(|byte| byte & 1 == 0)
}

/// Whether `a` is less than `b`, both public and in normal form.
fn below(a: &[u8], b: &[u8]) -> bool {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b)) == Ordering::Less
}
