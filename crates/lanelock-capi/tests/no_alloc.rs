//! `lanelock_process` allocates nothing once a session has run on the queue pair.

#![allow(missing_docs)]
#![allow(clippy::undocumented_unsafe_blocks)] // calls as a program makes them

use std::ptr::{null, null_mut};

use lanelock_capi::*;
use lanelock_testkit::allocations::{Counting, calls};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Handles; the session is of AES-128-CTR.
fn opened() -> (*mut lanelock_queue_pair, *mut lanelock_session) {
    let (mut device, mut queue_pair, mut session) = (null_mut(), null_mut(), null_mut());
    let key = [7; 16];
    let transform = lanelock_transform {
        size: 72,
        direction: LANELOCK_FORWARD,
        algorithm: LANELOCK_AES_CTR,
        mac: 0,
        order: 0,
        iv_len: 0,
        tag_len: 0,
        reserved: 0,
        key: key.as_ptr(),
        key_len: key.len(),
        mac_key: null(),
        mac_key_len: 0,
        engine: null(),
        customization: null(),
        customization_len: 0,
    };
    unsafe {
        let opened = lanelock_device_open(&raw mut device, null_mut());
        assert_eq!(opened, LANELOCK_OK);
        let made = lanelock_queue_pair_new(device, 64, &raw mut queue_pair, null_mut());
        assert_eq!(made, LANELOCK_OK);
        let made = lanelock_session_new(device, &raw const transform, &raw mut session, null_mut());
        assert_eq!(made, LANELOCK_OK);
        assert_eq!(lanelock_device_free(device), LANELOCK_OK);
    }
    (queue_pair, session)
}

#[test]
fn a_burst_allocates_nothing() {
    let (queue_pair, session) = opened();
    let (mut data, iv) = ([[0_u8; 100]; 64], [3_u8; 16]);
    let mut segments: Vec<[libc::iovec; 2]> = Vec::new();
    for message in &mut data {
        let (first, second) = message.split_at_mut(41);
        segments.push([first, second].map(|part| libc::iovec {
            iov_base: part.as_mut_ptr().cast(),
            iov_len: part.len(),
        }));
    }
    let mut ops: Vec<lanelock_op> = segments
        .iter()
        .zip(&mut data)
        .enumerate()
        .map(|(n, (segments, message))| {
            let in_pieces = n % 3 == 1;
            let mut op: lanelock_op = unsafe { std::mem::zeroed() };
            op.session = session;
            if in_pieces {
                op.input = segments.as_ptr().cast_mut().cast();
                op.input_segments = 2;
            } else {
                op.input = message.as_mut_ptr().cast();
                op.input_len = 100;
            }
            (op.iv, op.iv_len) = (iv.as_ptr(), 16);
            op
        })
        .collect();
    let mut pointers: Vec<_> = ops.iter_mut().map(std::ptr::from_mut).collect();
    let mut done = vec![null_mut(); 64];
    for round in 0..10 {
        let calls = calls(|| unsafe {
            assert_eq!(lanelock_process(queue_pair, ops.as_mut_ptr(), 64), 64);
            ops.iter_mut()
                .for_each(|op| op.status = LANELOCK_NOT_PROCESSED);
            assert_eq!(
                lanelock_process_v(queue_pair, pointers.as_mut_ptr(), 64),
                64
            );
            ops.iter_mut()
                .for_each(|op| op.status = LANELOCK_NOT_PROCESSED);
            assert_eq!(lanelock_enqueue(queue_pair, pointers.as_ptr(), 64), 64);
            assert_eq!(lanelock_dequeue(queue_pair, done.as_mut_ptr(), 64), 64);
            ops.iter_mut()
                .for_each(|op| op.status = LANELOCK_NOT_PROCESSED);
        });
        assert!(round < 2 || calls == 0, "{calls} in round {round}");
    }
    unsafe {
        assert_eq!(lanelock_session_free(session), LANELOCK_OK);
        assert_eq!(lanelock_queue_pair_free(queue_pair), LANELOCK_OK);
    }
}
