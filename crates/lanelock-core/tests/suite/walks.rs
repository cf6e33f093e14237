//! Which bursts an engine can walk as they lie, and whose session it then finds at each operation.

use std::sync::{Arc, Mutex};

use lanelock_core::engine::{Batch, Ciphertext, QueueToken};
use lanelock_core::{Buffer, Device, InvalidReason, Mac, Op, Status, Transform};
use lanelock_testkit::{Probe, ProbeSession};

/// What a walk found: the first byte of each session's key; `None` where there was no walk.
type Walks = Arc<Mutex<Vec<Option<Vec<u8>>>>>;

/// A device whose engine walks its groups, all of one number.
fn walker(walks: Walks) -> Device {
    let walk = move |_: &mut QueueToken, batch: &mut Batch<'_, '_>| {
        let keys = batch.plain().map(|mut plain| {
            let tags = plain.tags::<ProbeSession>(Ciphertext::InInput);
            tags.map(|tag| tag.session.key).collect()
        });
        walks.lock().unwrap().push(keys);
        batch.complete(Status::Success);
    };
    Device::builder().engine(Probe::batches(walk)).build()
}

/// Runs a burst with an operation of each of `transforms`, whose tag has `tag_len` bytes; what the
/// engine's walks found, and why operations were refused.
fn walked(transforms: &[Transform], tag_len: usize) -> (Vec<Option<Vec<u8>>>, Vec<InvalidReason>) {
    let walks = Walks::default();
    let device = walker(walks.clone());
    let sessions: Vec<_> = transforms
        .iter()
        .map(|transform| device.session(transform.clone()).unwrap())
        .collect();
    let mut tags = vec![vec![0; tag_len]; sessions.len()];
    let mut ops: Vec<_> = sessions
        .iter()
        .zip(&mut tags)
        .map(|(session, tag)| Op::new(session, Buffer::read_only(&[1; 20])).tag(tag))
        .collect();
    let outcome = device.queue_pair(1).process(&mut ops);
    let refused: Vec<_> = ops
        .iter()
        .filter_map(|op| Some(op.error()?.reason()))
        .collect();
    assert_eq!(outcome.failed, refused.len());
    assert_eq!(outcome.succeeded, ops.len() - refused.len());
    let walks = walks.lock().unwrap().clone();
    (walks, refused)
}

fn cmac(key: u8) -> Transform {
    Transform::compute(Mac::AesCmac, &[key; 16])
}

#[test]
fn sessions_of_a_kind_are_walked_together_each_operation_with_its_own() {
    let transforms = [cmac(3), cmac(1), cmac(1), cmac(2), cmac(3)];
    assert_eq!(
        walked(&transforms, 16),
        (vec![Some(vec![3, 1, 1, 2, 3])], vec![])
    );
}

#[test]
fn sessions_with_other_rules_are_not_of_the_kind() {
    let short = || cmac(2).tag_len(8);
    assert_eq!(
        walked(&[cmac(1), short()], 16),
        (vec![None], vec![InvalidReason::TagLength])
    );
    assert_eq!(
        walked(&[short(), cmac(1)], 16),
        (vec![None], vec![InvalidReason::TagLength])
    );
    let verifies = Transform::verify(Mac::AesCmac, &[2; 16]);
    assert_eq!(walked(&[cmac(1), verifies], 16), (vec![None], vec![]));
}
