//! Connections that close, threads that end, processes that fork, providers that go.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use crate::child::{clone_raw, end_after, wait_for};
use crate::jobs::{Job, State, drive};
use crate::openssl::{DEFAULT, Key, Kind, LANELOCK, Library};
use crate::{alone, descriptors};
use lanelock_testkit::{has_lanes, lanes};

/// Jobs that agree once each on the secret of `key` with itself, into `results`.
fn exchanges<'w>(key: &'w Key<'_>, results: &'w [RefCell<Vec<u8>>]) -> Vec<Job<'w>> {
    let job = |result: &'w RefCell<Vec<u8>>| {
        Job::new(move || *result.borrow_mut() = key.derive(key).expect("derived"))
    };
    results.iter().map(job).collect()
}

fn by_the_default_provider(key: &Key<'_>) -> Vec<u8> {
    let key = key.in_provider(c"X25519", DEFAULT);
    key.derive(&key).expect("derived")
}

fn empty(count: usize) -> Vec<RefCell<Vec<u8>>> {
    (0..count).map(|_| RefCell::default()).collect()
}

/// Runs `work` on so many threads, to their very ends: a scope alone does not wait for what
/// libcrypto does when a thread ends, and its library context must outlive that.
fn on_threads(count: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(&work)).collect();
        for thread in threads {
            thread.join().expect("what a thread asserts");
        }
    });
}

#[test]
fn a_connection_closed_while_paused_leaves_no_descriptor_and_no_operation() {
    let _alone = alone();
    if !has_lanes() {
        return;
    }
    let few = lanes() - 1;
    let library = Library::new();
    let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
    let expected = by_the_default_provider(&key);
    let before = descriptors();
    let results = empty(30);
    for round in 0..3 {
        let mut jobs = exchanges(&key, &results[..few]);
        for job in &mut jobs {
            assert_eq!(job.resume(), State::Paused);
            assert!(job.is_readable(Duration::ZERO));
        }
        assert_eq!(descriptors(), before + few, "one for each");
        jobs.into_iter().for_each(Job::abandon);
        assert_eq!(descriptors(), before, "round {round}");
    }
    // Operations that still waited would make a batch with this one.
    let mut jobs = exchanges(&key, &results[7..8]);
    assert_eq!(jobs[0].resume(), State::Paused, "nobody waits any more");
    assert_eq!(jobs[0].resume(), State::Finished);
    drop(jobs);
    assert_eq!(*results[7].borrow(), expected);
    // Some of a batch closed before it runs, and some after.
    let mut jobs = exchanges(&key, &results[8..22]);
    let mut paused: Vec<Job<'_>> = Vec::new();
    for mut job in jobs.drain(..) {
        if job.resume() == State::Paused {
            paused.push(job);
        }
        if paused.len() == 3 {
            paused.remove(1).abandon();
        }
    }
    while let Some(mut job) = paused.pop() {
        match paused.len() % 3 {
            0 => job.abandon(),
            _ => assert_eq!(job.resume(), State::Finished),
        }
    }
    drop(jobs);
    assert_eq!(descriptors(), before);
    for result in &results[8..22] {
        let result = result.borrow();
        assert!(result.is_empty() || *result == expected);
    }
}

#[test]
fn a_connection_can_be_closed_by_another_thread() {
    let _alone = alone();
    if !has_lanes() {
        return;
    }
    let few = lanes() - 1;
    struct Moved<T>(T);
    unsafe impl<T> Send for Moved<T> {}
    let library = Library::new();
    let key = Key::generate(&library, Kind::Ec(c"P-384"), LANELOCK);
    let before = descriptors();
    let results = empty(8);
    let mut jobs: Vec<Job<'_>> = results[..few]
        .iter()
        .map(|result| {
            Job::new(|| *result.borrow_mut() = key.sign_digest(&[1; 48]).expect("signed"))
        })
        .collect();
    for job in &mut jobs {
        assert_eq!(job.resume(), State::Paused);
    }
    let jobs = Moved(jobs);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let jobs = jobs;
            jobs.0.into_iter().for_each(Job::abandon);
        });
        other.join().expect("it closes them");
    });
    assert_eq!(descriptors(), before);
    // This thread finds out at its next operation.
    let mut last =
        Job::new(|| *results[7].borrow_mut() = key.sign_digest(&[1; 48]).expect("signed"));
    assert_eq!(last.resume(), State::Paused);
    assert_eq!(last.resume(), State::Finished);
    drop(last);
    assert!(!results[7].borrow().is_empty());
}

