//! From Wycheproof's files to cases.

use lanelock_core::{Device, Hash};
use lanelock_public_key::{
    Curve, EncryptionScheme, KeyDevice, KeyError, KeyKind, KeyTransform, MlDsa, MlKem, Oaep, Pss,
    PublicKey, PublicParts, RsaNumbers, SecretKey, SignatureForm, SignatureScheme,
};
use serde_json::Value;

use super::KeyFileOutcome;
use super::case::{Case, Expected};
use super::message::KeyMessage;

/// The cases of a file; counts what has none as skipped or, where it should be, refused.
pub(super) fn cases(device: &Device, json: &str, outcome: &mut KeyFileOutcome) -> Vec<Case> {
    let file: Value = serde_json::from_str(json).expect("the crate's files are JSON");
    let algorithm = text(&file, "algorithm").to_owned();
    let fixed = text(&file, "schema").contains("p1363");
    let mut cases = Vec::new();
    for group in list(&file, "testGroups") {
        // Key agreement and encapsulation have a key for each test, everything else one for a group.
        let shared = transform(&algorithm, fixed, group);
        let first = cases.len();
        for test in list(group, "tests") {
            outcome.tests += 1;
            let made = match &shared {
                Some(shared) => shared.clone(),
                None if algorithm == "ML-KEM" => decapsulation(group, test),
                None => agreement(group, test),
            };
            let transform = match made {
                Ok(transform) => transform,
                Err(Unfit::Unserved(what)) => {
                    outcome.skip(&what);
                    continue;
                }
                Err(Unfit::Key(_)) if text(test, "result") != "valid" => {
                    outcome.refused += 1;
                    continue;
                }
                Err(Unfit::Key(error)) => {
                    let id = test["tcId"].to_string();
                    outcome.failures.push(format!("tcId {id}: {error}"));
                    continue;
                }
            };
            let context = if test["ctx"].is_string() {
                "ctx"
            } else {
                "label"
            };
            let labelled = match bytes(test, context) {
                label if label.is_empty() => transform,
                label => transform.context(&label),
            };
            // A label makes another session.
            let own_session = shared.is_none() || !labelled.context_bytes().is_empty();
            let key = if own_session { cases.len() } else { first };
            match case(device, group, test, labelled, key) {
                Some(case) => cases.push(case),
                None if text(test, "result") != "valid" => outcome.refused += 1,
                None => {
                    let id = test["tcId"].to_string();
                    outcome.failures.push(format!("tcId {id}: unreadable peer"));
                }
            }
        }
    }
    cases
}

/// Why there is no transform.
#[derive(Clone)]
enum Unfit {
    /// A curve or hash that is not served.
    Unserved(String),
    /// The key is refused.
    Key(KeyError),
}

