//! ML-KEM (FIPS 203) and ML-DSA (FIPS 204), which libcrypto has from 3.5 on: `make openssl35` runs
//! these tests with such a one.

use lanelock_core::engine::Engine;
use lanelock_openssl::OpenSsl;
use lanelock_public_key::engine::PublicKeyEngine;
use lanelock_public_key::{
    KeyDevice, KeyKind, KeyReason, KeyTransform, MlDsa, MlKem, PublicKey, SecretKey,
    SignatureScheme,
};

use super::{device, pair, run};

/// Whether the loaded libcrypto has the kinds, as its version says it should.
fn are_offered() -> bool {
    let engine = OpenSsl::new().unwrap();
    let version = engine.version();
    let number = version.split(' ').nth(1).unwrap_or_default();
    let mut parts = number.split('.').map(|part| part.parse::<u32>().unwrap());
    let expected = (parts.next(), parts.next()) >= (Some(3), Some(5));
    let offered = engine.public_key().unwrap().capabilities();
    for &set in MlKem::ALL {
        let kind = KeyKind::MlKem(set);
        let found = offered.iter().filter(|row| row.spec.kind == kind).count();
        assert_eq!(found, if expected { 3 } else { 0 }, "{kind}, {version}");
    }
    for &set in MlDsa::ALL {
        let kind = KeyKind::MlDsa(set);
        let found = offered.iter().filter(|row| row.spec.kind == kind).count();
        assert_eq!(found, if expected { 3 } else { 0 }, "{kind}, {version}");
    }
    expected
}

#[test]
fn a_changed_ciphertext_gives_another_secret_and_a_short_one_none() {
    if !are_offered() {
        return; // told as absent, which is checked above
    }
    let device = device();
    for &set in MlKem::ALL {
        let (secret, public) = pair(&device, KeyKind::MlKem(set));
        let encapsulate = KeyTransform::encapsulate(&public);
        let (mut ciphertext, shared) = run(&device, &encapsulate, &[], &[]).unwrap();
        assert_eq!((ciphertext.len(), shared.len()), (set.ciphertext_len(), 32));
        let decapsulate = KeyTransform::decapsulate(&secret);
        let (found, _) = run(&device, &decapsulate, &ciphertext, &[]).unwrap();
        assert_eq!(found, shared);
        ciphertext[7] ^= 1;
        let (implicit, _) = run(&device, &decapsulate, &ciphertext, &[]).unwrap();
        assert_ne!(implicit, shared);
        let (again, _) = run(&device, &decapsulate, &ciphertext, &[]).unwrap();
        assert_eq!(again, implicit, "implicit rejection is no accident");
        let short = run(&device, &decapsulate, &ciphertext[1..], &[]).unwrap_err();
        assert_eq!(short, KeyReason::CiphertextLength);
    }
}

#[test]
fn a_seed_is_the_key_that_it_expands_to() {
    if !are_offered() {
        return;
    }
    let device = device();
    for &set in MlKem::ALL {
        let kind = KeyKind::MlKem(set);
        let seed: Vec<u8> = (0..64).collect();
        let secret = SecretKey::raw(kind, &seed).unwrap();
        let public = device.public_key(&secret).unwrap();
        let encapsulate = KeyTransform::encapsulate(&public);
        let (ciphertext, shared) = run(&device, &encapsulate, &[], &[]).unwrap();
        let decapsulate = KeyTransform::decapsulate(&secret);
        let (found, _) = run(&device, &decapsulate, &ciphertext, &[]).unwrap();
        assert_eq!(found, shared, "{kind}");
        assert!(SecretKey::raw(kind, &seed[1..]).is_err());
        let garbage = PublicKey::raw(kind, &vec![0xff; set.public_len()]).unwrap();
        // Coefficients are below 3329 (FIPS 203, section 7.2).
        let refused = device.key_session(&KeyTransform::encapsulate(&garbage));
        assert!(refused.is_err(), "{kind}");
    }
    for &set in MlDsa::ALL {
        let kind = KeyKind::MlDsa(set);
        let secret = SecretKey::raw(kind, &[9; 32]).unwrap();
        let public = device.public_key(&secret).unwrap();
        let sign = KeyTransform::sign(SignatureScheme::MlDsa, &secret);
        let (signature, _) = run(&device, &sign, b"a message", &[]).unwrap();
        assert_eq!(signature.len(), set.signature_len(), "{kind}");
        let verify = KeyTransform::verify(SignatureScheme::MlDsa, &public);
        run(&device, &verify, b"a message", &signature).unwrap();
    }
}

#[test]
fn a_context_is_part_of_what_ml_dsa_signs() {
    if !are_offered() {
        return;
    }
    let device = device();
    for &set in MlDsa::ALL {
        let (secret, public) = pair(&device, KeyKind::MlDsa(set));
        let sign = KeyTransform::sign(SignatureScheme::MlDsa, &secret).context(b"one");
        let verify = KeyTransform::verify(SignatureScheme::MlDsa, &public);
        let (signature, _) = run(&device, &sign, b"a message", &[]).unwrap();
        let with = |context: &[u8]| {
            let verify = verify.clone().context(context);
            run(&device, &verify, b"a message", &signature)
        };
        assert!(with(b"one").is_ok());
        assert_eq!(with(b"two").unwrap_err(), KeyReason::WrongSignature);
        assert_eq!(with(b"").unwrap_err(), KeyReason::WrongSignature);
    }
}
