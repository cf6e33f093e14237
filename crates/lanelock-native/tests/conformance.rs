//! The conformance suite on every tier of this machine.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use lanelock_conformance::differential::{Options, run};
use lanelock_conformance::progress::Silent;
use lanelock_conformance::suite::FileOutcome;
use lanelock_conformance::{Level, Subject, vectors, wycheproof};
use lanelock_core::Device;
use lanelock_native::{Native, Tier};

/// The tiers that this machine must run: what the standard library finds, not the kernels.
#[cfg(target_arch = "x86_64")]
fn expected_tiers() -> Vec<Tier> {
    use std::is_x86_feature_detected as has;
    let aesni = has!("aes") && has!("pclmulqdq") && has!("ssse3") && has!("sse4.1");
    let avx2 = aesni && has!("avx2") && has!("bmi1") && has!("bmi2");
    let avx512bw =
        avx2 && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
    let vaes = has!("vaes") && has!("vpclmulqdq") && has!("gfni");
    let avx512 = avx512bw && has!("avx512vbmi") && has!("avx512vbmi2") && vaes;
    [
        (avx512, Tier::Avx512),
        (avx512bw, Tier::Avx512Bw),
        (avx2, Tier::Avx2),
        (aesni, Tier::AesNi),
        (true, Tier::Portable),
    ]
    .into_iter()
    .filter_map(|(has, tier)| has.then_some(tier))
    .collect()
}

#[cfg(target_arch = "aarch64")]
fn expected_tiers() -> Vec<Tier> {
    use std::arch::is_aarch64_feature_detected as has;
    let neon = has!("neon") && has!("aes") && has!("pmull");
    let neon = neon.then_some(Tier::Neon);
    neon.into_iter().chain([Tier::Portable]).collect()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn expected_tiers() -> Vec<Tier> {
    vec![Tier::Portable]
}

/// Runs `check` on `tier`; a tier that the machine has and the engine refuses is a failure.
fn on(tier: Tier, check: impl FnOnce(&Subject)) {
    match Native::with_tier(tier) {
        Ok(native) => {
            assert_eq!(native.tier(), tier);
            let device = Device::builder().engine(native).build();
            check(&Subject::new(&device, "native").unwrap());
        }
        Err(error) => {
            assert!(!expected_tiers().contains(&tier), "did not run: {error}");
            println!("{error}");
        }
    }
}

fn random_messages_are_right(subject: &Subject) {
    let options = Options {
        level: Level::Quick,
        seed: 1,
        threads: 2,
    };
    let outcome = run(subject, options, &|_| true, &Silent);
    println!("{:?}", outcome.total());
    if let Some(failure) = outcome.failure {
        panic!("{failure}");
    }
    assert!(outcome.total().operations > 10_000);
}

fn published_vectors_are_right(subject: &Subject) {
    let outcomes = vectors::run(subject, |_| true, &Silent);
    right(&outcomes);
    assert!(
        outcomes.iter().all(|file| file.skips() == 0),
        "{outcomes:#?}"
    );
}

fn wycheproof_is_right(subject: &Subject) {
    right(&wycheproof::run(subject, |_| true, &Silent));
}

fn right(outcomes: &[FileOutcome]) {
    assert!(outcomes.len() >= 5, "{} files", outcomes.len());
    outcomes.iter().for_each(FileOutcome::assert_right);
}

macro_rules! per_tier {
    ($($check:ident)*) => {
        $(
            mod $check {
                use super::{Tier, on};

                #[test]
                fn avx512() {
                    on(Tier::Avx512, super::$check);
                }

                #[test]
                fn avx512bw() {
                    on(Tier::Avx512Bw, super::$check);
                }

                #[test]
                fn avx2() {
                    on(Tier::Avx2, super::$check);
                }

                #[test]
                fn aesni() {
                    on(Tier::AesNi, super::$check);
                }

                #[test]
                fn neon() {
                    on(Tier::Neon, super::$check);
                }

                #[test]
                fn portable() {
                    on(Tier::Portable, super::$check);
                }
            }
        )*
    };
}

per_tier!(random_messages_are_right published_vectors_are_right wycheproof_is_right);

#[test]
fn the_engine_finds_the_tiers_that_the_standard_library_finds() {
    assert_eq!(Tier::available().collect::<Vec<_>>(), expected_tiers());
}
