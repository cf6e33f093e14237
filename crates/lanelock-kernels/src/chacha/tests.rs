//! ChaCha20 and ChaCha20-Poly1305 on every tier against the reference: the one property suite.

#![allow(unsafe_code)] // the jobs hold raw memory

use std::vec;
use std::vec::Vec;

use super::reference;
use super::{
    AeadJob, CipherJob, ExtendedKeys, Kernels, Key, NONCE, TAG, X_NONCE, cipher_many,
    extended_nonce, open_many, seal_many,
};
use crate::Tier;
use crate::testing::{Guarded, Random, on_all};

/// Messages that the tests try in one call, above one chunk.
const BURST: usize = 40;

/// A message with what sealing it must give.
struct Case {
    key: [u8; 32],
    nonce: [u8; NONCE],
    aad: Vec<u8>,
    text: Vec<u8>,
    sealed: Vec<u8>,
    tag: [u8; TAG],
}

impl Case {
    fn new(random: &mut Random, aad: usize, len: usize) -> Self {
        let key: [u8; 32] = random.bytes(32).try_into().unwrap();
        let nonce: [u8; NONCE] = random.bytes(NONCE).try_into().unwrap();
        let (aad, text) = (random.bytes(aad), random.bytes(len));
        let (sealed, tag) = reference::seal(&key, &nonce, &aad, &text);
        Self {
            key,
            nonce,
            aad,
            text,
            sealed,
            tag,
        }
    }
}

/// Memory of one message: in place or apart, at an offset, the tail at a guard page.
struct Place {
    input: Guarded,
    output: Option<Guarded>,
    len: usize,
    at_end: bool,
}

impl Place {
    fn new(len: usize, apart: bool, at_end: bool) -> Self {
        let output = apart.then(|| Guarded::new(len));
        Self {
            input: Guarded::new(len),
            output,
            len,
            at_end,
        }
    }

    fn input(&mut self) -> &mut [u8] {
        if self.at_end {
            self.input.tail(self.len)
        } else {
            self.input.head(self.len)
        }
    }

    fn output(&mut self) -> &mut [u8] {
        let memory = self.output.as_mut().unwrap_or(&mut self.input);
        if self.at_end {
            memory.tail(self.len)
        } else {
            memory.head(self.len)
        }
    }

    /// Where to read and where to write: one pointer if in place.
    fn pointers(&mut self) -> (*const u8, *mut u8) {
        let output = self.output().as_mut_ptr();
        match self.output {
            Some(_) => (self.input().as_ptr(), output),
            None => (output.cast_const(), output),
        }
    }
}

