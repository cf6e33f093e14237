//! After the first operation of a session on a queue pair, an operation allocates nothing, takes
//! no lock, fetches no algorithm, and copies or frees no context, inside libcrypto included.
//!
//! Counted for every algorithm, by a global allocator on the Rust side, by `CRYPTO_set_mem_functions`
//! inside libcrypto, and by `pthread` lock functions that stand before libc's. An OpenSSL fetch takes
//! locks, and copying or freeing a context allocates or frees, so none of these can hide. The
//! exceptions are those that the engine's capabilities state.

#![allow(clippy::unwrap_used)] // a test

use std::io::IoSliceMut;

use lanelock_conformance::public_key::samples;
use lanelock_core::algorithm::{MAX_IV_LEN, Spec};
use lanelock_core::engine::offers;
use lanelock_core::transform::Direction;
use lanelock_core::{Algorithm, Buffer, Device, Mac, Op, QueuePair, Session, Status, Transform};
use lanelock_openssl::OpenSsl;
use lanelock_public_key::{FlushPolicy, KeyDevice, KeyKind, Operation};

mod counters;

use counters::{Counts, counts};
use lanelock_public_key::engine::PublicKeyEngine;

const OPS: u64 = 64;
const MESSAGE: usize = 96;

fn main() {
    counters::install();
    let device = Device::builder().engine(OpenSsl::new().unwrap()).build();
    assert!(
        counts().libcrypto_allocations > 100,
        "libcrypto's allocations are not counted"
    );
    assert!(counts().locks > 10, "libcrypto's locks are not counted");
    let capabilities = device.engines().next().unwrap().capabilities().to_vec();
    let mut qp = device.queue_pair(1);
    let (mut clean, mut excepted, mut wrong) = (0, 0, 0);
    for spec in Spec::singles().into_iter().chain(Spec::chains()) {
        if !offers(&capabilities, spec.algorithm) {
            continue;
        }
        for (direction, step) in [Direction::Forward, Direction::Reverse]
            .into_iter()
            .flat_map(|direction| [MESSAGE, 24].map(|step| (direction, step)))
        {
            if direction == Direction::Reverse && matches!(spec.algorithm, Algorithm::Hash(_)) {
                continue;
            }
            let used = measure(&device, &mut qp, spec, direction, step);
            let mac = match spec.algorithm {
                Algorithm::Mac(mac) | Algorithm::Chain(_, _, mac) => Some(Algorithm::Mac(mac)),
                other => Some(other),
            };
            let stated = capabilities
                .iter()
                .find(|row| Some(row.algorithm) == mac)
                .unwrap()
                .features;
            if used == Counts::default() {
                clean += 1;
            } else if stated.allocates
                && used.rust_allocations == 0
                // GCM-SIV derives keys with a cipher that libcrypto fetches.
                && (used.locks == 0 || stated.rekeys)
            {
                excepted += 1;
            } else {
                println!(
                    "{spec} {direction:?} in segments of {step}: {used:?} in {OPS} operations"
                );
                wrong += 1;
            }
        }
    }
    println!("steady state: {clean} cases clean, {excepted} allocate inside libcrypto as stated");
    assert!(
        clean > 100 && wrong == 0,
        "{wrong} cases do more per operation than stated"
    );
    poly1305_rekeys_without_allocating(&device);
    let keys = public_keys(&device);
    println!("public keys: {keys} cases allocate nothing on this side of libcrypto");
    println!(
        "test result: ok. {} passed; {wrong} failed",
        clean + excepted
    );
}

/// What [`OPS`] operations cost after two of warming up.
fn measure(
    device: &Device,
    qp: &mut QueuePair,
    spec: Spec,
    direction: Direction,
    step: usize,
) -> Counts {
    let key: Vec<u8> = (0..spec.key_len)
        .map(|i| u8::try_from(i % 255).unwrap())
        .collect();
    let mac_key = vec![7; spec.mac_key_len];
    let session = |direction| {
        device
            .session(Transform::new(spec.algorithm, direction, &key, &mac_key))
            .unwrap()
    };
    let (mut input, mut tag) = ([1; MESSAGE], [0; 64]);
    if direction == Direction::Reverse {
        process(qp, &session(Direction::Forward), &mut input, &mut tag, step);
    }
    let session = session(direction);
    let mut data = input;
    process(qp, &session, &mut data, &mut tag, step);
    data = input;
    process(qp, &session, &mut data, &mut tag, step);
    let before = counts();
    for _ in 0..OPS {
        data = input;
        process(qp, &session, &mut data, &mut tag, step);
    }
    counts() - before
}

/// Operations with public keys allocate inside libcrypto; nothing is added to that. Key generation
/// makes a key, and is left out. Returns the number of cases.
fn public_keys(device: &Device) -> usize {
    let engine = device.engines().next().unwrap().public_key().unwrap();
    let mut cases = 0;
    for row in engine.capabilities() {
        let (spec, kind) = (row.spec, row.spec.kind);
        // There is nothing to generate DSA's parameters with, and 3072 and 4096 bits take long.
        let slow = matches!(
            kind,
            KeyKind::Dsa(_) | KeyKind::Dh(_) | KeyKind::Rsa(3072..)
        );
        if slow || spec.operation == Operation::Generate || matches!(kind, KeyKind::MlKem(_)) {
            continue;
        }
        let sample = samples(device, "openssl", spec, 1).unwrap().remove(0);
        let session = device.key_session(sample.transform()).unwrap();
        let (mut output, mut second) = sample.room(&session);
        let mut queue = device.key_queue(1, FlushPolicy::default());
        for round in 0..OPS {
            let before = counts();
            let mut ops = [sample.op(&session, &mut output, &mut second)];
            let outcome = queue.process(&mut ops);
            let used = counts() - before;
            assert_eq!(outcome.succeeded, 1, "{spec}");
            // The queue's two lists grow in turn.
            assert!(round < 2 || used.rust_allocations == 0, "{spec}: {used:?}");
        }
        cases += 1;
    }
    cases
}

/// Runs one operation in place.
fn process(
    qp: &mut QueuePair,
    session: &Session,
    data: &mut [u8; MESSAGE],
    tag: &mut [u8; 64],
    step: usize,
) {
    let mut empty = [const { [0_u8; 0] }; 8];
    let mut segments = empty.each_mut().map(|e| IoSliceMut::new(e));
    let count = MESSAGE.div_ceil(step);
    for (segment, chunk) in segments.iter_mut().zip(data.chunks_mut(step)) {
        *segment = IoSliceMut::new(chunk);
    }
    let mut op = Op::new(session, Buffer::in_place(&mut segments[..count]));
    let iv = [3; MAX_IV_LEN];
    if session.iv_len() > 0 {
        op = op.iv(&iv[..session.iv_len()]);
    }
    if session.tag_len() > 0 {
        op = op.tag(&mut tag[..session.tag_len()]);
    }
    let mut ops = [op];
    let _checked_below = qp.process(&mut ops);
    assert_eq!(
        ops[0].status(),
        Status::Success,
        "{session:?}: {:?}",
        ops[0].error()
    );
}

/// Poly1305 is the one MAC whose key is set for each message; that costs no allocation.
fn poly1305_rekeys_without_allocating(device: &Device) {
    let mut qp = device.queue_pair(1);
    let spec = "poly1305".parse().unwrap();
    let used = measure(device, &mut qp, spec, Direction::Forward, MESSAGE);
    assert_eq!(spec.algorithm, Algorithm::Mac(Mac::Poly1305));
    assert_eq!(used, Counts::default());
}
