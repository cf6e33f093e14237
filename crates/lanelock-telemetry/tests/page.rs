//! This process's own page, read as another process would read it: one test, for there is one page.

mod support;

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use lanelock_public_key::{FlushPolicy, KeyDevice, KeyOp};
use lanelock_telemetry::reader::{FindError, Owner, Reader, Snapshot, Stats};
use support::{ALGORITHM, LANES, device, job};

fn snapshot() -> Snapshot {
    let reader = Reader::open(std::process::id()).expect("a page");
    assert_eq!(reader.pid(), std::process::id());
    reader.read().expect("a sound page")
}

/// All that this process has counted, and by whom.
fn counted() -> (Stats, Vec<Owner>) {
    let snapshot = snapshot();
    let mut owners: Vec<_> = snapshot.queues.iter().map(|queue| queue.owner).collect();
    owners.sort();
    assert_eq!((snapshot.pid, snapshot.uncounted), (std::process::id(), 0));
    (snapshot.by_algorithm()[ALGORITHM].clone(), owners)
}

#[test]
fn every_event_is_counted_where_it_belongs() {
    let before = Reader::open(std::process::id());
    assert!(matches!(before, Err(FindError::NoPage(_))), "{before:?}");
    two_threads();
    bursts();
    waits();
    taken_away();
}

/// Counts are seen while a thread lives, and kept when it has ended.
fn two_threads() {
    let (device, session) = device();
    let (counted_once, seen) = (Barrier::new(3), Barrier::new(3));
    let work = || {
        let mut queue = device.key_queue(64, FlushPolicy::default());
        let start = Instant::now();
        for _ in 0..3 {
            for _ in 0..LANES + 1 {
                queue.enqueue(job(&session, b"m"), start).expect("room");
            }
            assert_eq!(queue.flush(), LANES + 1);
        }
        let gone = queue.enqueue(job(&session, b"m"), start).expect("room");
        queue.cancel(gone).expect("it waits");
        queue.enqueue(job(&session, b"fault"), start).expect("room");
        assert_eq!(queue.flush(), 1);
        counted_once.wait();
        seen.wait();
    };
    let (stats, owners) = thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        counted_once.wait();
        let before = counted();
        seen.wait();
        for thread in threads {
            thread.join().expect("no panic");
        }
        before
    });
    assert!(
        matches!(owners[..], [Owner::Thread(one), Owner::Thread(other)] if one != other),
        "{owners:?}"
    );
    let (after, owners) = counted();
    assert_eq!(owners, [Owner::Ended]);
    for stats in [stats, after] {
        assert_eq!((stats.submitted, stats.completed), (58, 56));
        assert_eq!((stats.failed, stats.cancelled), (2, 2));
        assert_eq!((stats.singles, stats.batches, stats.in_lanes), (0, 14, 56));
        assert_eq!(stats.lanes_filled[..LANES + 1], [0, 8, 0, 0, 0, 0, 0, 0, 6]);
        assert_eq!((stats.wait.count(), stats.compute.count()), (56, 14));
        assert!(stats.compute.max() > 0 && stats.compute.sum() >= stats.compute.max());
    }
}

/// What is handed over as a burst waits for nobody; one queue more, of this thread.
fn bursts() {
    let (before, _) = counted();
    let (device, session) = device();
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let mut outputs = [[0; 64]; LANES + 2];
    let mut ops: Vec<_> = outputs
        .iter_mut()
        .map(|output| KeyOp::sign(&session, b"m", output))
        .collect();
    assert_eq!(queue.process(&mut ops).succeeded, LANES + 2);
    let (now, owners) = counted();
    let burst = now.since(&before);
    assert_eq!(
        (burst.submitted, burst.completed, burst.failed),
        (10, 10, 0)
    );
    assert_eq!((burst.batches, burst.wait.count()), (2, 0));
    let me = rustix::thread::gettid().as_raw_nonzero().get();
    let me = Owner::Thread(u32::try_from(me).expect("positive"));
    assert_eq!(owners, [me, Owner::Ended]);
}

/// A job's wait is from its submission to its batch's start.
fn waits() {
    let (before, _) = counted();
    let (device, session) = device();
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let submitted = Instant::now()
        .checked_sub(Duration::from_millis(40))
        .expect("the machine has been up for longer");
    queue.enqueue(job(&session, b"m"), submitted).expect("room");
    assert_eq!(queue.poll(Instant::now(), None), 1);
    let wait = counted().0.since(&before.clone()).wait;
    assert_eq!(wait.count(), 1);
    assert!(wait.quantile(0.5) >= 40_000_000, "{wait:?}");
}

/// Without an observer nothing is counted.
fn taken_away() {
    let (before, _) = counted();
    let (device, session) = device();
    let mut queue = device.key_queue(1, FlushPolicy::default());
    queue.set_observer(None);
    queue
        .enqueue(job(&session, b"m"), Instant::now())
        .expect("room");
    assert_eq!(queue.flush(), 1);
    assert_eq!(counted().0.since(&before).submitted, 0);
}
