//! Operations that an engine runs where they lie, alone or one by one.

#![allow(unsafe_code)] // an engine reads and writes where a record's pointers say

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::{Arc, Mutex};

use lanelock_core::engine::{
    Batch, Capability, Engine, EngineSession, Fed, Feed, Lone, QueueToken, Record, ValidOp,
};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;
use lanelock_core::{
    Aead, Algorithm, Buffer, Device, InvalidReason, Mac, Op, Session, SessionError, Status,
    Transform,
};

use crate::support::{IV, KEY};

/// Adds a session's key to each byte of a payload. The tag is the sum of what is sealed, or of what a MAC
/// authenticates, and of the additional data, in each of its bytes.
struct Summer {
    fed: Fed,
    seen: Seen,
    /// The length of a message on which it panics.
    panics_at: usize,
}

struct SummerSession {
    key: u8,
    algorithm: Algorithm,
    fed: Fed,
    seen: Seen,
    panics_at: usize,
}

/// Lengths of messages, and how they came.
type Seen = Arc<Mutex<Vec<(Way, usize)>>>;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Way {
    Lone,
    Fed,
    Batch,
}
use Way::{Batch as B, Fed as F, Lone as L};

impl Engine for Summer {
    fn name(&self) -> &'static str {
        "summer"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn capabilities(&self) -> &[Capability] {
        &[]
    }

    fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Ok(Box::new(SummerSession {
            key: transform.key()[0],
            algorithm: transform.algorithm(),
            fed: self.fed,
            seen: self.seen.clone(),
            panics_at: self.panics_at,
        }))
    }
}

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

impl SummerSession {
    fn log(&self, way: Way, len: usize) {
        self.seen.lock().unwrap().push((way, len));
    }

    /// Runs a message, and leaves its tag in its place or block.
    ///
    /// # Safety
    /// The record is one of this session.
    unsafe fn run(&self, way: Way, record: *mut Record<Self>, direction: Direction) {
        // SAFETY: the caller's promise, and what a record says of its pointers.
        let (source, aad) = unsafe {
            let record = &*record;
            assert_eq!(record.iv_len, 12);
            assert_eq!(*record.iv.cast::<[u8; 12]>(), IV[..12]);
            assert!(std::ptr::eq(record.key, self));
            let aad = match record.aad_len {
                0 => Vec::new(),
                len => slice::from_raw_parts(record.aad, len).to_vec(),
            };
            (
                slice::from_raw_parts(record.source, record.len).to_vec(),
                aad,
            )
        };
        self.log(way, source.len());
        let key = match (self.algorithm, direction) {
            (Algorithm::Aead(_), Direction::Forward) => self.key,
            (Algorithm::Aead(_), Direction::Reverse) => self.key.wrapping_neg(),
            _ => 0,
        };
        let result: Vec<_> = source.iter().map(|byte| byte.wrapping_add(key)).collect();
        if let Algorithm::Aead(_) = self.algorithm {
            // SAFETY: the target has as many bytes.
            unsafe { (*record).target.copy_from(result.as_ptr(), result.len()) };
        }
        assert_ne!(source.len(), self.panics_at, "told to panic");
        let authenticated = match direction {
            Direction::Forward => &result,
            Direction::Reverse => &source,
        };
        let tag = [sum(authenticated).wrapping_add(sum(&aad)); 16];
        // SAFETY: a place is valid for the tag.
        unsafe {
            let block = &raw mut (*record).block;
            let place: *mut [u8; 16] = (*record).place.cast();
            *(if place.is_null() { block } else { place }) = tag;
        }
    }
}

