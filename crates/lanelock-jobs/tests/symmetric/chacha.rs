//! ChaCha20 from any counter, the derivation of XChaCha20, and tags in parts.

#![allow(unsafe_code)] // the jobs hold raw memory

use lanelock_jobs::per_tier;
use lanelock_jobs::reference::chacha as reference;
use lanelock_jobs::testing::{Random, on_all};
use lanelock_kernels::Machine;
use lanelock_kernels::chacha::{
    AeadJob, CipherJob, ExtendedKeys, Kernels, Key, NONCE, TAG, TagStream, X_NONCE, cipher_many,
    extended_nonce, open_many, seal_many,
};

/// Messages that the tests try in one call, above one chunk.
const BURST: usize = 40;

/// ChaCha20 alone, from any counter, the wrap of the counter among them.
fn cipher(kernels: &Kernels) {
    let mut random = Random::new(14);
    for round in 0..80 {
        let count = 1 + random.below(BURST);
        let mut texts = Vec::new();
        let mut expected = Vec::new();
        let mut setup = Vec::new();
        for _ in 0..count {
            let len = random.below([65, 300, 3000][round % 3]);
            let (key, nonce, text) = (random.bytes(32), random.bytes(NONCE), random.bytes(len));
            let counter = [0, 1, u32::MAX - 20][random.below(3)];
            expected.push(reference::chacha20(&key, counter, &nonce, &text));
            setup.push((Key::new(&key.try_into().unwrap()), nonce, counter));
            texts.push(text);
        }
        let mut jobs = Vec::new();
        for (text, (key, nonce, counter)) in texts.iter_mut().zip(&setup) {
            let nonce = nonce.as_slice().try_into().unwrap();
            let (output, counter, len) = (text.as_mut_ptr(), *counter, text.len());
            jobs.push(CipherJob {
                key,
                nonce,
                counter,
                input: output.cast_const(),
                output,
                len,
            });
        }
        // SAFETY: every text is its own memory.
        unsafe { cipher_many(kernels, &jobs) };
        assert!(texts == expected, "{}, round {round}", kernels.name());
    }
}

/// One message of each number of blocks that runs by itself, and a bit beyond.
fn alone(kernels: &Kernels) {
    let mut random = Random::new(16);
    let around = |blocks: usize| [64 * blocks, 64 * blocks + 1, 64 * blocks + 63];
    for len in (0..=20).flat_map(around) {
        let counter = [1, u32::MAX - 9][random.below(2)];
        let (key, nonce, text) = (random.bytes(32), random.bytes(NONCE), random.bytes(len));
        let mut out = vec![0; len];
        let job = CipherJob {
            key: &Key::new(key.as_slice().try_into().unwrap()),
            nonce: nonce.as_slice().try_into().unwrap(),
            counter,
            input: text.as_ptr(),
            output: out.as_mut_ptr(),
            len,
        };
        // SAFETY: two memories of `len` bytes.
        unsafe { cipher_many(kernels, &[job]) };
        let expected = reference::chacha20(&key, counter, &nonce, &text);
        assert!(out == expected, "{}, {len} bytes", kernels.name());
    }
}

