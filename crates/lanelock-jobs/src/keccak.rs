//! SHA-3, SHAKE, HMAC over SHA-3, cSHAKE and KMAC.

use core::ptr;

use lanelock_kernels::Machine;
use lanelock_kernels::keccak::{Function, Job, Key, Stream, hash_many};

use super::{Burst, Given, Message, Registers, Row, Then, table};
use crate::reference::keccak::{cshake, hmac, kmac, sponge};

table! {
    sha3_224: outputs(Function::SHA3_224),
    sha3_256: outputs(Function::SHA3_256),
    sha3_384: outputs(Function::SHA3_384),
    sha3_512: outputs(Function::SHA3_512),
    shake128: outputs(Function::SHAKE128),
    shake256: outputs(Function::SHAKE256),
    hmac_sha3_224: hmacs(Function::SHA3_224),
    hmac_sha3_256: hmacs(Function::SHA3_256),
    hmac_sha3_384: hmacs(Function::SHA3_384),
    hmac_sha3_512: hmacs(Function::SHA3_512),
    cshake128: customized(Function::CSHAKE128),
    cshake256: customized(Function::CSHAKE256),
    kmac128: kmacs(Function::CSHAKE128),
    kmac256: kmacs(Function::CSHAKE256),
    hmac_sha3_224_in_parts: in_parts(Function::SHA3_224),
    hmac_sha3_256_in_parts: in_parts(Function::SHA3_256),
    hmac_sha3_384_in_parts: in_parts(Function::SHA3_384),
    hmac_sha3_512_in_parts: in_parts(Function::SHA3_512),
}

fn row(
    name: String,
    prepare: impl Fn(Machine, &Burst<'_>, Then<'_>) + 'static,
    reference: impl Fn(&[u8], &Given<'_>, &mut [u8]) -> Vec<u8> + 'static,
) -> Row {
    Row {
        ivs: vec![0],
        writes: false,
        ..Row::new(name, Registers::Words, prepare, reference)
    }
}

fn job<'b>(message: &'b Message<'_>, key: Option<&'b Key>) -> Job<'b> {
    // SAFETY: one job of a message at a time; its text is borrowed.
    unsafe { Job::of_raw(ptr::from_ref(message.source()), &[], key, message.place()) }
}

/// Lengths of a tag: whole and cut.
fn cut(digest: usize) -> Vec<usize> {
    (digest - 3..=digest).rev().collect()
}

fn digest_of(function: Function) -> usize {
    function.digest().expect("a digest of one length")
}

/// Digests, also cut; of an extendable function, outputs of any number of blocks.
fn outputs(function: Function) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        burst.each_time(
            then,
            |message| job(message, None),
            |jobs| hash_many(machine, function, jobs),
            |message, _| message.placed(),
        );
    };
    let reference = move |_: &[u8], given: &Given<'_>, text: &mut [u8]| {
        let suffix = function.digest().map_or(0x1f, |_| 0x06);
        sponge(function.rate(), suffix, text, given.tag.len())
    };
    let extended = vec![32, 400, 1, 168, 167, 169, 500, 7, 136, 137, 1000];
    Row {
        tags: function.digest().map_or(extended, cut),
        ..row(function.name().into(), prepare, reference)
    }
}

fn hmacs(function: Function) -> Row {
    let digest = digest_of(function);
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| Key::hmac(machine, function, key));
        burst.each_time(
            then,
            |message| job(message, Some(&keys[message.given.key])),
            |jobs| hash_many(machine, function, jobs),
            |message, _| message.placed(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        hmac(digest, key, text)[..given.tag.len()].to_vec()
    };
    Row {
        keys: vec![digest, 1, 150],
        mixes_keys: true,
        tags: cut(digest),
        ..row(
            format!("HMAC-{}, key of *", function.name()),
            prepare,
            reference,
        )
    }
}

/// cSHAKE with the key of a row as customization string, which is as long as a tag if it is public.
fn customized(function: Function) -> Row {
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| Key::cshake(machine, function, b"", key));
        burst.each_time(
            then,
            |message| job(message, Some(&keys[message.given.key])),
            |jobs| hash_many(machine, function, jobs),
            |message, _| message.placed(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        cshake(function.rate(), b"", key, text, given.tag.len())
    };
    Row {
        keys: vec![15, 1, 32, 300],
        mixes_keys: true,
        tags: vec![32, 400, 1, 168, 137],
        ..row(
            format!("{}, customized by *", function.name()),
            prepare,
            reference,
        )
    }
}

/// Tags, each of a key for its length.
fn kmacs(function: Function) -> Row {
    let tags = vec![200 - function.rate(), 4, 16, 63, 100, 200];
    let lens = tags.clone();
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let of_len = |&len: &usize| {
            burst.keys(|key| Key::kmac(machine, function, key, &key[..key.len() / 2], len))
        };
        let keys: Vec<Vec<Key>> = lens.iter().map(of_len).collect();
        let key = |given: &Given<'_>| {
            let at = lens.iter().position(|&len| len == given.tag.len());
            &keys[at.expect("a length of the row")][given.key]
        };
        burst.each_time(
            then,
            |message| job(message, Some(key(&message.given))),
            |jobs| hash_many(machine, function, jobs),
            |message, _| message.placed(),
        );
    };
    let reference = move |key: &[u8], given: &Given<'_>, text: &mut [u8]| {
        kmac(
            function.rate(),
            key,
            &key[..key.len() / 2],
            text,
            given.tag.len(),
        )
    };
    Row {
        keys: vec![32, 4, 165, 512],
        mixes_keys: true,
        tags,
        ..row(
            format!("KMAC over {}, key of *", function.name()),
            prepare,
            reference,
        )
    }
}

/// Three bytes, then two halves of the rest.
fn in_parts(function: Function) -> Row {
    let digest = digest_of(function);
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| Key::hmac(machine, function, key));
        let run = |message: &Message<'_>| {
            let (key, text) = (&keys[message.given.key], message.source());
            let mut stream = Stream::keyed(machine, key);
            let (head, rest) = text.split_at(text.len().min(3));
            let (middle, tail) = rest.split_at(rest.len() / 2);
            for part in [head, middle, tail] {
                stream.update(part);
            }
            let mut tag = vec![0; digest];
            stream.finish_keyed(key, &mut tag);
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
        tags: vec![digest],
        ..row(
            format!("HMAC-{} in parts", function.name()),
            prepare,
            move |key, _, text| hmac(digest, key, text),
        )
    }
}