impl EngineSession for SummerSession {
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        batch.for_each(|mut op| {
            let session: &Self = op.session().expect("every session is a summer's");
            session.log(B, op.payload_len().max(op.auth_len()));
            op.complete(Status::Success);
        });
    }

    fn process_lone(&self, queue: &mut QueueToken, mut op: Lone<'_, '_>) -> Status {
        assert_eq!(op.tag_len(), 16);
        if let Algorithm::Mac(_) = self.algorithm
            && op.tag(self).is_none()
        {
            return op.in_batch(|batch| self.process(queue, batch));
        }
        let direction = op.direction();
        let record = op.record(self, direction == Direction::Forward);
        let record = record.expect("words and pointers are alike");
        // SAFETY: of this session.
        unsafe { self.run(L, record, direction) };
        // SAFETY: a tag to compare has 16 bytes.
        let wrong = unsafe { (*record).block != *(*record).tag.cast::<[u8; 16]>() };
        if direction == Direction::Forward || !wrong {
            return Status::Success;
        }
        op.in_batch(|batch| {
            batch.for_each(|mut op| {
                op.wipe_output();
                op.complete(Status::AuthFailed);
            });
        })
    }

    fn fed(&self) -> Fed {
        self.fed
    }

    fn feed(&self, feed: &mut Feed<'_, '_>) {
        assert_eq!((feed.iv_len(), feed.tag_len()), (12, 16));
        let direction = feed.direction();
        let placed = direction == Direction::Forward;
        let records = feed.records(placed, |session: &Self| session);
        for record in records.expect("words and pointers are alike") {
            // SAFETY: of the session that is its key.
            unsafe { (*(*record).key).run(F, record, direction) };
        }
        if placed {
            return;
        }
        let (first, count) = feed.taken_records::<Self>();
        // SAFETY: there are so many; a tag to compare has 16 bytes.
        let wrong = (0..count).any(|i| unsafe {
            let record = first.add(i);
            (*record).block != *(*record).tag.cast::<[u8; 16]>()
        });
        if wrong {
            let end = |mut op: ValidOp<'_, '_>, tag: [u8; 16]| {
                if op.tag_matches(&tag) {
                    op.complete(Status::Success);
                } else {
                    op.wipe_output();
                    op.complete(Status::AuthFailed);
                }
            };
            // SAFETY: all were taken as records.
            unsafe { feed.settle(end) };
        }
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

fn device(fed: Fed, panics_at: usize) -> (Device, Seen) {
    let seen = Seen::default();
    let summer = Summer {
        fed,
        seen: seen.clone(),
        panics_at,
    };
    (Device::builder().engine(summer).build(), seen)
}

fn taken(seen: &Seen) -> Vec<(Way, usize)> {
    seen.clear_poison();
    std::mem::take(&mut *seen.lock().unwrap())
}

fn seal() -> Transform {
    Transform::seal(Aead::AesGcm, &KEY)
}

fn open() -> Transform {
    Transform::open(Aead::AesGcm, &KEY)
}

fn sealed<'a>(session: &'a Session, data: &'a mut [u8], tag: &'a mut [u8]) -> Op<'a> {
    Op::new(session, Buffer::in_place(data))
        .iv(&IV[..12])
        .tag(tag)
}

fn opened<'a>(session: &'a Session, data: &'a mut [u8], tag: &'a [u8]) -> Op<'a> {
    Op::new(session, Buffer::in_place(data))
        .iv(&IV[..12])
        .expected_tag(tag)
}

#[test]
fn a_lone_message_goes_to_its_engine_where_it_lies() {
    let (device, seen) = device(Fed::ALL, usize::MAX);
    let (seal, open) = (
        device.session(seal()).unwrap(),
        device.session(open()).unwrap(),
    );
    let (mut data, mut tag) = ([1; 5], [0; 16]);
    let mut queue = device.queue_pair(1);
    let outcome = queue.process(&mut [sealed(&seal, &mut data, &mut tag).aad(&[3])]);
    assert_eq!((outcome.succeeded, outcome.failed), (1, 0));
    assert_eq!((data, tag), ([1 + KEY[0]; 5], [5 * (1 + KEY[0]) + 3; 16]));
    let mut op = [opened(&open, &mut data, &tag).aad(&[3])];
    assert_eq!(queue.process(&mut op).succeeded, 1);
    assert_eq!(op[0].status(), Status::Success);
    // One that has a result is left alone.
    assert_eq!(queue.process(&mut op).succeeded, 0);
    assert_eq!(data, [1; 5]);
    let outcome = queue.process(&mut [opened(&open, &mut data, &[0; 16])]);
    assert_eq!((outcome.succeeded, outcome.failed), (0, 1));
    assert_eq!(data, [0; 5]);
    assert_eq!(taken(&seen), [(L, 5); 3]);
    let stats = queue.stats();
    let engine = &stats.engines[0];
    assert_eq!((stats.bursts, engine.groups, engine.bytes), (4, 3, 10));
    assert_eq!(engine.by_status, [0, 2, 1, 0, 0]);
}

