//! ChaCha20 and ChaCha20-Poly1305.

#![allow(unsafe_code)] // kernels take raw memory

use std::ptr;

use lanelock_kernels::chacha::{
    AeadJob, CipherJob, ExtendedKeys, Kernels, Key, NONCE, TAG, TagStream, X_NONCE, cipher_many,
    open_many, seal_many,
};

use super::Row;
use crate::inputs::{Inputs, Message};
use crate::tier::Tier;

const TIERS: &[Tier] = &[Tier::Portable, Tier::Avx2, Tier::Avx512];

pub fn rows() -> Vec<Row> {
    vec![
        Row::new("ChaCha20", TIERS, cipher),
        Row::new("HChaCha20, then ChaCha20", TIERS, extended),
        Row::new("ChaCha20-Poly1305 seal", TIERS, seal),
        Row::new("ChaCha20-Poly1305 open", TIERS, open),
        Row::new("ChaCha20-Poly1305 tag in parts", TIERS, tag_in_parts),
    ]
}

fn kernels(tier: Tier) -> Kernels {
    Kernels::of(tier.machine().expect("a tier of the row that can run"))
}

fn key(bytes: &[u8]) -> Key {
    Key::new(bytes.try_into().expect("32 bytes"))
}

fn nonce(message: &Message) -> [u8; NONCE] {
    *message.iv.first_chunk().expect("16 bytes")
}

fn cipher(tier: Tier, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let mut outputs = Vec::new();
    for mut burst in inputs.bursts(32, 1, 0) {
        let keys: Vec<_> = burst.iter().map(|message| key(&message.key)).collect();
        apply(tier, &keys, &mut burst);
        outputs.extend(burst.into_iter().map(|message| message.data));
    }
    outputs
}

fn extended(tier: Tier, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let mut outputs = derived::<1>(tier, inputs, 1);
    outputs.extend(derived::<32>(tier, inputs, 11));
    outputs
}

fn derived<const N: usize>(tier: Tier, inputs: &mut Inputs, count: usize) -> Vec<Vec<u8>> {
    let message = |_| Message {
        key: inputs.secret_bytes(32),
        iv: [5; 16],
        aad: Vec::new(),
        data: inputs.secret_bytes(200),
    };
    let mut burst: Vec<_> = (0..count).map(message).collect();
    let keys: Vec<_> = burst.iter().map(|message| key(&message.key)).collect();
    let messages = keys.iter().map(|key| (key, &[9; X_NONCE]));
    let derived: [Key; N] = ExtendedKeys::new(&kernels(tier), messages).into();
    apply(tier, &derived[..count], &mut burst);
    burst.into_iter().map(|message| message.data).collect()
}

fn apply(tier: Tier, keys: &[Key], burst: &mut [Message]) {
    let job = |(message, key)| {
        let message: &mut Message = message;
        CipherJob {
            key,
            nonce: nonce(message),
            counter: 1,
            input: message.data.as_ptr(),
            output: message.data.as_mut_ptr(),
            len: message.data.len(),
        }
    };
    let jobs: Vec<_> = burst.iter_mut().zip(keys).map(job).collect();
    // SAFETY: each message is a vector of its own, in place.
    unsafe { cipher_many(&kernels(tier), &jobs) };
}

fn seal(tier: Tier, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let mut outputs = Vec::new();
    for mut burst in inputs.bursts(32, 1, 0) {
        let tags = turn(tier, &mut burst, None);
        outputs.extend(burst.into_iter().map(|message| message.data));
        outputs.extend(tags.map(|(tag, _)| tag.to_vec()));
    }
    outputs
}

/// Seals in public, then opens with a secret key; one tag in three is wrong.
fn open(tier: Tier, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let mut outputs = Vec::new();
    for mut burst in Inputs::plain().bursts(32, 1, 1) {
        let mut tags: Vec<_> = turn(tier, &mut burst, None).map(|(tag, _)| tag).collect();
        tags.iter_mut().step_by(3).for_each(|tag| tag[15] ^= 1);
        for message in &mut burst {
            message.key = inputs.hide(std::mem::take(&mut message.key));
        }
        let verified = turn(tier, &mut burst, Some(&tags));
        // The verdicts are public; what did not verify is the ciphertext still.
        for (i, (message, (_, verified))) in burst.into_iter().zip(verified).enumerate() {
            assert_eq!(verified, i % 3 != 0, "verdict of message {i}");
            if verified {
                outputs.push(message.data);
            }
        }
    }
    outputs
}

/// Seals, or opens if there are tags to compare; returns the tags and verdicts.
fn turn(
    tier: Tier,
    burst: &mut [Message],
    expected: Option<&[[u8; TAG]]>,
) -> impl Iterator<Item = ([u8; TAG], bool)> + use<> {
    let keys: Vec<_> = burst.iter().map(|message| key(&message.key)).collect();
    let job = |(i, message): (usize, &mut Message)| AeadJob {
        key: &keys[i],
        nonce: nonce(message),
        aad: ptr::from_ref(message.aad.as_slice()),
        input: message.data.as_ptr(),
        output: message.data.as_mut_ptr(),
        len: message.data.len(),
        tag: expected.map_or([0; TAG], |tags| tags[i]),
        verified: false,
    };
    let mut jobs: Vec<_> = burst.iter_mut().enumerate().map(job).collect();
    // SAFETY: each message is a vector of its own, in place.
    unsafe {
        match expected {
            None => seal_many(&kernels(tier), &mut jobs),
            Some(_) => open_many(&kernels(tier), &mut jobs),
        }
    }
    let done: Vec<_> = jobs.iter().map(|job| (job.tag, job.verified)).collect();
    done.into_iter()
}

fn tag_in_parts(tier: Tier, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let key = key(&inputs.secret_bytes(32));
    let mut stream = TagStream::new(&kernels(tier), &key, &[3; NONCE]);
    stream.aad(&inputs.secret_bytes(21));
    for len in [5, 64, 11, 1, 400] {
        stream.text(&inputs.secret_bytes(len));
    }
    vec![stream.finish().to_vec()]
}
