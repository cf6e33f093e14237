use lanelock_jobs::per_tier;
use lanelock_jobs::reference::aes::ctr;
use lanelock_jobs::testing::Random;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::ctr::{Job, apply_each, apply_many};
use lanelock_kernels::aes::{EncryptKey, Message};

per_tier!(
    carries_out_of_the_last_byte,
    carries_through_the_block,
    carries_in_whole_messages,
    continues_within_a_block
);

fn message<'k>(job: &Job<'k>) -> Message<'k, EncryptKey> {
    Message {
        source: job.source,
        target: job.target,
        len: u32::try_from(job.len).unwrap(),
        key: job.key,
        iv: &raw const job.counter,
    }
}

/// At each block of messages of each number of blocks and a partial one, alone and side by side.
fn carries_out_of_the_last_byte(machine: Machine) {
    const MOST: usize = 40;
    const FROM: usize = 256 - MOST;
    let key = EncryptKey::new(machine, &[8; 16]).unwrap();
    for top in [0x0123_4567_89ab_cdef_u128 << 64, 0x12_ffff_ff00, !0xff] {
        let mut stream = [0; 16 * (2 * MOST + 16)];
        ctr::apply(&key, (top | FROM as u128).to_be_bytes(), &mut stream);
        for len in (16..=16 * MOST).step_by(16).flat_map(|len| [len - 5, len]) {
            for first in (0..MOST).step_by(8) {
                for count in [1, 8] {
                    let mut data = vec![vec![0; len]; count];
                    let jobs: Vec<Job<'_>> = data
                        .iter_mut()
                        .zip(FROM + first..)
                        .map(|(data, n)| whole(&key, data, (top | n as u128).to_be_bytes()))
                        .collect();
                    // SAFETY: in place, on vectors of that length; counters stay where they are.
                    unsafe { apply_each(machine, key.size(), jobs.iter().map(message)) };
                    for (data, n) in data.iter().zip(first..) {
                        assert_eq!(data, &stream[16 * n..][..len], "{len} bytes from block {n}");
                    }
                }
            }
        }
    }
}

fn carries_in_whole_messages(machine: Machine) {
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
        // SAFETY: in place, on arrays of that length; counters stay where they are.
        unsafe { apply_each(machine, key.size(), jobs.iter().map(message)) };
        assert_eq!(data, [expected; 3]);
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
