//! Inside jobs: the same results, whatever the order in which the event loop resumes them.

use std::cell::RefCell;

use crate::jobs::{Job, State, drive, drive_by_edges};
use crate::openssl::{DEFAULT, Key, Kind, LANELOCK, Library, Scheme};
use crate::synchronous::{SIGNERS, name};
use lanelock_testkit::{has_lanes, lanes};

/// A key in both providers.
struct Pair<'l> {
    kind: Kind,
    scheme: Scheme,
    ours: Key<'l>,
    theirs: Key<'l>,
}

fn pairs(library: &Library) -> Vec<Pair<'_>> {
    let pairs = SIGNERS.map(|(kind, scheme)| {
        let ours = Key::generate(library, kind, LANELOCK);
        let theirs = ours.in_provider(name(kind), DEFAULT);
        Pair {
            kind,
            scheme,
            ours,
            theirs,
        }
    });
    pairs.into()
}

impl Pair<'_> {
    fn check(&self, message: &[u8], signature: &[u8]) {
        assert!(
            self.theirs.verify(&self.scheme, message, signature),
            "{:?}",
            self.kind
        );
        if self.scheme.is_deterministic(self.kind) {
            let expected = self.theirs.sign(&self.scheme, message).expect("signed");
            assert_eq!(signature, expected);
        }
    }
}

#[test]
fn jobs_of_mixed_keys_get_their_own_signatures_in_every_order() {
    let library = Library::new();
    let pairs = pairs(&library);
    let mut random = fastrand::Rng::with_seed(1);
    for count in 1..=20 {
        let results: Vec<RefCell<Vec<Vec<u8>>>> = (0..count).map(|_| RefCell::default()).collect();
        let chosen: Vec<usize> = (0..count).map(|_| random.usize(..pairs.len())).collect();
        let mut jobs: Vec<Job<'_>> = chosen
            .iter()
            .zip(&results)
            .map(|(&pair, result)| {
                let pair = &pairs[pair];
                // Two operations each: the second finds the descriptor of the first.
                Job::new(move || {
                    for round in 0..2_u8 {
                        let signature = pair.ours.sign(&pair.scheme, &[round; 100]);
                        result.borrow_mut().push(signature.expect("signed"));
                    }
                })
            })
            .collect();
        drive(&mut jobs, |ready| random.shuffle(ready));
        drop(jobs);
        for (&pair, result) in chosen.iter().zip(&results) {
            let result = result.borrow();
            assert_eq!(result.len(), 2);
            for (round, signature) in (0..).zip(&*result) {
                pairs[pair].check(&[round; 100], signature);
            }
        }
    }
}

#[test]
fn sixteen_jobs_of_one_key_pause_and_fill_batches() {
    let library = Library::new();
    let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
    let theirs = key.in_provider(c"X25519", DEFAULT);
    let results: Vec<RefCell<Vec<u8>>> = (0..16).map(|_| RefCell::default()).collect();
    let mut jobs: Vec<Job<'_>> = results
        .iter()
        .map(|result| Job::new(|| *result.borrow_mut() = key.derive(&key).expect("derived")))
        .collect();
    let states: Vec<State> = jobs.iter_mut().map(Job::resume).collect();
    if !has_lanes() {
        assert!(states.iter().all(|&state| state == State::Finished));
        return;
    }
    // The last ones of each batch fill it and have their results at once.
    let paused = states
        .iter()
        .filter(|&&state| state == State::Paused)
        .count();
    assert_eq!(paused, 16 - 16 / lanes(), "{states:?}");
    for job in &mut jobs {
        if job.state == State::Paused {
            assert!(
                job.is_readable(std::time::Duration::ZERO),
                "readable until resumed"
            );
            assert_eq!(job.resume(), State::Finished, "its result is there");
            assert!(
                !job.is_readable(std::time::Duration::ZERO),
                "and then no more"
            );
        }
    }
    drop(jobs);
    let expected = theirs.derive(&theirs).expect("derived");
    assert!(results.iter().all(|result| *result.borrow() == expected));
}

#[test]
fn jobs_that_are_never_more_than_two_soon_pause_no_more() {
    const ROUNDS: usize = 32;
    let library = Library::new();
    let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
    let mut paused = 0;
    for _ in 0..ROUNDS {
        let mut jobs = [(); 2].map(|()| Job::new(|| drop(key.derive(&key).expect("derived"))));
        drive(&mut jobs, |_| ());
        paused += jobs.iter().filter(|job| job.pauses > 0).count();
    }
    let expected = if has_lanes() { 2..ROUNDS / 2 } else { 0..1 };
    assert!(expected.contains(&paused), "{paused} pauses");
}

