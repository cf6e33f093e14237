//! The queue over engines whose arithmetic a line repeats: a signature is the message, each byte
//! XORed with the key's.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lanelock_core::engine::{Capability, Engine, EngineSession, QueueToken};
use lanelock_core::session::{SessionError, SessionMemory};
use lanelock_core::stats::EngineStats;
use lanelock_core::{Device, Status, Transform};

use super::super::engine::{KeyBatch, KeyCapability, KeyEngine, KeyEngineSession, KeyHalf};
use super::super::{
    Key, KeyDevice, KeyError, KeyKind, KeyReason, KeySession, KeySpec, KeyTransform, SecretParts,
};
use super::super::{SecretKey, SignatureScheme};
use super::*;

/// What an engine was given: its name, and the first byte of each operation's key.
type Log = Arc<Mutex<Vec<(&'static str, Vec<u8>)>>>;

struct Toy {
    name: &'static str,
    half: KeyHalf,
}

struct ToyKeys {
    name: &'static str,
    lanes: usize,
    break_even: usize,
    log: Log,
}

struct ToySession {
    name: &'static str,
    key: u8,
    lanes: usize,
    group: u32,
    log: Log,
}

impl Engine for Toy {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> String {
        String::new()
    }

    fn capabilities(&self) -> &[Capability] {
        &[]
    }

    fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Err(SessionError::Unsupported {
            what: transform.spec(),
            why: "a toy".to_owned(),
        })
    }

    fn extension(&self) -> Option<&dyn Any> {
        Some(&self.half)
    }
}

impl KeyEngine for ToyKeys {
    fn capabilities(&self) -> Vec<KeyCapability> {
        Vec::new()
    }

    fn break_even(&self, _: KeySpec) -> usize {
        self.break_even
    }

    fn open(&self, transform: &KeyTransform) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let Key::Secret(key) = transform.key() else {
            return Err(KeyError::unsupported(transform.spec(), "secret keys alone"));
        };
        let SecretParts::Raw(bytes) = key.parts() else {
            return Err(KeyError::unsupported(transform.spec(), "strings alone"));
        };
        Ok(Box::new(ToySession {
            name: self.name,
            key: bytes[0],
            lanes: self.lanes,
            group: u32::from(transform.spec().kind == KeyKind::Ed448),
            log: self.log.clone(),
        }))
    }
}

