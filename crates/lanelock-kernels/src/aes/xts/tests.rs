use std::prelude::v1::*;

use super::{Job, decrypt_many, encrypt_many};
use crate::aes::reference::xts;
use crate::aes::{DecryptKey, EncryptKey};
use crate::machine::Machine;
use crate::testing::{Bench, Placed, Random, per_tier};

per_tier!(
    encrypts_like_the_reference,
    decrypts_like_the_reference,
    continues_where_it_left
);

fn encrypts_like_the_reference(machine: Machine) {
    let run = |keys: &[EncryptKey], burst: &[Placed<'_>]| {
        let mut jobs: Vec<_> = burst.iter().map(|placed| job(keys, keys, placed)).collect();
        // SAFETY: each message has its own buffers of its length.
        unsafe { encrypt_many(machine, &mut jobs) };
    };
    for bytes in [16, 32] {
        let keys = Bench::new(bytes).keys;
        Bench::new(bytes).check((16, 1), run, |key, message| {
            let mut data = message.data.clone();
            xts::encrypt(key, &keys[39 - message.key], message.iv, &mut data);
            data
        });
    }
}

fn decrypts_like_the_reference(machine: Machine) {
    let run = |keys: &[EncryptKey], burst: &[Placed<'_>]| {
        let decrypt_keys: Vec<_> = keys.iter().map(DecryptKey::new).collect();
        let mut jobs: Vec<_> = burst
            .iter()
            .map(|placed| job(&decrypt_keys, keys, placed))
            .collect();
        // SAFETY: each message has its own buffers of its length.
        unsafe { decrypt_many(machine, &mut jobs) };
    };
    for bytes in [16, 32] {
        let keys = Bench::new(bytes).keys;
        Bench::new(bytes).check((16, 1), run, |key, message| {
            let mut data = message.data.clone();
            xts::decrypt(key, &keys[39 - message.key], message.iv, &mut data);
            data
        });
    }
}

fn continues_where_it_left(machine: Machine) {
    let [key, tweak_key] = [1, 2].map(|byte| EncryptKey::new(machine, &[byte; 32]).unwrap());
    let mut random = Random::new(5);
    for _ in 0..100 {
        let tweak = random.block();
        let len = 100 + random.below(1000);
        let mut data = random.bytes(len);
        let mut expected = data.clone();
        xts::encrypt(&key, &tweak_key, tweak, &mut expected);
        let (head, tail) = data.split_at_mut(16 * (1 + random.below(len / 16 - 1)));
        let (mut tweak, mut begun) = (tweak, false);
        for part in [head, tail] {
            let (source, target, len) = (part.as_ptr(), part.as_mut_ptr(), part.len());
            let (key, tweak_key) = (&key, &tweak_key);
            let mut job = [Job {
                source,
                target,
                len,
                key,
                tweak_key,
                tweak,
                begun,
            }];
            // SAFETY: in place, on a slice of that length.
            unsafe { encrypt_many(machine, &mut job) };
            (tweak, begun) = (job[0].tweak, job[0].begun);
        }
        assert_eq!(data, expected);
    }
}

fn job<'k, Key>(
    keys: &'k [Key],
    tweak_keys: &'k [EncryptKey],
    placed: &Placed<'_>,
) -> Job<'k, Key> {
    Job {
        source: placed.source,
        target: placed.target,
        len: placed.message.data.len(),
        key: &keys[placed.message.key],
        tweak_key: &tweak_keys[39 - placed.message.key],
        tweak: placed.message.iv,
        begun: false,
    }
}
