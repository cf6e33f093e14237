//! A forked child counts for itself, on the queue that it has inherited and on one of its own.

mod support;

use std::time::Instant;

use lanelock_public_key::{FlushPolicy, KeyDevice, KeyQueue, KeySession};
use lanelock_telemetry::reader::Reader;
use support::{ALGORITHM, device, job};

fn sign(queue: &mut KeyQueue, session: &KeySession, times: usize) {
    for _ in 0..times {
        queue
            .enqueue(job(session, b"m"), Instant::now())
            .expect("room");
        assert_eq!(queue.flush(), 1);
        queue.dequeue_one().expect("it has run");
    }
}

fn completed(pid: u32) -> Option<u64> {
    let snapshot = Reader::open(pid).ok()?.read().ok()?;
    assert_eq!(snapshot.pid, pid);
    Some(snapshot.by_algorithm().get(ALGORITHM)?.completed)
}

#[test]
fn a_forked_child_has_a_page_of_its_own() {
    let (device, session) = device();
    let mut queue = device.key_queue(1, FlushPolicy::default());
    sign(&mut queue, &session, 3);
    let parent = std::process::id();

    // SAFETY: the child takes no lock that the harness's other thread could have held, but for
    // the allocator's, which glibc opens again in the child.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork");
    if child == 0 {
        let me = std::process::id();
        let mut right = completed(me).is_none();
        sign(&mut queue, &session, 2);
        right &= completed(me) == Some(2);
        let mut another = device.key_queue(1, FlushPolicy::default());
        sign(&mut another, &session, 4);
        right &= completed(me) == Some(6);
        drop(another);
        right &= completed(me) == Some(6) && completed(parent) == Some(3);
        // SAFETY: ends the child without the destructors that are its parent's.
        unsafe { libc::_exit(i32::from(!right)) };
    }
    let mut status = 0;
    // SAFETY: the child is this process's, and `status` outlives the call.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((ended, status), (child, 0), "the child's counts");
    sign(&mut queue, &session, 1);
    assert_eq!(completed(parent), Some(4));
}
