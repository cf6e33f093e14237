//! What an operation takes of a job's stack.

use std::cell::Cell;

use crate::alone;
use crate::jobs::{Job, State, drive};
use crate::openssl::{DEFAULT, Key, Kind, LANELOCK, Library, Scheme};
use lanelock_testkit::has_lanes;

/// Bytes below a job's function that are looked at: all that OpenSSL gives it, 32 KiB, but for what
/// it has used before and a margin.
const PAINTED: usize = 27 * 1024;
const PAINT: u64 = 0x5ca1_ab1e_5ca1_ab1e;

/// Calls `work` on a painted stack; returns how many bytes of it changed.
#[inline(never)]
fn depth_of(work: impl FnOnce()) -> usize {
    let here = 0_u64;
    // Below the frames that call `work`, which begin within a KiB of this one.
    let top = (&raw const here).addr() - 1024;
    let bottom = top - PAINTED;
    let words = || (bottom..top).step_by(8).map(|at| (at & !7) as *mut u64);
    words().for_each(|word| unsafe { word.write_volatile(PAINT) });
    work();
    let untouched = words().take_while(|word| unsafe { word.read_volatile() } == PAINT);
    PAINTED - 8 * untouched.count()
}

#[test]
fn an_operation_leaves_most_of_a_jobs_stack_alone() {
    let _alone = alone();
    if !has_lanes() {
        return;
    }
    let library = Library::new();
    for (kind, scheme) in [
        (Kind::Rsa(4096), Scheme::Pss(c"SHA512")),
        (Kind::Rsa(2048), Scheme::Hash(c"SHA256")),
        (Kind::Ec(c"P-384"), Scheme::Hash(c"SHA384")),
        (Kind::Raw(c"ED25519"), Scheme::Pure),
    ] {
        // Sessions are made and the engines opened by these same jobs.
        let key = Key::generate(&library, kind, LANELOCK);
        let depths: Vec<Cell<usize>> = (0..9).map(|_| Cell::new(0)).collect();
        let mut jobs: Vec<Job<'_>> = depths
            .iter()
            .map(|depth| {
                Job::new(|| {
                    let work = || drop(key.sign(&scheme, &[1; 130]).expect("signed"));
                    depth.set(depth_of(work));
                })
            })
            .collect();
        for job in &mut jobs[..8] {
            job.resume();
        }
        assert_eq!(jobs[7].state, State::Finished, "it ran the batch: {kind:?}");
        let rest = &mut jobs[..];
        for job in rest.iter_mut().filter(|job| job.state == State::Paused) {
            job.resume();
        }
        drop(jobs);
        // The eighth ran all eight; the default provider alone is asked for nothing.
        let deepest = depths[..8].iter().map(Cell::get).max().expect("eight");
        eprintln!("{kind:?}: {deepest} bytes");
        assert!(deepest < 12 * 1024, "{kind:?}: {deepest} bytes of 32 KiB");
        assert!(deepest > 256, "the stack was looked at in the right place");
    }
}

#[test]
fn derivation_leaves_most_of_a_jobs_stack_alone() {
    let _alone = alone();
    if !has_lanes() {
        return;
    }
    let library = Library::new();
    for kind in [Kind::Raw(c"X25519"), Kind::Ec(c"P-384")] {
        let key = Key::generate(&library, kind, LANELOCK);
        let peer = Key::generate(&library, kind, LANELOCK);
        let depths: Vec<Cell<usize>> = (0..8).map(|_| Cell::new(0)).collect();
        let mut jobs: Vec<Job<'_>> = depths
            .iter()
            .map(|depth| {
                Job::new(|| depth.set(depth_of(|| drop(key.derive(&peer).expect("derived")))))
            })
            .collect();
        drive(&mut jobs, |_| ());
        drop(jobs);
        let deepest = depths.iter().map(Cell::get).max().expect("eight");
        eprintln!("{kind:?}: {deepest} bytes");
        assert!(deepest < 12 * 1024, "{kind:?}: {deepest} bytes of 32 KiB");
    }
    let _ = DEFAULT;
}

/// A server's part, from the client's share on, and a client's.
#[test]
fn exchanges_with_ml_kem_leave_most_of_a_jobs_stack_alone() {
    let _alone = alone();
    let library = Library::new();
    for name in [c"X25519MLKEM768", c"SecP384r1MLKEM1024"] {
        let depths: Vec<Cell<usize>> = (0..8).map(|_| Cell::new(0)).collect();
        let work = || {
            let client = Key::generate(&library, Kind::Raw(name), LANELOCK);
            let server = Key::of_share(&library, (name, name), &client.share(), LANELOCK);
            let (reply, secret) = server.expect("a share").encapsulate().expect("a reply");
            assert_eq!(client.decapsulate(&reply), Ok(secret));
        };
        let job = |depth| Job::new(move || Cell::set(depth, depth_of(work)));
        let mut jobs: Vec<Job<'_>> = depths.iter().map(job).collect();
        drive(&mut jobs, |_| ());
        drop(jobs);
        let deepest = depths.iter().map(Cell::get).max().expect("eight");
        eprintln!("{name:?}: {deepest} bytes");
        assert!(deepest < 12 * 1024, "{name:?}: {deepest} bytes of 32 KiB");
    }
}
