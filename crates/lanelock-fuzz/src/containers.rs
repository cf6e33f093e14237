//! Keys in containers that libcrypto writes from their numbers.

use lanelock_public_key::{Curve, KeyKind, PublicKey, PublicParts, SecretKey, SecretParts};
use openssl::bn::{BigNum, BigNumContext};
use openssl::dsa::Dsa;
use openssl::ec::{EcGroup, EcKey, EcPoint, PointConversionForm};
use openssl::error::ErrorStack;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey};
use openssl::rsa::{Rsa, RsaPrivateKeyBuilder};

/// DER of `SubjectPublicKeyInfo`; `None` for a kind that the `openssl` crate does not write.
///
/// # Panics
/// If libcrypto does not take the numbers.
pub(crate) fn written_public(key: &PublicKey) -> Option<Vec<u8>> {
    let number = |bytes: &[u8]| BigNum::from_slice(bytes).expect("room");
    let der = match (key.parts(), key.kind()) {
        (PublicParts::Rsa(rsa), _) => Rsa::from_public_components(number(&rsa.n), number(&rsa.e))
            .and_then(PKey::from_rsa)
            .and_then(|key| key.public_key_to_der()),
        (PublicParts::Point(point), KeyKind::Ec(curve)) => public_on(curve, point),
        (PublicParts::Raw(bytes), kind) => PKey::public_key_from_raw_bytes(bytes, id(kind)?)
            .and_then(|key| key.public_key_to_der()),
        (PublicParts::Dsa(group, y), _) => {
            let [p, q, g, y] = [&group.p, &group.q, &group.g, y].map(|bytes| number(bytes));
            Dsa::from_public_components(p, q, g, y).and_then(|key| key.public_key_to_der())
        }
        _ => return None,
    };
    Some(der.unwrap_or_else(|error| panic!("{key:?}: {error}")))
}

/// DER of PKCS #8; `None` for a kind that the `openssl` crate does not write.
///
/// # Panics
/// If libcrypto does not take the numbers.
pub(crate) fn written_secret(key: &SecretKey) -> Option<Vec<u8>> {
    let number = |bytes: &[u8]| BigNum::from_slice(bytes).expect("room");
    let made = match (key.parts(), key.kind()) {
        (SecretParts::Rsa(rsa), _) => {
            let crt = rsa.crt.as_ref()?;
            RsaPrivateKeyBuilder::new(number(&rsa.public.n), number(&rsa.public.e), number(&rsa.d))
                .and_then(|key| key.set_factors(number(&crt.p), number(&crt.q)))
                .and_then(|key| {
                    key.set_crt_params(number(&crt.dp), number(&crt.dq), number(&crt.qinv))
                })
                .and_then(|key| PKey::from_rsa(key.build()))
        }
        (SecretParts::Scalar(scalar), KeyKind::Ec(curve)) => {
            let public = key.public_key()?;
            let PublicParts::Point(point) = public.parts() else {
                return None;
            };
            secret_on(curve, &number(scalar), point)
        }
        (SecretParts::Raw(bytes), kind) => PKey::private_key_from_raw_bytes(bytes, id(kind)?),
        _ => return None,
    };
    let der = made.and_then(|key| key.private_key_to_pkcs8());
    Some(der.unwrap_or_else(|error| panic!("{key:?}: {error}")))
}

/// The base point of a curve, uncompressed.
pub(crate) fn generator(curve: Curve) -> Option<Vec<u8>> {
    let group = group(curve).ok()?;
    let mut context = BigNumContext::new().ok()?;
    let form = PointConversionForm::UNCOMPRESSED;
    group
        .generator_opt()?
        .to_bytes(&group, form, &mut context)
        .ok()
}

fn public_on(curve: Curve, point: &[u8]) -> Result<Vec<u8>, ErrorStack> {
    let group = group(curve)?;
    let point = EcPoint::from_bytes(&group, point, &mut *BigNumContext::new()?)?;
    let key = EcKey::from_public_key(&group, &point)?;
    PKey::from_ec_key(key)?.public_key_to_der()
}

fn secret_on(
    curve: Curve,
    scalar: &BigNum,
    point: &[u8],
) -> Result<PKey<openssl::pkey::Private>, ErrorStack> {
    let group = group(curve)?;
    let point = EcPoint::from_bytes(&group, point, &mut *BigNumContext::new()?)?;
    let key = EcKey::from_private_components(&group, scalar, &point)?;
    PKey::from_ec_key(key)
}

fn group(curve: Curve) -> Result<EcGroup, ErrorStack> {
    EcGroup::from_curve_name(match curve {
        Curve::P256 => Nid::X9_62_PRIME256V1,
        Curve::P384 => Nid::SECP384R1,
        Curve::P521 => Nid::SECP521R1,
        Curve::Sm2 => Nid::SM2,
        other => panic!("{other:?} is new here"),
    })
}

fn id(kind: KeyKind) -> Option<Id> {
    match kind {
        KeyKind::X25519 => Some(Id::X25519),
        KeyKind::X448 => Some(Id::X448),
        KeyKind::Ed25519 => Some(Id::ED25519),
        KeyKind::Ed448 => Some(Id::ED448),
        _ => None,
    }
}
