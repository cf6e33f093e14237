//! A second engine beside a contested one.

use std::time::{Duration, Instant};

use lanelock_core::engine::{Batch, Capability, Engine, EngineSession, QueueToken};
use lanelock_core::session::SessionMemory;
use lanelock_core::{
    Buffer, Cipher, Device, Op, QueuePair, Session, SessionError, Status, Transform,
};

/// An engine whose every group takes 100 µs, or nothing.
struct Pace<const SLOW: bool> {
    contested: bool,
}

/// Its sessions, of a type of their own for either pace.
struct Paced<const SLOW: bool>;

const SLOW: Duration = Duration::from_micros(100);

impl<const IS_SLOW: bool> Engine for Pace<IS_SLOW> {
    fn name(&self) -> &'static str {
        if IS_SLOW { "slow" } else { "fast" }
    }

    fn version(&self) -> String {
        String::new()
    }

    fn capabilities(&self) -> &[Capability] {
        &[]
    }

    fn open(&self, _: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Ok(Box::new(Paced::<IS_SLOW>))
    }

    fn is_contested(&self) -> bool {
        self.contested
    }
}

impl<const IS_SLOW: bool> EngineSession for Paced<IS_SLOW> {
    fn group(&self) -> u16 {
        3
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        let start = Instant::now();
        while IS_SLOW && start.elapsed() < SLOW {}
        batch.for_each(|mut op| {
            // Each operation's session has this engine's part.
            let status = match op.session::<Self>() {
                Some(_) => Status::Success,
                None => Status::EngineError,
            };
            op.complete(status);
        });
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory {
            session: 1000,
            per_queue_pair: 10,
        }
    }
}

fn device(contested: bool) -> Device {
    Device::builder()
        .engine(Pace::<true> { contested })
        .engine(Pace::<false> { contested })
        .build()
}

/// The key length is the test's own: what the process has measured is by algorithm.
fn transform(key_len: usize) -> Transform {
    Transform::encrypt(Cipher::AesCbc, &vec![1; key_len])
}

/// Runs one burst with a message of each length, of the sessions in turn.
fn burst(queue: &mut QueuePair, sessions: &[&Session], lengths: &[usize]) {
    let mut data: Vec<_> = lengths.iter().map(|&len| vec![0; len]).collect();
    let mut ops: Vec<_> = data
        .iter_mut()
        .zip(sessions.iter().cycle())
        .map(|(data, session)| Op::new(session, Buffer::in_place(data)).iv(&[0; 16]))
        .collect();
    assert_eq!(queue.process(&mut ops).succeeded, lengths.len());
}

/// Groups that the slow and the fast engine have run.
fn groups(queue: &QueuePair) -> [u64; 2] {
    let engines = queue.stats().engines;
    [engines[0].groups, engines[1].groups]
}

#[test]
fn groups_go_to_the_engine_that_proves_faster() {
    let device = device(true);
    let session = device.session(transform(16)).unwrap();
    assert_eq!(
        (session.engine(), session.stand_in()),
        ("slow", Some("fast"))
    );
    assert!(session.measured().is_empty());
    let mut queue = device.queue_pair(1);
    for _ in 0..300 {
        burst(&mut queue, &[&session], &[64, 48]);
    }
    assert_eq!(groups(&queue), [64, 236], "turns while it learns");
    let measured = session.measured();
    assert_eq!(measured.len(), 1);
    assert_eq!(measured[0].most_ops, Some(2));
    assert_eq!(measured[0].most_bytes, Some(64));
    assert_eq!(measured[0].chosen, "fast");
    assert!(measured[0].primary >= SLOW && measured[0].stand_in < SLOW);

    // What was learnt is the process's, for groups of this kind alone.
    let again = device.session(transform(16)).unwrap();
    let mut queue = device.queue_pair(1);
    burst(&mut queue, &[&again], &[16, 16]);
    assert_eq!(groups(&queue), [0, 1]);
    burst(&mut queue, &[&again], &[16]);
    assert_eq!(
        groups(&queue),
        [1, 1],
        "an unknown kind begins on the first engine"
    );
}

#[test]
fn groups_of_several_sessions_or_of_unlike_lengths_stay_on_the_first_engine() {
    let device = device(true);
    let [a, b] = [24, 24].map(|len| device.session(transform(len)).unwrap());
    let named = device.session_on("slow", transform(24)).unwrap();
    let mut queue = device.queue_pair(1);
    for _ in 0..40 {
        burst(&mut queue, &[&a, &b], &[64, 64]);
        burst(&mut queue, &[&a, &named], &[64, 64]);
        burst(&mut queue, &[&a], &[64, 4096]);
    }
    assert_eq!(groups(&queue), [120, 0]);
    assert!(a.measured().is_empty());
}

#[test]
fn a_named_engine_and_one_that_is_not_contested_have_no_stand_in() {
    let named = device(true).session_on("slow", transform(32)).unwrap();
    let sure = device(false).session(transform(32)).unwrap();
    let last = device(true).session_on("fast", transform(32)).unwrap();
    for session in [&named, &sure, &last] {
        assert_eq!(session.stand_in(), None);
        assert!(session.measured().is_empty());
    }
    let both = device(true).session(transform(32)).unwrap();
    assert!(both.memory().session >= named.memory().session + 1000);
    assert_eq!(both.memory().per_queue_pair, 20);
}