#[test]
fn a_thread_ends_with_operations_waiting() {
    let _alone = alone();
    let library = Library::new();
    let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
    let before = descriptors();
    on_threads(2, || {
        let results = empty(5);
        let mut jobs = exchanges(&key, &results);
        for job in jobs {
            let mut job = job;
            if job.resume() == State::Paused {
                job.abandon();
            }
        }
        jobs = exchanges(&key, &results[..3]);
        for mut job in jobs {
            // Their wait contexts outlive the thread.
            job.resume();
            std::mem::forget(job);
        }
    });
    let kept = if has_lanes() { 6 } else { 0 };
    assert_eq!(descriptors(), before + kept);
}

#[test]
fn threads_have_batches_of_their_own() {
    let _alone = alone();
    let library = Library::new();
    let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
    let expected = by_the_default_provider(&key);
    on_threads(3, || {
        for count in [3, 16, 1, 20] {
            let results = empty(count);
            let mut jobs = exchanges(&key, &results);
            drive(&mut jobs, |_| ());
            drop(jobs);
            assert!(results.iter().all(|result| *result.borrow() == expected));
        }
    });
}

/// Parent's jobs that are paused go on in a child that `fork` makes, and after that in the parent.
fn starts_afresh(fork: impl Fn() -> libc::pid_t) {
    let library = Library::new();
    let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
    let expected = by_the_default_provider(&key);
    let results = empty(5);
    let mut jobs = exchanges(&key, &results);
    for job in &mut jobs {
        job.resume();
    }
    let child = fork();
    if child == 0 {
        // The parent's jobs end here, too, and new ones make batches.
        end_after(|| {
            for job in &mut jobs {
                while job.state == State::Paused {
                    job.resume();
                }
            }
            assert!(results.iter().all(|result| *result.borrow() == expected));
            let results = empty(16);
            let mut jobs = exchanges(&key, &results);
            drive(&mut jobs, |_| ());
            drop(jobs);
            assert!(results.iter().all(|result| *result.borrow() == expected));
        });
    }
    assert_eq!(wait_for(child), 0, "the child failed");
    for job in &mut jobs {
        if job.state == State::Paused {
            assert!(
                job.is_readable(Duration::ZERO),
                "the child took nothing from it"
            );
            assert_eq!(job.resume(), State::Finished);
        }
    }
    drop(jobs);
    assert!(results.iter().all(|result| *result.borrow() == expected));
}

#[test]
fn a_child_process_starts_afresh_and_the_parent_goes_on() {
    let _alone = alone();
    starts_afresh(|| unsafe { libc::fork() });
}

#[test]
fn so_does_a_child_that_the_handlers_of_the_c_library_do_not_know_of() {
    let _alone = alone();
    starts_afresh(|| clone_raw(0));
}

#[test]
fn a_callback_is_called_for_each_pause() {
    let _alone = alone();
    if !has_lanes() {
        return;
    }
    let library = Library::new();
    let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
    let calls: Vec<Cell<u32>> = (0..3).map(|_| Cell::new(0)).collect();
    let results = empty(3);
    let mut jobs = exchanges(&key, &results);
    for (job, calls) in jobs.iter_mut().zip(&calls) {
        job.set_callback(calls);
        assert_eq!(job.resume(), State::Paused);
        assert_eq!(calls.get(), 1);
    }
    for (job, calls) in jobs.iter_mut().zip(&calls) {
        assert_eq!(job.resume(), State::Finished);
        assert_eq!(calls.get(), 1);
    }
}

#[test]
fn a_provider_is_unloaded_and_loaded_again() {
    let _alone = alone();
    let before = descriptors();
    let mut secret = Vec::new();
    for _ in 0..3 {
        let mut library = Library::empty();
        library.load(c"default").expect("default");
        library.load(c"lanelock").expect("lanelock");
        {
            let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
            let results = empty(9);
            let mut jobs = exchanges(&key, &results);
            drive(&mut jobs, |_| ());
            drop(jobs);
            secret = results[0].take();
        }
        library.unload();
        library.load(c"lanelock").expect("again");
        let key = Key::generate(&library, Kind::Raw(c"ED25519"), LANELOCK);
        assert_eq!(key.provider(), "lanelock");
    }
    assert_eq!(secret.len(), 32);
    assert_eq!(descriptors(), before);
}
