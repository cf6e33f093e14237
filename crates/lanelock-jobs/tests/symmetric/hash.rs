//! Messages in parts, and what kernels are asked for together.

use lanelock_jobs::per_tier;
use lanelock_jobs::reference::hash::Hash;
use lanelock_jobs::testing::{Random, on_all};
use lanelock_kernels::Machine;
use lanelock_kernels::hash::{
    Algorithm, HmacKey, Job, Kernels, Sha1, Sha224, Sha256, Sha384, Sha512, Stream, hash_many,
};

/// Messages in flight that the tests try, above the lanes of any tier.
const BURST: usize = 40;

fn keys<A: Algorithm>(
    kernels: &'static Kernels<A>,
    random: &mut Random,
) -> Vec<(Vec<u8>, HmacKey<A>)> {
    [0, 1, 20, 63, 64, 65, 127, 128, 129, 300]
        .map(|len| {
            let key = random.bytes(len);
            let prepared = HmacKey::new(kernels, &key);
            (key, prepared)
        })
        .into()
}

/// Hashes and signs `messages`, each cut in parts, and compares with the reference.
fn agree<A: Algorithm>(
    kernels: &'static Kernels<A>,
    hash: Hash,
    keys: &[(Vec<u8>, HmacKey<A>)],
    messages: &[Vec<&[u8]>],
) {
    let key = |i: usize| &keys[i % keys.len()];
    // Hashes, HMACs, and HMACs cut to lengths that are not those of a word.
    let mut places = vec![[0; 64]; messages.len()];
    let cut = |i: usize| 1 + i % A::DIGEST;
    let mut plain: Vec<_> = messages
        .iter()
        .map(|parts| Job::of_parts(parts, None, None))
        .collect();
    let (mut signed, mut placed) = (Vec::new(), Vec::new());
    for (i, (parts, place)) in messages.iter().zip(&mut places).enumerate() {
        signed.push(Job::of_parts(parts, Some(&key(i).1), None));
        let place = Some(&mut place[..cut(i)]);
        placed.push(Job::of_parts(parts, Some(&key(i).1), place));
    }
    hash_many(kernels, &mut plain);
    hash_many(kernels, &mut signed);
    hash_many(kernels, &mut placed);
    drop(placed);
    for (i, parts) in messages.iter().enumerate() {
        let whole = parts.concat();
        let case = format!(
            "{kernels:?}, message {i} of {}, {} bytes",
            messages.len(),
            whole.len()
        );
        assert_eq!(plain[i].digest(), hash.digest(&whole), "{case}");
        let tag = hash.hmac(&key(i).0, &whole);
        assert_eq!(signed[i].digest(), tag, "HMAC {case}");
        let (place, after) = places[i].split_at(cut(i));
        assert_eq!(place, &tag[..cut(i)], "HMAC in its place, {case}");
        assert!(
            after.iter().all(|&byte| byte == 0),
            "past the place, {case}"
        );
    }
}

/// Messages cut at random places into parts, empty ones among them.
fn every_cut<A: Algorithm>(kernels: &'static Kernels<A>, hash: Hash) {
    let mut random = Random::new(3);
    let keys = keys(kernels, &mut random);
    let data = random.bytes(2048);
    for _ in 0..60 {
        let mut messages: Vec<Vec<&[u8]>> = Vec::new();
        for _ in 0..random.below(BURST) {
            let message = &data[random.below(1024)..][..random.below(1024)];
            let widest = [3, 40, 64, 128, 500][random.below(5)];
            let (mut rest, mut parts) = (message, Vec::new());
            for _ in 0..random.below(9) {
                let (part, later) = rest.split_at(random.below(widest).min(rest.len()));
                parts.push(part);
                rest = later;
            }
            parts.push(rest);
            messages.push(parts);
        }
        agree(kernels, hash, &keys, &messages);
    }
}

/// A message hashed as its parts arrive.
fn streams<A: Algorithm>(kernels: &'static Kernels<A>, hash: Hash) {
    let mut random = Random::new(5);
    let data = random.bytes(1000);
    for len in 0..=300 {
        let key = random.bytes(len);
        let prepared = HmacKey::new(kernels, &key);
        let mut plain = Stream::new(kernels);
        let mut signed = Stream::hmac(kernels, &prepared);
        let mut rest = &data[..3 * len];
        while !rest.is_empty() {
            let (part, later) = rest.split_at(random.below(200).min(rest.len()));
            plain.update(part);
            signed.update(part);
            rest = later;
        }
        let (mut digest, mut tag) = (vec![0; A::DIGEST], vec![0; A::DIGEST]);
        plain.finish(&mut digest);
        signed.finish_hmac(&prepared, &mut tag);
        assert_eq!(
            digest,
            hash.digest(&data[..3 * len]),
            "{kernels:?}, {} bytes",
            3 * len
        );
        assert_eq!(
            tag,
            hash.hmac(&key, &data[..3 * len]),
            "{kernels:?}, {} bytes",
            3 * len
        );
    }
}

macro_rules! suite {
    ($($module:ident $algorithm:ident)*) => {$(
        mod $module {
            suite!(@test every_cut $algorithm);
            suite!(@test streams $algorithm);
        }
    )*};
    (@test $test:ident $algorithm:ident) => {
        mod $test {
            use super::super::*;

            per_tier!(@tiers |tier| {
                on_all(tier, |machine| {
                    super::super::$test::<$algorithm>(Kernels::of(machine), Hash::$algorithm);
                });
            });
        }
    };
}

suite! {
    sha1 Sha1
    sha224 Sha224
    sha256 Sha256
    sha384 Sha384
    sha512 Sha512
}

/// Hashes and HMACs of one burst, each under its own key or none.
#[test]
fn hashes_and_hmacs_together() {
    let kernels = Kernels::<Sha256>::of(Machine::PORTABLE);
    let (one, other) = (
        HmacKey::new(kernels, b"one"),
        HmacKey::new(kernels, b"other"),
    );
    for kernels in Machine::all().map(Kernels::of) {
        let mut jobs: Vec<_> = [None, Some(&one), None, Some(&other)]
            .into_iter()
            .cycle()
            .take(BURST)
            .map(|key| Job::new(b"abc", key))
            .collect();
        assert_eq!(jobs[0].digest(), b"", "no digest before it has run");
        hash_many(kernels, &mut jobs);
        for (i, job) in jobs.iter().enumerate() {
            let expected = match i % 4 {
                1 => Hash::Sha256.hmac(b"one", b"abc"),
                3 => Hash::Sha256.hmac(b"other", b"abc"),
                _ => Hash::Sha256.digest(b"abc"),
            };
            assert_eq!(job.digest(), expected, "{kernels:?}, job {i}");
        }
    }
}

#[test]
#[should_panic(expected = "no longer than the digest")]
fn a_place_longer_than_the_digest_is_refused() {
    let _ = Job::<Sha1>::of_parts(&[], None, Some(&mut [0; 21]));
}
