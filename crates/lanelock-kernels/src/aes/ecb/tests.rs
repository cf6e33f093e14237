use std::prelude::v1::*;

use super::{Job, decrypt_many, encrypt_many};
use crate::aes::reference::{decrypt_block, encrypt_block};
use crate::aes::{DecryptKey, EncryptKey};
use crate::machine::Machine;
use crate::testing::{Bench, Placed, per_tier};

per_tier!(encrypts_like_the_reference, decrypts_like_the_reference);

fn encrypts_like_the_reference(machine: Machine) {
    let run = |keys: &[EncryptKey], burst: &[Placed<'_>]| {
        let jobs: Vec<_> = burst.iter().map(|placed| job(keys, placed)).collect();
        // SAFETY: each message has its own buffers of its length.
        unsafe { encrypt_many(machine, &jobs) };
    };
    for bytes in [16, 24, 32] {
        Bench::new(bytes).check((0, 16), run, |key, message| {
            message
                .data
                .as_chunks()
                .0
                .iter()
                .flat_map(|block| encrypt_block(key, *block))
                .collect()
        });
    }
}

fn decrypts_like_the_reference(machine: Machine) {
    let run = |keys: &[EncryptKey], burst: &[Placed<'_>]| {
        let keys: Vec<_> = keys.iter().map(DecryptKey::new).collect();
        let jobs: Vec<_> = burst.iter().map(|placed| job(&keys, placed)).collect();
        // SAFETY: each message has its own buffers of its length.
        unsafe { decrypt_many(machine, &jobs) };
    };
    for bytes in [16, 24, 32] {
        Bench::new(bytes).check((0, 16), run, |key, message| {
            message
                .data
                .as_chunks()
                .0
                .iter()
                .flat_map(|block| decrypt_block(key, *block))
                .collect()
        });
    }
}

fn job<'k, Key>(keys: &'k [Key], placed: &Placed<'_>) -> Job<'k, Key> {
    Job {
        source: placed.source,
        target: placed.target,
        len: placed.message.data.len(),
        key: &keys[placed.message.key],
    }
}