/// Seals and opens all cases together, also with one wrong bit in some.
fn agree(kernels: &Kernels, cases: &[Case], random: &mut Random) {
    let keys: Vec<Key> = cases.iter().map(|case| Key::new(&case.key)).collect();
    let place = |(i, case): (usize, &Case)| Place::new(case.text.len(), i % 2 == 0, i % 3 != 0);
    let mut places: Vec<Place> = cases.iter().enumerate().map(place).collect();
    let mut jobs = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        places[i].input().copy_from_slice(&case.text);
        let (input, output) = places[i].pointers();
        let (key, nonce, aad) = (&keys[i], case.nonce, core::ptr::from_ref(&case.aad[..]));
        let (len, tag, verified) = (case.text.len(), [0; TAG], false);
        jobs.push(AeadJob {
            key,
            nonce,
            aad,
            input,
            output,
            len,
            tag,
            verified,
        });
    }
    // SAFETY: every place is its own memory of the text's length.
    unsafe { seal_many(kernels, &mut jobs) };
    let tags: Vec<_> = jobs.iter().map(|job| job.tag).collect();
    for (i, case) in cases.iter().enumerate() {
        let what = std::format!(
            "{}, message {i} of {}: {} + {} bytes",
            kernels.name(),
            cases.len(),
            case.aad.len(),
            case.text.len()
        );
        assert!(places[i].output() == case.sealed, "text of {what}");
        assert_eq!(tags[i], case.tag, "tag of {what}");
    }

    let mut aads: Vec<Vec<u8>> = cases.iter().map(|case| case.aad.clone()).collect();
    let wrong: Vec<bool> = cases.iter().map(|_| random.below(4) == 0).collect();
    let mut jobs = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        let mut tag = case.tag;
        places[i].input().copy_from_slice(&case.sealed);
        if wrong[i] {
            match random.below(3) {
                0 if !case.text.is_empty() => {
                    let at = random.below(case.text.len());
                    places[i].input()[at] ^= 1 << random.below(8);
                }
                1 if !case.aad.is_empty() => {
                    let at = random.below(case.aad.len());
                    aads[i][at] ^= 1 << random.below(8);
                }
                _ => tag[random.below(TAG)] ^= 1 << random.below(8),
            }
        }
        if places[i].output.is_some() {
            places[i].output().fill(0xee);
        }
        let (input, output) = places[i].pointers();
        let (key, nonce, aad) = (&keys[i], case.nonce, core::ptr::from_ref(&aads[i][..]));
        let (len, verified) = (case.text.len(), false);
        jobs.push(AeadJob {
            key,
            nonce,
            aad,
            input,
            output,
            len,
            tag,
            verified,
        });
    }
    // SAFETY: as above.
    unsafe { open_many(kernels, &mut jobs) };
    let verified: Vec<bool> = jobs.iter().map(|job| job.verified).collect();
    for (i, case) in cases.iter().enumerate() {
        assert_eq!(verified[i], !wrong[i], "{}, message {i}", kernels.name());
        if verified[i] {
            assert!(
                places[i].output() == case.text,
                "{}, message {i}",
                kernels.name()
            );
        } else if places[i].output.is_some() {
            assert!(places[i].output().iter().all(|&b| b == 0xee), "untouched");
        }
    }
}

/// Each length from 0 to 257, alone and in a burst.
fn every_length(kernels: &Kernels) {
    let mut random = Random::new(11);
    for len in 0..=257 {
        let aad = [0, 1, 13, 16, 20, 257 - len][len % 6];
        let cases: Vec<_> = (0..17).map(|_| Case::new(&mut random, aad, len)).collect();
        agree(kernels, &cases, &mut random);
        agree(kernels, &cases[..1], &mut random);
    }
}

/// Every number of messages from none to above a chunk, of unequal lengths.
fn every_occupancy(kernels: &Kernels) {
    let mut random = Random::new(12);
    for count in 0..=BURST {
        for spread in [1, 64, 200, 2500] {
            let mut cases = Vec::new();
            for _ in 0..count {
                let (aad, len) = (random.below(spread.min(300)), random.below(spread));
                cases.push(Case::new(&mut random, aad, len));
            }
            agree(kernels, &cases, &mut random);
        }
    }
}

/// Random lengths up to 64 KiB, alone and together.
fn long_messages(kernels: &Kernels) {
    let mut random = Random::new(13);
    let mut cases = Vec::new();
    for i in 0..12 {
        let (aad, len) = (random.below(4000), random.below(65537));
        cases.push(Case::new(
            &mut random,
            if i % 2 == 0 { aad } else { 16 },
            len,
        ));
    }
    agree(kernels, &cases, &mut random);
    agree(kernels, &cases[..1], &mut random);
}

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
        let case = Case::new(&mut random, 16, len);
        agree(kernels, &[case], &mut random);
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

macro_rules! suite {
    ($($module:ident $tier:ident $($test:ident)*;)*) => {$(
        mod $module {
            use super::*;

            $(
                #[test]
                fn $test() {
                    on_all(Tier::$tier, |machine| super::$test(&Kernels::of(machine)));
                }
            )*
        }
    )*};
}

suite! {
    avx512 Avx512 every_length every_occupancy long_messages cipher alone extended;
    avx2 Avx2 every_length every_occupancy long_messages cipher alone extended;
    aesni AesNi every_length every_occupancy long_messages cipher alone extended;
    portable Portable every_length every_occupancy long_messages cipher alone extended;
}
