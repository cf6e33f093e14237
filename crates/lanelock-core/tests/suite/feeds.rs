//! Operations that an engine takes one by one.

#![allow(unsafe_code)] // an engine writes where a payload's pointers say

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::{Arc, Mutex};

use lanelock_core::engine::{Batch, Capability, Engine, EngineSession, Fed, Feed, QueueToken};
use lanelock_core::session::SessionMemory;
use lanelock_core::{
    Buffer, Cipher, Device, InvalidReason, Op, Session, SessionError, Status, Transform,
};

use crate::support::{IV, KEY, ctr, session};

/// Adds a session's key to each byte of its messages, and remembers how they came.
struct Adder {
    seen: Seen,
    /// The length of a message on which it panics.
    panics_at: u32,
}

struct AdderSession {
    key: u8,
    has_iv: bool,
    seen: Seen,
    panics_at: u32,
}

/// Lengths of messages, fed or in a batch.
type Seen = Arc<Mutex<Vec<(Way, u32)>>>;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Way {
    Fed,
    Batch,
}
use Way::{Batch as B, Fed as F};

impl Engine for Adder {
    fn name(&self) -> &'static str {
        "adder"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn capabilities(&self) -> &[Capability] {
        &[]
    }

    fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Ok(Box::new(AdderSession {
            key: transform.key()[0],
            has_iv: transform.iv_length() > 0,
            seen: self.seen.clone(),
            panics_at: self.panics_at,
        }))
    }
}

impl AdderSession {
    fn add(&self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = byte.wrapping_add(self.key);
        }
    }

    fn log(&self, way: Way, len: u32) {
        self.seen.lock().unwrap().push((way, len));
    }
}

impl EngineSession for AdderSession {
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        batch.for_each(|mut op| {
            let session: &Self = op.session().expect("every session is an adder's");
            session.log(B, u32::try_from(op.payload_len()).unwrap());
            let mut payload = op.payload();
            while let Some(mut run) = payload.next_run(usize::MAX) {
                run.copy_through();
                session.add(run.output_bytes());
            }
            op.complete(Status::Success);
        });
    }

    fn fed(&self) -> Fed {
        Fed::ALL
    }

    fn feed(&self, feed: &mut Feed<'_, '_>) {
        for payload in feed.payloads::<Self>() {
            payload.session.log(F, payload.len);
            assert_ne!(payload.len, self.panics_at, "told to panic");
            if payload.session.has_iv {
                // SAFETY: an IV of CTR has 16 bytes.
                assert_eq!(unsafe { *payload.iv.cast::<[u8; 16]>() }, IV);
            }
            let len = payload.len as usize;
            // SAFETY: valid for the length, alike or disjoint.
            let target = unsafe {
                payload.target.copy_from(payload.source, len);
                slice::from_raw_parts_mut(payload.target, len)
            };
            payload.session.add(target);
        }
        assert!(feed.payloads::<Self>().next().is_none(), "nothing twice");
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

fn device(panics_at: u32) -> (Device, Seen) {
    let seen = Seen::default();
    let adder = Adder {
        seen: seen.clone(),
        panics_at,
    };
    (Device::builder().engine(adder).build(), seen)
}

fn taken(seen: &Seen) -> Vec<(Way, u32)> {
    std::mem::take(&mut *seen.lock().unwrap())
}

fn op<'a>(session: &'a Session, data: &'a mut [u8]) -> Op<'a> {
    Op::new(session, Buffer::in_place(data)).iv(&IV)
}

fn other_key() -> Transform {
    Transform::encrypt(Cipher::AesCtr, &[1; 16])
}

#[test]
fn messages_are_fed_whatever_their_keys_and_lengths() {
    let (device, seen) = device(u32::MAX);
    let (first, second) = (session(&device, ctr()), session(&device, other_key()));
    let (mut a, b, mut b_out, mut c) = ([1; 5], [2; 7], [0; 9], [3; 0]);
    let mut queue = device.queue_pair(1);
    let mut ops = [
        op(&first, &mut a),
        Op::new(&second, Buffer::separate(&b, &mut b_out)).iv(&IV),
        op(&first, &mut c),
    ];
    let outcome = queue.process(&mut ops);
    assert_eq!((outcome.succeeded, outcome.failed), (3, 0));
    assert!(ops.iter().all(|op| op.status() == Status::Success));
    assert_eq!(taken(&seen), [(F, 5), (F, 7), (F, 0)]);
    assert_eq!((a, b_out[..7].to_vec()), ([1 + KEY[0]; 5], vec![3; 7]));
    assert_eq!(b_out[7..], [0; 2]);
    let stats = queue.stats();
    let engine = &stats.engines[0];
    assert_eq!((engine.ops, engine.bytes, engine.groups), (3, 12, 1));
    assert_eq!((stats.bursts, engine.by_status), (1, [0, 3, 0, 0, 0]));
}

#[test]
fn what_is_not_alike_comes_in_batches_and_nothing_twice() {
    let (device, seen) = device(u32::MAX);
    let (ctr, ecb) = (
        session(&device, ctr()),
        session(&device, Transform::encrypt(Cipher::AesEcb, &KEY)),
    );
    let (foreign, _) = self::device(u32::MAX);
    let foreign = session(&foreign, self::ctr());
    type Change = for<'a> fn(Op<'a>) -> Op<'a>;
    let cases: [(&Session, Change, Option<InvalidReason>); 6] = [
        (&ctr, |op| op.cipher_range(0..9), None),
        (&ecb, |op| op.iv(&[]), None),
        (&ctr, |op| op.iv(&IV[..15]), Some(InvalidReason::IvLength)),
        (&ctr, |op| op.aad(&[0]), Some(InvalidReason::AadUnexpected)),
        (&foreign, |op| op, Some(InvalidReason::ForeignSession)),
        (
            &ctr,
            |op| op.expected_tag(&[0]),
            Some(InvalidReason::TagUnexpected),
        ),
    ];
    for (number, (other, change, refused)) in cases.into_iter().enumerate() {
        for at in 0..3 {
            let mut data = [[0_u8; 16]; 3];
            let mut queue = device.queue_pair(1);
            let mut ops: Vec<_> = data
                .iter_mut()
                .enumerate()
                .map(|(n, data)| match n == at {
                    true => change(op(other, data)),
                    false => op(&ctr, data),
                })
                .collect();
            let outcome = queue.process(&mut ops);
            let failed = usize::from(refused.is_some());
            let case = format!("case {number} at {at}");
            assert_eq!(
                (outcome.succeeded, outcome.failed),
                (3 - failed, failed),
                "{case}"
            );
            let reason = ops[at].error().map(|error| error.reason());
            assert_eq!(reason, refused, "{case}");
            // An ECB session is fed too, until one of CTR follows.
            let fed = if other.spec() == ecb.spec() && at == 0 {
                1
            } else {
                at
            };
            let seen = taken(&seen);
            assert!(
                seen.iter()
                    .enumerate()
                    .all(|(n, &(way, _))| (way == F) == (n < fed)),
                "{case}: {seen:?}"
            );
            assert_eq!(seen.len(), 3 - failed, "{case}");
            assert_eq!(queue.process(&mut ops).succeeded, 0, "{case}");
            let stats = queue.stats();
            assert_eq!(
                (stats.engines[0].ops, stats.refused),
                (3 - failed as u64, failed as u64),
                "{case}"
            );
            drop(ops);
            for (n, data) in data.iter().enumerate() {
                let touched = match (n == at, number) {
                    (true, 0) => 9,
                    (true, 2..) => 0,
                    _ => 16,
                };
                assert_eq!(data[..touched], [KEY[0]; 16][..touched], "{case}");
                assert_eq!(data[touched..], [0; 16][touched..], "{case}");
            }
        }
    }
}