impl From<KeyError> for Unfit {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

/// The transform of a group; `None` where each test has its own.
fn transform(algorithm: &str, fixed: bool, group: &Value) -> Option<Result<KeyTransform, Unfit>> {
    Some(match algorithm {
        "RSASSA-PKCS1-v1_5" => rsa_verify(group, |hash, _| Ok(SignatureScheme::RsaPkcs1(hash))),
        "RSASSA-PSS" => rsa_verify(group, |hash, group| {
            let salt_len = group["sLen"].as_u64().unwrap_or_default();
            Ok(SignatureScheme::RsaPss(Pss {
                hash,
                mgf1: hash_of(text(group, "mgfSha"))?,
                salt_len: usize::try_from(salt_len).unwrap_or(usize::MAX),
            }))
        }),
        "RSAES-OAEP" => rsa_decrypt(group, |group| {
            Ok(EncryptionScheme::RsaOaep(Oaep {
                hash: hash_of(text(group, "sha"))?,
                mgf1: hash_of(text(group, "mgfSha"))?,
            }))
        }),
        "RSAES-PKCS1-v1_5" => rsa_decrypt(group, |_| Ok(EncryptionScheme::RsaPkcs1)),
        "ECDSA" => ecdsa_verify(group, fixed),
        "EDDSA" => eddsa_verify(group),
        "DSA" => dsa_verify(group, fixed),
        "ML-DSA-44" => ml_dsa_verify(group, MlDsa::MlDsa44),
        "ML-DSA-65" => ml_dsa_verify(group, MlDsa::MlDsa65),
        "ML-DSA-87" => ml_dsa_verify(group, MlDsa::MlDsa87),
        _ => return None,
    })
}

fn rsa_verify(
    group: &Value,
    scheme: impl Fn(Hash, &Value) -> Result<SignatureScheme, Unfit>,
) -> Result<KeyTransform, Unfit> {
    let key = &group["publicKey"];
    let scheme = scheme(hash_of(text(group, "sha"))?, group)?;
    let key = PublicKey::rsa(&bytes(key, "modulus"), &bytes(key, "publicExponent"))?;
    Ok(KeyTransform::verify(scheme, &key))
}

fn rsa_decrypt(
    group: &Value,
    scheme: impl Fn(&Value) -> Result<EncryptionScheme, Unfit>,
) -> Result<KeyTransform, Unfit> {
    let key = &group["privateKey"];
    let number = |name| bytes(key, name);
    let secret = SecretKey::rsa(&RsaNumbers {
        n: &number("modulus"),
        e: &number("publicExponent"),
        d: &number("privateExponent"),
        p: &number("prime1"),
        q: &number("prime2"),
        dp: &number("exponent1"),
        dq: &number("exponent2"),
        qinv: &number("coefficient"),
    })?;
    Ok(KeyTransform::decrypt(scheme(group)?, &secret))
}

fn ecdsa_verify(group: &Value, fixed: bool) -> Result<KeyTransform, Unfit> {
    let key = &group["publicKey"];
    let curve = curve_of(text(key, "curve"))?;
    let scheme = SignatureScheme::Ecdsa(hash_of(text(group, "sha"))?);
    let key = PublicKey::ec(curve, &bytes(key, "uncompressed"))?;
    Ok(with_form(KeyTransform::verify(scheme, &key), fixed))
}

fn dsa_verify(group: &Value, fixed: bool) -> Result<KeyTransform, Unfit> {
    let key = &group["publicKey"];
    let number = |name| bytes(key, name);
    let scheme = SignatureScheme::Dsa(hash_of(text(group, "sha"))?);
    let key = PublicKey::dsa(&number("p"), &number("q"), &number("g"), &number("y"))?;
    Ok(with_form(KeyTransform::verify(scheme, &key), fixed))
}

fn eddsa_verify(group: &Value) -> Result<KeyTransform, Unfit> {
    let key = bytes(&group["publicKey"], "pk");
    let kind = match key.len() {
        32 => KeyKind::Ed25519,
        _ => KeyKind::Ed448,
    };
    let key = PublicKey::raw(kind, &key)?;
    Ok(KeyTransform::verify(SignatureScheme::EdDsa, &key))
}

fn ml_dsa_verify(group: &Value, set: MlDsa) -> Result<KeyTransform, Unfit> {
    let key = PublicKey::raw(KeyKind::MlDsa(set), &bytes(group, "publicKey"))?;
    Ok(KeyTransform::verify(SignatureScheme::MlDsa, &key))
}

fn with_form(transform: KeyTransform, fixed: bool) -> KeyTransform {
    match fixed {
        true => transform.signature_form(SignatureForm::Fixed),
        false => transform,
    }
}

fn agreement(group: &Value, test: &Value) -> Result<KeyTransform, Unfit> {
    let private = bytes(test, "private");
    let key = match text(group, "curve") {
        "curve25519" => SecretKey::raw(KeyKind::X25519, &private)?,
        "curve448" => SecretKey::raw(KeyKind::X448, &private)?,
        curve => SecretKey::ec(curve_of(curve)?, &private, None)?,
    };
    Ok(KeyTransform::derive(&key))
}

/// From a seed or an expanded key; what the files have beside it needs the randomness as an input.
fn decapsulation(group: &Value, test: &Value) -> Result<KeyTransform, Unfit> {
    let set = match text(group, "parameterSet") {
        "ML-KEM-512" => MlKem::MlKem512,
        "ML-KEM-768" => MlKem::MlKem768,
        "ML-KEM-1024" => MlKem::MlKem1024,
        other => return Err(Unfit::Unserved(format!("parameter set {other}"))),
    };
    let secret = match text(group, "type") {
        "MLKEMTest" => bytes(test, "seed"),
        "MLKEMDecapsValidationTest" => bytes(test, "dk"),
        other => return Err(Unfit::Unserved(format!("given randomness ({other})"))),
    };
    let key = SecretKey::raw(KeyKind::MlKem(set), &secret)?;
    Ok(KeyTransform::decapsulate(&key))
}

/// The case of a test; `None` if its peer's key cannot be read, or is of another kind.
fn case(
    device: &Device,
    group: &Value,
    test: &Value,
    transform: KeyTransform,
    key: usize,
) -> Option<Case> {
    use lanelock_public_key::{Operation, Scheme};
    let spec = transform.spec();
    let invalid = text(test, "result") == "invalid";
    let acceptable = text(test, "result") == "acceptable";
    let (input, signature, expected) = match spec.operation {
        Operation::Verify => {
            let expected = match (invalid, acceptable) {
                (true, _) => Expected::Refused,
                (_, true) => Expected::Either(Vec::new()),
                _ => Expected::Accepted,
            };
            (bytes(test, "msg"), bytes(test, "sig"), expected)
        }
        Operation::Decrypt => {
            let message = bytes(test, "msg");
            let implicit = spec.scheme == Scheme::Encryption(EncryptionScheme::RsaPkcs1);
            let expected = match (invalid, implicit, acceptable) {
                (true, true, _) => Expected::Not(message),
                (true, ..) => Expected::Refused,
                (_, _, true) => Expected::Either(message),
                _ => Expected::Output(message),
            };
            (bytes(test, "ct"), Vec::new(), expected)
        }
        Operation::Decapsulate => {
            let expected = match invalid {
                true => Expected::Refused,
                false => Expected::Output(bytes(test, "K")),
            };
            (bytes(test, "c"), Vec::new(), expected)
        }
        _ => {
            let public = bytes(test, "public");
            let is_container = text(group, "encoding") == "asn";
            let peer = match is_container {
                true => peer_of(device, &public, spec.kind)?,
                false => public,
            };
            let shared = bytes(test, "shared");
            let expected = match (invalid, acceptable) {
                (true, _) => Expected::Refused,
                (_, true) => Expected::Either(shared),
                _ => Expected::Output(shared),
            };
            (peer, Vec::new(), expected)
        }
    };
    Some(Case {
        id: format!("tcId {}", test["tcId"]),
        comment: text(test, "comment").to_owned(),
        key,
        rank: 0,
        message: KeyMessage {
            transform,
            input,
            signature,
        },
        expected,
    })
}

/// The point in a `SubjectPublicKeyInfo`, if it is of this kind.
fn peer_of(device: &Device, der: &[u8], kind: KeyKind) -> Option<Vec<u8>> {
    let key = device.read_public_key(der).ok()?;
    match key.parts() {
        PublicParts::Point(point) if key.kind() == kind => Some(point.clone()),
        _ => None,
    }
}

fn curve_of(name: &str) -> Result<Curve, Unfit> {
    match name {
        "secp256r1" => Ok(Curve::P256),
        "secp384r1" => Ok(Curve::P384),
        "secp521r1" => Ok(Curve::P521),
        _ => Err(Unfit::Unserved(format!("curve {name}"))),
    }
}

fn hash_of(name: &str) -> Result<Hash, Unfit> {
    Ok(match name {
        "SHA-1" => Hash::Sha1,
        "SHA-224" => Hash::Sha224,
        "SHA-256" => Hash::Sha256,
        "SHA-384" => Hash::Sha384,
        "SHA-512" => Hash::Sha512,
        "SHA3-224" => Hash::Sha3_224,
        "SHA3-256" => Hash::Sha3_256,
        "SHA3-384" => Hash::Sha3_384,
        "SHA3-512" => Hash::Sha3_512,
        _ => return Err(Unfit::Unserved(format!("hash {name}"))),
    })
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// A field in hexadecimal; empty if it is absent.
fn bytes(value: &Value, name: &str) -> Vec<u8> {
    let digits = text(value, name);
    // Big integers may have an odd number of digits.
    let padded = match digits.len() % 2 {
        0 => digits.to_owned(),
        _ => format!("0{digits}"),
    };
    hex::decode(padded).expect("the crate's files have hexadecimal fields")
}
