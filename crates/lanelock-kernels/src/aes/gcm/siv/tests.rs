use std::prelude::v1::*;

use super::{BLOCK, Job, NONCE, Stream, decrypt_many, encrypt_many};
use crate::aes::EncryptKey;
use crate::aes::reference::encrypt_block;
use crate::machine::Machine;
use crate::testing::{Random, per_tier};

per_tier!(
    runs_any_number_of_messages_together,
    takes_texts_and_additional_data_of_any_length,
    continues_anywhere,
    counts_modulo_two_to_the_32,
);

struct Message {
    key: usize,
    nonce: [u8; NONCE],
    aad: Vec<u8>,
    text: Vec<u8>,
}

/// Seals all messages at once and compares, then opens them in the same way.
fn check(machine: Machine, keys: &[EncryptKey], messages: &[Message]) {
    let sealed: Vec<_> = messages.iter().map(|m| reference(keys, m)).collect();
    let mut texts: Vec<_> = messages.iter().map(|m| m.text.clone()).collect();
    let mut jobs: Vec<_> = messages
        .iter()
        .zip(&mut texts)
        .map(|(message, text)| job(keys, message, text))
        .collect();
    // SAFETY: each job has a text of its own, in place.
    unsafe { encrypt_many(machine, &mut jobs) };
    for (job, (_, tag)) in jobs.iter().zip(&sealed) {
        assert_eq!(job.tag, *tag, "{} bytes, {} of AAD", job.len, job.aad_len);
    }
    // SAFETY: as above.
    unsafe { decrypt_many(machine, &mut jobs) };
    for (job, (_, tag)) in jobs.iter().zip(&sealed) {
        assert_eq!(job.tag, *tag, "{} bytes, {} of AAD", job.len, job.aad_len);
    }
    drop(jobs);
    for (text, message) in texts.iter().zip(messages) {
        assert_eq!(*text, message.text);
    }
    // To other memory, which has to hold the ciphertext then.
    let mut outputs: Vec<_> = texts.iter().map(|text| vec![0; text.len()]).collect();
    let mut jobs: Vec<_> = messages
        .iter()
        .zip(texts.iter_mut().zip(&mut outputs))
        .map(|(message, (text, output))| Job {
            target: output.as_mut_ptr(),
            ..job(keys, message, text)
        })
        .collect();
    // SAFETY: each job has a text and an output of its own.
    unsafe { encrypt_many(machine, &mut jobs) };
    for (output, (ciphertext, _)) in outputs.iter().zip(&sealed) {
        assert_eq!(output, ciphertext);
    }
}

fn job<'k>(keys: &'k [EncryptKey], message: &Message, text: &mut [u8]) -> Job<'k> {
    Job {
        source: text.as_ptr(),
        target: text.as_mut_ptr(),
        len: text.len(),
        aad: message.aad.as_ptr(),
        aad_len: message.aad.len(),
        key: &keys[message.key],
        nonce: message.nonce,
        tag: [0; BLOCK],
    }
}

fn runs_any_number_of_messages_together(machine: Machine) {
    let mut random = Random::new(21);
    for bytes in [16, 32] {
        let keys = keys(machine, bytes);
        for count in 0..40 {
            for equal in [false, true] {
                let (len, aad_len) = (random.below(200), random.below(40));
                let messages: Vec<_> = (0..count)
                    .map(|_| {
                        let other = (random.below(200), random.below(40));
                        let (len, aad_len) = if equal { (len, aad_len) } else { other };
                        message(&mut random, len, aad_len)
                    })
                    .collect();
                check(machine, &keys, &messages);
            }
        }
    }
}

fn takes_texts_and_additional_data_of_any_length(machine: Machine) {
    let mut random = Random::new(22);
    for bytes in [16, 32] {
        let keys = keys(machine, bytes);
        for len in (0..150).chain([511, 512, 513, 4000]) {
            let text = message(&mut random, len, 20);
            check(machine, &keys, &[text, message(&mut random, 20, len)]);
        }
    }
}

fn continues_anywhere(machine: Machine) {
    let mut random = Random::new(23);
    let keys = keys(machine, 32);
    for _ in 0..150 {
        let (len, aad_len) = (random.below(600), random.below(100));
        let message = message(&mut random, len, aad_len);
        let (ciphertext, tag) = reference(&keys, &message);
        let mut stream = Stream::new(machine, &keys[message.key], message.nonce);
        for part in [&message.aad, &message.text] {
            let (first, rest) = part.split_at(random.below(part.len() + 1) / BLOCK * BLOCK);
            stream.absorb(first);
            stream.absorb(rest);
        }
        assert_eq!(stream.tag(aad_len, len), tag);
        let mut text = message.text.clone();
        let (first, rest) = text.split_at_mut(random.below(len + 1) / BLOCK * BLOCK);
        for part in [first, rest] {
            // SAFETY: in place, on a slice of that length.
            unsafe { stream.crypt(&tag, part.as_ptr(), part.as_mut_ptr(), part.len()) };
        }
        assert_eq!(text, ciphertext);
    }
}