#[test]
fn an_output_that_is_too_short_is_refused_and_not_written() {
    let (device, seen) = device(u32::MAX);
    let session = session(&device, ctr());
    let (data, mut short, mut long) = ([1; 16], [0; 15], [0; 16]);
    let mut ops = [
        Op::new(&session, Buffer::separate(&data, &mut long)).iv(&IV),
        Op::new(&session, Buffer::separate(&data, &mut short)).iv(&IV),
        Op::new(&session, Buffer::read_only(&data)).iv(&IV),
    ];
    let outcome = device.queue_pair(1).process(&mut ops);
    assert_eq!((outcome.succeeded, outcome.failed), (1, 2));
    let reasons = ops.each_ref().map(|op| op.error().map(|e| e.reason()));
    let (short_output, missing) = (InvalidReason::OutputTooShort, InvalidReason::OutputMissing);
    assert_eq!(reasons, [None, Some(short_output), Some(missing)]);
    assert_eq!((taken(&seen), short), (vec![(F, 16)], [0; 15]));
}

#[test]
fn operations_taken_before_a_panic_have_failed_and_others_wait() {
    let (device, seen) = device(2);
    let session = session(&device, ctr());
    let (mut a, mut b, mut c) = ([1; 1], [1; 2], [1; 3]);
    let mut queue = device.queue_pair(1);
    let mut ops = [
        op(&session, &mut a),
        op(&session, &mut b),
        op(&session, &mut c),
    ];
    let run = AssertUnwindSafe(|| queue.process(&mut ops));
    assert!(catch_unwind(run).is_err());
    let (failed, waits) = (Status::EngineError, Status::NotProcessed);
    let statuses = ops.each_ref().map(Op::status);
    assert_eq!(statuses, [failed, failed, waits]);
    seen.clear_poison();
    assert_eq!(taken(&seen), [(F, 1), (F, 2)]);
    // Only the one that waits runs when they are handed over again.
    assert_eq!(queue.process(&mut ops).succeeded, 1);
    assert_eq!(taken(&seen), [(B, 3)]);
    let stats = &queue.stats().engines[0];
    assert_eq!(stats.by_status, [0, 1, 0, 0, 2]);
    assert_eq!(stats.bytes, 3);
}

#[test]
fn a_long_burst_is_fed_whole() {
    let (device, seen) = device(u32::MAX);
    let session = session(&device, ctr());
    let mut data = vec![[0_u8; 3]; 700];
    let mut ops: Vec<_> = data.iter_mut().map(|data| op(&session, data)).collect();
    let mut queue = device.queue_pair(1);
    assert_eq!(queue.process(&mut ops).succeeded, 700);
    assert_eq!(taken(&seen), vec![(F, 3); 700]);
    assert_eq!(queue.stats().engines[0].groups, 1);
    drop(ops);
    assert!(data.iter().all(|data| *data == [KEY[0]; 3]));
}
