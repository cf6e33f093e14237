//! The application's entries in libcrypto's error queue outlive whatever it does with the engine.

#![allow(clippy::unwrap_used, missing_docs)] // a test

use lanelock_core::engine::{Engine, offers};
use lanelock_core::{Aead, Algorithm, Buffer, Cipher, Device, Hash, Op, Status, Transform};
use lanelock_openssl::OpenSsl;
use lanelock_public_key::engine::PublicKeyEngine;
use lanelock_public_key::{
    Curve, EncryptionScheme, FlushPolicy, KeyDevice, KeyKind, KeyOp, KeyTransform, Oaep, PublicKey,
    SecretKey, SignatureScheme,
};
use openssl::error::ErrorStack;

/// What is in this thread's queue.
fn entries() -> Vec<String> {
    let stack = ErrorStack::get();
    stack.put();
    let errors = stack.errors().iter();
    errors.map(|error| format!("{error:?}")).collect()
}

/// Runs `calls` with nothing in the queue, and with entries of the application's.
fn keeps_entries(what: &str, mut calls: impl FnMut()) {
    let _cleared = ErrorStack::get();
    for own in 0..3 {
        if own > 0 {
            let error = openssl::pkey::PKey::private_key_from_pem(b"no key").unwrap_err();
            error.put();
        }
        let before = entries();
        assert_eq!(before.is_empty(), own == 0);
        calls();
        assert_eq!(entries(), before, "{what}");
    }
    let _cleared = ErrorStack::get();
}

fn device() -> Device {
    Device::builder().engine(OpenSsl::new().unwrap()).build()
}

#[test]
fn of_opening_and_listing() {
    keeps_entries("engine", || {
        let engine = OpenSsl::new().unwrap();
        assert!(Engine::capabilities(&engine).len() > 20);
        assert!(engine.public_key().unwrap().capabilities().len() > 20);
        let device = Device::builder().engine(engine).build();
        let des = device.session(Transform::encrypt(Cipher::DesCbc, &[0x31; 8]));
        drop(des);
    });
}

/// More failures than the queue has room for, and successes.
#[test]
fn of_messages_that_are_forged() {
    let device = device();
    let capabilities = device.engines().next().unwrap().capabilities();
    let is_offered = |aead: &&Aead| offers(capabilities, Algorithm::Aead(**aead));
    for aead in Aead::ALL.iter().filter(is_offered) {
        let key = [1; 32];
        let seal = device.session(Transform::seal(*aead, &key)).unwrap();
        let open = device.session(Transform::open(*aead, &key)).unwrap();
        let iv = vec![2; open.iv_len()];
        keeps_entries(Algorithm::Aead(*aead).row().name, || {
            let mut queue = device.queue_pair(1);
            let mut data = [[3; 40]; 20];
            let mut tag = [0; 16];
            let mut ops = [Op::new(&seal, Buffer::in_place(&mut data[0]))
                .iv(&iv)
                .tag(&mut tag)];
            let _looked_at = queue.process(&mut ops);
            assert_eq!(ops[0].status(), Status::Success);
            let mut ops: Vec<_> = data
                .iter_mut()
                .map(|data| {
                    Op::new(&open, Buffer::in_place(data))
                        .iv(&iv)
                        .expected_tag(&tag)
                })
                .collect();
            let _looked_at = queue.process(&mut ops);
            assert_eq!(ops[0].status(), Status::Success);
            let forged = &ops[1..];
            assert!(forged.iter().all(|op| op.status() == Status::AuthFailed));
        });
    }
}

#[test]
fn of_keys_and_their_operations() {
    let device = device();
    let rsa = openssl::rsa::Rsa::generate(1024).unwrap();
    let secret = device
        .read_secret_key(&rsa.private_key_to_der().unwrap(), None)
        .unwrap();
    let public = secret.public_key().unwrap();
    let pkcs1 = SignatureScheme::RsaPkcs1(Hash::Sha256);
    let oaep = EncryptionScheme::RsaOaep(Oaep::of(Hash::Sha256));
    let x25519 = SecretKey::raw(KeyKind::X25519, &[7; 32]).unwrap();
    let p256 = SecretKey::ec(Curve::P256, &[7; 32], None).unwrap();
    let ed25519 = device.public_key(&SecretKey::raw(KeyKind::Ed25519, &[7; 32]).unwrap());
    // Transform, input, signature, whether it is right.
    let off_curve = [&[4][..], &[1; 64]].concat();
    let cases = [
        (
            KeyTransform::sign(pkcs1, &secret),
            b"message".to_vec(),
            vec![],
            true,
        ),
        (
            KeyTransform::verify(pkcs1, &public),
            b"message".to_vec(),
            vec![1; 128],
            false,
        ),
        (
            KeyTransform::decrypt(oaep, &secret),
            vec![1; 128],
            vec![],
            false,
        ),
        (
            KeyTransform::decrypt(EncryptionScheme::RsaPkcs1, &secret),
            vec![1; 128],
            vec![],
            true,
        ),
        (KeyTransform::derive(&x25519), vec![9; 32], vec![], true),
        (KeyTransform::derive(&x25519), vec![0; 32], vec![], false),
        (
            KeyTransform::derive(&p256),
            off_curve.clone(),
            vec![],
            false,
        ),
        (
            KeyTransform::verify(SignatureScheme::EdDsa, &ed25519.unwrap()),
            vec![1; 9],
            vec![1; 64],
            false,
        ),
        (
            KeyTransform::generate(KeyKind::Ec(Curve::P256)),
            vec![],
            vec![],
            true,
        ),
    ];
    for (transform, input, signature, right) in &cases {
        keeps_entries(&transform.spec().to_string(), || {
            let session = device.key_session(transform).unwrap();
            let mut queue = device.key_queue(1, FlushPolicy::default());
            for _ in 0..20 {
                let mut output = vec![0; session.output_len(input.len())];
                let mut second = vec![0; session.second_output_len()];
                let parts = lanelock_public_key::KeyParts {
                    input,
                    signature,
                    output: &mut output,
                    second: &mut second,
                };
                let mut ops = [KeyOp::of(&session, parts)];
                assert_eq!(queue.process(&mut ops).succeeded == 1, *right);
            }
        });
    }
    keeps_entries("keys that are none", || {
        let off = PublicKey::ec(Curve::P256, &off_curve).unwrap();
        let ecdsa = SignatureScheme::Ecdsa(Hash::Sha256);
        assert!(
            device
                .key_session(&KeyTransform::verify(ecdsa, &off))
                .is_err()
        );
        let generated = KeyTransform::generate(KeyKind::Dh(2049));
        assert!(device.key_session(&generated).is_err());
    });
}

#[test]
fn of_containers() {
    let device = device();
    let key = openssl::pkey::PKey::generate_ed25519().unwrap();
    let cipher = openssl::symm::Cipher::aes_128_cbc();
    let encrypted = key
        .private_key_to_pem_pkcs8_passphrase(cipher, b"open")
        .unwrap();
    let plain = key.private_key_to_pem_pkcs8().unwrap();
    keeps_entries("containers", || {
        assert!(device.read_secret_key(&plain, None).is_ok());
        assert!(device.read_secret_key(&encrypted, Some(b"open")).is_ok());
        assert!(device.read_secret_key(&encrypted, Some(b"shut")).is_err());
        assert!(device.read_secret_key(&encrypted, None).is_err());
        assert!(device.read_secret_key(b"no key", None).is_err());
        assert!(device.read_public_key(&plain[30..]).is_err());
        assert!(
            device
                .read_public_key(&key.public_key_to_pem().unwrap())
                .is_ok()
        );
    });
}
