use std::prelude::v1::*;

use super::{Job, Key, decrypt_many, encrypt_many};
use crate::aes::reference::{ctr, mac};
use crate::aes::{BLOCK, EncryptKey};
use crate::machine::Machine;
use crate::testing::{Random, per_tier};

per_tier!(
    agrees_with_the_reference,
    agrees_with_the_published_vectors,
    pieces_give_the_tag_of_the_whole,
);

/// S2V and the counter mode of RFC 5297, in the words of its section 2.6.
fn reference(key: &[u8], aad: &[u8], nonce: Option<&[u8]>, data: &mut [u8]) -> [u8; BLOCK] {
    let (s2v, text) = key.split_at(key.len() / 2);
    let (s2v, text) = (EncryptKey::portable(s2v), EncryptKey::portable(text));
    let (s2v, text) = (s2v.unwrap(), text.unwrap());
    let double = |block: [u8; BLOCK]| {
        let value = u128::from_be_bytes(block);
        (value << 1 ^ if value >> 127 == 1 { 0x87 } else { 0 }).to_be_bytes()
    };
    let xor = |a: [u8; BLOCK], b: [u8; BLOCK]| core::array::from_fn(|i| a[i] ^ b[i]);
    let mut header: [u8; BLOCK] = mac::cmac(&s2v, &[0; BLOCK]);
    for component in [Some(aad), nonce].into_iter().flatten() {
        header = xor(double(header), mac::cmac(&s2v, component));
    }
    let mut last = data.to_vec();
    if last.len() < BLOCK {
        last.push(0x80);
        last.resize(BLOCK, 0);
        header = double(header);
    }
    let end = last.len() - BLOCK;
    for (byte, header) in last[end..].iter_mut().zip(header) {
        *byte ^= header;
    }
    let tag = mac::cmac(&s2v, &last);
    let mut counter = tag;
    counter[8] &= 0x7f;
    counter[12] &= 0x7f;
    ctr::apply(&text, counter, data);
    tag
}

struct Case {
    key: usize,
    aad: Vec<u8>,
    nonce: Option<Vec<u8>>,
    plain: Vec<u8>,
}

fn agrees_with_the_reference(machine: Machine) {
    let mut random = Random::new(17);
    for key_len in [32, 48, 64] {
        let keys: Vec<_> = (0..5).map(|_| random.bytes(key_len)).collect();
        let keyed: Vec<_> = keys
            .iter()
            .map(|key| Key::new(machine, key).unwrap())
            .collect();
        for count in [1, 2, 3, 16, 40, 65, 130] {
            let mut some = |most: usize| {
                let len = random.below(most);
                random.bytes(len)
            };
            let cases: Vec<_> = (0..count)
                .map(|i| Case {
                    key: some(5).len(),
                    aad: some(50),
                    nonce: (i % 3 > 0).then(|| some(129)),
                    plain: some([17, 33, 300][i % 3]),
                })
                .collect();
            burst(machine, &keys, &keyed, &cases);
        }
        let every: Vec<_> = (0..70)
            .map(|len| Case {
                key: len % 5,
                aad: random.bytes(len / 2),
                nonce: None,
                plain: random.bytes(len),
            })
            .collect();
        burst(machine, &keys, &keyed, &every);
    }
}

fn burst(machine: Machine, keys: &[Vec<u8>], keyed: &[Key], cases: &[Case]) {
    let mut texts: Vec<_> = cases.iter().map(|case| case.plain.clone()).collect();
    let jobs = |texts: &mut [Vec<u8>], tags: &[[u8; BLOCK]]| -> Vec<_> {
        let of = |((case, text), tag): ((_, &mut Vec<u8>), &_)| {
            let Case {
                key, aad, nonce, ..
            }: &Case = case;
            let mut job = Job::new(&keyed[*key], aad.as_slice(), nonce.as_deref(), *tag);
            (job.source, job.target, job.len) = (text.as_ptr(), text.as_mut_ptr(), text.len());
            job
        };
        cases.iter().zip(texts).zip(tags).map(of).collect()
    };
    let mut encrypt = jobs(&mut texts, &std::vec![[0; BLOCK]; cases.len()]);
    // SAFETY: each job has a vector of its own, in place.
    unsafe { encrypt_many(machine, &mut encrypt) };
    let mut tags: Vec<_> = encrypt.iter().map(|job| job.tag).collect();
    for ((case, text), tag) in cases.iter().zip(&texts).zip(&tags) {
        let mut expected = case.plain.clone();
        let nonce = case.nonce.as_deref();
        let expected_tag = reference(&keys[case.key], &case.aad, nonce, &mut expected);
        assert_eq!(
            (text, tag),
            (&expected, &expected_tag),
            "{}",
            case.plain.len()
        );
    }
    // One tag is wrong, and nobody else's changes.
    let right = tags.clone();
    tags[0][15] ^= 1;
    let mut decrypt = jobs(&mut texts, &tags);
    // SAFETY: as above.
    unsafe { decrypt_many(machine, &mut decrypt) };
    assert_ne!(decrypt[0].tag, tags[0]);
    for (n, job) in decrypt.iter().enumerate().skip(1) {
        assert_eq!(job.tag, right[n]);
    }
    for (case, text) in cases.iter().zip(&texts).skip(1) {
        assert_eq!(*text, case.plain);
    }
}

/// RFC 5297, A.1: deterministic, one component of additional data.
fn agrees_with_the_published_vectors(machine: Machine) {
    let key: Vec<u8> = [
        0xfffe_fdfc_fbfa_f9f8_f7f6_f5f4_f3f2_f1f0_u128.to_be_bytes(),
        0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff_u128.to_be_bytes(),
    ]
    .concat();
    let aad: Vec<u8> = (0x10..0x28).collect();
    let mut text = [
        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee,
    ];
    let key = Key::new(machine, &key).unwrap();
    let mut job = Job::new(&key, aad.as_slice(), None, [0; BLOCK]);
    (job.source, job.target, job.len) = (text.as_ptr(), text.as_mut_ptr(), text.len());
    // SAFETY: in place, on an array of that length.
    unsafe { encrypt_many(machine, core::slice::from_mut(&mut job)) };
    assert_eq!(
        u128::from_be_bytes(job.tag),
        0x8563_2d07_c6e8_f37f_950a_cd32_0a2e_cc93
    );
    let expected = [
        0x40, 0xc0, 0x2b, 0x96, 0x90, 0xc4, 0xdc, 0x04, 0xda, 0xef, 0x7f, 0x6a, 0xfe, 0x5c,
    ];
    assert_eq!(text, expected);
}

fn pieces_give_the_tag_of_the_whole(machine: Machine) {
    let mut random = Random::new(5);
    let bytes = random.bytes(48);
    let key = Key::new(machine, &bytes).unwrap();
    for len in 0..100 {
        let (aad, nonce, text) = (random.bytes(len), random.bytes(9), random.bytes(len));
        let mut stream = key.stream(machine);
        let whole = len.saturating_sub(1) / BLOCK * BLOCK;
        stream.absorb(&aad[..whole]);
        stream.end_aad(&aad[whole..]);
        stream.end_nonce(&nonce);
        let before = len.saturating_sub(BLOCK) / BLOCK * BLOCK;
        stream.absorb(&text[..before]);
        let tag = stream.end_text(&text[before..]);
        assert_eq!(
            tag,
            reference(&bytes, &aad, Some(&nonce), &mut text.clone())
        );
    }
}
