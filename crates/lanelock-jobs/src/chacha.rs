//! ChaCha20, ChaCha20-Poly1305, and what XChaCha20 derives keys for.

use core::ptr;

use lanelock_kernels::Machine;
use lanelock_kernels::chacha::{
    AeadJob, CipherJob, ExtendedKeys, KEY, Kernels, Key, NONCE, TAG, TagStream, X_NONCE,
    cipher_many, extended_nonce, open_many, seal_many,
};

use super::{Burst, Given, Message, Registers, Row, Then, table};
use crate::reference::chacha as reference;

table! {
    cipher,
    extended,
    seal: aead("ChaCha20-Poly1305 seal", NONCE, false),
    open: aead("ChaCha20-Poly1305 open", NONCE, true),
    extended_seal: aead("XChaCha20-Poly1305 seal", X_NONCE, false),
    extended_open: aead("XChaCha20-Poly1305 open", X_NONCE, true),
    tag_in_parts,
}

fn row(
    name: &str,
    iv: usize,
    prepare: impl Fn(Machine, &Burst<'_>, Then<'_>) + 'static,
    reference: impl Fn(&[u8], &Given<'_>, &mut [u8]) -> Vec<u8> + 'static,
) -> Row {
    Row {
        keys: vec![KEY],
        ivs: vec![iv],
        ..Row::new(name, Registers::Words, prepare, reference)
    }
}

fn key(bytes: &[u8]) -> Key {
    Key::new(bytes.try_into().expect("32 bytes"))
}

/// IVs are a counter and a nonce, as OpenSSL has them.
fn cipher() -> Row {
    let split = |given: &Given<'_>| {
        let (counter, nonce) = given.iv.split_first_chunk().expect("16 bytes");
        (
            u32::from_le_bytes(*counter),
            nonce.try_into().expect("12 bytes"),
        )
    };
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let (kernels, keys) = (Kernels::of(machine), burst.keys(key));
        burst.each_time(
            then,
            |message| {
                let (counter, nonce) = split(&message.given);
                cipher_job(message, &keys[message.given.key], nonce, counter)
            },
            // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
            |jobs| unsafe { cipher_many(&kernels, jobs) },
            |_, _| Vec::new(),
        );
    };
    row("ChaCha20", 16, prepare, move |key, given, text| {
        let (counter, nonce) = split(given);
        text.copy_from_slice(&reference::chacha20(key, counter, &nonce, text));
        Vec::new()
    })
}

fn cipher_job<'k>(
    message: &Message<'_>,
    key: &'k Key,
    nonce: [u8; NONCE],
    counter: u32,
) -> CipherJob<'k> {
    CipherJob {
        key,
        nonce,
        counter,
        input: message.source,
        output: message.target,
        len: message.len,
    }
}

/// The keys derived for as many messages as are derived for together.
fn derived(kernels: &Kernels, keys: &[Key], messages: &[&Message<'_>]) -> Vec<Key> {
    let nonces: Vec<[u8; X_NONCE]> = messages.iter().map(|m| m.given.iv()).collect();
    let of_keys = messages.iter().map(|message| &keys[message.given.key]);
    let pairs = of_keys.zip(&nonces);
    if messages.len() == 1 {
        return <[Key; 1]>::from(ExtendedKeys::new(kernels, pairs)).into();
    }
    <[Key; TOGETHER]>::from(ExtendedKeys::new(kernels, pairs)).into()
}

/// Messages whose keys are derived together.
const TOGETHER: usize = 32;

/// The key and the nonce under which an extended message is one of the reference.
fn derived_reference(key: &[u8], given: &Given<'_>) -> (Vec<u8>, [u8; NONCE]) {
    let nonce = [&[0; 4], &given.iv[16..]].concat();
    let key = reference::hchacha20(key, &given.iv[..16]);
    (key, nonce.try_into().expect("12 bytes"))
}

fn extended() -> Row {
    let prepare = |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let (kernels, keys) = (Kernels::of(machine), burst.keys(key));
        let run = |messages: &mut [&Message<'_>]| {
            for messages in messages.chunks(TOGETHER) {
                let keys = derived(&kernels, &keys, messages);
                let job = |(message, key): (&&Message<'_>, _)| {
                    cipher_job(message, key, extended_nonce(&message.given.iv()), 1)
                };
                let jobs: Vec<_> = messages.iter().zip(&keys).map(job).collect();
                // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
                unsafe { cipher_many(&kernels, &jobs) };
            }
        };
        burst.each_time(then, |message| message, run, |_, _| Vec::new());
    };
    row(
        "HChaCha20, then ChaCha20",
        X_NONCE,
        prepare,
        |key, given, text| {
            let (key, nonce) = derived_reference(key, given);
            text.copy_from_slice(&reference::chacha20(&key, 1, &nonce, text));
            Vec::new()
        },
    )
}

