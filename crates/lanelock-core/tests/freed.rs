//! What sessions and contexts leave in their memory is gone when it is freed, padding included:
//! here an engine's session and its context have a part that no destructor wipes.

#![allow(clippy::unwrap_used, reason = "a test")]

use lanelock_core::engine::Wiped;
use lanelock_core::{Buffer, Cipher, Op, Transform};
use lanelock_testkit::freed::Reader;
use lanelock_testkit::stale::{check_finding, left, stale, stale_device};

#[global_allocator]
static ALLOCATOR: Reader = Reader;

#[test]
fn a_plain_box_would_leave_it() {
    check_finding();
    assert_eq!(left(|| drop(Box::new(Wiped::new(stale())))), []);
}

#[test]
fn sessions_leave_nothing() {
    let device = stale_device();
    let found = left(|| {
        let transform = || Transform::encrypt(Cipher::AesCtr, &[1; 16]);
        let session = device.session(transform()).unwrap();
        let mut queues = [(); 3].map(|()| device.queue_pair(1));
        for queue in &mut queues {
            let mut data = [0; 16];
            let mut ops = [Op::new(&session, Buffer::in_place(&mut data)).iv(&[2; 16])];
            assert_eq!(queue.process(&mut ops).succeeded, 1);
        }
        // One context goes before its session, two go with it.
        let [first, _rest @ ..] = queues;
        drop(first);
        drop(session);
    });
    assert_eq!(found, []);
}

#[test]
fn memory_is_wiped_when_a_destructor_panics() {
    struct Panics([u8; 40]);
    impl Drop for Panics {
        fn drop(&mut self) {
            assert!(self.0[0] != 0, "asked to");
        }
    }
    let found = left(|| {
        let content = Box::new(Wiped::new(Panics(stale())));
        std::panic::catch_unwind(|| drop(content)).unwrap_err();
    });
    assert_eq!(found, []);
}
