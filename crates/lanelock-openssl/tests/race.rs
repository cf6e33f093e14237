//! The program that `make race` runs under a race detector: one session of every kind, used by
//! several queue pairs at once.
//!
//! The detector sees into libcrypto but knows no synchronisation other than that of pthreads, so
//! the threads here share nothing of Rust's making that changes: the queue pairs are made before
//! and dropped behind them.

#![allow(clippy::unwrap_used)] // a test

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use lanelock_core::algorithm::Spec;
use lanelock_core::engine::offers;
use lanelock_core::transform::Direction;
use lanelock_core::{Buffer, Device, Op, QueuePair, Session, Transform};
use lanelock_openssl::OpenSsl;

const THREADS: usize = 3;
const MESSAGES: usize = 4;

fn main() {
    let device = Device::builder().engine(OpenSsl::new().unwrap()).build();
    let capabilities = device.engines().next().unwrap().capabilities().to_vec();
    let chains = ["aes-128-cbc+hmac-sha1", "hmac-sha256+aes-256-ctr"].map(|c| c.parse().unwrap());
    let sessions: Vec<Session> = Spec::singles()
        .into_iter()
        .chain(chains)
        .filter(|spec| offers(&capabilities, spec.algorithm))
        .map(|spec| {
            let key: Vec<u8> = (1..=255).cycle().take(spec.key_len).collect();
            let mac_key: Vec<u8> = (2..).take(spec.mac_key_len).collect();
            let transform = Transform::new(spec.algorithm, Direction::Forward, &key, &mac_key);
            device.session(transform).unwrap()
        })
        .collect();
    let expected = run(&mut device.queue_pair(1), &sessions);
    let mut jobs: Vec<_> = (0..THREADS)
        .map(|_| Work {
            qp: device.queue_pair(1),
            sessions: &sessions,
            results: Vec::new(),
        })
        .collect();
    let threads: Vec<libc::pthread_t> = jobs
        .iter_mut()
        .map(|work| {
            let mut thread = 0;
            // SAFETY: `work` stays where it is, untouched by this thread, until the join below.
            let failed = unsafe {
                libc::pthread_create(&raw mut thread, null(), start, (&raw mut *work).cast())
            };
            assert_eq!(failed, 0);
            thread
        })
        .collect();
    for thread in threads {
        // SAFETY: made above, joined once.
        assert_eq!(unsafe { libc::pthread_join(thread, null_mut()) }, 0);
    }
    assert!(
        jobs.iter().all(|work| work.results == expected),
        "the threads disagree"
    );
    println!("test result: ok. {} passed; 0 failed", sessions.len());
}

/// What one thread does.
struct Work<'s> {
    qp: QueuePair,
    sessions: &'s [Session],
    results: Vec<Vec<u8>>,
}

/// The standard library's threads wait for each other in ways that a detector does not know.
extern "C" fn start(work: *mut c_void) -> *mut c_void {
    // SAFETY: `main` passes a `Work` of this thread's own.
    let work = unsafe { &mut *work.cast::<Work<'_>>() };
    work.results = run(&mut work.qp, work.sessions);
    null_mut()
}

/// Every session's messages: payload, then tag.
fn run(qp: &mut QueuePair, sessions: &[Session]) -> Vec<Vec<u8>> {
    let mut results = Vec::new();
    for _ in 0..MESSAGES {
        for session in sessions {
            let (mut data, mut tag, iv) = (vec![5; 80], vec![0; session.tag_len()], [7; 24]);
            let mut op = Op::new(session, Buffer::in_place(&mut data));
            if session.iv_len() > 0 {
                op = op.iv(&iv[..session.iv_len()]);
            }
            if session.tag_len() > 0 {
                op = op.tag(&mut tag);
            }
            assert_eq!(qp.process(&mut [op]).succeeded, 1);
            data.extend(tag);
            results.push(data);
        }
    }
    results
}
