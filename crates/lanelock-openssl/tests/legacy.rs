//! The legacy provider, a file, is opened for what needs it and for nothing else: by then a process
//! may have changed its root, or be where it must not wait for a disk. Alone in its process, whose
//! mappings it looks at.

#![allow(clippy::unwrap_used, missing_docs)] // a test

use lanelock_core::{
    Aead, Algorithm, Buffer, Cipher, Device, Hash, Op, Session, Status, Transform,
};
use lanelock_openssl::OpenSsl;
use lanelock_public_key::{
    Curve, FlushPolicy, KeyDevice, KeyKind, KeyOp, KeyTransform, SecretKey, SignatureScheme,
};

fn legacy_is_mapped() -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains("libc"), "{maps}");
    maps.contains("/legacy.so")
}

fn run(device: &Device, session: &Session, iv: &[u8]) {
    let (mut data, mut tag) = ([7; 32], [0; 16]);
    let mut op = Op::new(session, Buffer::in_place(&mut data)).iv(iv);
    if session.tag_len() > 0 {
        op = op.tag(&mut tag);
    }
    let mut ops = [op];
    let _looked_at = device.queue_pair(1).process(&mut ops);
    assert_eq!(ops[0].status(), Status::Success, "{:?}", ops[0].error());
}

fn sign(device: &Device, scheme: SignatureScheme, key: &SecretKey) {
    let session = device
        .key_session(&KeyTransform::sign(scheme, key))
        .unwrap();
    let mut signature = vec![0; session.output_len(7)];
    let mut ops = [KeyOp::sign(&session, b"message", &mut signature)];
    let mut queue = device.key_queue(1, FlushPolicy::default());
    assert_eq!(queue.process(&mut ops).succeeded, 1);
}

#[test]
fn the_legacy_provider_is_loaded_for_what_needs_it_alone() {
    let device = Device::builder().engine(OpenSsl::new().unwrap()).build();
    let cbc = device.session(Transform::encrypt(Cipher::AesCbc, &[1; 16]));
    run(&device, &cbc.unwrap(), &[2; 16]);
    let triple = device.session(Transform::encrypt(Cipher::TripleDesCbc, &[1; 24]));
    run(&device, &triple.unwrap(), &[2; 8]);
    let gcm = device.session(Transform::seal(Aead::AesGcm, &[1; 16]));
    run(&device, &gcm.unwrap(), &[2; 12]);
    let rsa = openssl::rsa::Rsa::generate(1024).unwrap();
    let rsa = device.read_secret_key(&rsa.private_key_to_der().unwrap(), None);
    sign(
        &device,
        SignatureScheme::RsaPkcs1(Hash::Sha256),
        &rsa.unwrap(),
    );
    let ec = SecretKey::ec(Curve::P256, &[7; 32], None).unwrap();
    sign(&device, SignatureScheme::Ecdsa(Hash::Sha256), &ec);
    let ed25519 = SecretKey::raw(KeyKind::Ed25519, &[7; 32]).unwrap();
    sign(&device, SignatureScheme::EdDsa, &ed25519);
    assert!(!legacy_is_mapped());

    match device.session(Transform::encrypt(Cipher::DesCbc, &[0x31; 8])) {
        Ok(des) => {
            run(&device, &des, &[2; 8]);
            // Built into a libcrypto that is linked statically.
            assert!(legacy_is_mapped() || cfg!(feature = "vendored"));
        }
        Err(error) => {
            println!("without single DES: no legacy provider is installed");
            assert!(error.to_string().contains("does not have it"), "{error}");
        }
    }
    let engine = device.engines().next().unwrap();
    let listed = engine
        .capabilities()
        .iter()
        .any(|row| row.algorithm == Algorithm::Cipher(Cipher::DesCbc));
    assert_eq!(
        listed,
        device
            .session(Transform::decrypt(Cipher::DesCbc, &[0x31; 8]))
            .is_ok()
    );
}