fn aead_job<'k>(message: &Message<'_>, key: &'k Key, nonce: [u8; NONCE]) -> AeadJob<'k> {
    AeadJob {
        key,
        nonce,
        aad: ptr::from_ref(message.given.aad),
        input: message.source,
        output: message.target,
        len: message.len,
        tag: message.given.tag(),
        verified: false,
    }
}

fn aead(name: &str, iv: usize, opens: bool) -> Row {
    let many = if opens { open_many } else { seal_many };
    let tag = move |job: &AeadJob<'_>| match opens && !job.verified {
        true => Vec::new(),
        false => job.tag.to_vec(),
    };
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let (kernels, keys) = (Kernels::of(machine), burst.keys(key));
        if iv == NONCE {
            return burst.each_time(
                then,
                |message| aead_job(message, &keys[message.given.key], message.given.iv()),
                // SAFETY: jobs of messages, whose memory is borrowed for their lengths.
                |jobs| unsafe { many(&kernels, jobs) },
                |_, job| tag(job),
            );
        }
        let run = |jobs: &mut [(&Message<'_>, Vec<u8>)]| {
            for done in jobs.chunks_mut(TOGETHER) {
                let messages: Vec<_> = done.iter().map(|(message, _)| *message).collect();
                let keys = derived(&kernels, &keys, &messages);
                let job = |(message, key): (&&Message<'_>, _)| {
                    aead_job(message, key, extended_nonce(&message.given.iv()))
                };
                let mut jobs: Vec<_> = messages.iter().zip(&keys).map(job).collect();
                // SAFETY: as above.
                unsafe { many(&kernels, &mut jobs) };
                for ((_, to), job) in done.iter_mut().zip(&jobs) {
                    *to = tag(job);
                }
            }
        };
        burst.each_time(
            then,
            |message| (message, Vec::new()),
            run,
            |_, (_, tag)| tag.clone(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        let (key, nonce) = match iv {
            NONCE => (key.to_vec(), given.iv()),
            _ => derived_reference(key, given),
        };
        turn(&key, &nonce, given.aad, text, opens).to_vec()
    };
    Row {
        tags: vec![TAG],
        has_aad: true,
        verifies: opens,
        secret_from: if opens { usize::MAX } else { 0 },
        ..row(name, iv, prepare, reference)
    }
}

/// Seals or opens in place; returns the tag of either.
fn turn(key: &[u8], nonce: &[u8; NONCE], aad: &[u8], text: &mut [u8], opens: bool) -> [u8; TAG] {
    let turned = reference::chacha20(key, 1, nonce, text);
    let plain = if opens { &turned } else { &*text };
    let (_, tag) = reference::seal(key, nonce, aad, plain);
    text.copy_from_slice(&turned);
    tag
}

/// Of a ciphertext: five bytes of it, then two halves of the rest.
fn tag_in_parts() -> Row {
    let prepare = |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let (kernels, keys) = (Kernels::of(machine), burst.keys(key));
        let run = |message: &Message<'_>| {
            let (given, text) = (&message.given, message.source());
            let mut stream = TagStream::new(&kernels, &keys[given.key], &given.iv());
            let (aad, more) = given.aad.split_at(given.aad.len() / 3);
            stream.aad(aad);
            stream.aad(more);
            let (head, rest) = text.split_at(text.len().min(5));
            let (middle, tail) = rest.split_at(rest.len() / 2);
            for part in [head, middle, tail] {
                stream.text(part);
            }
            stream.finish()
        };
        burst.each_time(
            then,
            |message| (message, [0; TAG]),
            |jobs| {
                jobs.iter_mut()
                    .for_each(|(message, tag)| *tag = run(message))
            },
            |_, (_, tag)| tag.to_vec(),
        );
    };
    let reference = |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        turn(key, &given.iv(), given.aad, &mut text.to_vec(), true).to_vec()
    };
    Row {
        tags: vec![TAG],
        has_aad: true,
        writes: false,
        ..row("ChaCha20-Poly1305 tag in parts", NONCE, prepare, reference)
    }
}