impl KeyEngineSession for ToySession {
    fn group(&self) -> u32 {
        self.group
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    /// Of Ed448 half as many as there are lanes.
    fn per_pass(&self) -> usize {
        self.lanes >> self.group
    }

    fn process(&self, _: &mut QueueToken, batch: &mut KeyBatch<'_, '_>) {
        let mut keys = Vec::new();
        batch.for_each(|mut op| {
            let session = op.session::<Self>().expect("this engine's");
            assert_eq!((session.name, session.group), (self.name, self.group));
            keys.push(session.key);
            let message = op.input();
            op.output()[..message.len()].copy_from_slice(message);
            match message {
                b"forget" => {}
                b"panic" => panic!("asked to"),
                b"fault" => op.fail(KeyReason::Fault),
                _ => {
                    for byte in &mut op.output()[..message.len()] {
                        *byte ^= session.key;
                    }
                    op.succeed(message.len());
                }
            }
        });
        assert!(self.lanes == 1 || keys.len() <= self.lanes);
        self.log.lock().unwrap().push((self.name, keys));
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

/// A device with a four-lane engine before a single one, and what they were given.
fn device(lanes: &'static str, single: Option<&'static str>) -> (Device, Log) {
    device_with(lanes, single, 1)
}

/// As [`device`]; the four lanes pay from `break_even` operations on.
fn device_with(
    lanes: &'static str,
    single: Option<&'static str>,
    break_even: usize,
) -> (Device, Log) {
    let log = Log::default();
    let toy = |name, lanes| {
        let half = KeyHalf::new(ToyKeys {
            name,
            lanes,
            break_even,
            log: log.clone(),
        });
        Toy { name, half }
    };
    let mut builder = Device::builder().engine(toy(lanes, 4));
    if let Some(name) = single {
        builder = builder.engine(toy(name, 1));
    }
    (builder.build(), log)
}

fn session(device: &Device, kind: KeyKind, key: u8) -> KeySession {
    let len = if kind == KeyKind::Ed448 { 57 } else { 32 };
    let key = SecretKey::raw(kind, &vec![key; len]).unwrap();
    let transform = KeyTransform::sign(SignatureScheme::EdDsa, &key);
    device.key_session(&transform).unwrap()
}

fn taken(log: &Log) -> Vec<(&'static str, Vec<u8>)> {
    std::mem::take(&mut log.lock().unwrap())
}

fn job(session: &KeySession, message: &[u8]) -> KeyJob {
    KeyJob::sign(session, message.to_vec(), vec![0xee; 114])
}

#[test]
fn any_mix_of_keys_shares_a_batch_and_any_mix_of_kinds_a_burst() {
    let (device, log) = device("lanes", None);
    let small: Vec<_> = (1..=5)
        .map(|key| session(&device, KeyKind::Ed25519, key))
        .collect();
    let large = session(&device, KeyKind::Ed448, 9);
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let mut outputs = vec![[0; 114]; 6];
    let sessions = [
        &small[0], &large, &small[1], &small[2], &small[3], &small[4],
    ];
    let mut ops: Vec<_> = sessions
        .iter()
        .zip(&mut outputs)
        .map(|(session, output)| KeyOp::sign(session, b"abc", output))
        .collect();
    let outcome = queue.process(&mut ops);
    assert_eq!((outcome.succeeded, outcome.failed), (6, 0));
    assert_eq!(ops[2].result(), b"abc".map(|byte| byte ^ 2));
    let expected = [
        ("lanes", vec![1, 2, 3, 4]),
        ("lanes", vec![5]),
        ("lanes", vec![9]),
    ];
    assert_eq!(taken(&log), expected);
    // A burst handed over again is left alone.
    assert_eq!(queue.process(&mut ops), BurstOutcome::default());
    assert!(taken(&log).is_empty());
}

#[test]
fn the_first_engine_that_offers_it_runs_all_of_a_session_and_a_named_one_too() {
    let (device, log) = device("lanes", Some("single"));
    let first = session(&device, KeyKind::Ed25519, 1);
    let key = SecretKey::raw(KeyKind::Ed25519, &[2; 32]).unwrap();
    let transform = KeyTransform::sign(SignatureScheme::EdDsa, &key);
    let named = device.key_session_on("single", &transform).unwrap();
    assert_eq!([first.engine(), named.engine()], ["lanes", "single"]);
    assert_eq!([first.lanes(), named.lanes()], [4, 1]);
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let mut outputs = [[0; 64]; 8];
    let sessions = [
        &first, &first, &named, &first, &first, &named, &first, &named,
    ];
    let mut ops: Vec<_> = sessions
        .iter()
        .zip(&mut outputs)
        .map(|(session, output)| KeyOp::sign(session, b"ab", output))
        .collect();
    assert_eq!(queue.process(&mut ops).succeeded, 8, "{ops:?}");
    // A lone one has a lane, too.
    let runs = [
        ("lanes", vec![1; 4]),
        ("lanes", vec![1]),
        ("single", vec![2; 3]),
    ];
    assert_eq!(taken(&log), runs);
    let stats = queue.stats();
    assert_eq!((stats.batches, stats.in_lanes, stats.single), (2, 5, 3));
    let by_engine = queue.engine_stats().engines;
    let seen = |row: &EngineStats| (row.engine, row.groups, row.by_status, row.bytes);
    assert_eq!(seen(&by_engine[0]), ("lanes", 2, [0, 5, 0, 0, 0], 10));
    assert_eq!(seen(&by_engine[1]), ("single", 1, [0, 3, 0, 0, 0], 6));
}

#[test]
fn what_fails_is_counted_by_status_however_the_engine_returns() {
    let (device, _) = device("lanes", None);
    let session = session(&device, KeyKind::Ed25519, 1);
    let mut queue = device.key_queue(8, FlushPolicy::default());
    let reader = queue.stats_reader();
    let mut outputs = [[0; 64]; 4];
    let [good, short, forgotten, panics] = &mut outputs;
    let mut ops = [
        KeyOp::sign(&session, b"abc", good),
        KeyOp::sign(&session, b"abc", &mut short[..9]),
        KeyOp::sign(&session, b"forget", forgotten),
        KeyOp::sign(&session, b"panic", panics),
    ];
    let caught = catch_unwind(AssertUnwindSafe(|| queue.process(&mut ops)));
    assert!(caught.is_err(), "the engine's panic goes on");
    drop(queue);
    let stats = reader.snapshot();
    assert_eq!(stats.refused, 1);
    assert_eq!(stats.engines[0].by_status, [0, 1, 0, 0, 2]);
    assert_eq!((stats.engines[0].groups, stats.engines[0].bytes), (1, 3));
}

#[test]
fn one_batch_at_a_time_leaves_room_for_what_arrives_meanwhile() {
    let (device, log) = device("lanes", None);
    let session = session(&device, KeyKind::Ed25519, 1);
    let mut queue = device.key_queue(16, FlushPolicy::default());
    let now = Instant::now();
    for _ in 0..6 {
        queue.enqueue(job(&session, b"m"), now).unwrap();
    }
    assert_eq!(queue.poll_one(now, None), 4, "one batch, though six wait");
    assert_eq!(queue.poll_one(now, None), 0, "two may become more");
    queue.enqueue(job(&session, b"m"), now).unwrap();
    assert_eq!(queue.poll_one(now, Some(3)), 3, "nobody can add to them");
    assert_eq!(queue.poll_one(now, Some(0)), 0);
    let batches: Vec<_> = taken(&log).iter().map(|(_, keys)| keys.len()).collect();
    assert_eq!(batches, [4, 3]);
}

#[test]
fn one_batch_at_a_time_is_whole_passes() {
    let (device, log) = device("lanes", None);
    let session = session(&device, KeyKind::Ed448, 1);
    let mut queue = device.key_queue(16, FlushPolicy::default());
    let now = Instant::now();
    for _ in 0..3 {
        queue.enqueue(job(&session, b"m"), now).unwrap();
    }
    assert_eq!(queue.poll_one(now, Some(3)), 2, "one pass of two");
    assert_eq!(queue.poll_one(now, Some(1)), 1);
    for _ in 0..3 {
        queue.enqueue(job(&session, b"m"), now).unwrap();
    }
    assert_eq!(queue.flush(), 3, "everything, in one batch");
    let batches: Vec<_> = taken(&log).iter().map(|(_, keys)| keys.len()).collect();
    assert_eq!(batches, [2, 1, 3]);
}

#[test]
fn jobs_wait_for_their_lanes_and_come_back_with_their_buffers() {
    let (device, log) = device("lanes", None);
    let sessions: Vec<_> = (1..=4)
        .map(|key| session(&device, KeyKind::Ed25519, key))
        .collect();
    let mut queue = device.key_queue(8, FlushPolicy::default());
    let start = Instant::now();
    for (number, session) in (0_u64..).zip(&sessions[..3]) {
        queue
            .enqueue(job(session, b"m").user_data(number), start)
            .unwrap();
        assert_eq!(queue.poll(start, Some(9)), 0);
    }
    assert_eq!((queue.waiting(), queue.in_flight()), (3, 3));
    assert_eq!(queue.due_at(), Some(start + FlushPolicy::DEADLINE));
    queue
        .enqueue(job(&sessions[3], b"m").user_data(3), start)
        .unwrap();
    assert_eq!(queue.poll(start, Some(9)), 4, "the fourth fills the lanes");
    assert_eq!(taken(&log), [("lanes", vec![1, 2, 3, 4])]);
    let mut done = Vec::new();
    assert_eq!(queue.dequeue(&mut done, 3), 3);
    assert_eq!(queue.dequeue(&mut done, 3), 1);
    for (number, job) in (0_u8..).zip(done) {
        assert_eq!((job.status(), job.data()), (Status::Success, number.into()));
        assert_eq!(job.result(), [b'm' ^ (number + 1)]);
        let buffers = job.into_buffers();
        assert_eq!(buffers.input.unwrap(), b"m");
        assert_eq!(buffers.output.unwrap().len(), 114);
    }
}

#[test]
fn a_partial_batch_runs_when_nobody_else_can_add_to_it_or_its_time_has_come() {
    let (device, log) = device("lanes", None);
    let session = session(&device, KeyKind::Ed25519, 1);
    let mut queue = device.key_queue(8, FlushPolicy::default());
    let start = Instant::now();
    queue.enqueue(job(&session, b"m"), start).unwrap();
    assert_eq!(queue.poll(start, Some(2)), 0);
    assert_eq!(queue.poll(start, None), 0);
    assert_eq!(queue.poll(start, Some(1)), 1, "the only submitter waits");
    queue.enqueue(job(&session, b"m"), start).unwrap();
    let late = start + Duration::from_micros(199);
    assert_eq!(queue.poll(late, None), 0);
    assert_eq!(queue.poll(late + Duration::from_micros(1), None), 1);
    queue.enqueue(job(&session, b"m"), start).unwrap();
    assert_eq!(queue.flush(), 1);
    assert_eq!(taken(&log).len(), 3);
}

#[test]
fn a_cancelled_job_comes_back_untouched_and_never_runs() {
    let (device, log) = device("lanes", None);
    let session = session(&device, KeyKind::Ed25519, 1);
    let mut queue = device.key_queue(8, FlushPolicy::default());
    let now = Instant::now();
    let kept = queue.enqueue(job(&session, b"kept"), now).unwrap();
    let ticket = queue.enqueue(job(&session, b"gone"), now).unwrap();
    let gone = queue.cancel(ticket).expect("it waits");
    assert_eq!(gone.status(), Status::NotProcessed);
    assert_eq!(gone.into_buffers().output.unwrap(), vec![0xee; 114]);
    assert!(queue.cancel(ticket).is_none());
    assert_eq!(queue.flush(), 1);
    assert!(queue.cancel(kept).is_none(), "it has finished");
    assert_eq!(queue.dequeue_one().map(|(ticket, _)| ticket), Some(kept));
    assert_eq!(taken(&log), [("lanes", vec![1])]);
    assert_eq!(queue.stats().cancelled, 1);
}

#[test]
fn a_bad_job_is_refused_with_the_reason_and_takes_no_lane() {
    let (other, _) = device("lanes", None);
    let (device, log) = device("lanes", None);
    let good = session(&device, KeyKind::Ed25519, 1);
    let foreign = session(&other, KeyKind::Ed25519, 1);
    let mut queue = device.key_queue(2, FlushPolicy::default());
    let now = Instant::now();
    queue
        .enqueue(KeyJob::sign(&good, b"m".to_vec(), vec![0xee; 63]), now)
        .unwrap();
    queue
        .enqueue(KeyJob::decrypt(&good, b"m".to_vec(), vec![0xee; 64]), now)
        .unwrap();
    let full = queue
        .enqueue(job(&foreign, b"m"), now)
        .expect_err("two are in flight");
    assert_eq!(queue.waiting(), 0);
    let mut done = Vec::new();
    queue.dequeue(&mut done, 9);
    queue.enqueue(full, now).unwrap();
    queue.dequeue(&mut done, 9);
    let messages: Vec<_> = done
        .iter()
        .map(|job| job.error().unwrap().to_string())
        .collect();
    assert_eq!(
        messages,
        [
            "output: 63 bytes given; ed25519-sign needs 64",
            "operation: decrypt given; the session was made for ed25519-sign",
            "session: made by a different device than the queue; use one device for both",
        ]
    );
    for job in done {
        assert_eq!(job.status(), Status::InvalidArgs);
        assert!(
            job.into_buffers()
                .output
                .unwrap()
                .iter()
                .all(|&byte| byte == 0xee)
        );
    }
    assert!(taken(&log).is_empty());
    assert_eq!(queue.stats().refused, 3);
}

#[test]
fn a_fault_or_a_forgotten_operation_leaves_nothing_and_disturbs_no_other() {
    let (device, _) = device("lanes", None);
    let session = session(&device, KeyKind::Ed25519, 1);
    let mut queue = device.key_queue(1, FlushPolicy::default());
    let mut outputs = [[0xee; 66]; 3];
    let messages: [&[u8]; 3] = [b"forget", b"fault", b"fine"];
    let mut ops: Vec<_> = messages
        .iter()
        .zip(&mut outputs)
        .map(|(message, output)| KeyOp::sign(&session, message, output))
        .collect();
    let outcome = queue.process(&mut ops);
    assert_eq!((outcome.succeeded, outcome.failed), (1, 2));
    let reasons: Vec<_> = ops
        .iter()
        .map(|op| op.error().map(|e| e.reason()))
        .collect();
    assert_eq!(
        reasons,
        [Some(KeyReason::Engine), Some(KeyReason::Fault), None]
    );
    assert!(
        ops[..2]
            .iter()
            .all(|op| op.status() == Status::EngineError && op.written() == 0)
    );
    drop(ops);
    for output in &outputs[..2] {
        assert_eq!(
            (&output[..64], &output[64..]),
            (&[0; 64][..], &[0xee; 2][..])
        );
    }
}

#[test]
fn an_engine_that_panics_leaves_every_job_with_a_status_and_given_back() {
    let (device, _) = device("lanes", None);
    let session = session(&device, KeyKind::Ed25519, 1);
    let mut queue = device.key_queue(8, FlushPolicy::default());
    let now = Instant::now();
    for message in [&b"fine"[..], b"panic", b"after"] {
        queue.enqueue(job(&session, message), now).unwrap();
    }
    let panicked = catch_unwind(AssertUnwindSafe(|| queue.flush()));
    assert!(panicked.is_err());
    let mut done = Vec::new();
    assert_eq!(queue.dequeue(&mut done, 9), 3);
    let finished = &done[0];
    let signature = b"fine".map(|byte| byte ^ 1);
    assert_eq!(
        (finished.status(), finished.result()),
        (Status::Success, &signature[..])
    );
    for job in done.into_iter().skip(1) {
        assert_eq!((job.status(), job.result()), (Status::EngineError, &[][..]));
        let reason = job.error().map(super::super::KeyOpError::reason);
        assert_eq!(reason, Some(KeyReason::Engine));
        let output = job.into_buffers().output.unwrap();
        assert!(output[..64].iter().all(|&byte| byte == 0), "wiped");
    }
}

#[test]
fn a_job_whose_buffers_were_replaced_has_no_result() {
    let (device, _) = device("lanes", None);
    let session = session(&device, KeyKind::Ed25519, 1);
    let mut queue = device.key_queue(1, FlushPolicy::default());
    queue.enqueue(job(&session, b"m"), Instant::now()).unwrap();
    assert_eq!(queue.flush(), 1);
    let (_, mut job) = queue.dequeue_one().expect("it has run");
    assert_eq!(job.result(), [b'm' ^ 1]);
    job.buffers_mut().output = Some(Vec::new());
    assert_eq!((job.status(), job.result()), (Status::Success, &[][..]));
    assert_eq!(job.second_result(), []);
}

#[test]
fn a_deadline_that_never_comes_leaves_full_batches_to_run() {
    let (device, _) = device("lanes", None);
    let session = session(&device, KeyKind::Ed25519, 1);
    let mut queue = device.key_queue(8, FlushPolicy::with_deadline(Duration::MAX));
    let now = Instant::now();
    for _ in 0..5 {
        queue.enqueue(job(&session, b"m"), now).unwrap();
    }
    assert_eq!(queue.due_at(), None);
    assert_eq!(queue.poll(now, None), 4);
    let in_a_year = now + Duration::from_secs(365 * 86_400);
    assert_eq!(queue.poll(in_a_year, None), 0);
    assert_eq!(queue.poll(now, Some(1)), 1, "nothing can be added to it");
}

#[test]
fn without_an_engine_every_refusal_is_told() {
    let (device, _) = device("lanes", Some("single"));
    let transform = KeyTransform::generate(KeyKind::X25519);
    assert_eq!(
        device.key_session(&transform).unwrap_err().to_string(),
        "x25519-generate: not available: lanes: secret keys alone; single: secret keys alone"
    );
    let named = device.key_session_on("single", &transform).unwrap_err();
    assert!(named.to_string().contains("secret keys alone"));
    let unknown = device.key_session_on("x", &transform).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "no engine 'x'; this device has: lanes, single"
    );
    assert!(matches!(
        device.read_public_key(b""),
        Err(KeyError::Unsupported { .. })
    ));
}

mod alone;
mod observer;
