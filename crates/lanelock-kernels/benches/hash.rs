//! Nanoseconds per message of the hash kernels, per tier and size, in bursts of 32.
//!
//! `cargo bench -p lanelock-kernels --bench hash -- [algorithm|all] [burst] [tier] [size]`.
//! Every tag is compared with the portable tier's.

use std::time::{Duration, Instant};

use lanelock_kernels::hash::{Algorithm, HmacKey, Job, Kernels, Sha1, Sha256, Sha512, hash_many};
use lanelock_kernels::{Machine, Tier};

const SIZES: [usize; 10] = [16, 32, 64, 128, 256, 576, 1024, 1500, 4096, 8192];

/// Each with the SHA extensions, if the CPU has them, and without.
fn machines() -> impl Iterator<Item = Machine> {
    Tier::available()
        .filter_map(Machine::of_tier)
        .flat_map(|machine| {
            let without = machine.has_sha().then(|| machine.without_sha());
            [Some(machine), without]
        })
        .flatten()
}

/// The best of many short windows, in nanoseconds per message: a window is short enough to lie
/// between two interruptions even on a busy machine.
fn time(burst: usize, mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::MAX;
    while begin.elapsed() < Duration::from_millis(25) {
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

fn measure<A: Algorithm>(burst: usize) {
    // From a page boundary, so that sizes of whole pages share their cache sets, as in a pool.
    let memory: Vec<u8> = (0..burst * 8320 + 4096)
        .map(|i: usize| (i * 7 + i / 251).to_le_bytes()[0])
        .collect();
    let data = &memory[memory.as_ptr().align_offset(4096)..];
    let imix: Vec<usize> = (0..burst)
        .map(|i| [64, 576, 64, 64, 576, 1500, 64, 64, 576, 64, 576, 64][i % 12])
        .collect();
    for machine in machines().filter(|machine| selected(3, machine.tier().name())) {
        let kernels = Kernels::of(machine);
        let key = HmacKey::new(kernels, b"a key of some length");
        for hmac in [true, false] {
            let name = format!(
                "{}{} {}",
                if hmac { "HMAC-" } else { "" },
                A::NAME,
                machine.tier().name()
            );
            let name = match machine.has_sha() {
                true => format!("{name}, SHA extensions"),
                false => name,
            };
            let mut line = format!("{name:40}");
            let mut cases: Vec<Vec<usize>> = SIZES.iter().map(|&size| vec![size; burst]).collect();
            cases.push(imix.clone());
            for sizes in cases
                .iter()
                .filter(|sizes| selected(4, &sizes[0].to_string()))
            {
                let stride = if sizes[0] == 64 {
                    1600
                } else {
                    sizes[0] + if sizes[0] < 1024 { 64 } else { 0 }
                };
                let key = hmac.then_some(&key);
                let job = |i: usize| Job::new(&data[i * stride..][..sizes[i]], key);
                let mut jobs = Vec::with_capacity(burst);
                let run = |jobs: &mut Vec<_>, kernels: &'static Kernels<A>| {
                    jobs.clear();
                    jobs.extend((0..burst).map(job));
                    hash_many(kernels, jobs);
                };
                let mut digests = |kernels| {
                    run(&mut jobs, kernels);
                    jobs.iter()
                        .map(|job| job.digest().to_vec())
                        .collect::<Vec<_>>()
                };
                assert_eq!(
                    digests(kernels),
                    digests(Kernels::of(Machine::PORTABLE)),
                    "{name}"
                );
                let ns = time(burst, || run(&mut jobs, kernels));
                line += &format!(" {ns:8.1}");
            }
            println!("{line}");
        }
    }
}

/// Whether argument `index` is absent, "all", or `name`.
fn selected(index: usize, name: &str) -> bool {
    std::env::args()
        .filter(|a| a != "--bench")
        .nth(index)
        .is_none_or(|a| a == "all" || a.eq_ignore_ascii_case(name))
}

fn main() {
    let burst = std::env::args()
        .filter(|a| a != "--bench")
        .nth(2)
        .map_or(32, |b| b.parse().expect("a number of messages"));
    println!(
        "{:40} {}     IMIX",
        "ns per message",
        SIZES.map(|s| format!("{s:8}")).join(" ")
    );
    if selected(1, "sha1") {
        measure::<Sha1>(burst);
    }
    if selected(1, "sha256") {
        measure::<Sha256>(burst);
    }
    if selected(1, "sha512") {
        measure::<Sha512>(burst);
    }
}
