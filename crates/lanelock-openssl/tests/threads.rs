//! One session used from many queue pairs at once gives what one thread alone gets.
//!
//! `LANELOCK_STRESS_ROUNDS` sets how often each thread runs its messages (default 300); a few are
//! enough for a race detector.

#![allow(clippy::unwrap_used)] // a test

use std::sync::Barrier;

use lanelock_core::algorithm::{MAX_IV_LEN, Spec};
use lanelock_core::engine::offers;
use lanelock_core::transform::Direction;
use lanelock_core::{Buffer, Device, Hash, Op, QueuePair, Session, Transform};
use lanelock_openssl::OpenSsl;
use lanelock_public_key::{
    Curve, FlushPolicy, KeyDevice, KeyOp, KeyTransform, SecretKey, SignatureScheme,
};

const THREADS: usize = 4;
const MESSAGES: usize = 24;

/// Every algorithm of this libcrypto, and a chain in each order. GCM and CCM shared one context
/// between threads in the driver this engine learns from.
fn algorithms(device: &Device) -> Vec<Spec> {
    let capabilities = device.engines().next().unwrap().capabilities();
    let chains = ["aes-128-cbc+hmac-sha1", "hmac-sha256+aes-256-ctr"].map(|c| c.parse().unwrap());
    let singles = Spec::singles().into_iter().chain(chains);
    singles
        .filter(|spec| offers(capabilities, spec.algorithm))
        .collect()
}

/// Message `number`, protected: payload and tag.
fn protect(qp: &mut QueuePair, session: &Session, number: usize) -> (Vec<u8>, Vec<u8>) {
    let byte = u8::try_from(number).unwrap();
    let mut data = vec![byte; 16 * (1 + number % 9)];
    let mut tag = vec![0; session.tag_len()];
    let iv = [byte ^ 0x33; MAX_IV_LEN];
    let mut op = Op::new(session, Buffer::in_place(&mut data));
    if session.iv_len() > 0 {
        op = op.iv(&iv[..session.iv_len()]);
    }
    if session.tag_len() > 0 {
        op = op.tag(&mut tag);
    }
    assert_eq!(qp.process(&mut [op]).succeeded, 1);
    (data, tag)
}

/// Runs `work` on all threads.
fn on_threads(work: impl Fn(usize) + Sync) {
    std::thread::scope(|scope| {
        let work = &work;
        for thread in 0..THREADS {
            scope.spawn(move || work(thread));
        }
    });
}

#[test]
fn a_shared_session_gives_every_thread_the_single_threaded_result() {
    let rounds: usize =
        std::env::var("LANELOCK_STRESS_ROUNDS").map_or(300, |rounds| rounds.parse().unwrap());
    let device = Device::builder().engine(OpenSsl::new().unwrap()).build();
    let algorithms = algorithms(&device);
    let sessions: Vec<Session> = algorithms
        .iter()
        .map(|spec| {
            let key: Vec<u8> = (1..).take(spec.key_len).collect();
            let mac_key: Vec<u8> = (2..).take(spec.mac_key_len).collect();
            let transform = Transform::new(spec.algorithm, Direction::Forward, &key, &mac_key);
            device.session(transform).unwrap()
        })
        .collect();
    let mut qp = device.queue_pair(1);
    let expected: Vec<Vec<_>> = sessions
        .iter()
        .map(|session| {
            (0..MESSAGES)
                .map(|number| protect(&mut qp, session, number))
                .collect()
        })
        .collect();
    let start = Barrier::new(THREADS);
    on_threads(|thread| {
        let mut qp = device.queue_pair(1);
        start.wait();
        for round in 0..rounds {
            for offset in 0..sessions.len() {
                let which = (offset + thread * 4) % sessions.len();
                let number = (round + thread) % MESSAGES;
                assert_eq!(
                    protect(&mut qp, &sessions[which], number),
                    expected[which][number],
                    "{}",
                    algorithms[which]
                );
            }
        }
    });
}

#[test]
fn sessions_and_queue_pairs_may_go_in_any_order_on_any_thread() {
    let rounds: usize =
        std::env::var("LANELOCK_STRESS_ROUNDS").map_or(300, |rounds| rounds.parse().unwrap());
    let device = Device::builder().engine(OpenSsl::new().unwrap()).build();
    let algorithms = algorithms(&device);
    on_threads(|thread| {
        for round in 0..rounds {
            let spec = algorithms[(round + thread) % algorithms.len()];
            let key: Vec<u8> = (1..).take(spec.key_len).collect();
            let mac_key: Vec<u8> = (2..).take(spec.mac_key_len).collect();
            let transform = Transform::new(spec.algorithm, Direction::Forward, &key, &mac_key);
            let session = device.session(transform).unwrap();
            let mut qp = device.queue_pair(1);
            protect(&mut qp, &session, round % MESSAGES);
            std::thread::scope(|scope| {
                let other = {
                    let (device, session) = (&device, session.clone());
                    scope.spawn(move || {
                        protect(&mut device.queue_pair(1), &session, round % MESSAGES)
                    })
                };
                if round % 2 == 0 {
                    drop(session);
                    drop(qp);
                } else {
                    drop(qp);
                    drop(session);
                }
                other.join().unwrap();
            });
        }
    });
}

/// A scope does not wait for what libcrypto does when a thread ends.
#[test]
fn a_device_may_go_while_threads_that_used_it_end() {
    let secret = SecretKey::ec(Curve::P256, &[7], None).unwrap();
    let scheme = SignatureScheme::Ecdsa(Hash::Sha256);
    for _ in 0..400 {
        let device = Device::builder().engine(OpenSsl::new().unwrap()).build();
        let session = device.key_session(&KeyTransform::sign(scheme, &secret));
        let session = session.unwrap();
        let work = || {
            // A nonce: the context's random numbers are kept by thread.
            let mut signature = vec![0; session.output_len(1)];
            let mut ops = [KeyOp::sign(&session, b"m", &mut signature)];
            let mut queue = device.key_queue(1, FlushPolicy::default());
            assert_eq!(queue.process(&mut ops).succeeded, 1);
        };
        // More than there are cores: some end late.
        std::thread::scope(|scope| {
            for _ in 0..8 * THREADS {
                scope.spawn(work);
            }
        });
    }
}
