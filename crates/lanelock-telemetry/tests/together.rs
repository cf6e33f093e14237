//! Threads whose first operations run at the same moment count in one page.

mod support;

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use lanelock_public_key::{FlushPolicy, KeyDevice};
use lanelock_telemetry::reader::Reader;
use lanelock_testkit::in_child;
use support::{ALGORITHM, device, job};

const THREADS: usize = 8;
/// Each in a process of its own: a process makes its page once.
const STARTS: usize = 200;

#[test]
fn threads_that_start_together_share_a_page() {
    for start in 0..STARTS {
        let all_counted = in_child(|| {
            let (device, session) = device();
            let together = Barrier::new(THREADS);
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        let mut queue = device.key_queue(1, FlushPolicy::default());
                        together.wait();
                        let now = Instant::now();
                        queue.enqueue(job(&session, b"m"), now).expect("room");
                        assert_eq!(queue.flush(), 1);
                    });
                }
            });
            let page = Reader::open(std::process::id()).expect("a page");
            let snapshot = page.read().expect("a page of ours");
            snapshot.by_algorithm()[ALGORITHM].completed == THREADS as u64
        });
        assert!(all_counted, "start {start}");
    }
}
