//! What sessions of public keys and their contexts leave in their memory is gone when it is freed,
//! padding included: here both have a part that no destructor wipes.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::any::Any;
use std::convert::Infallible;

use lanelock_core::engine::{Capability, Engine, EngineSession, PerQueue, QueueToken};
use lanelock_core::session::SessionMemory;
use lanelock_core::{Device, SessionError, Transform};
use lanelock_public_key::engine::{KeyBatch, KeyCapability, KeyEngine, KeyEngineSession, KeyHalf};
use lanelock_public_key::{
    FlushPolicy, KeyDevice, KeyError, KeyKind, KeyOp, KeyTransform, SecretKey, SignatureScheme,
};
use lanelock_testkit::freed::{Finding, Reader, Secrets, freed};

#[global_allocator]
static ALLOCATOR: Reader = Reader;

const SECRET: [u8; 16] = *b"\xf0of sixteen byte";

/// Stands for a session with stale bytes in its padding.
#[derive(Default)]
struct Stale {
    contexts: PerQueue<[u8; 40]>,
    padding: Option<[u8; 40]>,
}

/// The secret twice, and a bit.
fn stale() -> [u8; 40] {
    let mut bytes = [0; 40];
    bytes[3..19].copy_from_slice(&SECRET);
    bytes[24..].copy_from_slice(&SECRET);
    bytes
}

impl Stale {
    fn boxed() -> Box<Self> {
        Box::new(Self {
            padding: Some(stale()),
            ..Self::default()
        })
    }
}

struct Leaky(KeyHalf);

struct LeakyKeys;

impl Engine for Leaky {
    fn name(&self) -> &'static str {
        "leaky"
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
            why: "public keys alone".to_owned(),
        })
    }

    fn extension(&self) -> Option<&dyn Any> {
        Some(&self.0)
    }
}

impl KeyEngine for LeakyKeys {
    fn capabilities(&self) -> Vec<KeyCapability> {
        Vec::new()
    }

    fn open(&self, _: &KeyTransform) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        Ok(Stale::boxed())
    }
}

impl KeyEngineSession for Stale {
    fn group(&self) -> u32 {
        0
    }

    fn process(&self, queue: &mut QueueToken, batch: &mut KeyBatch<'_, '_>) {
        let context = self.contexts.get_or_try_make(queue, || Ok(stale()));
        let context: Result<_, Infallible> = context;
        assert!(*context.unwrap() == self.padding.unwrap());
        batch.for_each(|mut op| op.succeed(1));
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

/// What `run` leaves of the secret.
fn left(run: impl FnOnce()) -> Vec<Finding> {
    let mut secrets = Secrets::default();
    secrets.add("the secret", &SECRET);
    freed(secrets, run).1
}

#[test]
fn a_plain_box_would_leave_it() {
    let found = left(|| drop(Stale::boxed()));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].size, size_of::<Stale>());
}

#[test]
fn sessions_leave_nothing() {
    let device = Device::builder()
        .engine(Leaky(KeyHalf::new(LeakyKeys)))
        .build();
    let key = SecretKey::raw(KeyKind::Ed25519, &[1; 32]).unwrap();
    let found = left(|| {
        let transform = KeyTransform::sign(SignatureScheme::EdDsa, &key);
        let session = device.key_session(&transform).unwrap();
        let mut queues = [(); 2].map(|()| device.key_queue(1, FlushPolicy::default()));
        for queue in &mut queues {
            let mut signature = [0; 64];
            let mut ops = [KeyOp::sign(&session, b"m", &mut signature)];
            assert_eq!(queue.process(&mut ops).succeeded, 1);
        }
        // One context goes before its session, one with it.
        let [first, _second] = queues;
        drop(first);
        drop(session);
    });
    assert_eq!(found, []);
}
