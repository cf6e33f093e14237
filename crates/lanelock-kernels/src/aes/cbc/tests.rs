use std::prelude::v1::*;

use super::{decrypt_many, encrypt_many};
use crate::aes::reference::cbc;
use crate::aes::{DecryptKey, EncryptKey, Part};
use crate::machine::Machine;
use crate::testing::{Bench, Placed, paces, per_tier};

per_tier!(
    encrypts_like_the_reference,
    decrypts_like_the_reference,
    continues_where_it_left
);

fn encrypts_like_the_reference(machine: Machine) {
    paces(machine).into_iter().for_each(encrypts);
}

fn encrypts(machine: Machine) {
    let run = |keys: &[EncryptKey], burst: &[Placed<'_>]| {
        let mut jobs: Vec<_> = burst
            .iter()
            .map(|placed| encrypt_job(keys, placed))
            .collect();
        // SAFETY: each message has its own buffers of its length.
        unsafe { encrypt_many(machine, &mut jobs) };
        for (job, placed) in jobs.iter().zip(burst) {
            let mut iv = placed.message.iv;
            cbc::encrypt(job.key, &mut iv, &mut placed.message.data.clone());
            assert_eq!(job.iv, iv);
        }
    };
    for bytes in [16, 24, 32] {
        Bench::new(bytes).check((0, 16), run, |key, message| {
            let mut data = message.data.clone();
            cbc::encrypt(key, &mut message.iv.clone(), &mut data);
            data
        });
    }
}

fn decrypts_like_the_reference(machine: Machine) {
    let run = |keys: &[EncryptKey], burst: &[Placed<'_>]| {
        let keys: Vec<_> = keys.iter().map(DecryptKey::new).collect();
        let mut jobs: Vec<_> = burst
            .iter()
            .map(|placed| Part {
                source: placed.source,
                target: placed.target,
                len: placed.message.data.len(),
                key: &keys[placed.message.key],
                iv: placed.message.iv,
            })
            .collect();
        // SAFETY: each message has its own buffers of its length.
        unsafe { decrypt_many(machine, &mut jobs) };
        for (job, placed) in jobs.iter().zip(burst) {
            let ciphertext = &placed.message.data;
            assert_eq!(
                job.iv,
                *ciphertext.last_chunk().unwrap_or(&placed.message.iv)
            );
        }
    };
    for bytes in [16, 24, 32] {
        Bench::new(bytes).check((0, 16), run, |key, message| {
            let mut data = message.data.clone();
            cbc::decrypt(key, &mut message.iv.clone(), &mut data);
            data
        });
    }
}

fn continues_where_it_left(machine: Machine) {
    let key = EncryptKey::new(machine, &[3; 32]).unwrap();
    let mut whole = [7_u8; 320];
    let mut parts = whole;
    cbc::encrypt(&key, &mut [9; 16], &mut whole);
    let mut iv = [9; 16];
    for part in parts.chunks_mut(112) {
        let (source, target) = (part.as_ptr(), part.as_mut_ptr());
        let mut job = [Part {
            source,
            target,
            len: part.len(),
            key: &key,
            iv,
        }];
        // SAFETY: in place, on a slice of that length.
        unsafe { encrypt_many(machine, &mut job) };
        iv = job[0].iv;
    }
    assert_eq!(parts, whole);
}

fn encrypt_job<'k>(keys: &'k [EncryptKey], placed: &Placed<'_>) -> Part<'k, EncryptKey> {
    Part {
        source: placed.source,
        target: placed.target,
        len: placed.message.data.len(),
        key: &keys[placed.message.key],
        iv: placed.message.iv,
    }
}
