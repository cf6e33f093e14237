//! SHA-3, SHAKE and HMAC over SHA-3.

use core::ptr;
use std::prelude::v1::*;
use std::{format, vec};

use super::{Burst, Given, Message, Registers, Row, Then, table};
use crate::Machine;
use crate::keccak::reference::{hmac, sponge};
use crate::keccak::{Function, HmacKey, Job, Stream, hash_many};

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

fn job<'b>(message: &'b Message<'_>, key: Option<&'b HmacKey>) -> Job<'b> {
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
        let keys = burst.keys(|key| HmacKey::new(machine, function, key));
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

/// Three bytes, then two halves of the rest.
fn in_parts(function: Function) -> Row {
    let digest = digest_of(function);
    let prepare = move |machine: Machine, burst: &Burst<'_>, then: Then<'_>| {
        let keys = burst.keys(|key| HmacKey::new(machine, function, key));
        let run = |message: &Message<'_>| {
            let (key, text) = (&keys[message.given.key], message.source());
            let mut stream = Stream::hmac(machine, key);
            let (head, rest) = text.split_at(text.len().min(3));
            let (middle, tail) = rest.split_at(rest.len() / 2);
            for part in [head, middle, tail] {
                stream.update(part);
            }
            let mut tag = vec![0; digest];
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
        tags: vec![digest],
        ..row(
            format!("HMAC-{} in parts", function.name()),
            prepare,
            move |key, _, text| hmac(digest, key, text),
        )
    }
}