/// RFC 8452, C.3: a counter that wraps leaves the rest of its block as it is.
fn counts_modulo_two_to_the_32(machine: Machine) {
    let key = EncryptKey::new(machine, &[0; 32]).unwrap();
    let mut tag = [0; BLOCK];
    tag[..4].fill(0xff);
    let mut text = [0; 1000];
    let mut stream = Stream::new(machine, &key, [0; NONCE]);
    // SAFETY: in place, on an array of that length.
    unsafe { stream.crypt(&tag, text.as_ptr(), text.as_mut_ptr(), 1000) };
    let mut expected = [0; 1000];
    let (_, encryption) = derived(&key, [0; NONCE]);
    crypt(&encryption, tag, &mut expected);
    assert_eq!(text, expected);
}

fn message(random: &mut Random, len: usize, aad_len: usize) -> Message {
    Message {
        key: random.below(40),
        nonce: *random.block().first_chunk().unwrap(),
        aad: random.bytes(aad_len),
        text: random.bytes(len),
    }
}

fn keys(machine: Machine, bytes: usize) -> Vec<EncryptKey> {
    let mut random = Random::new(11);
    (0..40)
        .map(|_| EncryptKey::new(machine, &random.bytes(bytes)).unwrap())
        .collect()
}

/// Ciphertext and tag of RFC 8452, 4, with POLYVAL bit by bit.
fn reference(keys: &[EncryptKey], message: &Message) -> (Vec<u8>, [u8; BLOCK]) {
    let (authentication, encryption) = derived(&keys[message.key], message.nonce);
    let key = u128::from_le_bytes(authentication);
    let lengths = [&message.aad, &message.text].map(|part| (8 * part.len() as u64).to_le_bytes());
    let parts = [&message.aad, &message.text, lengths.as_flattened()];
    let blocks = parts.into_iter().flat_map(|part| part.chunks(BLOCK));
    let sum = blocks.fold(0, |sum, chunk| {
        let mut block = [0; BLOCK];
        block[..chunk.len()].copy_from_slice(chunk);
        dot(sum ^ u128::from_le_bytes(block), key)
    });
    let mut block = sum.to_le_bytes();
    for (byte, nonce) in block.iter_mut().zip(message.nonce) {
        *byte ^= nonce;
    }
    block[15] &= 0x7f;
    let tag = encrypt_block(&encryption, block);
    let mut text = message.text.clone();
    crypt(&encryption, tag, &mut text);
    (text, tag)
}

fn derived(key: &EncryptKey, nonce: [u8; NONCE]) -> ([u8; BLOCK], EncryptKey) {
    let bytes: Vec<u8> = (0_u32..)
        .take(2 + key.size().bytes() / 8)
        .flat_map(|number| {
            let mut block = [0; BLOCK];
            block[..4].copy_from_slice(&number.to_le_bytes());
            block[4..].copy_from_slice(&nonce);
            encrypt_block(key, block)[..8].to_vec()
        })
        .collect();
    let (authentication, encryption) = bytes.split_first_chunk().unwrap();
    (*authentication, EncryptKey::portable(encryption).unwrap())
}

fn crypt(key: &EncryptKey, tag: [u8; BLOCK], text: &mut [u8]) {
    let mut counter = u32::from_le_bytes(*tag.first_chunk().unwrap());
    for chunk in text.chunks_mut(BLOCK) {
        let mut block = tag;
        block[15] |= 0x80;
        block[..4].copy_from_slice(&counter.to_le_bytes());
        counter = counter.wrapping_add(1);
        for (byte, stream) in chunk.iter_mut().zip(encrypt_block(key, block)) {
            *byte ^= stream;
        }
    }
}

/// RFC 8452, 3: multiplied, and divided by x 128 times.
fn dot(a: u128, b: u128) -> u128 {
    (0..128).fold(0, |sum, bit| {
        let sum = sum ^ if b >> bit & 1 == 1 { a } else { 0 };
        (sum >> 1) ^ if sum & 1 == 1 { 0xe1 << 120 } else { 0 }
    })
}