#[test]
fn a_lone_message_that_is_not_in_its_most_common_form_is_looked_at_closer() {
    let (device, seen) = device(Fed::ALL, usize::MAX);
    let session = device.session(seal()).unwrap();
    let (mut data, mut tag) = ([1; 5], [0; 16]);
    let mut queue = device.queue_pair(1);
    let op = sealed(&session, &mut data, &mut tag).cipher_range(0..4);
    assert_eq!(queue.process(&mut [op]).succeeded, 1);
    let mut op = [sealed(&session, &mut data, &mut tag).iv(&IV)];
    assert_eq!(queue.process(&mut op).failed, 1);
    let reason = op[0].error().map(|error| error.reason());
    assert_eq!(reason, Some(InvalidReason::IvLength));
    let (elsewhere, _) = self::device(Fed::ALL, usize::MAX);
    let mut op = [sealed(&session, &mut data, &mut tag)];
    assert_eq!(elsewhere.queue_pair(1).process(&mut op).failed, 1);
    assert_eq!(taken(&seen), [(B, 4)]);
}

#[test]
fn a_lone_message_of_a_mac_has_no_additional_data() {
    let (device, seen) = device(Fed::ALL, usize::MAX);
    let session = device
        .session(Transform::compute(Mac::AesGmac, &KEY))
        .unwrap();
    let mut queue = device.queue_pair(1);
    // In a batch, this engine writes no tag.
    for (aad, way, expected) in [(&[][..], L, [12; 16]), (&[3], B, [0; 16])] {
        let mut tag = [0; 16];
        let op = Op::new(&session, Buffer::read_only(&[2; 6]))
            .iv(&IV[..12])
            .aad(aad)
            .tag(&mut tag);
        assert_eq!(queue.process(&mut [op]).succeeded, 1);
        assert_eq!(taken(&seen), [(way, 6)]);
        assert_eq!(tag, expected);
    }
}

#[test]
fn a_lone_message_on_an_engine_that_panics_has_failed() {
    let (device, seen) = device(Fed::ALL, 2);
    let session = device.session(open()).unwrap();
    let (mut data, tag) = ([9; 2], [18; 16]);
    let mut queue = device.queue_pair(1);
    let mut op = [opened(&session, &mut data, &tag)];
    let run = AssertUnwindSafe(|| queue.process(&mut op));
    assert!(catch_unwind(run).is_err());
    assert_eq!(op[0].status(), Status::EngineError);
    assert_eq!(queue.stats().engines[0].by_status, [0, 0, 0, 0, 1]);
    assert_eq!((taken(&seen), data), (vec![(L, 2)], [0; 2]));
}

