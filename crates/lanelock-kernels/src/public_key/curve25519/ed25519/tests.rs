//! RFC 8032's vectors and OpenSSL.

use std::prelude::v1::*;
use std::vec;

use openssl::pkey::{Id, PKey};
use openssl::sign::{Signer, Verifier};

use super::super::testing::kernels;
use super::{KEY_BYTES, SIGNATURE_BYTES, Sign, SigningKey, Verify, VerifyingKey, sign, verify};
use crate::public_key::curve25519::Kernel;
use crate::testing::{Random, hex};

type Key = [u8; KEY_BYTES];
type Signature = [u8; SIGNATURE_BYTES];

fn signatures(kernel: Kernel, jobs: &[(Key, Vec<u8>)]) -> Vec<Signature> {
    let keys: Vec<_> = jobs
        .iter()
        .map(|(seed, _)| SigningKey::new(kernel, seed))
        .collect();
    let mut signatures = vec![[0; SIGNATURE_BYTES]; jobs.len()];
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(jobs)
        .zip(&mut signatures)
        .map(|((key, (_, message)), signature)| Sign {
            key,
            message,
            signature,
        })
        .collect();
    sign(kernel, &mut jobs);
    signatures
}

/// A public key, a message and a signature.
type Claim = (Key, Vec<u8>, Signature);

/// A key that is not a point verifies nothing.
fn verdicts(kernel: Kernel, claims: &[Claim]) -> Vec<bool> {
    let keys: Vec<_> = claims
        .iter()
        .map(|(key, ..)| VerifyingKey::new(key))
        .collect();
    let mut jobs: Vec<_> = keys
        .iter()
        .zip(claims)
        .filter_map(|(key, (_, message, signature))| {
            Some(Verify {
                key: key.as_ref()?,
                message,
                signature,
                valid: false,
            })
        })
        .collect();
    verify(kernel, &mut jobs);
    let mut valid = jobs.iter().map(|job| job.valid);
    keys.iter()
        .map(|key| key.is_some() && valid.next().unwrap())
        .collect()
}

fn openssl_sign(seed: &Key, message: &[u8]) -> (Key, Signature) {
    let key = PKey::private_key_from_raw_bytes(seed, Id::ED25519).unwrap();
    let mut signer = Signer::new_without_digest(&key).unwrap();
    let signature = signer.sign_oneshot_to_vec(message).unwrap();
    (
        key.raw_public_key().unwrap().try_into().unwrap(),
        signature.try_into().unwrap(),
    )
}

fn openssl_verify((key, message, signature): &Claim) -> bool {
    let key = PKey::public_key_from_raw_bytes(key, Id::ED25519).unwrap();
    let mut verifier = Verifier::new_without_digest(&key).unwrap();
    verifier.verify_oneshot(signature, message).unwrap_or(false)
}

/// RFC 8032, section 7.1: TEST 1, 2 and 3.
#[test]
fn vectors() {
    let cases = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ];
    for kernel in kernels() {
        for (seed, public, message, signature) in cases {
            let (seed, message): (Key, _) = (hex(seed).try_into().unwrap(), hex(message));
            let signature: Signature = hex(signature).try_into().unwrap();
            let public: Key = hex(public).try_into().unwrap();
            assert_eq!(*SigningKey::new(kernel, &seed).public(), public);
            assert_eq!(signatures(kernel, &[(seed, message.clone())]), [signature]);
            assert_eq!(verdicts(kernel, &[(public, message, signature)]), [true]);
        }
    }
}

/// Every number of jobs, keys and messages of their own, against OpenSSL; the signatures verified,
/// some of them after one bit of key, message or signature was changed.
#[test]
fn as_openssl_does() {
    for kernel in kernels() {
        let mut random = Random::new(9);
        for count in (0..=33).chain([65]) {
            let jobs: Vec<(Key, _)> = (0..count)
                .map(|_| {
                    let len = random.below(300);
                    (
                        random.bytes(KEY_BYTES).try_into().unwrap(),
                        random.bytes(len),
                    )
                })
                .collect();
            let expected: Vec<_> = jobs.iter().map(|(k, m)| openssl_sign(k, m)).collect();
            let found = signatures(kernel, &jobs);
            let mut claims: Vec<Claim> = Vec::new();
            for (((seed, message), (public, signature)), found) in
                jobs.into_iter().zip(expected).zip(found)
            {
                assert_eq!(*SigningKey::new(kernel, &seed).public(), public);
                assert_eq!(found, signature, "{kernel:?}, {count} jobs");
                claims.push((public, message, signature));
            }
            assert!(verdicts(kernel, &claims).iter().all(|valid| *valid));
            for (public, message, signature) in &mut claims {
                let bit = 1 << random.below(8);
                match random.below(5) {
                    0 => public[random.below(KEY_BYTES)] ^= bit,
                    1 if !message.is_empty() => {
                        let at = random.below(message.len());
                        message[at] ^= bit;
                    }
                    2 => signature[random.below(32)] ^= bit,
                    3 => signature[32 + random.below(32)] ^= bit,
                    _ => (),
                }
            }
            let expected: Vec<_> = claims.iter().map(openssl_verify).collect();
            assert_eq!(
                verdicts(kernel, &claims),
                expected,
                "{kernel:?}, {count} jobs"
            );
        }
    }
}
