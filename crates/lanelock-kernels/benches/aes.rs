//! Nanoseconds per message of each kernel, tier and size: bursts of 32, one key and 32 keys.
//!
//! `cargo bench -p lanelock-kernels --bench aes -- [kernel [tier [stride]]]`
//!
//! Every kernel's first burst is compared with the portable reference before it is timed.

#![allow(clippy::cast_possible_truncation)] // patterns of bytes

use std::time::Instant;

use lanelock_kernels::aes::{
    DecryptKey, EncryptKey, Message, Part, cbc, ctr, ecb, gcm, mac, reference,
};
use lanelock_kernels::{Machine, Tier};

const BURST: usize = 32;
const SIZES: [usize; 6] = [16, 64, 256, 1024, 1504, 8192];
type Run<'a> = Box<dyn FnMut() + 'a>;
type Check<'a> = Box<dyn Fn(usize, &mut [u8]) + 'a>;

/// Where the messages of a burst lie.
struct Memory {
    source: Vec<u8>,
    target: Vec<std::cell::Cell<u8>>,
    stride: usize,
}

/// One kernel on one burst: what to time, and what message `i` becomes.
struct Case<'a> {
    run: Run<'a>,
    expect: Check<'a>,
}

fn main() {
    let mut arguments = std::env::args().filter(|a| a != "--bench").skip(1);
    let kernel = arguments.next().filter(|name| name != "all");
    let only = arguments.next().filter(|name| name != "all");
    let stride = arguments
        .next()
        .map_or(8192 + 320, |text| text.parse().expect("a stride"));
    let kernels: [(&str, MakeCase); 9] = [
        ("cbc-enc", cbc_encrypt),
        ("cbc-dec", cbc_decrypt),
        ("ctr", ctr_apply),
        ("ecb", ecb_encrypt),
        ("cmac", cmac),
        ("gcm-enc", gcm_encrypt),
        ("gcm-dec", gcm_decrypt),
        ("cbc-imix", cbc_encrypt),
        ("gcm-imix", gcm_encrypt),
    ];
    for machine in Tier::available().filter_map(Machine::of_tier) {
        for (name, make) in &kernels {
            let skip = |wanted: &Option<String>, name| wanted.as_ref().is_some_and(|w| w != name);
            if skip(&kernel, *name) || skip(&only, machine.tier().name()) {
                continue;
            }
            for keys in [1, BURST] {
                print!("{:8} {name:9} {keys:2} keys:", machine.tier().name());
                if name.ends_with("imix") {
                    let lengths: Vec<_> = (0..BURST)
                        .map(|i| [64, 576, 64, 1504, 64, 576, 64, 64, 576, 64, 64, 576][i % 12])
                        .collect();
                    print!("  {:7.2}", measure(machine, *make, &lengths, keys, stride));
                } else {
                    for size in SIZES {
                        let nanoseconds = measure(machine, *make, &[size; BURST], keys, stride);
                        print!("  {size}: {nanoseconds:7.2}");
                    }
                }
                println!();
            }
        }
    }
}

type MakeCase =
    for<'a> fn(Machine, &'a [EncryptKey], &'a [DecryptKey], &'a Memory, &'a [usize]) -> Case<'a>;

