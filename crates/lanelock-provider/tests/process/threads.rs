//! Threads that wait for their operations: those of several run together, and each gets its own result.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use lanelock::telemetry::reader::{Reader, Stats};

use crate::alone;
use crate::child::{again, end_after, output_of, role, wait_for};
use crate::configuration;
use crate::generation::{assert_distinct, check, in_lanes};
use crate::openssl::{DEFAULT, Key, Kind, LANELOCK, Library, Scheme};
use lanelock_testkit::{has_lanes, lanes};

const THREADS: usize = 16;
const ROUNDS: usize = 24;
const MESSAGE: &[u8] = b"what a server signs in a handshake";

/// What ran in lanes of this process, of signatures with keys of a kind.
fn signed(kind: &str) -> Stats {
    let Ok(reader) = Reader::open(std::process::id()) else {
        return Stats::default();
    };
    let mut sum = Stats::default();
    for (algorithm, stats) in reader.read().expect("a page").by_algorithm() {
        if algorithm.starts_with(kind) {
            sum.merge(&stats);
        }
    }
    sum
}

/// Has all threads of this process share one processor, on which they take turns.
fn share_a_processor() {
    unsafe {
        let mut set = std::mem::zeroed::<libc::cpu_set_t>();
        assert_eq!(
            libc::sched_getaffinity(0, size_of_val(&set), &raw mut set),
            0
        );
        let first = (0..1024).find(|&cpu| libc::CPU_ISSET(cpu, &set));
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(first.expect("a processor"), &mut set);
        assert_eq!(
            libc::sched_setaffinity(0, size_of_val(&set), &raw const set),
            0
        );
    }
}

/// Has threads that start together call `work`, with their numbers.
fn together(work: impl Fn(usize) + Sync) {
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        let thread = |number| {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(number);
            })
        };
        let threads: Vec<_> = (0..THREADS).map(thread).collect();
        for thread in threads {
            thread.join().expect("what a thread asserts");
        }
    });
}

/// On threads of its own, so that the processor is theirs alone.
fn apart(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let work = || {
            share_a_processor();
            work();
        };
        scope.spawn(work).join().expect("what a thread asserts");
    });
}

#[test]
fn threads_that_sign_at_once_fill_lanes_and_each_gets_its_own_signature() {
    let _alone = alone();
    let library = Library::new();
    let (rsa, pss) = (Scheme::Hash(c"SHA256"), Scheme::Pss(c"SHA256"));
    let p384 = Scheme::Hash(c"SHA384");
    for (kind, name, scheme, algorithm) in [
        (Kind::Rsa(2048), c"RSA", rsa, "rsa-2048"),
        (Kind::Rsa(3072), c"RSA", pss, "rsa-3072"),
        (Kind::Ec(c"P-384"), c"EC", p384, "p384"),
    ] {
        let keys: Vec<_> = (0..3)
            .map(|_| Key::generate(&library, kind, LANELOCK))
            .collect();
        let theirs: Vec<_> = keys
            .iter()
            .map(|key| key.in_provider(name, DEFAULT))
            .collect();
        let before = signed(algorithm);
        apart(|| {
            together(|thread| {
                for round in 0..ROUNDS {
                    let message = format!("{thread} {round}");
                    let which = (thread + round) % keys.len();
                    let signature = keys[which]
                        .sign(&scheme, message.as_bytes())
                        .expect("signed");
                    assert!(
                        theirs[which].verify(&scheme, message.as_bytes(), &signature),
                        "{kind:?}: {message}"
                    );
                }
            });
        });
        let after = signed(algorithm);
        let (ran, batches) = (
            after.in_lanes - before.in_lanes,
            after.batches - before.batches,
        );
        eprintln!(
            "{kind:?}: {ran} of {} in {batches} batches",
            THREADS * ROUNDS
        );
        if has_lanes() {
            assert!(ran > 0, "{kind:?}: nothing ran in lanes");
            assert!(ran >= 2 * batches, "{kind:?}: {ran} in {batches} batches");
        } else {
            assert_eq!(ran, 0);
        }
    }
}

#[test]
fn threads_decrypt_together() {
    let _alone = alone();
    let library = Library::new();
    let key = Key::generate(&library, Kind::Rsa(2048), LANELOCK);
    apart(|| {
        together(|thread| {
            for round in 0..ROUNDS {
                let message = format!("{thread} {round}");
                let ciphertext = key.crypt(false, 4, message.as_bytes()).expect("encrypted");
                let back = key.crypt(true, 4, &ciphertext).expect("decrypted");
                assert_eq!(back, message.as_bytes());
            }
        });
    });
}

