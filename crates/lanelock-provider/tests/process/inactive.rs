//! Why nothing runs in lanes: switched off, or not to be had.

use std::cell::RefCell;

use lanelock::telemetry::Inactive;
use lanelock::telemetry::reader::{Reader, Snapshot};

use crate::alone;
use crate::child::{again, output_of, role};
use crate::configuration::file;
use crate::jobs::{Job, State};
use crate::openssl::{Key, Kind, LANELOCK, Library};
use lanelock_testkit::has_lanes;

/// A page of this process.
fn page() -> Option<Snapshot> {
    let reader = Reader::open(std::process::id()).ok()?;
    Some(reader.read().expect("a sound page"))
}

/// How many of 16 jobs that agree on the secret of `key` with itself pause; all end with the same one.
pub fn paused(key: &Key<'_>) -> usize {
    let results: Vec<RefCell<Vec<u8>>> = (0..16).map(|_| RefCell::default()).collect();
    let derive = || key.derive(key).expect("derived");
    let mut jobs: Vec<Job<'_>> = results
        .iter()
        .map(|result| Job::new(|| *result.borrow_mut() = derive()))
        .collect();
    let paused = jobs.iter_mut().filter_map(|job| {
        let paused = job.resume() == State::Paused;
        paused.then_some(())
    });
    let paused = paused.count();
    for job in &mut jobs {
        while job.state == State::Paused {
            job.resume();
        }
    }
    drop(jobs);
    let expected = derive();
    assert!(results.iter().all(|result| *result.borrow() == expected));
    paused
}

#[test]
fn each_reason_is_told_to_whoever_asks() {
    const TEST: &str = "inactive::each_reason_is_told_to_whoever_asks";
    if role().is_some() {
        let library = Library::new();
        let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
        println!("provider: {}", key.provider());
        println!("paused: {}", paused(&key));
        println!("status: {:?}", library.status_of(1));
        let snapshot = page();
        println!("page: {:?}", snapshot.and_then(|page| page.inactive));
        return;
    }
    let _alone = alone();
    // A tier that this architecture has, and that has no lanes for public keys.
    let narrow = if cfg!(target_arch = "aarch64") {
        "neon"
    } else {
        "aesni"
    };
    let cases = [
        ("LANELOCK_DISABLE", "1", "default", Inactive::Environment),
        (
            "LANELOCK_TIER",
            "avx1024",
            "lanelock",
            Inactive::TierUnknown,
        ),
        (
            "LANELOCK_TIER",
            narrow,
            "lanelock",
            match has_lanes() {
                false => Inactive::Cpu,
                true => Inactive::TierForced,
            },
        ),
    ];
    for (variable, value, provider, reason) in cases {
        let said = output_of(again(TEST, "tell").env(variable, value));
        for line in [
            format!("provider: {provider}\n"),
            "paused: 0\n".to_owned(),
            format!("lanes: inactive, {reason}\", 0)\n"),
            format!("page: Some({reason:?})\n"),
        ] {
            assert!(said.contains(&line), "{variable}={value}: {line}{said}");
        }
    }
    let said = output_of(again(TEST, "tell").env("LANELOCK_DISABLE", "0"));
    assert!(said.contains("provider: lanelock\n"), "{said}");
    if !has_lanes() {
        return;
    }
    for line in ["lanes: active\", 1)\n", "page: None\n"] {
        assert!(said.contains(line), "{line}{said}");
    }
    assert!(!said.contains("paused: 0\n"), "{said}");
}

/// A library context that is configured with `line`, and what its provider is then.
fn configured(line: &str) -> Library {
    let file = file(line);
    let library = Library::empty();
    let done = library.configure(&file);
    std::fs::remove_file(&file).expect("removed");
    done.expect("configured");
    library
}

#[test]
fn what_is_switched_off_is_the_default_providers() {
    const TEST: &str = "inactive::what_is_switched_off_is_the_default_providers";
    if role().is_some() {
        let library = configured("enabled = no");
        let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
        println!("{} {}", key.provider(), paused(&key));
        println!("{:?}", page().and_then(|page| page.inactive));
        return;
    }
    let _alone = alone();
    let said = output_of(&mut again(TEST, "configured"));
    assert!(said.contains("default 0\nSome(Configuration)\n"), "{said}");
}

#[test]
fn only_the_chosen_algorithms_run_in_lanes() {
    let _alone = alone();
    let library = configured("algorithms = ecdsa, x25519");
    let provider = |kind| Key::generate(&library, kind, LANELOCK).provider();
    assert_eq!(provider(Kind::Rsa(2048)), "default");
    assert_eq!(provider(Kind::Raw(c"ED25519")), "default");
    assert_eq!(provider(Kind::Raw(c"X25519")), "lanelock");
    let (one, other) = (
        Key::generate(&library, Kind::Ec(c"P-384"), LANELOCK),
        Key::generate(&library, Kind::Ec(c"P-384"), LANELOCK),
    );
    assert_eq!(one.provider(), "lanelock");
    // Signatures pause, if anything does, and exchanges with the same keys never.
    let pauses = |work: &dyn Fn()| {
        let mut jobs: Vec<Job<'_>> = (0..3).map(|_| Job::new(work)).collect();
        let states: Vec<State> = jobs.iter_mut().map(Job::resume).collect();
        for job in &mut jobs {
            while job.state == State::Paused {
                job.resume();
            }
        }
        states.contains(&State::Paused)
    };
    let sign = || drop(one.sign_digest(&[1; 48]).expect("signed"));
    let derive = || drop(one.derive(&other).expect("derived"));
    assert_eq!(pauses(&sign), has_lanes());
    assert!(!pauses(&derive), "ecdh is not chosen");
}
