//! Public keys: import from numbers and from containers, and every operation.

use lanelock_conformance::public_key::{KeyMessage, samples};
use lanelock_core::Device;
use lanelock_public_key::{
    FlushPolicy, Key, KeyDevice, KeyError, KeyKind, RsaNumbers, SecretKey, SecretParts,
};
use lanelock_testkit::freed::{Finding, Secrets, freed};
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::{MessageDigest, hash};
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::symm;

use crate::{devices, engine, openssl};
use lanelock_public_key::engine::PublicKeyEngine;

/// More than fit the lanes once.
const OPS: usize = 9;

#[test]
fn sessions_of_every_public_key_operation_leave_nothing() {
    let reference = openssl();
    let mut found = Vec::new();
    let mut cases = 0;
    for (name, device) in devices() {
        let rows = engine(&device).public_key().map(|keys| keys.capabilities());
        // Keys of other sizes differ from these in their length, and take long to make.
        let is_quick = |kind| !matches!(kind, KeyKind::Rsa(bits) if bits > 2048);
        let rows = rows.unwrap_or_default().into_iter();
        for row in rows.filter(|row| is_quick(row.spec.kind)) {
            let made = match samples(&reference, "openssl", row.spec, OPS) {
                Err(KeyError::Unsupported { .. }) => samples(&device, "openssl", row.spec, OPS),
                made => made,
            };
            let samples = match made {
                Ok(samples) => samples,
                Err(KeyError::Mismatch { why, .. }) => {
                    println!("not run: {name}, {}: {why}", row.spec);
                    continue;
                }
                Err(error) => panic!("{}: {error}", row.spec),
            };
            cases += 1;
            let leaks = leaks(&device, &samples);
            found.extend(
                leaks
                    .iter()
                    .map(|leak| format!("{name}, {}: {leak}", row.spec)),
            );
        }
    }
    assert!(cases > 0, "no public key");
    assert!(
        found.is_empty(),
        "{} of {cases}:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// What is left by the keys of `samples`, their sessions and a queue.
fn leaks(device: &Device, samples: &[KeyMessage]) -> Vec<Finding> {
    let mut secrets = Secrets::default();
    for sample in samples {
        if let Key::Secret(key) = sample.transform().key() {
            add_key(&mut secrets, key);
        }
    }
    // What operations write is their caller's.
    let mut rooms: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let run = || {
        let mut sessions = Vec::new();
        for sample in samples {
            if let Key::Secret(key) = sample.transform().key() {
                drop(imported_again(key).unwrap());
            }
            let transform = sample.transform().clone();
            sessions.push(device.key_session(&transform).unwrap());
        }
        let mut queue = device.key_queue(OPS, FlushPolicy::immediate());
        rooms.extend(
            samples
                .iter()
                .zip(&sessions)
                .map(|(sample, session)| sample.room(session)),
        );
        for count in [OPS, 1, 3] {
            let parts = samples.iter().zip(&sessions).zip(&mut rooms).take(count);
            let mut ops: Vec<_> = parts
                .map(|((sample, session), (output, second))| sample.op(session, output, second))
                .collect();
            assert_eq!(queue.process(&mut ops).succeeded, count);
        }
        // Half of the sessions outlive what the queue keeps for them.
        sessions.truncate(OPS / 2);
        drop(queue);
    };
    freed(secrets, run).1
}

#[test]
fn keys_from_containers_leave_nothing() {
    let device = openssl();
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    let ec = EcKey::generate(&group).unwrap();
    let keys = [
        PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap(),
        PKey::from_ec_key(ec).unwrap(),
        PKey::generate_ed25519().unwrap(),
        PKey::generate_x25519().unwrap(),
    ];
    for key in keys {
        for (container, passphrase) in containers(&key) {
            let read = || device.read_secret_key(&container, passphrase).unwrap();
            let known = read();
            let mut secrets = Secrets::default();
            add_key(&mut secrets, &known);
            if let Some(passphrase) = passphrase {
                secrets.add("the passphrase", passphrase);
            }
            let run = || {
                let key = read();
                device.public_key(&key).map(drop).unwrap();
            };
            let found = freed(secrets, run).1;
            assert_eq!(found, [], "{} in {} bytes", known.kind(), container.len());
        }
    }
}

fn containers(key: &PKey<Private>) -> Vec<(Vec<u8>, Option<&'static [u8]>)> {
    let passphrase = b"sixteen or more bytes";
    let cipher = symm::Cipher::aes_128_cbc();
    let encrypted = key.private_key_to_pem_pkcs8_passphrase(cipher, passphrase);
    vec![
        (key.private_key_to_pem_pkcs8().unwrap(), None),
        (key.private_key_to_pkcs8().unwrap(), None),
        (encrypted.unwrap(), Some(passphrase)),
    ]
}

/// The same key through its constructor.
fn imported_again(key: &SecretKey) -> Result<SecretKey, KeyError> {
    match (key.parts(), key.kind()) {
        (SecretParts::Rsa(rsa), _) => {
            let crt = rsa.crt.as_ref().unwrap();
            SecretKey::rsa(&RsaNumbers {
                n: &rsa.public.n,
                e: &rsa.public.e,
                d: &rsa.d,
                p: &crt.p,
                q: &crt.q,
                dp: &crt.dp,
                dq: &crt.dq,
                qinv: &crt.qinv,
            })
        }
        (SecretParts::Scalar(scalar), KeyKind::Ec(curve)) => SecretKey::ec(curve, scalar, None),
        (SecretParts::Raw(bytes), kind) => SecretKey::raw(kind, bytes),
        _ => Ok(key.clone()),
    }
}

/// The secrets of a key, in the forms in which they are kept.
fn add_key(secrets: &mut Secrets, key: &SecretKey) {
    match key.parts() {
        SecretParts::Rsa(rsa) => {
            add_number(secrets, "d", &rsa.d);
            let crt = rsa.crt.as_ref().unwrap();
            for (name, number) in [
                ("p", &crt.p),
                ("q", &crt.q),
                ("dp", &crt.dp),
                ("dq", &crt.dq),
                ("qinv", &crt.qinv),
            ] {
                add_number(secrets, name, number);
            }
        }
        SecretParts::Scalar(scalar) => add_number(secrets, "the scalar", scalar),
        SecretParts::Exponent(_, x) => add_number(secrets, "the exponent", x),
        SecretParts::Raw(bytes) => {
            // The seed of the matrix comes first, and the public key begins with it (FIPS 204, algorithms
            // 22 and 24).
            let public = if matches!(key.kind(), KeyKind::MlDsa(_)) {
                32
            } else {
                0
            };
            add_number(secrets, "the key", &bytes[public..]);
            if key.kind() == KeyKind::Ed25519 {
                let expanded = hash(MessageDigest::sha512(), bytes).unwrap();
                // Clamping changes the ends of the scalar.
                add_number(secrets, "the scalar", &expanded[1..31]);
                add_number(secrets, "the prefix", &expanded[32..]);
            }
        }
    }
}

/// A number or a string: its ends and its middle, in either order of bytes and in digits of 52 bits.
fn add_number(secrets: &mut Secrets, name: &str, big_endian: &[u8]) {
    let mut little_endian = big_endian.to_vec();
    little_endian.reverse();
    for (form, bytes) in [
        ("", big_endian),
        (" from its end", &little_endian),
        (" in digits", &digits(&little_endian)),
    ] {
        secrets.add(format!("{name}{form}"), bytes);
        secrets.add(format!("{name}{form}"), &bytes[bytes.len() / 3..]);
    }
}

fn digits(little_endian: &[u8]) -> Vec<u8> {
    let bit = |at: usize| u64::from(little_endian[at / 8] >> (at % 8) & 1);
    let digit = |first: usize| (0..52).fold(0, |digit, at| digit | bit(first + at) << at);
    let count = little_endian.len() * 8 / 52;
    (0..count)
        .flat_map(|n| digit(52 * n).to_le_bytes())
        .collect()
}
