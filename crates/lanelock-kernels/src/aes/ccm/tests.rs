use std::prelude::v1::*;

use super::{Job, Nonce, decrypt_many, encrypt_many};
use crate::aes::reference::ccm;
use crate::aes::{EncryptKey};
use crate::testing::{Bench, Message, Placed, Random, per_tier};
use crate::machine::Machine;

per_tier!(
    encrypts_like_the_reference,
    decrypts_like_the_reference,
    hashes_additional_data_of_any_length,
);

fn encrypts_like_the_reference(machine: Machine) {
    agrees(machine, true);
}

fn decrypts_like_the_reference(machine: Machine) {
    agrees(machine, false);
}

fn agrees(machine: Machine, encrypt: bool) {
    let reference = |key: &EncryptKey, message: &Message, data: &mut [u8]| {
        let (nonce, tag_len) = shape(message);
        if encrypt {
            ccm::encrypt(key, nonce, tag_len, &message.aad, data)
        } else {
            ccm::decrypt(key, nonce, tag_len, &message.aad, data)
        }
    };
    let run = |keys: &[EncryptKey], burst: &[Placed<'_>]| {
        let mut jobs: Vec<_> = burst
            .iter()
            .map(|placed| {
                let (nonce, tag_len) = shape(placed.message);
                Job {
                    source: placed.source,
                    target: placed.target,
                    len: placed.message.data.len(),
                    aad: placed.message.aad.as_ptr(),
                    aad_len: placed.message.aad.len(),
                    key: &keys[placed.message.key],
                    nonce: Nonce::new(nonce),
                    tag_len,
                    tag: [0; 16],
                }
            })
            .collect();
        // SAFETY: each message has its own buffers of its length.
        unsafe {
            if encrypt {
                encrypt_many(machine, &mut jobs);
            } else {
                decrypt_many(machine, &mut jobs);
            }
        }
        for (job, placed) in jobs.iter().zip(burst) {
            let mut data = placed.message.data.clone();
            assert_eq!(job.tag, reference(job.key, placed.message, &mut data));
        }
    };
    for bytes in [16, 24, 32] {
        Bench::new(bytes).check((0, 1), run, |key, message| {
            let mut data = message.data.clone();
            reference(key, message, &mut data);
            data
        });
    }
}

fn hashes_additional_data_of_any_length(machine: Machine) {
    let key = EncryptKey::new(machine, &[1; 16]).unwrap();
    let aad = Random::new(1).bytes(66_000);
    for len in (0..100).chain([65_279, 65_280, 65_281, 65_536, 66_000]) {
        let (aad, nonce, tag_len) = (&aad[..len], &[7; 12], 8);
        let mut data = [9_u8; 33];
        let mut job = [Job {
            source: data.as_ptr(),
            target: data.as_mut_ptr(),
            len: data.len(),
            aad: aad.as_ptr(),
            aad_len: len,
            key: &key,
            nonce: Nonce::new(nonce),
            tag_len,
            tag: [0; 16],
        }];
        // SAFETY: in place, on an array of that length.
        unsafe { encrypt_many(machine, &mut job) };
        let mut expected = [9_u8; 33];
        assert_eq!(
            job[0].tag,
            ccm::encrypt(&key, nonce, tag_len, aad, &mut expected)
        );
        assert_eq!(data, expected);
    }
}

/// Nonces of 11 to 13 bytes, which leave room to count 64 KiB, and tags of any length.
fn shape(message: &Message) -> (&[u8], usize) {
    let nonce = 11 + usize::from(message.iv[0] % 3);
    let nonce = if message.data.len() > 65_535 {
        nonce.min(12)
    } else {
        nonce
    };
    (&message.iv[..nonce], 4 + 2 * usize::from(message.iv[1] % 7))
}
