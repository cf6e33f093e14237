use std::prelude::v1::*;

use super::{decrypt_many, encrypt_many};
use crate::aes::reference::cfb;
use crate::aes::{EncryptKey, Part};
use crate::machine::Machine;
use crate::testing::{Bench, Placed, paces, per_tier};

per_tier!(
    encrypts_like_the_reference,
    decrypts_like_the_reference,
    agrees_with_the_published_vector,
);

type Reference = fn(&EncryptKey, &mut [u8; 16], &mut [u8]);

fn encrypts_like_the_reference(machine: Machine) {
    for machine in paces(machine) {
        // SAFETY: each message has its own buffers of its length.
        agrees(|jobs| unsafe { encrypt_many(machine, jobs) }, cfb::encrypt);
    }
}

fn decrypts_like_the_reference(machine: Machine) {
    // SAFETY: each message has its own buffers of its length.
    agrees(|jobs| unsafe { decrypt_many(machine, jobs) }, cfb::decrypt);
}

fn agrees(kernel: impl Fn(&mut [Part<'_, EncryptKey>]), reference: Reference) {
    let run = |keys: &[EncryptKey], burst: &[Placed<'_>]| {
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
        kernel(&mut jobs);
        for (job, placed) in jobs.iter().zip(burst) {
            let mut iv = placed.message.iv;
            reference(job.key, &mut iv, &mut placed.message.data.clone());
            assert_eq!(job.iv, iv);
        }
    };
    for bytes in [16, 24, 32] {
        Bench::new(bytes).check((0, 1), run, |key, message| {
            let mut data = message.data.clone();
            reference(key, &mut message.iv.clone(), &mut data);
            data
        });
    }
}

/// SP 800-38A, F.3.13: the first two blocks of CFB128-AES128.
fn agrees_with_the_published_vector(machine: Machine) {
    let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
    let key = EncryptKey::new(machine, &key).unwrap();
    let plain = [
        0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a_u128.to_be_bytes(),
        0xae2d_8a57_1e03_ac9c_9eb7_6fac_45af_8e51_u128.to_be_bytes(),
    ];
    let expected = [
        0x3b3f_d92e_b72d_ad20_3334_49f8_e83c_fb4a_u128.to_be_bytes(),
        0xc8a6_4537_a0b3_a93f_cde3_cdad_9f1c_e58b_u128.to_be_bytes(),
    ];
    for count in [1, 2, 5, 40] {
        let mut data = std::vec![plain; count];
        let mut jobs: Vec<_> = data
            .iter_mut()
            .map(|data| Part {
                source: data.as_ptr().cast(),
                target: data.as_mut_ptr().cast(),
                len: 32,
                key: &key,
                iv: core::array::from_fn(|i| u8::try_from(i).unwrap()),
            })
            .collect();
        // SAFETY: in place, on arrays of that length.
        unsafe { encrypt_many(machine, &mut jobs) };
        assert_eq!(data, std::vec![expected; count]);
    }
}