#[test]
fn an_event_loop_that_hears_of_changes_alone_leaves_no_job_behind() {
    let library = Library::new();
    let key = Key::generate(&library, Kind::Ec(c"P-384"), LANELOCK);
    for count in 1..=20 {
        let signed = RefCell::new(0);
        // Two operations each: the descriptor is registered for the first alone.
        let mut jobs: Vec<Job<'_>> = (0..count)
            .map(|_| {
                Job::new(|| {
                    for _ in 0..2 {
                        key.sign_digest(&[5; 48]).expect("signed");
                        *signed.borrow_mut() += 1;
                    }
                })
            })
            .collect();
        drive_by_edges(&mut jobs);
        drop(jobs);
        assert_eq!(*signed.borrow(), 2 * count);
    }
}

#[test]
fn secrets_and_plaintexts_are_the_default_providers() {
    let library = Library::new();
    for kind in [Kind::Raw(c"X25519"), Kind::Ec(c"P-256"), Kind::Ec(c"P-384")] {
        let keys: Vec<Key<'_>> = (0..12)
            .map(|_| Key::generate(&library, kind, LANELOCK))
            .collect();
        let peer = Key::generate(&library, kind, LANELOCK);
        let results: Vec<RefCell<Vec<u8>>> = keys.iter().map(|_| RefCell::default()).collect();
        let mut jobs: Vec<Job<'_>> = keys
            .iter()
            .zip(&results)
            .map(|(key, result)| {
                Job::new(|| *result.borrow_mut() = key.derive(&peer).expect("derived"))
            })
            .collect();
        drive(&mut jobs, |ready| ready.reverse());
        drop(jobs);
        let their_peer = peer.in_provider(name(kind), DEFAULT);
        for (key, result) in keys.iter().zip(&results) {
            let theirs = key.in_provider(name(kind), DEFAULT);
            assert_eq!(
                *result.borrow(),
                theirs.derive(&their_peer).expect("derived")
            );
        }
    }
    let key = Key::generate(&library, Kind::Rsa(2048), LANELOCK);
    for padding in [1, 3, 4] {
        let message = vec![7; if padding == 3 { 256 } else { 32 }];
        let ciphertext = key.crypt(false, padding, &message).expect("encrypted");
        let mut wrong = ciphertext.clone();
        wrong[128] ^= 1;
        let expected = key
            .in_provider(c"RSA", DEFAULT)
            .crypt(true, padding, &wrong);
        let results: Vec<RefCell<Vec<u8>>> = (0..9).map(|_| RefCell::default()).collect();
        let mut jobs: Vec<Job<'_>> = results
            .iter()
            .map(|result| {
                Job::new(|| {
                    *result.borrow_mut() =
                        key.crypt(true, padding, &ciphertext).expect("decrypted");
                    let refused = key.crypt(true, padding, &wrong);
                    assert_eq!(refused.is_ok(), expected.is_ok(), "padding {padding}");
                })
            })
            .collect();
        drive(&mut jobs, |_| ());
        drop(jobs);
        assert!(results.iter().all(|result| *result.borrow() == message));
    }
}

/// A message that would fit does not: the default provider wants room for a whole block.
#[test]
fn a_short_buffer_fails_as_it_does_in_the_default_provider() {
    let library = Library::new();
    let key = Key::generate(&library, Kind::Rsa(2048), LANELOCK);
    let theirs = key.in_provider(c"RSA", DEFAULT);
    let ciphertext = key.crypt(false, 4, &[9; 20]).expect("encrypted");
    for room in [19, 20, 255, 256] {
        let expected = theirs.decrypt_oaep(&ciphertext, room);
        assert_eq!(expected.is_ok(), room == 256);
        let results: Vec<RefCell<Option<_>>> = (0..9).map(|_| RefCell::default()).collect();
        let mut jobs: Vec<Job<'_>> = results
            .iter()
            .map(|result| {
                Job::new(|| *result.borrow_mut() = Some(key.decrypt_oaep(&ciphertext, room)))
            })
            .collect();
        drive(&mut jobs, |_| ());
        drop(jobs);
        for result in results {
            assert_eq!(result.into_inner().as_ref(), Some(&expected), "room {room}");
        }
    }
}
