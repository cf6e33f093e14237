//! AES-CBC with HMAC of what it writes or reads, in one pass and, to compare, in two.

use core::ptr;

use lanelock_kernels::Machine;
use lanelock_kernels::aes::interleave::{CbcHmac, CbcKey, Instructions, Interleave, Side};
use lanelock_kernels::aes::{BLOCK, DecryptKey, EncryptKey, Part, cbc};
use lanelock_kernels::hash::{HmacKey, Job, Kernels, Sha1, Sha256, hash_many};

use super::aes::{expanded, portable, row};
use super::{Burst, Given, Message, Registers, Row, Then, table};
use crate::reference::aes as reference;
use crate::reference::hash::Hash;

table! {
    sha1_encrypt: one_pass::<Sha1>(Hash::Sha1, true, WHOLE),
    sha1_encrypt_segments: one_pass::<Sha1>(Hash::Sha1, true, SEGMENT),
    sha1_decrypt: one_pass::<Sha1>(Hash::Sha1, false, WHOLE),
    sha256_encrypt: one_pass::<Sha256>(Hash::Sha256, true, WHOLE),
    sha256_encrypt_segments: one_pass::<Sha256>(Hash::Sha256, true, SEGMENT),
    sha256_decrypt: one_pass::<Sha256>(Hash::Sha256, false, WHOLE),
    sha1_encrypt_in_two: two_passes::<Sha1>(Hash::Sha1, true, WHOLE),
    sha1_encrypt_segments_in_two: two_passes::<Sha1>(Hash::Sha1, true, SEGMENT),
    sha1_decrypt_in_two: two_passes::<Sha1>(Hash::Sha1, false, WHOLE),
    sha256_encrypt_in_two: two_passes::<Sha256>(Hash::Sha256, true, WHOLE),
    sha256_encrypt_segments_in_two: two_passes::<Sha256>(Hash::Sha256, true, SEGMENT),
    sha256_decrypt_in_two: two_passes::<Sha256>(Hash::Sha256, false, WHOLE),
}

/// Bytes of a segment.
const SEGMENT: usize = 256;
const WHOLE: usize = usize::MAX;

struct Keys<A: Interleave> {
    encrypt: EncryptKey,
    decrypt: DecryptKey,
    mac: HmacKey<A>,
}

