//! What sessions of public keys and their contexts leave in their memory is gone when it is freed,
//! padding included: here both have a part that no destructor wipes.

#![allow(clippy::unwrap_used, reason = "a test")]

use lanelock_public_key::{
    FlushPolicy, KeyDevice, KeyKind, KeyOp, KeyTransform, SecretKey, SignatureScheme,
};
use lanelock_testkit::freed::Reader;
use lanelock_testkit::stale::{check_finding, left, stale_device};

#[global_allocator]
static ALLOCATOR: Reader = Reader;

#[test]
fn a_plain_box_would_leave_it() {
    check_finding();
}

#[test]
fn sessions_leave_nothing() {
    let device = stale_device();
    let key = SecretKey::raw(KeyKind::Ed25519, &[1; 32]).unwrap();
    let found = left(|| {
        let transform = KeyTransform::sign(SignatureScheme::EdDsa, &key);
        let session = device.key_session(&transform).unwrap();
        let mut queues = [(); 2].map(|()| device.key_queue(1, FlushPolicy::default()));
        for queue in &mut queues {
            let mut signature = [0; 64];
            let mut ops = [KeyOp::sign(&session, b"m", &mut signature)];
            assert_eq!(queue.process(&mut ops).succeeded, 1);
        }
        // One context goes before its session, one with it.
        let [first, _second] = queues;
        drop(first);
        drop(session);
    });
    assert_eq!(found, []);
}
