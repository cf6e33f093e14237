//! A forked child counts for itself, on the queue that it has inherited and on one of its own.

mod support;

use std::time::Instant;

use lanelock_public_key::{FlushPolicy, KeyDevice, KeyQueue, KeySession};
use lanelock_telemetry::reader::Reader;
use lanelock_testkit::in_child;
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

    let right_in_child = in_child(|| {
        let me = std::process::id();
        assert_eq!(completed(me), None);
        sign(&mut queue, &session, 2);
        assert_eq!(completed(me), Some(2));
        let mut another = device.key_queue(1, FlushPolicy::default());
        sign(&mut another, &session, 4);
        assert_eq!(completed(me), Some(6));
        drop(another);
        (completed(me), completed(parent)) == (Some(6), Some(3))
    });
    assert!(right_in_child, "the child's counts");
    sign(&mut queue, &session, 1);
    assert_eq!(completed(parent), Some(4));
}