#[test]
fn each_message_fed_has_its_tag() {
    let (device, seen) = device(Fed::ALL, usize::MAX);
    let (seal, open) = (
        device.session(seal()).unwrap(),
        device.session(open()).unwrap(),
    );
    let mut data = vec![[1_u8; 3]; 300];
    let mut tags = vec![[0_u8; 16]; 300];
    let mut queue = device.queue_pair(1);
    let mut ops: Vec<_> = data
        .iter_mut()
        .zip(&mut tags)
        .map(|(data, tag)| sealed(&seal, data, tag))
        .collect();
    assert_eq!(queue.process(&mut ops).succeeded, 300);
    drop(ops);
    assert_eq!(taken(&seen), vec![(F, 3); 300]);
    assert!(data.iter().all(|data| *data == [1 + KEY[0]; 3]));
    assert!(tags.iter().all(|tag| *tag == [3 * (1 + KEY[0]); 16]));
    for forged in [None, Some(0), Some(7), Some(299)] {
        let mut data = data.clone();
        let mut tags = tags.clone();
        if let Some(at) = forged {
            tags[at][15] ^= 1;
        }
        let mut queue = device.queue_pair(1);
        let mut ops: Vec<_> = data
            .iter_mut()
            .zip(&tags)
            .map(|(data, tag)| opened(&open, data, tag))
            .collect();
        let outcome = queue.process(&mut ops);
        let failed = usize::from(forged.is_some());
        assert_eq!((outcome.succeeded, outcome.failed), (300 - failed, failed));
        let refused = ops.iter().position(|op| op.status() == Status::AuthFailed);
        assert_eq!(refused, forged);
        drop(ops);
        for (at, data) in data.iter().enumerate() {
            let plain = if Some(at) == forged { 0 } else { 1 };
            assert_eq!(*data, [plain; 3], "forged {forged:?}, message {at}");
        }
        let (good, bad) = (300 - failed as u64, failed as u64);
        let engine = &queue.stats().engines[0];
        assert_eq!(
            (engine.by_status, engine.bytes),
            ([0, good, bad, 0, 0], 3 * good)
        );
    }
}

#[test]
fn additional_data_of_a_mac_ends_the_feed() {
    let (device, seen) = device(Fed::ALL, usize::MAX);
    let session = device
        .session(Transform::compute(Mac::AesGmac, &KEY))
        .unwrap();
    let mut tags = [[0; 16]; 3];
    let mut ops: Vec<_> = tags
        .iter_mut()
        .enumerate()
        .map(|(n, tag)| {
            let aad: &[u8] = if n == 1 { &[3] } else { &[] };
            Op::new(&session, Buffer::read_only(&[2; 6]))
                .iv(&IV[..12])
                .aad(aad)
                .tag(tag)
        })
        .collect();
    assert_eq!(device.queue_pair(1).process(&mut ops).succeeded, 3);
    drop(ops);
    assert_eq!(taken(&seen), [(F, 6), (B, 6), (B, 6)]);
    assert_eq!(tags[0], [12; 16]);
}

#[test]
fn nothing_decrypted_is_left_by_an_engine_that_panics() {
    let (device, seen) = device(Fed::ALL, 2);
    let session = device.session(open()).unwrap();
    let (mut a, mut b, mut c, tag) = ([9; 1], [9; 2], [9; 3], [0; 16]);
    let mut queue = device.queue_pair(1);
    let mut ops = [
        opened(&session, &mut a, &tag),
        opened(&session, &mut b, &tag),
        opened(&session, &mut c, &tag),
    ];
    let run = AssertUnwindSafe(|| queue.process(&mut ops));
    assert!(catch_unwind(run).is_err());
    let (failed, waits) = (Status::EngineError, Status::NotProcessed);
    assert_eq!(ops.each_ref().map(Op::status), [failed, failed, waits]);
    assert_eq!(queue.stats().engines[0].by_status, [0, 0, 0, 0, 2]);
    assert_eq!(taken(&seen), [(F, 1), (F, 2)]);
    assert_eq!((a, b, c), ([0], [0; 2], [9; 3]));
}

