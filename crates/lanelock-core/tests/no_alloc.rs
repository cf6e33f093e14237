//! After warm-up an operation allocates nothing, counted by the allocator itself.

#![allow(clippy::unwrap_used)] // the helpers are tests too

use std::io::IoSliceMut;

use lanelock_core::buffer::Segment;
use lanelock_core::{
    Aead, Buffer, Cipher, Device, Hash, Job, JobBuffer, Mac, Op, QueuePair, Session, Status,
    Transform,
};
use lanelock_testkit::ToyEngine;
use lanelock_testkit::allocations::{Counting, calls};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const KEY: [u8; 16] = [7; 16];
const IV: [u8; 16] = [9; 16];
const MAC: Mac = Mac::Hmac(Hash::Sha1);

fn sessions(device: &Device) -> Vec<Session> {
    let chain = |make: fn(Cipher, &[u8], Mac, &[u8]) -> Transform| {
        make(Cipher::AesCbc, &KEY, MAC, &KEY).tag_len(12)
    };
    [
        Transform::encrypt(Cipher::AesCtr, &KEY),
        Transform::compute(MAC, &KEY),
        Transform::hash(Hash::Sha256),
        Transform::seal(Aead::AesGcm, &KEY),
        chain(Transform::encrypt_then_mac),
        chain(Transform::mac_then_encrypt),
        chain(Transform::verify_then_decrypt),
        chain(Transform::decrypt_then_verify),
    ]
    .map(|transform| device.session(transform).unwrap())
    .into()
}

fn setup() -> (Vec<Session>, QueuePair) {
    let device = Device::builder().engine(ToyEngine::new("toy")).build();
    (sessions(&device), device.queue_pair(300))
}

fn settle<'a>(session: &'a Session, buffer: Buffer<'a>, tag: &'a mut [u8]) -> Op<'a> {
    let mut op = Op::new(session, buffer);
    if session.iv_len() > 0 {
        op = op.iv(&IV[..session.iv_len()]);
    }
    if session.tag_len() > 0 {
        op = op.tag(&mut tag[..session.tag_len()]);
    }
    op
}

/// Runs one burst of 300 in which every kind of session occurs.
fn burst(queue: &mut QueuePair, ops: &mut [Op<'_>]) {
    let outcome = queue.process(ops);
    assert_eq!(outcome.succeeded + outcome.failed, ops.len());
    assert!(ops.iter().all(|op| op.status() != Status::InvalidArgs));
}

#[test]
fn the_counter_counts() {
    assert_eq!(calls(|| drop(std::hint::black_box(Box::new(1)))), 2);
}

#[test]
fn contiguous_bursts_allocate_nothing_after_the_first() {
    let (sessions, mut queue) = setup();
    for round in 0..3 {
        let mut data = vec![[1; 64]; 300];
        let mut tags = vec![[0; 64]; 300];
        let mut ops: Vec<_> = Vec::with_capacity(300);
        let count = calls(|| {
            let parts = data.iter_mut().zip(&mut tags).zip(sessions.iter().cycle());
            ops.extend(parts.map(|((data, tag), s)| settle(s, Buffer::in_place(data), tag)));
            burst(&mut queue, &mut ops);
        });
        assert_eq!(count == 0, round > 0, "{count} in round {round}");
    }
}

#[test]
fn refusals_allocate_nothing_until_their_sentence_is_asked_for() {
    let (sessions, mut queue) = setup();
    let mut data = vec![[1; 64]; 300];
    let mut ops: Vec<_> = data
        .iter_mut()
        .map(|data| Op::new(&sessions[0], Buffer::in_place(data)))
        .collect();
    let count = calls(|| {
        assert_eq!(queue.process(&mut ops).failed, 300);
    });
    assert_eq!(count, 0);
}

#[test]
fn segmented_bursts_allocate_nothing() {
    let (sessions, mut queue) = setup();
    for round in 0..3 {
        let mut data = vec![([1; 30], [2; 34]); sessions.len()];
        let mut lists: Vec<_> = data
            .iter_mut()
            .map(|(a, b)| [IoSliceMut::new(a), IoSliceMut::new(b)])
            .collect();
        let mut tags = vec![[0; 64]; sessions.len()];
        let mut ops: Vec<_> = Vec::with_capacity(sessions.len());
        let count = calls(|| {
            for ((list, tag), session) in lists.iter_mut().zip(&mut tags).zip(&sessions) {
                ops.push(settle(session, Buffer::in_place(&mut list[..]), tag));
            }
            burst(&mut queue, &mut ops);
        });
        assert_eq!(count == 0, round > 0, "{count} in round {round}");
    }
}

#[test]
fn buffers_described_by_pointers_allocate_nothing() {
    let (sessions, mut queue) = setup();
    let (mut input, mut output, mut tag) = ([1; 64], [0; 64], [0; 64]);
    let segment = |memory: &mut [u8]| Segment {
        base: memory.as_mut_ptr(),
        len: memory.len(),
    };
    let (from, to) = ([segment(&mut input)], [segment(&mut output)]);
    for session in &sessions {
        for round in 0..2 {
            let count = calls(|| {
                #[allow(unsafe_code)]
                // SAFETY: both arrays are left alone while the operation runs.
                let buffer = unsafe { Buffer::from_raw_segments(&from, &to) };
                burst(&mut queue, &mut [settle(session, buffer, &mut tag)]);
            });
            assert_eq!(count == 0, round > 0, "{count}, {session:?}");
        }
    }
}

#[test]
fn jobs_go_round_without_an_allocation() {
    let (sessions, mut queue) = setup();
    let make = |(i, session): (usize, &Session)| {
        let job = if i % 2 == 0 {
            Job::in_place(session, vec![1; 64])
        } else {
            let parts = || JobBuffer::Segments(vec![vec![1; 30], vec![1; 34]]);
            Job::separate(session, parts(), parts())
        };
        job.iv(&IV[..session.iv_len()])
            .expected_tag(&[0; 64][..session.tag_len()])
    };
    let burst = sessions.iter().cycle().take(200).enumerate();
    let mut jobs: Vec<_> = burst.map(make).collect();
    let mut done = Vec::with_capacity(200);
    for round in 0..4 {
        let count = calls(|| {
            assert_eq!(queue.enqueue(&mut jobs), 200);
            assert_eq!(queue.dequeue(&mut done, 200), 200);
            for job in &mut done {
                assert_ne!(job.status(), Status::InvalidArgs);
                job.set_iv(&IV[..job.session().iv_len()]);
                job.rearm();
            }
            std::mem::swap(&mut jobs, &mut done);
        });
        assert_eq!(count == 0, round > 0, "{count} in round {round}");
    }
}