/// The best of several rounds, in nanoseconds per message.
fn measure(machine: Machine, make: MakeCase, lengths: &[usize], keys: usize, stride: usize) -> f64 {
    let stride = stride.max(*lengths.iter().max().unwrap_or(&0));
    let memory = Memory {
        source: (0..BURST * stride + 4096)
            .map(|i| (i % 251) as u8)
            .collect(),
        target: vec![std::cell::Cell::new(0); BURST * stride + 4096],
        stride,
    };
    let keys: Vec<_> = (0..keys)
        .map(|i| EncryptKey::new(machine, &[i as u8; 16]).expect("16 bytes"))
        .collect();
    let decrypt_keys: Vec<_> = keys.iter().map(DecryptKey::new).collect();
    let mut case = make(machine, &keys, &decrypt_keys, &memory, lengths);
    (case.run)();
    for (i, len) in lengths.iter().enumerate() {
        // SAFETY: within the target, which nobody else looks at now.
        let target = unsafe { std::slice::from_raw_parts(memory.target(i), *len) };
        let mut expected = memory.source_bytes(i)[..*len].to_vec();
        (case.expect)(i, &mut expected);
        assert!(target == expected, "message {i} of {len} bytes is wrong");
    }
    let bytes: usize = lengths.iter().sum();
    let rounds = (6_000_000 / (bytes / BURST + 200) / BURST + 20).min(20_000);
    let mut best = f64::MAX;
    for _ in 0..9 {
        let start = Instant::now();
        for _ in 0..rounds {
            (case.run)();
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / rounds as f64 / BURST as f64
}

fn cbc_encrypt<'a>(
    machine: Machine,
    keys: &'a [EncryptKey],
    _: &'a [DecryptKey],
    memory: &'a Memory,
    lengths: &'a [usize],
) -> Case<'a> {
    let job = |i: usize| Part {
        source: memory.source(i),
        target: memory.target(i),
        len: lengths[i],
        key: &keys[i % keys.len()],
        iv: [i as u8; 16],
    };
    let mut jobs: Vec<_> = (0..BURST).map(job).collect();
    Case {
        // SAFETY: each job has its own part of the memory.
        run: Box::new(move || unsafe { cbc::encrypt_many(machine, &mut jobs) }),
        expect: Box::new(|i, data| {
            reference::cbc::encrypt(&keys[i % keys.len()], &mut [i as u8; 16], data);
        }),
    }
}

fn cbc_decrypt<'a>(
    machine: Machine,
    keys: &'a [EncryptKey],
    decrypt_keys: &'a [DecryptKey],
    memory: &'a Memory,
    lengths: &'a [usize],
) -> Case<'a> {
    let job = |i: usize| Part {
        source: memory.source(i),
        target: memory.target(i),
        len: lengths[i],
        key: &decrypt_keys[i % keys.len()],
        iv: [i as u8; 16],
    };
    let mut jobs: Vec<_> = (0..BURST).map(job).collect();
    Case {
        // SAFETY: each job has its own part of the memory.
        run: Box::new(move || unsafe { cbc::decrypt_many(machine, &mut jobs) }),
        expect: Box::new(|i, data| {
            reference::cbc::decrypt(&keys[i % keys.len()], &mut [i as u8; 16], data);
        }),
    }
}

fn ctr_apply<'a>(
    machine: Machine,
    keys: &'a [EncryptKey],
    _: &'a [DecryptKey],
    memory: &'a Memory,
    lengths: &'a [usize],
) -> Case<'a> {
    let size = keys[0].size();
    let parts: Vec<_> = (0..BURST)
        .map(|i| {
            let key = &keys[i % keys.len()];
            (
                memory.source(i),
                memory.target(i),
                lengths[i],
                key,
                [i as u8; 16],
            )
        })
        .collect();
    Case {
        run: Box::new(move || {
            let messages = parts.iter().map(|(source, target, len, key, iv)| Message {
                source: *source,
                target: *target,
                len: u32::try_from(*len).expect("below 4 GiB"),
                key: *key,
                iv,
            });
            // SAFETY: each message has its own part of the memory.
            unsafe { ctr::apply_each(machine, size, messages) }
        }),
        expect: Box::new(|i, data| {
            reference::ctr::apply(&keys[i % keys.len()], [i as u8; 16], data);
        }),
    }
}

fn ecb_encrypt<'a>(
    machine: Machine,
    keys: &'a [EncryptKey],
    _: &'a [DecryptKey],
    memory: &'a Memory,
    lengths: &'a [usize],
) -> Case<'a> {
    let job = |i: usize| ecb::Job {
        source: memory.source(i),
        target: memory.target(i),
        len: lengths[i],
        key: &keys[i % keys.len()],
    };
    let jobs: Vec<_> = (0..BURST).map(job).collect();
    Case {
        // SAFETY: each job has its own part of the memory.
        run: Box::new(move || unsafe { ecb::encrypt_many(machine, &jobs) }),
        expect: Box::new(|i, data| {
            for block in data.as_chunks_mut().0 {
                *block = reference::encrypt_block(&keys[i % keys.len()], *block);
            }
        }),
    }
}

