//! Messages in parts, and outputs in pieces.

use lanelock_jobs::per_tier;
use lanelock_jobs::reference::keccak::{cshake, hmac, kmac, sponge};
use lanelock_jobs::testing::{Random, hex};
use lanelock_kernels::Machine;
use lanelock_kernels::keccak::{Function, Job, Key, Stream, hash_many};

/// Messages in flight that the tests try, above the lanes of any tier.
const BURST: usize = 20;

fn expected(function: Function, message: &[u8], len: usize) -> Vec<u8> {
    sponge(function.rate(), suffix(function), message, len)
}

/// The bits behind a message, with the first one of the padding.
fn suffix(function: Function) -> u8 {
    match (function, function.digest()) {
        (Function::CSHAKE128 | Function::CSHAKE256, _) => 0x04,
        (_, None) => 0x1f,
        (_, Some(_)) => 0x06,
    }
}

/// Bytes of the output that message `i` gets: of an extendable function, of any number of blocks.
fn len(function: Function, i: usize) -> usize {
    match function.digest() {
        Some(digest) => digest - i % 4,
        None => [1, 32, 167, 168, 169, 500, 7, 136, 137, 1000][i % 10],
    }
}

/// Hashes and signs `messages`, each cut in parts, and compares with the reference.
fn agree(machine: Machine, function: Function, messages: &[Vec<&[u8]>]) {
    let places = || -> Vec<Vec<u8>> {
        let len = |i| vec![0xcc; len(function, i)];
        (0..messages.len()).map(len).collect()
    };
    let case = |i: usize| {
        let name = function.name();
        format!("{machine}, {name}, message {i} of {}", messages.len())
    };
    let mut outputs = places();
    let mut jobs: Vec<_> = messages
        .iter()
        .zip(&mut outputs)
        .map(|(parts, place)| Job::of_parts(parts, None, place))
        .collect();
    hash_many(machine, function, &mut jobs);
    for (i, parts) in messages.iter().enumerate() {
        let right = expected(function, &parts.concat(), len(function, i));
        assert_eq!(outputs[i], right, "{}", case(i));
    }
    let Some(digest) = function.digest() else {
        return;
    };
    let key = |i: usize| vec![i.to_le_bytes()[0]; [1, 20, 71, 72, 73, 136, 137, 300][i % 8]];
    let keys: Vec<_> = (0..messages.len())
        .map(|i| Key::hmac(machine, function, &key(i)))
        .collect();
    let mut tags = places();
    // One in five has no key.
    let mut jobs: Vec<_> = messages
        .iter()
        .zip(&mut tags)
        .enumerate()
        .map(|(i, (parts, place))| Job::of_parts(parts, (i % 5 != 4).then(|| &keys[i]), place))
        .collect();
    hash_many(machine, function, &mut jobs);
    for (i, parts) in messages.iter().enumerate() {
        let mut right = match i % 5 {
            4 => expected(function, &parts.concat(), digest),
            _ => hmac(digest, &key(i), &parts.concat()),
        };
        right.truncate(len(function, i));
        assert_eq!(tags[i], right, "HMAC {}", case(i));
    }
}

/// Messages cut at random places into parts, empty ones among them.
fn every_cut(machine: Machine) {
    let mut random = Random::new(3);
    let data = random.bytes(2048);
    for round in 0..60 {
        let mut messages: Vec<Vec<&[u8]>> = Vec::new();
        for _ in 0..random.below(BURST) {
            let mut rest = &data[random.below(1024)..][..random.below(1024)];
            let widest = [3, 40, 136, 500][random.below(4)];
            let mut parts = Vec::new();
            for _ in 0..random.below(9) {
                let (part, later) = rest.split_at(random.below(widest).min(rest.len()));
                parts.push(part);
                rest = later;
            }
            parts.push(rest);
            messages.push(parts);
        }
        agree(machine, Function::ALL[round % 8], &messages);
    }
}

/// A message hashed as its parts arrive.
fn streams(machine: Machine) {
    let mut random = Random::new(5);
    let data = random.bytes(1200);
    for round in 0..240 {
        let function = Function::ALL[round % 8];
        let key = random.bytes(round);
        let message = &data[..5 * round];
        let mut plain = Stream::new(machine, function);
        let mut rest = message;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let (part, later) = rest.split_at(random.below(400).min(rest.len()));
            parts.push(part);
            plain.update(part);
            rest = later;
        }
        let mut output = vec![0; len(function, round)];
        if round % 2 == 0 {
            plain.finish(&mut output);
        } else {
            let mut pieces = plain.output();
            let mut rest = &mut output[..];
            while !rest.is_empty() {
                let count = random.below(200).min(rest.len());
                pieces.fill(rest.split_off_mut(..count).expect("no more than there are"));
            }
        }
        let right = expected(function, message, output.len());
        assert_eq!(
            output,
            right,
            "{machine}, {function:?}, {} bytes",
            5 * round
        );
        let Some(digest) = function.digest() else {
            continue;
        };
        let prepared = Key::hmac(machine, function, &key);
        let mut signed = Stream::keyed(machine, &prepared);
        parts.iter().for_each(|part| signed.update(part));
        let mut tag = vec![0; digest];
        signed.finish_keyed(&prepared, &mut tag);
        assert_eq!(tag, hmac(digest, &key, message), "{machine}, {function:?}");
    }
}

