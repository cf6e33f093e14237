use std::prelude::v1::*;

use super::{Job, apply_each, apply_many};
use crate::aes::reference::ctr;
use crate::aes::{EncryptKey, KeySize, Message};
use crate::machine::Machine;
use crate::testing::{Bench, Placed, Random, per_tier};

per_tier!(
    agrees_with_the_reference,
    agrees_on_whole_messages,
    carries_through_the_block,
    continues_within_a_block
);

fn agrees_with_the_reference(machine: Machine) {
    agrees(|_, jobs| {
        // SAFETY: each message has its own buffers of its length.
        unsafe { apply_many(machine, jobs) }
    });
}

fn agrees_on_whole_messages(machine: Machine) {
    agrees(|size, jobs| {
        // SAFETY: as above; counters stay where they are.
        unsafe { apply_each(machine, size, jobs.iter().map(message)) }
    });
    let key = EncryptKey::new(machine, &[7; 32]).unwrap();
    for top in [0x7f_u128, 0xfe, 0xff] {
        let counter = u128::MAX >> 64 << 64 | top << 56 | 0xff_ffff_ffff_fffe;
        let mut expected = [0; 700];
        ctr::apply(&key, counter.to_be_bytes(), &mut expected);
        // Others of its burst lie before and behind one whose counter carries.
        let mut data = [[0; 700]; 3];
        let jobs = data
            .each_mut()
            .map(|data| whole(&key, data, counter.to_be_bytes()));
        // SAFETY: in place, on arrays of that length.
        unsafe { apply_each(machine, key.size(), jobs.iter().map(message)) };
        assert_eq!(data, [expected; 3]);
    }
}

fn agrees(apply: impl Fn(KeySize, &mut [Job<'_>])) {
    let run = |keys: &[EncryptKey], burst: &[Placed<'_>]| {
        let mut jobs: Vec<_> = burst
            .iter()
            .map(|placed| Job {
                source: placed.source,
                target: placed.target,
                len: placed.message.data.len(),
                key: &keys[placed.message.key],
                counter: placed.message.iv,
                used: 0,
            })
            .collect();
        apply(keys[0].size(), &mut jobs);
    };
    for bytes in [16, 24, 32] {
        Bench::new(bytes).check((0, 1), run, |key, message| {
            let mut data = message.data.clone();
            ctr::apply(key, message.iv, &mut data);
            data
        });
    }
}

fn message<'k>(job: &Job<'k>) -> Message<'k, EncryptKey> {
    Message {
        source: job.source,
        target: job.target,
        len: u32::try_from(job.len).unwrap(),
        key: job.key,
        iv: &raw const job.counter,
    }
}

fn carries_through_the_block(machine: Machine) {
    let key = EncryptKey::new(machine, &[5; 16]).unwrap();
    for top in [0x0123_4567_89ab_cdef_u64, u64::MAX] {
        for before in 0..70 {
            let counter = u128::from(top) << 64 | u128::from(u64::MAX - before);
            let mut data = [0; 1111];
            let mut job = whole(&key, &mut data, counter.to_be_bytes());
            // SAFETY: in place, on an array of that length.
            unsafe { apply_many(machine, core::slice::from_mut(&mut job)) };
            assert_eq!(job.counter, counter.wrapping_add(1111 / 16).to_be_bytes());
            assert_eq!(job.used, 1111 % 16);
            let mut expected = [0; 1111];
            ctr::apply(&key, counter.to_be_bytes(), &mut expected);
            assert_eq!(data, expected);
        }
    }
}

fn continues_within_a_block(machine: Machine) {
    let key = EncryptKey::new(machine, &[6; 24]).unwrap();
    let mut random = Random::new(9);
    for _ in 0..200 {
        let counter = random.block();
        let mut expected = random.bytes(500);
        let mut data = expected.clone();
        ctr::apply(&key, counter, &mut expected);
        let mut job = whole(&key, &mut [], counter);
        let mut rest = &mut data[..];
        while !rest.is_empty() {
            let (part, after) = rest.split_at_mut(random.below(60).min(rest.len()));
            job.source = part.as_ptr();
            job.target = part.as_mut_ptr();
            job.len = part.len();
            // SAFETY: in place, on a slice of that length.
            unsafe { apply_many(machine, core::slice::from_mut(&mut job)) };
            rest = after;
        }
        assert_eq!(data, expected);
    }
}

fn whole<'k>(key: &'k EncryptKey, data: &mut [u8], counter: [u8; 16]) -> Job<'k> {
    let (source, target) = (data.as_ptr(), data.as_mut_ptr());
    Job {
        source,
        target,
        len: data.len(),
        key,
        counter,
        used: 0,
    }
}
