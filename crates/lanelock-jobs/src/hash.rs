//! SHA-1, SHA-2 and HMAC.

use core::ptr;

use lanelock_kernels::Machine;
use lanelock_kernels::hash::{
    Algorithm, HmacKey, Job, Kernels, Sha1, Sha224, Sha256, Sha384, Sha512, Stream, hash_many,
};

use super::{Burst, Given, Message, Registers, Row, Then, table};
use crate::reference::hash::Hash;

table! {
    sha1: digests::<Sha1>(Hash::Sha1),
    sha224: digests::<Sha224>(Hash::Sha224),
    sha256: digests::<Sha256>(Hash::Sha256),
    sha384: digests::<Sha384>(Hash::Sha384),
    sha512: digests::<Sha512>(Hash::Sha512),
    hmac_sha1: hmacs::<Sha1>(Hash::Sha1),
    hmac_sha224: hmacs::<Sha224>(Hash::Sha224),
    hmac_sha256: hmacs::<Sha256>(Hash::Sha256),
    hmac_sha384: hmacs::<Sha384>(Hash::Sha384),
    hmac_sha512: hmacs::<Sha512>(Hash::Sha512),
    hmac_sha1_in_parts: in_parts::<Sha1>(Hash::Sha1),
    hmac_sha224_in_parts: in_parts::<Sha224>(Hash::Sha224),
    hmac_sha256_in_parts: in_parts::<Sha256>(Hash::Sha256),
    hmac_sha384_in_parts: in_parts::<Sha384>(Hash::Sha384),
    hmac_sha512_in_parts: in_parts::<Sha512>(Hash::Sha512),
}

fn row<A: Algorithm>(
    name: String,
    prepare: impl Fn(Machine, &Burst<'_>, Then<'_>) + 'static,
    reference: impl Fn(&[u8], &Given<'_>, &mut [u8]) -> Vec<u8> + 'static,
) -> Row {
    let registers = match A::EXTENSION {
        Some(_) => Registers::WordsOrSha,
        None => Registers::Words,
    };
    Row {
        ivs: vec![0],
        tags: vec![A::DIGEST],
        writes: false,
        ..Row::new(name, registers, prepare, reference)
    }
}

fn digests<A: Algorithm>(hash: Hash) -> Row {
    let prepare = |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let kernels = Kernels::<A>::of(machine);
        burst.each_time(
            then,
            |message| Job::new(message.source(), None),
            |jobs| hash_many(kernels, jobs),
            |_, job| job.digest().to_vec(),
        );
    };
    row::<A>(A::NAME.into(), prepare, move |_, _, text| hash.digest(text))
}

/// Tags go to places of their own, also cut.
fn hmacs<A: Algorithm>(hash: Hash) -> Row {
    let prepare = |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let kernels = Kernels::<A>::of(machine);
        let keys = burst.keys(|key| HmacKey::new(kernels, key));
        burst.each_time(
            then,
            |message| {
                let text = ptr::from_ref(message.source());
                // SAFETY: one job of a message at a time; its text is borrowed.
                unsafe {
                    Job::of_raw(
                        text,
                        &[],
                        Some(&keys[message.given.key]),
                        Some(message.place()),
                    )
                }
            },
            |jobs| hash_many(kernels, jobs),
            |message, _| message.placed(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        hash.hmac(key, text)[..given.tag.len()].to_vec()
    };
    Row {
        keys: vec![A::DIGEST, 1, 150],
        mixes_keys: true,
        tags: (1..=A::DIGEST).rev().collect(),
        ..row::<A>(format!("HMAC-{}, key of *", A::NAME), prepare, reference)
    }
}

/// Three bytes, then two halves of the rest.
fn in_parts<A: Algorithm>(hash: Hash) -> Row {
    let prepare = |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let kernels = Kernels::<A>::of(machine);
        let keys = burst.keys(|key| HmacKey::new(kernels, key));
        let run = |message: &Message<'_>| {
            let (key, text) = (&keys[message.given.key], message.source());
            let mut stream = Stream::hmac(kernels, key);
            let (head, rest) = text.split_at(text.len().min(3));
            let (middle, tail) = rest.split_at(rest.len() / 2);
            for part in [head, middle, tail] {
                stream.update(part);
            }
            let mut tag = vec![0; A::DIGEST];
            stream.finish_hmac(key, &mut tag);
            tag
        };
        burst.each_time(
            then,
            |message| (message, Vec::new()),
            |jobs| {
                jobs.iter_mut()
                    .for_each(|(message, tag)| *tag = run(message))
            },
            |_, (_, tag)| tag.clone(),
        );
    };
    Row {
        keys: vec![20],
        mixes_keys: true,
        ..row::<A>(
            format!("HMAC-{} in parts", A::NAME),
            prepare,
            move |key, _, text| hash.hmac(key, text),
        )
    }
}
