//! The provider's section of openssl.cnf.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::alone;
use crate::jobs::{Job, State};
use crate::openssl::{Key, Kind, LANELOCK, Library};
use lanelock_toy::{has_lanes, provider_module};

/// Writes a configuration whose section has `line`.
fn file(line: &str) -> PathBuf {
    let module = provider_module();
    let text = format!(
        "openssl_conf = init\n[init]\nproviders = providers\n\
         [providers]\ndefault = default_section\nlanelock = lanelock_section\n\
         [default_section]\nactivate = 1\n\
         [lanelock_section]\nmodule = {}\nactivate = 1\n{line}\n",
        module.display()
    );
    let file = std::env::temp_dir().join(format!("lanelock-{}.cnf", std::process::id()));
    std::fs::write(&file, text).expect("written");
    file
}

/// The providers that a program has with it, and what it says on standard error. In a process of
/// its own: OpenSSL goes on without a provider that does not start, and drops its errors.
fn list_providers(line: &str) -> (String, String) {
    let file = file(line);
    let mut openssl = Command::new("openssl");
    let output = openssl
        .args(["list", "-providers"])
        .env("OPENSSL_CONF", &file)
        .output();
    std::fs::remove_file(&file).expect("removed");
    let output = output.expect("the openssl command");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn a_wrong_value_is_refused_by_name() {
    let _alone = alone();
    for line in ["deadline = soon", "deadline = -1", "deadline = 1000001"] {
        let (providers, said) = list_providers(line);
        assert!(!providers.contains("lanelock"), "{providers}");
        assert!(
            said.contains(&format!("lanelock: {line}: it is a number of micro")),
            "{said}"
        );
    }
    for line in ["", "deadline = 50"] {
        let (providers, said) = list_providers(line);
        assert!(
            providers.contains("name: lanelock") && said.is_empty(),
            "{providers}{said}"
        );
    }
}

#[test]
fn with_a_deadline_a_job_waits_for_others_until_then() {
    let _alone = alone();
    if !has_lanes() {
        return;
    }
    let file = file("deadline = 100000");
    let library = Library::empty();
    let configured = library.configure(&file);
    std::fs::remove_file(&file).expect("removed");
    configured.expect("configured");
    let key = Key::generate(&library, Kind::Rsa(2048), LANELOCK);
    let results: Vec<RefCell<Vec<u8>>> = (0..10).map(|_| RefCell::default()).collect();
    let mut jobs: Vec<Job<'_>> = results
        .iter()
        .map(|result| {
            Job::new(|| *result.borrow_mut() = key.sign_digest(&[5; 36]).expect("signed"))
        })
        .collect();
    let start = Instant::now();
    // Seven wait, and can be resumed early without harm.
    for job in &mut jobs[..7] {
        assert_eq!(job.resume(), State::Paused);
    }
    if !jobs[0].is_readable(Duration::ZERO) {
        let state = jobs[0].resume();
        assert!(state == State::Paused || start.elapsed() >= Duration::from_millis(100));
    }
    // The eighth fills the batch, and the others are told.
    if jobs[..7].iter().all(|job| job.state == State::Paused) {
        assert_eq!(jobs[7].resume(), State::Finished);
        for job in &mut jobs[..7] {
            assert!(job.is_readable(Duration::from_secs(10)), "told at once");
            assert_eq!(job.resume(), State::Finished);
            assert!(!job.is_readable(Duration::ZERO));
        }
    }
    // Two are woken by their timer.
    for job in &mut jobs[8..] {
        assert_eq!(job.resume(), State::Paused);
    }
    for job in &mut jobs[8..] {
        assert!(
            job.is_readable(Duration::from_secs(10)),
            "woken by the deadline"
        );
        while job.resume() == State::Paused {}
    }
    drop(jobs);
    assert!(
        results
            .iter()
            .all(|result| *result.borrow() == *results[0].borrow())
    );
}