/// A message that is sealed and opened in one pass, of each number of blocks of keystream and a bit
/// around: in place or not, its tag right or wrong.
fn passes(kernels: &Kernels) {
    let mut random = Random::new(17);
    let around = |blocks: usize| {
        [
            64 * blocks - 1,
            64 * blocks,
            64 * blocks + 1,
            64 * blocks + 17,
        ]
    };
    for len in (1..=42).flat_map(around).chain([0, 1, 15, 16, 17]) {
        let aad_len = [0, 1, 16, 21, 32, 100][random.below(6)];
        let aad = random.bytes(aad_len);
        let (key, nonce, text) = (random.bytes(32), random.bytes(NONCE), random.bytes(len));
        let (sealed, tag) = reference::seal(&key, &nonce, &aad, &text);
        let key = Key::new(key.as_slice().try_into().unwrap());
        let nonce: [u8; NONCE] = nonce.try_into().unwrap();
        let run = |input: &[u8], tag: [u8; TAG], in_place: bool, seals: bool| {
            let mut out = if in_place {
                input.to_vec()
            } else {
                vec![0xcc; len]
            };
            let output = out.as_mut_ptr();
            let mut job = AeadJob {
                key: &key,
                nonce,
                aad: &raw const aad[..],
                input: if in_place {
                    output.cast_const()
                } else {
                    input.as_ptr()
                },
                output,
                len,
                tag,
                verified: seals,
            };
            let jobs = core::slice::from_mut(&mut job);
            let many = if seals { seal_many } else { open_many };
            // SAFETY: memories of `len` bytes, the same or disjoint.
            unsafe { many(kernels, jobs) };
            (job.verified, job.tag, out)
        };
        let what = || format!("{}, {len} and {} bytes", kernels.name(), aad.len());
        for in_place in [false, true] {
            let done = run(&text, [0; TAG], in_place, true);
            assert!(done == (true, tag, sealed.clone()), "seal: {}", what());
            let done = run(&sealed, tag, in_place, false);
            assert!(done == (true, tag, text.clone()), "open: {}", what());

            let mut forged = (tag, sealed.clone());
            match forged.1.get_mut(random.below(len + 1)) {
                Some(byte) => *byte ^= 0x10,
                None => forged.0[random.below(TAG)] ^= 0x10,
            }
            let (verified, _, left) = run(&forged.1, forged.0, in_place, false);
            let untouched = if in_place { forged.1 } else { vec![0xcc; len] };
            let no_plaintext = left == untouched || left.iter().all(|&byte| byte == 0);
            assert!(!verified && no_plaintext, "forged: {}", what());
        }
    }
}

/// Bursts of every size up to more than a chunk, of messages of one length or of many, opened with some
/// forged among them: what is not authentic stays as it was.
fn forged(kernels: &Kernels) {
    let mut random = Random::new(18);
    for count in 1..=BURST {
        let most = [40, 200, 700, 1500, 5000][random.below(5)];
        let (one_length, sealed_in_place) = (random.below(2) == 0, random.below(2) == 0);
        let mut messages = Vec::new();
        for _ in 0..count {
            let len = if one_length {
                most
            } else {
                random.below(most + 1)
            };
            let (key, nonce, text) = (random.bytes(32), random.bytes(NONCE), random.bytes(len));
            let aad_len = random.below(40);
            let aad = random.bytes(aad_len);
            let (sealed, tag) = reference::seal(&key, &nonce, &aad, &text);
            let key = Key::new(&key.try_into().unwrap());
            let nonce: [u8; NONCE] = nonce.try_into().unwrap();
            messages.push((key, nonce, aad, text, sealed, tag));
        }
        let mut jobs = Vec::new();
        let mut outputs: Vec<Vec<u8>> = Vec::new();
        for (key, nonce, aad, text, ..) in &messages {
            outputs.push(text.clone());
            let output = outputs.last_mut().unwrap().as_mut_ptr();
            let input = if sealed_in_place {
                output.cast_const()
            } else {
                text.as_ptr()
            };
            jobs.push(AeadJob {
                key,
                nonce: *nonce,
                aad: &raw const aad[..],
                input,
                output,
                len: text.len(),
                tag: [0; TAG],
                verified: false,
            });
        }
        // SAFETY: every output is memory of its own, the vectors' heap.
        unsafe { seal_many(kernels, &mut jobs) };
        let what = || format!("{}, {count} messages of up to {most} bytes", kernels.name());
        for (job, (output, (.., sealed, tag))) in jobs.iter().zip(outputs.iter().zip(&messages)) {
            assert!(job.tag == *tag && output == sealed, "seal: {}", what());
        }
        let is_forged: Vec<bool> = (0..count).map(|_| random.below(4) == 0).collect();
        for (job, forged) in jobs.iter_mut().zip(&is_forged) {
            job.input = job.output;
            job.tag[random.below(TAG)] ^= u8::from(*forged) << random.below(8);
        }
        // SAFETY: as above.
        unsafe { open_many(kernels, &mut jobs) };
        for (i, (_, _, _, text, sealed, _)) in messages.iter().enumerate() {
            let (verified, left) = (jobs[i].verified, &outputs[i]);
            assert_eq!(verified, !is_forged[i], "message {i}: {}", what());
            let zeros = left.iter().all(|&byte| byte == 0);
            match verified {
                true => assert!(left == text, "open message {i}: {}", what()),
                false => assert!(left == sealed || zeros, "forged message {i}: {}", what()),
            }
        }
    }
}

