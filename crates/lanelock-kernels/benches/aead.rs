//! Nanoseconds per message of ChaCha20-Poly1305 and ChaCha20, per tier and size.
//!
//! `cargo bench -p lanelock-kernels --bench aead -- [burst] [tier] [size]`. What was
//! sealed is compared with the portable tier and opened again.

use std::time::{Duration, Instant};

use lanelock_kernels::chacha::{
    AeadJob, CipherJob, Kernels, Key, cipher_many, open_many, seal_many,
};
use lanelock_kernels::{Machine, Tier};

const SIZES: [usize; 10] = [16, 32, 64, 128, 256, 576, 1024, 1500, 4096, 8192];

fn tiers() -> Vec<(&'static str, Kernels)> {
    let machines = Tier::available().filter_map(Machine::of_tier);
    let kernels = machines.map(|machine| (machine.tier().name(), Kernels::of(machine)));
    kernels.collect()
}

/// The best of many short windows, in nanoseconds per message.
fn time(burst: usize, mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::MAX;
    while begin.elapsed() < Duration::from_millis(25) {
        let start = Instant::now();
        let mut rounds = 0_u32;
        while start.elapsed() < Duration::from_micros(100) {
            run();
            rounds += 1;
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(rounds));
    }
    best / burst as f64
}

fn jobs<'k>(key: &'k Key, data: &mut [u8], len: usize, burst: usize) -> Vec<AeadJob<'k>> {
    static AAD: [u8; 16] = [5; 16];
    let stride = if len < 1024 { len + 64 } else { len };
    let mut jobs = Vec::new();
    for i in 0..burst {
        let at = data[i * stride..][..len].as_mut_ptr();
        let mut nonce = [0; 12];
        nonce[0] = i.to_le_bytes()[0];
        let (input, output) = (at.cast_const(), at);
        jobs.push(AeadJob {
            key,
            nonce,
            aad: &AAD,
            input,
            output,
            len,
            tag: [0; 16],
            verified: false,
        });
    }
    jobs
}

fn main() {
    let selected = |index: usize, name: &str| {
        std::env::args()
            .filter(|a| a != "--bench")
            .nth(index)
            .is_none_or(|a| a == "all" || a == name)
    };
    let burst = std::env::args()
        .filter(|a| a != "--bench")
        .nth(1)
        .map_or(32, |b| b.parse().expect("a number of messages"));
    println!(
        "{:24} {}",
        "ns per message",
        SIZES.map(|s| format!("{s:8}")).join(" ")
    );
    let key = Key::new(&[7; 32]);
    for (name, kernels) in tiers().into_iter().filter(|(name, _)| selected(2, name)) {
        let (mut seal, mut open, mut cipher) = (String::new(), String::new(), String::new());
        for len in SIZES
            .into_iter()
            .filter(|len| selected(3, &len.to_string()))
        {
            let plain: Vec<u8> = (0..burst * 8320)
                .map(|i: usize| (i * 7 + i / 251).to_le_bytes()[0])
                .collect();
            let (mut data, mut expected) = (plain.clone(), plain.clone());
            let mut ours = jobs(&key, &mut data, len, burst);
            let mut portable = jobs(&key, &mut expected, len, burst);
            // SAFETY: every job has its own part of one buffer, used by nothing else meanwhile.
            unsafe {
                seal_many(&kernels, &mut ours);
                seal_many(&Kernels::of(Machine::PORTABLE), &mut portable);
            }
            assert!(data == expected, "{name}, {len} bytes");
            assert!(
                ours.iter().zip(&portable).all(|(a, b)| a.tag == b.tag),
                "{name}, {len} bytes"
            );
            // SAFETY: as above.
            unsafe { open_many(&kernels, &mut ours) };
            assert!(
                ours.iter().all(|job| job.verified) && data == plain,
                "{name}, {len} bytes"
            );

            let mut ours = jobs(&key, &mut data, len, burst);
            // SAFETY: as above.
            let ns = time(burst, || unsafe { seal_many(&kernels, &mut ours) });
            seal += &format!(" {ns:8.1}");
            // Apart from its input, so that each round finds the same ciphertext.
            let mut apart = vec![0_u8; burst * 8320];
            for (job, to) in ours.iter_mut().zip(apart.chunks_mut(8320)) {
                job.output = to.as_mut_ptr();
            }
            let mut tags = Vec::new();
            // SAFETY: as above; the outputs are another buffer.
            unsafe { seal_many(&kernels, &mut ours) };
            for job in &mut ours {
                tags.push(job.tag);
                (job.input, job.output) = (job.output.cast_const(), job.input.cast_mut());
            }
            // SAFETY: as above.
            let ns = time(burst, || unsafe { open_many(&kernels, &mut ours) });
            assert!(ours.iter().all(|job| job.verified), "{name}, {len} bytes");
            open += &format!(" {ns:8.1}");
            let ciphers: Vec<CipherJob<'_>> = ours
                .iter()
                .map(|j| CipherJob {
                    key: j.key,
                    nonce: j.nonce,
                    counter: 1,
                    input: j.input,
                    output: j.output,
                    len,
                })
                .collect();
            // SAFETY: as above.
            let ns = time(burst, || unsafe { cipher_many(&kernels, &ciphers) });
            cipher += &format!(" {ns:8.1}");
        }
        println!("{:24}{seal}", format!("seal {name}"));
        println!("{:24}{open}", format!("open {name}"));
        println!("{:24}{cipher}", format!("chacha20 {name}"));
    }
}
