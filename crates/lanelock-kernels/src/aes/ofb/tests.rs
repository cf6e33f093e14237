use std::prelude::v1::*;

use super::{apply_many, apply_records};
use crate::aes::reference::ofb;
use crate::aes::{EncryptKey, Part, Records};
use crate::machine::Machine;
use crate::testing::{Bench, Placed, per_tier};

per_tier!(
    agrees_with_the_reference,
    agrees_on_whole_messages,
    agrees_with_the_published_vector,
);

fn agrees_with_the_reference(machine: Machine) {
    agrees(|jobs| {
        // SAFETY: each message has its own buffers of its length.
        unsafe { apply_many(machine, jobs) };
        true
    });
}

fn agrees_on_whole_messages(machine: Machine) {
    agrees(|jobs| {
        let messages: Vec<_> = jobs.iter().map(Part::message).collect();
        if let Some(records) = Records::of(&messages) {
            // SAFETY: as above; IVs stay where they are.
            unsafe { apply_records(machine, jobs[0].key.size(), &records) };
        }
        false
    });
}

/// `kernel` says whether it keeps the last block of the chain.
fn agrees(kernel: impl Fn(&mut [Part<'_, EncryptKey>]) -> bool) {
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
        let keeps = kernel(&mut jobs);
        for (job, placed) in jobs.iter().zip(burst) {
            let mut iv = placed.message.iv;
            if keeps {
                ofb::apply(job.key, &mut iv, &mut placed.message.data.clone());
            }
            assert_eq!(job.iv, iv);
        }
    };
    for bytes in [16, 24, 32] {
        Bench::new(bytes).check((0, 1), run, |key, message| {
            let mut data = message.data.clone();
            ofb::apply(key, &mut message.iv.clone(), &mut data);
            data
        });
    }
}

/// SP 800-38A, F.4.1: the first two blocks of OFB-AES128.
fn agrees_with_the_published_vector(machine: Machine) {
    let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
    let key = EncryptKey::new(machine, &key).unwrap();
    let mut data = [
        0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a_u128.to_be_bytes(),
        0xae2d_8a57_1e03_ac9c_9eb7_6fac_45af_8e51_u128.to_be_bytes(),
    ];
    let mut job = [Part {
        source: data.as_ptr().cast(),
        target: data.as_mut_ptr().cast(),
        len: 32,
        key: &key,
        iv: core::array::from_fn(|i| u8::try_from(i).unwrap()),
    }];
    // SAFETY: in place, on an array of that length.
    unsafe { apply_many(machine, &mut job) };
    let expected = [
        0x3b3f_d92e_b72d_ad20_3334_49f8_e83c_fb4a_u128.to_be_bytes(),
        0x7789_508d_1691_8f03_f53c_52da_c54e_d825_u128.to_be_bytes(),
    ];
    assert_eq!(data, expected);
}
