//! The provider's section of openssl.cnf.

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::alone;
use crate::jobs::{Job, State};
use crate::openssl::{Key, Kind, LANELOCK, Library};
use lanelock_testkit::{has_lanes, lanes, provider_module};

/// Writes a configuration whose section has `line`.
pub fn file(line: &str) -> PathBuf {
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

/// A library configured with `line` in the module's section.
pub fn library(line: &str) -> Library {
    let (library, file) = (Library::empty(), file(line));
    library.configure(&file).expect("configured");
    std::fs::remove_file(&file).expect("removed");
    library
}

/// What `openssl version` and `openssl list -providers` do with it, whose standard error goes to
/// `errors`.
fn run(arguments: &[&str], line: &str, errors: Stdio) -> (Option<i32>, String, String) {
    let file = file(line);
    let mut openssl = Command::new("openssl");
    let output = openssl
        .args(arguments)
        .env("OPENSSL_CONF", &file)
        .stderr(errors)
        .output();
    std::fs::remove_file(&file).expect("removed");
    let output = output.expect("the openssl command");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Loads the provider with the section's values. Of one that the section itself activates, OpenSSL
/// drops the errors.
fn load(line: &str) -> Result<(), String> {
    let file = file(line);
    let text = std::fs::read_to_string(&file).expect("just written");
    let passive = text.replace(".so\nactivate = 1\n", ".so\n");
    assert_ne!(text, passive);
    std::fs::write(&file, passive).expect("written");
    let mut library = Library::empty();
    let configured = library.configure(&file);
    std::fs::remove_file(&file).expect("removed");
    configured.and_then(|()| library.load(c"lanelock"))
}

#[test]
fn a_wrong_value_is_refused_by_name() {
    let _alone = alone();
    for (line, expected) in [
        ("deadline = soon", "use a number of microseconds"),
        ("deadline = -1", "use a number of microseconds"),
        ("deadline = 1000001", "use a number of microseconds"),
        ("enabled = maybe", "use yes or no"),
        ("event_loop = 1", "use auto, on or off"),
        ("threads = yes", "use auto, on or off"),
        ("algorithms = rsa dsa", "unknown name 'dsa'; allowed: rsa,"),
    ] {
        let errors = load(line).expect_err("refused");
        let sentence = format!("lanelock: {line}: {expected}");
        assert!(errors.contains(&sentence), "{errors}");
    }
    for line in [
        "",
        "deadline = 50",
        "enabled = yes",
        "event_loop = off",
        "threads = on",
        "algorithms = rsa, ecdh",
    ] {
        load(line).expect("loaded");
    }
}

/// Standard error is the program's: not a word goes there, and nothing depends on it.
#[test]
fn a_wrong_value_stops_no_program_and_says_nothing_on_standard_error() {
    let _alone = alone();
    for (arguments, expected) in [
        (["version", "-v"], "OpenSSL"),
        (["list", "-providers"], "default"),
    ] {
        let (code, said, errors) = run(&arguments, "deadline = abc", Stdio::piped());
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{said}");
        assert!(
            said.contains(expected) && !said.contains("lanelock"),
            "{said}"
        );
        let full = std::fs::File::create("/dev/full").expect("a device");
        let (code, _, _) = run(&arguments, "deadline = abc", full.into());
        assert_eq!(
            code,
            Some(0),
            "{arguments:?} with no room on standard error"
        );
    }
}

#[test]
fn with_a_deadline_a_job_waits_for_others_until_then() {
    let _alone = alone();
    if !has_lanes() {
        return;
    }
    let full = lanes();
    let file = file("deadline = 100000");
    let library = Library::empty();
    let configured = library.configure(&file);
    std::fs::remove_file(&file).expect("removed");
    configured.expect("configured");
    let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
    let results: Vec<RefCell<Vec<u8>>> = (0..full + 2).map(|_| RefCell::default()).collect();
    let mut jobs: Vec<Job<'_>> = results
        .iter()
        .map(|result| Job::new(|| *result.borrow_mut() = key.derive(&key).expect("derived")))
        .collect();
    let start = Instant::now();
    // All but the last of a batch wait, and can be resumed early without harm.
    for job in &mut jobs[..full - 1] {
        assert_eq!(job.resume(), State::Paused);
    }
    if !jobs[0].is_readable(Duration::ZERO) {
        let state = jobs[0].resume();
        assert!(state == State::Paused || start.elapsed() >= Duration::from_millis(100));
    }
    // The last fills the batch, and the others are told.
    if jobs[..full - 1]
        .iter()
        .all(|job| job.state == State::Paused)
    {
        assert_eq!(jobs[full - 1].resume(), State::Finished);
        for job in &mut jobs[..full - 1] {
            assert!(job.is_readable(Duration::from_secs(10)), "told at once");
            assert_eq!(job.resume(), State::Finished);
            assert!(!job.is_readable(Duration::ZERO));
        }
    }
    // Two are woken by their timer.
    for job in &mut jobs[full..] {
        assert_eq!(job.resume(), State::Paused);
    }
    for job in &mut jobs[full..] {
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

/// Waits until one of the job's descriptors is readable.
fn wait_for_any(job: &Job<'_>) {
    let poll = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut polls: Vec<_> = job.descriptors().into_iter().map(poll).collect();
    let count = libc::nfds_t::try_from(polls.len()).expect("a few");
    let ready = unsafe { libc::poll(polls.as_mut_ptr(), count, 10_000) };
    assert!(ready > 0, "a paused job that nobody is told of");
}

#[test]
fn operations_with_a_deadline_and_without_meet_in_one_connection() {
    let _alone = alone();
    if !has_lanes() {
        return;
    }
    let file = file("deadline = 100000");
    let (late, soon) = (Library::empty(), Library::new());
    let configured = late.configure(&file);
    std::fs::remove_file(&file).expect("removed");
    configured.expect("configured");
    let keys = [&soon, &late].map(|library| Key::generate(library, Kind::Raw(c"X25519"), LANELOCK));
    let derive = || keys.each_ref().map(|key| key.derive(key).expect("derived"));
    let expected = derive();
    let results: Vec<RefCell<_>> = (0..2).map(|_| RefCell::default()).collect();
    let mut jobs: Vec<Job<'_>> = results
        .iter()
        .map(|result| Job::new(|| *result.borrow_mut() = derive().to_vec()))
        .collect();
    for job in &mut jobs {
        job.resume();
    }
    while let Some(job) = jobs.iter_mut().find(|job| job.state == State::Paused) {
        wait_for_any(job);
        job.resume();
    }
    for job in &jobs {
        assert!(
            job.pauses < 10,
            "resumed {} times for two operations",
            job.pauses
        );
    }
    drop(jobs);
    for result in results {
        assert_eq!(result.into_inner(), expected);
    }
}