fn cmac<'a>(
    machine: Machine,
    keys: &'a [EncryptKey],
    _: &'a [DecryptKey],
    memory: &'a Memory,
    lengths: &'a [usize],
) -> Case<'a> {
    let subkeys: Vec<_> = keys
        .iter()
        .map(|key| mac::Subkeys::new(machine, key))
        .collect();
    Case {
        run: Box::new(move || {
            let mut jobs: [_; BURST] = std::array::from_fn(|i| mac::Job {
                source: memory.source(i),
                len: lengths[i],
                key: &keys[i % keys.len()],
                subkeys: Some(&subkeys[i % keys.len()]),
                chain: [0; 16],
            });
            // SAFETY: each source is valid for its length; the first block of each target too.
            unsafe {
                mac::authenticate_many(machine, &mut jobs);
                for (i, job) in jobs.iter().enumerate() {
                    memory.target(i).cast::<[u8; 16]>().write(job.chain);
                }
            }
        }),
        expect: Box::new(move |i, data| {
            let tag = reference::mac::cmac(&keys[i % keys.len()], data);
            data.fill(0);
            data[..16].copy_from_slice(&tag);
        }),
    }
}

fn gcm_encrypt<'a>(
    machine: Machine,
    keys: &'a [EncryptKey],
    _: &'a [DecryptKey],
    memory: &'a Memory,
    lengths: &'a [usize],
) -> Case<'a> {
    gcm_turn(machine, keys, memory, lengths, gcm::encrypt_many)
}

fn gcm_decrypt<'a>(
    machine: Machine,
    keys: &'a [EncryptKey],
    _: &'a [DecryptKey],
    memory: &'a Memory,
    lengths: &'a [usize],
) -> Case<'a> {
    gcm_turn(machine, keys, memory, lengths, gcm::decrypt_many)
}

fn gcm_turn<'a>(
    machine: Machine,
    keys: &'a [EncryptKey],
    memory: &'a Memory,
    lengths: &'a [usize],
    many: unsafe fn(Machine, &mut [gcm::Job<'_>]),
) -> Case<'a> {
    let gcm_keys: Vec<_> = (0..keys.len())
        .map(|i| gcm::Key::new(machine, &[i as u8; 16]).expect("16 bytes"))
        .collect();
    Case {
        run: Box::new(move || {
            let mut jobs: [_; BURST] = std::array::from_fn(|i| gcm::Job {
                source: memory.source(i),
                target: memory.target(i),
                len: lengths[i],
                aad: memory.source(i),
                aad_len: 16,
                key: &gcm_keys[i % keys.len()],
                j0: gcm::j0_of_iv12(&[i as u8; 12]),
                place: std::ptr::null_mut(),
                tag: [0; 16],
            });
            // SAFETY: each job has its own part of the memory.
            unsafe { many(machine, &mut jobs) };
            std::hint::black_box(&jobs);
        }),
        expect: Box::new(move |i, data| {
            let j0 = gcm::j0_of_iv12(&[i as u8; 12]);
            reference::gcm::encrypt(&keys[i % keys.len()], j0, &[], data);
        }),
    }
}

impl Memory {
    fn source_bytes(&self, i: usize) -> &[u8] {
        &self.source[self.start() + i * self.stride..]
    }

    fn source(&self, i: usize) -> *const u8 {
        self.source_bytes(i).as_ptr()
    }

    fn target(&self, i: usize) -> *mut u8 {
        let start = self.target.as_ptr().align_offset(4096);
        self.target[start + i * self.stride..]
            .as_ptr()
            .cast_mut()
            .cast()
    }

    /// Page-aligned, so that a stride means the same in each run.
    fn start(&self) -> usize {
        self.source.as_ptr().align_offset(4096)
    }
}
