//! AES-CBC and HMAC of the same messages, interleaved and in two passes over lanes: nanoseconds
//! per message and the ratio, whole and in segments, encrypted (then authenticated) and
//! (verified, then) decrypted.
//!
//! `cargo bench -p lanelock-kernels --bench interleave -- [burst] [tier] [hash]`. With
//! a burst above 1, two passes run all messages together and the interleaved kernel one after the
//! other. Ciphertext and tags of both are compared.

use std::time::{Duration, Instant};

use lanelock_kernels::aes::cbc::{decrypt_many, encrypt_many};
use lanelock_kernels::aes::interleave::{CbcHmac, CbcKey, Instructions, Interleave, Side};
use lanelock_kernels::aes::{DecryptKey, EncryptKey, Part};
use lanelock_kernels::hash::{HmacKey, Job, Kernels, MAX_DIGEST, Sha1, Sha256, hash_many};
use lanelock_kernels::{Machine, Tier};

const SIZES: [usize; 8] = [16, 64, 256, 512, 1024, 1504, 4096, 16384];
/// An ESP header and IV.
const HEADER: usize = 24;
const IV: [u8; 16] = [9; 16];

#[derive(Clone, Copy)]
struct Keys<'k, A: Interleave> {
    instructions: Instructions,
    machine: Machine,
    kernels: &'static Kernels<A>,
    encrypt: &'k EncryptKey,
    decrypt: &'k DecryptKey,
    mac: &'k HmacKey<A>,
}

/// A message's place: a header, then the payload, then room for nothing.
#[derive(Clone, Copy)]
struct Place {
    at: *mut u8,
    len: usize,
}

/// In place, cipher and MAC by themselves, segment after segment. Decryption comes after the MAC.
fn two_passes<A: Interleave>(
    keys: Keys<'_, A>,
    encrypts: bool,
    places: &[Place],
    segment: usize,
    tags: &mut [[u8; MAX_DIGEST]],
) {
    let authenticate = |tags: &mut [[u8; MAX_DIGEST]]| {
        let mut jobs: Vec<_> = places
            .iter()
            .map(|place| {
                let message = std::ptr::slice_from_raw_parts(place.at, HEADER + place.len);
                // SAFETY: the memory of a message outlives the measurement.
                unsafe { Job::of_raw(message, Some(keys.mac), None) }
            })
            .collect();
        hash_many(keys.kernels, &mut jobs);
        for (job, tag) in jobs.iter().zip(tags) {
            tag[..A::DIGEST].copy_from_slice(job.digest());
        }
    };
    macro_rules! cipher {
        ($run:ident, $key:expr) => {{
            let mut jobs: Vec<_> = places
                .iter()
                .map(|place| Part {
                    source: place.at.wrapping_add(HEADER),
                    target: place.at.wrapping_add(HEADER),
                    len: 0,
                    key: $key,
                    iv: IV,
                })
                .collect();
            let mut left = places[0].len;
            while left > 0 {
                let now = left.min(segment);
                for job in &mut jobs {
                    job.len = now;
                }
                // SAFETY: places are disjoint, and valid for a header and `len` bytes.
                unsafe { $run(keys.machine, &mut jobs) };
                for job in &mut jobs {
                    job.source = job.source.wrapping_add(now);
                    job.target = job.target.wrapping_add(now);
                }
                left -= now;
            }
        }};
    }
    if encrypts {
        cipher!(encrypt_many, keys.encrypt);
        authenticate(tags);
    } else {
        authenticate(tags);
        cipher!(decrypt_many, keys.decrypt);
    }
}

/// In place, in one pass.
fn interleaved<A: Interleave>(
    keys: Keys<'_, A>,
    encrypts: bool,
    places: &[Place],
    segment: usize,
    tags: &mut [[u8; MAX_DIGEST]],
) {
    let (key, side) = if encrypts {
        (CbcKey::Encrypt(keys.encrypt), Side::Target)
    } else {
        (CbcKey::Decrypt(keys.decrypt), Side::Source)
    };
    for (place, tag) in places.iter().zip(tags) {
        let mut message =
            CbcHmac::new(keys.instructions, key, keys.mac, IV).expect("a hash that interleaves");
        // SAFETY: the place is valid for a header and `len` bytes.
        unsafe {
            message.authenticate(std::slice::from_raw_parts(place.at, HEADER));
            let mut done = 0;
            while done < place.len {
                let now = segment.min(place.len - done);
                let at = place.at.add(HEADER + done);
                message.update(side, at, at, now);
                done += now;
            }
        }
        message.tag(&mut tag[..A::DIGEST]);
    }
}