per_tier!(every_cut, streams, customized);

/// Examples 1 of cSHAKE and 2 of KMAC that NIST published for SP 800-185.
#[test]
fn the_reference_has_the_examples_of_customization() {
    let message = [0, 1, 2, 3];
    assert_eq!(
        cshake(168, b"", b"Email Signature", &message, 32),
        hex("c1c36925b6409a04f1b504fcbca9d82b4017277cb5ed2b2065fc1d3814d5aaf5")
    );
    let key: Vec<u8> = (0x40..=0x5f).collect();
    assert_eq!(
        kmac(168, &key, b"My Tagged Application", &message, 32),
        hex("3b1fba963cd8b0b59e8c1a6d71888b7143651af8ba0a7070c0979e2811324aa5")
    );
}

/// Keys of KMAC and customization strings of cSHAKE in messages of any parts, some of them alone.
fn customized(machine: Machine) {
    let mut random = Random::new(9);
    let data = random.bytes(1500);
    for round in 0..80 {
        let function = [Function::CSHAKE128, Function::CSHAKE256][round % 2];
        let rate = function.rate();
        let count = [1, 2, BURST][round % 3];
        let secrets: Vec<_> = (0..count)
            .map(|i| random.bytes(4 + 7 * i + round))
            .collect();
        let len = |i: usize| [32, 4, 64, 17, rate + 1][(i + round) % 5];
        let is_kmac = |i: usize| !(i + round).is_multiple_of(3);
        let keys: Vec<_> = (0..count)
            .map(|i| match is_kmac(i) {
                true => Key::kmac(machine, function, &secrets[i], &data[..i * 9], len(i)),
                false => Key::cshake(machine, function, &data[..i % 3], &secrets[i]),
            })
            .collect();
        let messages: Vec<Vec<&[u8]>> = (0..count)
            .map(|_| {
                let (first, rest) = data[..random.below(1500)].split_at(0);
                let (second, third) = rest.split_at(random.below(rest.len() + 1));
                vec![first, second, third]
            })
            .collect();
        let mut outputs: Vec<_> = (0..count).map(|i| vec![0; len(i)]).collect();
        let mut jobs: Vec<_> = (messages.iter().zip(&keys).zip(&mut outputs))
            .map(|((parts, key), place)| Job::of_parts(parts, Some(key), place))
            .collect();
        hash_many(machine, function, &mut jobs);
        for i in 0..count {
            let message = messages[i].concat();
            let right = match is_kmac(i) {
                true => kmac(rate, &secrets[i], &data[..i * 9], &message, len(i)),
                false => cshake(rate, &data[..i % 3], &secrets[i], &message, len(i)),
            };
            assert_eq!(
                outputs[i], right,
                "{machine}, {i} of {count}, round {round}"
            );
            let mut stream = Stream::keyed(machine, &keys[i]);
            messages[i].iter().for_each(|part| stream.update(part));
            let mut output = vec![0; len(i)];
            stream.finish_keyed(&keys[i], &mut output);
            assert_eq!(output, right, "{machine}, in parts, {i} of {count}");
        }
    }
}

/// The examples of FIPS 202 for the empty message.
#[test]
fn the_reference_has_the_standards_digests() {
    for (function, digest) in [
        (
            Function::SHA3_256,
            "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a",
        ),
        (
            Function::SHAKE128,
            "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26",
        ),
    ] {
        assert_eq!(expected(function, b"", 32), hex(digest));
    }
}

#[test]
#[should_panic(expected = "no longer than the digest")]
fn a_place_longer_than_the_digest_is_refused() {
    let mut place = [0; 33];
    let mut jobs = [Job::new(b"", None, &mut place)];
    hash_many(Machine::PORTABLE, Function::SHA3_256, &mut jobs);
}

#[test]
#[should_panic(expected = "of the function that it is used with")]
fn a_key_of_another_function_is_refused() {
    let key = Key::hmac(Machine::PORTABLE, Function::SHA3_224, b"key");
    let mut place = [0; 32];
    let mut jobs = [Job::new(b"", Some(&key), &mut place)];
    hash_many(Machine::PORTABLE, Function::SHA3_256, &mut jobs);
}
