use std::prelude::v1::*;

use super::{Job, Subkeys, authenticate_many};
use crate::aes::EncryptKey;
use crate::aes::reference::mac;
use crate::machine::Machine;
use crate::testing::{Bench, Placed, paces, per_tier};

per_tier!(
    cmac_agrees_with_the_reference,
    cbc_mac_agrees_with_the_reference,
    continues_cmac
);

fn cmac_agrees_with_the_reference(machine: Machine) {
    for machine in paces(machine) {
        agrees(machine, true);
    }
}

fn cbc_mac_agrees_with_the_reference(machine: Machine) {
    for machine in paces(machine) {
        agrees(machine, false);
    }
}

fn agrees(machine: Machine, cmac: bool) {
    let run = |keys: &[EncryptKey], burst: &[Placed<'_>]| {
        let subkeys: Vec<_> = keys.iter().map(|key| Subkeys::new(machine, key)).collect();
        let mut jobs: Vec<_> = burst
            .iter()
            .map(|placed| Job {
                source: placed.source,
                len: placed.message.data.len(),
                key: &keys[placed.message.key],
                subkeys: cmac.then_some(&subkeys[placed.message.key]),
                chain: if cmac { [0; 16] } else { placed.message.iv },
            })
            .collect();
        // SAFETY: each message has its buffer of its length.
        unsafe { authenticate_many(machine, &mut jobs) };
        for (job, placed) in jobs.iter().zip(burst) {
            let data = &placed.message.data;
            let expected = if cmac {
                mac::cmac(job.key, data)
            } else {
                mac::cbc_mac(job.key, placed.message.iv, data)
            };
            assert_eq!(job.chain, expected, "{} bytes", data.len());
        }
    };
    for bytes in [16, 24, 32] {
        Bench::new(bytes).check_reading((0, 1), run);
    }
}

fn continues_cmac(machine: Machine) {
    let key = EncryptKey::new(machine, &[3; 16]).unwrap();
    let subkeys = Subkeys::new(machine, &key);
    let data: [u8; 150] = core::array::from_fn(|i| i.to_le_bytes()[0]);
    let mut chain = [0; 16];
    for (from, to) in [(0, 16), (16, 112), (112, 150)] {
        let subkeys = (to == 150).then_some(&subkeys);
        let source = data[from..to].as_ptr();
        let mut job = [Job {
            source,
            len: to - from,
            key: &key,
            subkeys,
            chain,
        }];
        // SAFETY: the source is a slice of that length.
        unsafe { authenticate_many(machine, &mut job) };
        chain = job[0].chain;
    }
    assert_eq!(chain, mac::cmac(&key, &data));
}