/// The additional data is authenticated before the ciphertext.
fn pair<A: Interleave>(
    hash: Hash,
    encrypts: bool,
    segment: usize,
    passes: &str,
    many: impl Fn(Machine, &[Keys<A>], &mut [(&Message<'_>, Vec<u8>)]) + 'static,
) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| {
            let (cipher, mac) = key.split_at(key.len() - A::DIGEST);
            let encrypt = expanded(machine, cipher);
            Keys {
                decrypt: DecryptKey::new(&encrypt),
                encrypt,
                mac: HmacKey::new(Kernels::of(machine), mac),
            }
        });
        burst.each_time(
            then,
            |message| (message, vec![0; A::DIGEST]),
            |jobs| many(machine, &keys, jobs),
            |_, (_, tag)| tag.clone(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        let (key, mac) = key.split_at(key.len() - A::DIGEST);
        let (key, mut iv, before) = (portable(key), given.iv(), text.to_vec());
        if encrypts {
            reference::cbc::encrypt(&key, &mut iv, text);
        } else {
            reference::cbc::decrypt(&key, &mut iv, text);
        }
        let ciphertext = if encrypts { &*text } else { &before };
        hash.hmac(mac, &[given.aad, ciphertext].concat())
    };
    let direction = if encrypts { "encrypt" } else { "decrypt" };
    let layout = if segment == WHOLE { "" } else { " segments" };
    let name = format!(
        "AES-* CBC with HMAC-{} {direction}{layout}, {passes}",
        A::NAME
    );
    Row {
        keys: vec![16 + A::DIGEST, 32 + A::DIGEST],
        number: |bytes| 8 * (bytes - A::DIGEST),
        unit: BLOCK,
        tags: vec![A::DIGEST],
        has_aad: true,
        registers: Registers::Sha,
        ..row(&name, prepare, reference)
    }
}

fn one_pass<A: Interleave>(hash: Hash, encrypts: bool, segment: usize) -> Row {
    let many = move |machine: Machine, keys: &[Keys<A>], jobs: &mut [(&Message<'_>, Vec<u8>)]| {
        let instructions = Instructions::of(machine).expect("a machine that the row runs on");
        for (message, tag) in jobs {
            let keys = &keys[message.given.key];
            let (key, side) = if encrypts {
                (CbcKey::Encrypt(&keys.encrypt), Side::Target)
            } else {
                (CbcKey::Decrypt(&keys.decrypt), Side::Source)
            };
            let mut both = CbcHmac::new(instructions, key, &keys.mac, message.given.iv())
                .expect("a hash function that interleaves");
            both.authenticate(message.given.aad);
            let mut done = 0;
            while done < message.len {
                let now = segment.min(message.len - done);
                let source = message.source.wrapping_add(done);
                let target = message.target.wrapping_add(done);
                // SAFETY: a part of a message, whose memory is borrowed for its length.
                unsafe { both.update(side, source, target, now) };
                done += now;
            }
            both.tag(tag);
        }
    };
    pair(hash, encrypts, segment, "one pass", many)
}

/// Over lanes. What is decrypted is authenticated first.
fn two_passes<A: Interleave>(hash: Hash, encrypts: bool, segment: usize) -> Row {
    let many = move |machine: Machine, keys: &[Keys<A>], jobs: &mut [(&Message<'_>, Vec<u8>)]| {
        if !encrypts {
            authenticate(machine, keys, jobs, |message| message.source);
        }
        let messages: Vec<_> = jobs.iter().map(|(message, _)| *message).collect();
        if encrypts {
            in_segments(
                &messages,
                segment,
                |m| &keys[m.given.key].encrypt,
                |parts| {
                    // SAFETY: parts of messages, whose memory is borrowed for their lengths.
                    unsafe { cbc::encrypt_many(machine, parts) };
                },
            );
            authenticate(machine, keys, jobs, |message| message.target);
        } else {
            in_segments(
                &messages,
                segment,
                |m| &keys[m.given.key].decrypt,
                |parts| {
                    // SAFETY: as above.
                    unsafe { cbc::decrypt_many(machine, parts) };
                },
            );
        }
    };
    pair(hash, encrypts, segment, "two passes", many)
}

fn authenticate<A: Interleave>(
    machine: Machine,
    keys: &[Keys<A>],
    messages: &mut [(&Message<'_>, Vec<u8>)],
    ciphertext: impl Fn(&Message<'_>) -> *const u8,
) {
    let text = |message: &Message<'_>| ptr::slice_from_raw_parts(ciphertext(message), message.len);
    let texts: Vec<_> = messages
        .iter()
        .map(|(message, _)| [text(message)])
        .collect();
    let mut jobs = Vec::with_capacity(messages.len());
    for ((message, tag), text) in messages.iter_mut().zip(&texts) {
        let key = &keys[message.given.key].mac;
        // SAFETY: additional data and memory of a message, which are borrowed.
        jobs.push(unsafe { Job::of_raw(message.given.aad, text, Some(key), Some(tag)) });
    }
    hash_many(Kernels::of(machine), &mut jobs);
}

/// The first segment of each message, then the next of those that have one.
fn in_segments<'k, Key: 'k>(
    messages: &[&Message<'_>],
    segment: usize,
    key: impl Fn(&Message<'_>) -> &'k Key,
    many: impl Fn(&mut [Part<'k, Key>]),
) {
    let part = |message: &&Message<'_>| Part {
        source: message.source,
        target: message.target,
        len: message.len.min(segment),
        more: &[],
        key: key(message),
        iv: message.given.iv(),
    };
    let mut parts: Vec<_> = messages.iter().map(part).collect();
    let mut done = 0;
    let longest = messages.iter().map(|message| message.len).max();
    while done < longest.unwrap_or(0) {
        many(&mut parts);
        done = done.saturating_add(segment);
        for (part, message) in parts.iter_mut().zip(messages) {
            part.source = part.source.wrapping_add(part.len);
            part.target = part.target.wrapping_add(part.len);
            part.len = message.len.saturating_sub(done).min(segment);
        }
    }
}