/// The best of many short windows, in nanoseconds per message.
fn time(burst: usize, mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::MAX;
    while begin.elapsed() < Duration::from_millis(12) {
        let start = Instant::now();
        let mut rounds = 0_u32;
        while start.elapsed() < Duration::from_micros(100) {
            run();
            run();
            rounds += 2;
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(rounds));
    }
    best / burst as f64
}

fn measure<A: Interleave>(
    instructions: Instructions,
    machine: Machine,
    key_len: usize,
    burst: usize,
) {
    let kernels = Kernels::<A>::of(machine);
    let encrypt = EncryptKey::new(machine, &[3; 32][..key_len]).expect("a key length of AES");
    let keys = Keys {
        instructions,
        machine,
        kernels,
        decrypt: &DecryptKey::new(&encrypt),
        encrypt: &encrypt,
        mac: &HmacKey::new(kernels, b"a key of some length"),
    };
    for (encrypts, segment) in [(true, usize::MAX), (true, 256), (false, usize::MAX)] {
        let direction = if encrypts { "encrypt" } else { "decrypt" };
        let layout = if segment < usize::MAX {
            "segments"
        } else {
            "whole"
        };
        let name = format!("AES-{} {} {direction} {layout}", 8 * key_len, A::NAME);
        let (mut two, mut one, mut ratio) = (String::new(), String::new(), String::new());
        for len in SIZES {
            let mut memories = [vec![5_u8; burst * (len + 64)], vec![5; burst * (len + 64)]];
            let mut tags = [vec![[0; MAX_DIGEST]; burst], vec![[0; MAX_DIGEST]; burst]];
            let [places, others] = memories.each_mut().map(|memory| {
                memory
                    .chunks_exact_mut(len + 64)
                    .map(|chunk| Place {
                        at: chunk[8..].as_mut_ptr(),
                        len,
                    })
                    .collect::<Vec<_>>()
            });
            two_passes(keys, encrypts, &places, segment, &mut tags[0]);
            interleaved(keys, encrypts, &others, segment, &mut tags[1]);
            assert!(memories[0] == memories[1] && tags[0] == tags[1], "{name}");
            let [slow, fast] = [two_passes::<A>, interleaved].map(|run| {
                time(burst, || {
                    run(keys, encrypts, &places, segment, &mut tags[0])
                })
            });
            two += &format!(" {slow:8.1}");
            one += &format!(" {fast:8.1}");
            ratio += &format!(" {:8.2}", slow / fast);
        }
        println!("{name:33} two passes {two}");
        println!("{:33} interleaved{one}", "");
        println!("{:33} ratio      {ratio}", "");
    }
}

fn main() {
    let argument = |index: usize| std::env::args().filter(|a| a != "--bench").nth(index);
    let burst = argument(1).map_or(1, |burst| burst.parse().expect("a number of messages"));
    println!(
        "{:33} ns/message {}",
        "",
        SIZES.map(|size| format!(" {size:8}")).concat()
    );
    for tier in Tier::available() {
        let named = |index: usize, name| {
            argument(index).is_none_or(|asked| asked == "all" || asked == name)
        };
        if !named(2, tier.name()) {
            continue;
        }
        let machine = Machine::of_tier(tier).expect("an available tier");
        let Some(instructions) = Instructions::of(machine) else {
            continue;
        };
        println!("{}", tier.name());
        for key_len in [16, 32] {
            if named(3, "sha1") {
                measure::<Sha1>(instructions, machine, key_len, burst);
            }
            if named(3, "sha256") {
                measure::<Sha256>(instructions, machine, key_len, burst);
            }
        }
    }
}