#[test]
fn threads_agree_on_secrets_together() {
    let _alone = alone();
    let library = Library::new();
    let kind = Kind::Raw(c"X25519");
    let keys: Vec<_> = (0..THREADS)
        .map(|_| Key::generate(&library, kind, LANELOCK))
        .collect();
    let peer = Key::generate(&library, kind, DEFAULT);
    let expected: Vec<_> = keys
        .iter()
        .map(|key| peer.derive(&key.in_provider(c"X25519", DEFAULT)))
        .collect();
    let peer = peer.in_provider(c"X25519", LANELOCK);
    let before = in_lanes("x25519-derive");
    apart(|| {
        together(|thread| {
            for _ in 0..8 * ROUNDS {
                assert_eq!(keys[thread].derive(&peer), expected[thread]);
            }
        });
    });
    assert_eq!(in_lanes("x25519-derive") > before, has_lanes());
}

/// In processes of their own, in which no other test has had operations.
#[test]
fn keys_are_generated_ahead_for_two_threads_with_operations_and_where_many_are_needed() {
    const TEST: &str = "threads::keys_are_generated_ahead_for_two_threads_with_operations_and_where_many_are_needed";
    let Some(role) = role() else {
        let _alone = alone();
        output_of(&mut again(TEST, "threads"));
        output_of(&mut again(TEST, "many"));
        return;
    };
    let library = Library::new();
    let kind = Kind::Raw(c"X25519");
    let generate = |_| Key::generate(&library, kind, LANELOCK);
    let sign = || {
        let key = Key::generate(&library, Kind::Ec(c"P-384"), LANELOCK);
        key.sign(&Scheme::Hash(c"SHA384"), MESSAGE).expect("signed");
    };
    sign();
    let mut keys: Vec<_> = (0..3).map(generate).collect();
    if role == "many" {
        keys.extend((3..63).map(generate)); // and the pair that signs
    }
    assert_eq!(in_lanes("x25519-generate"), 0, "for one thread");
    if role == "threads" {
        std::thread::scope(|scope| scope.spawn(sign).join().expect("signed"));
    }
    keys.extend((0..19).map(generate));
    let ran = in_lanes("x25519-generate");
    // So many batches; a pause of a second on the way makes one more.
    let (lanes, most) = (lanes() as u64, 19_u64.next_multiple_of(lanes() as u64));
    let expected = if has_lanes() {
        most..=most + lanes
    } else {
        0..=0
    };
    assert!(expected.contains(&ran), "{ran}");
    assert_distinct(&check(&library, c"X25519", kind, &keys));
}

#[test]
fn a_lone_thread_and_a_module_that_is_told_to_run_nothing_in_lanes() {
    let _alone = alone();
    let library = Library::new();
    let key = Key::generate(&library, Kind::Rsa(2048), LANELOCK);
    let before = signed("rsa-2048").in_lanes;
    for _ in 0..100 {
        key.sign(&Scheme::Hash(c"SHA256"), MESSAGE).expect("signed");
    }
    assert_eq!(signed("rsa-2048").in_lanes, before, "alone");
    let library = configuration::library("threads = off");
    let key = Key::generate(&library, Kind::Rsa(2048), LANELOCK);
    assert_eq!(key.provider(), "lanelock");
    apart(|| {
        together(|_| {
            for _ in 0..ROUNDS {
                key.sign(&Scheme::Hash(c"SHA256"), MESSAGE).expect("signed");
            }
        });
    });
    assert_eq!(signed("rsa-2048").in_lanes, before, "switched off");
}

/// Children are forked while threads sign and stand in the line.
#[test]
fn a_child_waits_for_no_thread_of_its_parent() {
    let _alone = alone();
    let library = Library::new();
    let [key, own] = [(); 2].map(|()| Key::generate(&library, Kind::Rsa(2048), LANELOCK));
    let scheme = Scheme::Hash(c"SHA256");
    let [expected, own_expected] =
        [&key, &own].map(|key| key.sign(&scheme, MESSAGE).expect("signed"));
    let is_over = AtomicBool::new(false);
    apart(|| {
        std::thread::scope(|scope| {
            let sign = || {
                while !is_over.load(Ordering::Relaxed) {
                    assert_eq!(key.sign(&scheme, MESSAGE).as_ref(), Ok(&expected));
                }
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(sign)).collect();
            for _ in 0..32 {
                // Comes and goes with the others, and so among them when it forks.
                assert_eq!(own.sign(&scheme, MESSAGE).as_ref(), Ok(&own_expected));
                let child = unsafe { libc::fork() };
                if child == 0 {
                    end_after(|| {
                        // One that waits for ever is ended by the signal.
                        unsafe { libc::alarm(20) };
                        for _ in 0..3 {
                            assert_eq!(own.sign(&scheme, MESSAGE).as_ref(), Ok(&own_expected));
                        }
                    });
                }
                assert_eq!(wait_for(child), 0, "the child");
            }
            is_over.store(true, Ordering::Relaxed);
            for thread in threads {
                thread.join().expect("what a thread asserts");
            }
        });
    });
}
