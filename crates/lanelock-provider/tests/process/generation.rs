//! Keys generated inside of jobs, some of them from what the thread has generated ahead.

use std::cell::RefCell;
use std::ffi::CStr;
use std::process::Command;

use lanelock::telemetry::reader::Reader;

use crate::alone;
use crate::child::{again_as_first, clone_raw, end_after, output_of, role, wait_for};
use crate::configuration;
use crate::jobs::{Job, State};
use crate::openssl::{DEFAULT, Key, Kind, LANELOCK, Library};
use lanelock_testkit::{has_lanes, lanes};

/// More than two batches of lanes.
const COUNT: usize = 19;

/// What `generate` makes in a job of its own, which does not pause.
fn in_job<'l>(generate: impl Fn() -> Key<'l>) -> Key<'l> {
    let made = RefCell::new(None);
    let mut job = Job::new(|| *made.borrow_mut() = Some(generate()));
    assert_eq!(job.resume(), State::Finished);
    drop(job);
    made.into_inner().expect("a key")
}

/// Secrets that `keys` share with one of the default provider's, found to be the same on both sides.
pub(crate) fn check(library: &Library, name: &CStr, kind: Kind, keys: &[Key<'_>]) -> Vec<Vec<u8>> {
    let peer = Key::generate(library, kind, DEFAULT);
    let secret = |key: &Key<'_>| {
        let theirs = key.in_provider(name, DEFAULT);
        let secret = peer.derive(&theirs).expect("with the public half");
        assert_eq!(
            secret,
            theirs.derive(&peer).expect("with the secret half"),
            "the halves are of one key"
        );
        assert!(key.is_equal(&theirs));
        secret
    };
    keys.iter().map(secret).collect()
}

pub(crate) fn assert_distinct(secrets: &[Vec<u8>]) {
    for (index, secret) in secrets.iter().enumerate() {
        assert!(!secrets[..index].contains(secret), "the key of {index}");
    }
}

/// Operations of this process that ran in lanes.
pub(crate) fn in_lanes(algorithm: &str) -> u64 {
    let Ok(reader) = Reader::open(std::process::id()) else {
        return 0;
    };
    let all = reader.read().expect("a page").by_algorithm();
    all.get(algorithm).map_or(0, |stats| stats.in_lanes)
}

#[test]
fn keys_of_jobs_come_from_lanes_where_that_is_faster() {
    let _alone = alone();
    let library = configuration::library("threads = off");
    let batches = COUNT.next_multiple_of(lanes()) as u64;
    let kinds = [
        (c"X25519", Kind::Raw(c"X25519"), "x25519-generate", batches),
        (c"EC", Kind::Ec(c"P-384"), "p384-generate", batches),
        (c"EC", Kind::Ec(c"P-256"), "p256-generate", 0),
    ];
    for (name, kind, algorithm, expected) in kinds {
        let before = in_lanes(algorithm);
        let outside = Key::generate(&library, kind, LANELOCK);
        assert_eq!(in_lanes(algorithm), before, "{algorithm} outside of a job");
        let generate = || in_job(|| Key::generate(&library, kind, LANELOCK));
        let mut keys: Vec<Key<'_>> = (0..COUNT).map(|_| generate()).collect();
        let expected = if has_lanes() { expected } else { 0 };
        // A pause of a second on the way makes one batch more.
        let ran = in_lanes(algorithm) - before;
        assert!(
            ran >= expected && (ran == 0) == (expected == 0),
            "{algorithm}: {ran}"
        );
        keys.push(outside);
        assert_distinct(&check(&library, name, kind, &keys));
    }
}

#[test]
fn a_key_with_the_parameters_of_another_has_them() {
    let _alone = alone();
    let library = Library::new();
    for kind in [Kind::Ec(c"P-384"), Kind::Ec(c"P-256"), Kind::Ec(c"P-521")] {
        let client = Key::generate(&library, kind, DEFAULT);
        let client = client.in_provider(c"EC", LANELOCK);
        let keys: Vec<Key<'_>> = (0..3).map(|_| in_job(|| client.generate_alike())).collect();
        for key in &keys {
            for parameter in [c"group", c"encoding", c"point-format"] {
                assert_eq!(key.parameter(parameter), client.parameter(parameter));
            }
        }
        assert_distinct(&check(&library, c"EC", kind, &keys));
    }
}

#[test]
fn a_key_that_is_to_be_written_in_another_way_is_the_default_providers() {
    let _alone = alone();
    let library = Library::new();
    let kind = Kind::ExplicitEc(c"P-384");
    let key = in_job(|| Key::generate(&library, kind, LANELOCK));
    assert_eq!(key.parameter(c"encoding"), "explicit");
    let alike = in_job(|| key.generate_alike());
    assert_eq!(alike.parameter(c"encoding"), "explicit");
}

/// How a child is made.
type Fork = fn() -> libc::pid_t;

/// Secrets from keys that this process and a child generate in turns, four each.
fn secrets_of_both(fork: Fork) -> Vec<Vec<u8>> {
    let library = Library::new();
    let kind = Kind::Raw(c"X25519");
    let peer = Key::generate(&library, kind, DEFAULT).in_provider(c"X25519", LANELOCK);
    let secret = || {
        let key = in_job(|| Key::generate(&library, kind, LANELOCK));
        key.derive(&peer).expect("derived")
    };
    // The spares that are left are the parent's.
    let mut secrets = vec![secret()];
    let mut pipe = [0; 2];
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    let child = fork();
    if child == 0 {
        end_after(|| {
            for _ in 0..4 {
                let secret = secret();
                let written = unsafe { libc::write(pipe[1], secret.as_ptr().cast(), 32) };
                assert_eq!(written, 32);
            }
        });
    }
    assert_eq!(wait_for(child), 0, "the child failed");
    for _ in 0..4 {
        let mut theirs = vec![0; 32];
        let read = unsafe { libc::read(pipe[0], theirs.as_mut_ptr().cast(), 32) };
        assert_eq!(read, 32);
        secrets.push(theirs);
        secrets.push(secret());
    }
    unsafe {
        libc::close(pipe[0]);
        libc::close(pipe[1]);
    }
    secrets
}

#[test]
fn a_child_process_generates_other_keys_than_its_parent() {
    let _alone = alone();
    assert_distinct(&secrets_of_both(|| unsafe { libc::fork() }));
    assert_distinct(&secrets_of_both(|| clone_raw(0)));
}

/// Parent and child have the same process number, each in its namespace, and the C library's handlers
/// know nothing of the child.
#[test]
fn a_child_of_the_same_process_number_generates_other_keys() {
    const TEST: &str = "generation::a_child_of_the_same_process_number_generates_other_keys";
    if role().is_some() {
        assert_eq!(std::process::id(), 1);
        assert_distinct(&secrets_of_both(|| clone_raw(libc::CLONE_NEWPID)));
        println!("distinct");
        return;
    }
    let _alone = alone();
    if !has_lanes() {
        // The default provider generates the same: it tells processes apart by their numbers alone.
        return;
    }
    let may = Command::new("unshare")
        .args(["--pid", "--fork", "true"])
        .output();
    if !may.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: namespaces of process numbers; `unshare --pid` is not permitted here");
        return;
    }
    let said = output_of(&mut again_as_first(TEST, "first"));
    assert!(said.contains("distinct\n"), "{said}");
}