/// The derivation of XChaCha20: one key alone, and some to all of those that run together.
fn extended(kernels: &Kernels) {
    let mut random = Random::new(15);
    derives::<1>(kernels, &mut random, 1);
    for count in 0..=32 {
        derives::<32>(kernels, &mut random, count);
    }
}

fn derives<const N: usize>(kernels: &Kernels, random: &mut Random, count: usize) {
    let mut setup = Vec::new();
    for _ in 0..count {
        let (key, nonce) = (random.bytes(32), random.bytes(X_NONCE));
        let whole: [u8; X_NONCE] = nonce.as_slice().try_into().unwrap();
        let nonce_of_it = [&[0; 4][..], &nonce[16..]].concat();
        assert_eq!(extended_nonce(&whole).as_slice(), nonce_of_it);
        let subkey = reference::hchacha20(&key, &nonce[..16]);
        setup.push((Key::new(&key.try_into().unwrap()), whole, subkey));
    }
    let messages = setup.iter().map(|(key, nonce, _)| (key, nonce));
    let keys = ExtendedKeys::<N>::new(kernels, messages);
    assert_eq!(keys.iter().len(), N);
    for (key, (_, _, subkey)) in keys.iter().zip(&setup) {
        let text = random.bytes(100);
        let mut out = vec![0; 100];
        let job = CipherJob {
            key,
            nonce: [7; NONCE],
            counter: 1,
            input: text.as_ptr(),
            output: out.as_mut_ptr(),
            len: 100,
        };
        // SAFETY: two memories of 100 bytes.
        unsafe { cipher_many(kernels, &[job]) };
        let expected = reference::chacha20(subkey, 1, &[7; NONCE], &text);
        assert!(out == expected, "{}, {count} keys", kernels.name());
    }
}

#[test]
fn every_split_gives_the_tag_of_the_whole() {
    let bytes: Vec<u8> = (0..=255).collect();
    let (key, nonce) = ([7; 32], [9; 12]);
    for (aad_len, len) in [(0, 0), (0, 5), (5, 0), (13, 100), (16, 64), (33, 17)] {
        let (aad, text) = (&bytes[..aad_len], &bytes[40..][..len]);
        let (sealed, tag) = reference::seal(&key, &nonce, aad, text);
        for first in 0..=aad_len.max(len) {
            let kernels = Kernels::of(Machine::PORTABLE);
            let mut stream = TagStream::new(&kernels, &Key::new(&key), &nonce);
            let (front, back) = aad.split_at(first.min(aad_len));
            stream.aad(front);
            stream.aad(back);
            let (front, back) = sealed.split_at(first.min(len));
            stream.text(front);
            stream.text(back);
            assert_eq!(stream.finish(), tag, "{aad_len} {len} {first}");
        }
    }
}

macro_rules! suite {
    ($($test:ident)*) => {$(
        mod $test {
            use super::{Kernels, on_all, per_tier};

            per_tier!(@tiers |tier| {
                on_all(tier, |machine| {
                    for machine in machine.paces() {
                        super::$test(&Kernels::of(machine));
                    }
                });
            });
        }
    )*};
}

suite!(cipher alone passes forged extended);