#[test]
fn an_engine_says_which_bursts_it_is_fed() {
    let few = Fed {
        few: 2,
        most: 3,
        lengths: [5, 7],
        long: 7,
        unlike: false,
        many_keys: false,
    };
    let unlike = Fed {
        unlike: true,
        ..few
    };
    let cases: [(Fed, &[usize], Way); 14] = [
        (Fed::NONE, &[1, 1], B),
        (few, &[1, 1], F),
        (few, &[1, 1, 1], B),
        (few, &[4, 4, 4], B),
        (few, &[5, 5, 5], F),
        (few, &[6, 6, 6], F),
        (few, &[8, 8, 8], B),
        (few, &[5, 5, 5, 5], B),
        (few, &[7, 7, 7, 7], F),
        (few, &[8, 8, 8, 8], B),
        (few, &[1, 2, 3], B),
        (unlike, &[1, 1, 1], B),
        (unlike, &[1, 2, 1, 1], F),
        (unlike, &[1, 1, 1, 2], F),
    ];
    for (fed, lengths, way) in cases {
        let (device, seen) = device(fed, usize::MAX);
        let session = device.session(seal()).unwrap();
        let mut data: Vec<_> = lengths.iter().map(|&len| vec![0_u8; len]).collect();
        let mut tags = vec![[0; 16]; lengths.len()];
        let mut ops: Vec<_> = data
            .iter_mut()
            .zip(&mut tags)
            .map(|(data, tag)| sealed(&session, data, tag))
            .collect();
        let outcome = device.queue_pair(1).process(&mut ops);
        assert_eq!(outcome.succeeded, lengths.len());
        let expected: Vec<_> = lengths.iter().map(|&len| (way, len)).collect();
        assert_eq!(taken(&seen), expected, "{fed:?}");
    }
}

#[test]
fn an_engine_says_that_bursts_of_many_keys_are_fed() {
    for (many_keys, way) in [(false, B), (true, F)] {
        let fed = Fed {
            many_keys,
            ..Fed::NONE
        };
        let (device, seen) = device(fed, usize::MAX);
        let [one, other] = [seal(), seal()].map(|seal| device.session(seal).unwrap());
        for (sessions, way) in [([&one, &one], B), ([&one, &other], way)] {
            let mut data = [[0; 3]; 2];
            let mut tags = [[0; 16]; 2];
            let ops = sessions.into_iter().zip(&mut data).zip(&mut tags);
            let mut ops: Vec<_> = ops
                .map(|((session, data), tag)| sealed(session, data, tag))
                .collect();
            assert_eq!(device.queue_pair(1).process(&mut ops).succeeded, 2);
            assert_eq!(taken(&seen), [(way, 3), (way, 3)], "{fed:?}");
        }
    }
}

#[test]
#[should_panic(expected = "a session of a cipher")]
fn a_payload_is_of_a_session_that_encrypts() {
    alone(Transform::compute(Mac::AesGmac, &KEY), |mut op| {
        let _payload = op.payload(&());
    });
}

#[test]
#[should_panic(expected = "a session of an AEAD")]
fn a_message_of_an_aead_is_of_its_session() {
    alone(Transform::compute(Mac::AesGmac, &KEY), |mut op| {
        let _message = op.aead(&());
    });
}

#[test]
#[should_panic(expected = "a session of a MAC or hash")]
fn a_tag_is_of_a_session_that_authenticates() {
    alone(seal(), |mut op| {
        let _tag = op.tag(&());
    });
}

/// Hands `run` a lone operation.
fn alone(transform: Transform, run: fn(Lone<'_, '_>)) {
    struct Runs(fn(Lone<'_, '_>));

    impl Engine for Runs {
        fn name(&self) -> &'static str {
            "runs"
        }

        fn version(&self) -> String {
            String::new()
        }

        fn capabilities(&self) -> &[Capability] {
            &[]
        }

        fn open(&self, _: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
            Ok(Box::new(Self(self.0)))
        }
    }

    impl EngineSession for Runs {
        fn group(&self) -> u16 {
            0
        }

        fn process(&self, _: &mut QueueToken, _: &mut Batch<'_, '_>) {}

        fn process_lone(&self, _: &mut QueueToken, op: Lone<'_, '_>) -> Status {
            (self.0)(op);
            Status::Success
        }

        fn memory(&self) -> SessionMemory {
            SessionMemory::default()
        }
    }

    let device = Device::builder().engine(Runs(run)).build();
    let session = device.session(transform).unwrap();
    let (mut data, mut tag) = ([0; 4], [0; 16]);
    let op = sealed(&session, &mut data, &mut tag);
    let _outcome = device.queue_pair(1).process(&mut [op]);
}
