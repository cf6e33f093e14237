//! No operation allocates, not even the first of a session on a queue pair (of public keys only
//! the first two bursts): counted by a global allocator for every algorithm, direction and layout, on every
//! tier of this machine. And public keys, their tables included, run on [`STACK`].

#![allow(clippy::unwrap_used)] // a test

use std::io::IoSliceMut;
use std::time::Instant;

use lanelock_conformance::public_key::{KeyMessage, samples};
use lanelock_core::algorithm::{MAX_IV_LEN, Spec};
use lanelock_core::engine::{Engine, offers};
use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, Buffer, Device, Op, QueuePair, Session, Status, Transform};
use lanelock_native::{Native, Tier};
use lanelock_openssl::OpenSsl;
use lanelock_public_key::engine::PublicKeyEngine;
use lanelock_public_key::{
    FlushPolicy, KeyDevice, KeyJob, KeyKind, KeyQueue, KeyTransform, SecretKey, SignatureScheme,
};
use lanelock_testkit::allocations::{Counting, allocations};

const OPS: usize = 40;
const MESSAGE: usize = 96;
const PIECES: usize = 8;
/// Bytes: half of what the provider gives to a batch.
const STACK: usize = 256 * 1024;

#[global_allocator]
static COUNTING: Counting = Counting;

/// Memory of one message.
struct Place {
    data: [u8; MESSAGE],
    tag: [u8; 64],
}

fn main() {
    let mut cases = 0;
    for tier in Tier::available() {
        let native = Native::with_tier(tier).unwrap();
        let capabilities = native.capabilities().to_vec();
        let device = Device::builder().engine(native).build();
        let mut qp = device.queue_pair(1);
        for spec in Spec::singles().into_iter().chain(Spec::chains()) {
            if !offers(&capabilities, spec.algorithm) {
                continue;
            }
            for step in [MESSAGE, 24, 13] {
                let used = measure(&device, &mut qp, spec, step);
                assert_eq!(used, 0, "{spec} in segments of {step}, {tier:?}");
                cases += 1;
            }
        }
        let memory = device
            .session(Transform::encrypt(lanelock_core::Cipher::AesCbc, &[1; 16]))
            .unwrap()
            .memory();
        assert_eq!(memory.per_queue_pair, 0);
    }
    let small = std::thread::Builder::new().stack_size(STACK);
    cases += small.spawn(public_keys).unwrap().join().unwrap();
    println!("test result: ok. {cases} passed; 0 failed");
}

/// The first burst of public keys on a queue makes blindings, and the queue's two lists grow in turn;
/// afterwards no burst allocates, and no job. More bursts than a blinding has uses. Returns the
/// number of cases.
fn public_keys() -> usize {
    let Ok(Some(native)) = Native::new() else {
        return 0;
    };
    let rows = native.public_key().map(|keys| keys.capabilities());
    let device = Device::builder()
        .engine(native)
        .engine(OpenSsl::new().unwrap())
        .build();
    let rows = rows.unwrap_or_default();
    for row in &rows {
        let samples = samples(&device, "openssl", row.spec, row.lanes).unwrap();
        let session = |sample: &KeyMessage| device.key_session_on("native", sample.transform());
        let sessions: Vec<_> = samples.iter().map(|s| session(s).unwrap()).collect();
        let room = samples.iter().zip(&sessions);
        let mut rooms: Vec<_> = room.map(|(sample, session)| sample.room(session)).collect();
        let mut queue: KeyQueue = device.key_queue(OPS, FlushPolicy::default());
        for round in 0..OPS {
            let parts = samples.iter().zip(&sessions).zip(&mut rooms);
            let mut ops: Vec<_> = parts
                .map(|((sample, session), (output, second))| sample.op(session, output, second))
                .collect();
            let before = allocations();
            let outcome = queue.process(&mut ops);
            let used = allocations() - before;
            assert_eq!(outcome.succeeded, row.lanes, "{}", row.spec);
            assert!(round < 2 || used == 0, "{}: {used} in {round}", row.spec);
        }
    }
    if !rows.is_empty() {
        jobs(&device);
    }
    rows.len()
}

/// Jobs that go round.
fn jobs(device: &Device) {
    let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32]).unwrap();
    let transform = KeyTransform::sign(SignatureScheme::EdDsa, &key);
    let session = device.key_session(&transform).unwrap();
    let mut queue = device.key_queue(OPS, FlushPolicy::default());
    let job = || KeyJob::sign(&session, vec![1; 40], vec![0; 64]);
    let mut jobs: Vec<KeyJob> = (0..OPS).map(|_| job()).collect();
    for round in 0..4 {
        let now = Instant::now();
        let before = allocations();
        for job in jobs.drain(..) {
            assert!(queue.enqueue(job, now).is_ok());
        }
        while queue.poll_one(now, Some(0)) > 0 {}
        queue.dequeue(&mut jobs, OPS);
        let used = allocations() - before;
        assert!(round < 2 || used == 0, "{used} in {round}");
        for job in &mut jobs {
            assert_eq!(job.status(), Status::Success);
            job.rearm();
        }
    }
}

/// Allocations of a burst, there and (where there is a way) back, from the first operation on.
fn measure(device: &Device, qp: &mut QueuePair, spec: Spec, step: usize) -> u64 {
    let key: Vec<u8> = (0..255_u8).cycle().take(spec.key_len).collect();
    let mac_key = vec![7; spec.mac_key_len];
    let session = |direction| {
        device
            .session(Transform::new(spec.algorithm, direction, &key, &mac_key))
            .unwrap()
    };
    let mut places: Vec<_> = (0..OPS)
        .map(|_| Place {
            data: [1; MESSAGE],
            tag: [0; 64],
        })
        .collect();
    let forward = session(Direction::Forward);
    let mut used = process(qp, &forward, &mut places, step);
    if !matches!(spec.algorithm, Algorithm::Hash(_)) {
        let reverse = session(Direction::Reverse);
        used += process(qp, &reverse, &mut places, step);
    }
    used
}

/// Runs a burst in place; returns the allocations inside.
fn process(qp: &mut QueuePair, session: &Session, places: &mut [Place], step: usize) -> u64 {
    let iv = [3; MAX_IV_LEN];
    let mut segments: Vec<Vec<IoSliceMut<'_>>> = Vec::new();
    let mut tags = Vec::new();
    for place in places {
        segments.push(place.data.chunks_mut(step).map(IoSliceMut::new).collect());
        tags.push(&mut place.tag);
    }
    assert!(segments.iter().all(|list| list.len() <= PIECES));
    let mut ops: Vec<_> = segments
        .iter_mut()
        .zip(tags)
        .map(|(list, tag)| {
            let mut op = Op::new(session, Buffer::in_place(&mut list[..]));
            if session.iv_len() > 0 {
                op = op.iv(&iv[..session.iv_len()]);
            }
            if session.tag_len() > 0 {
                op = op.tag(&mut tag[..session.tag_len()]);
            }
            op
        })
        .collect();
    let before = allocations();
    let _checked_below = qp.process(&mut ops);
    let used = allocations() - before;
    for op in &ops {
        assert_eq!(op.status(), Status::Success, "{:?}", op.error());
    }
    used
}
