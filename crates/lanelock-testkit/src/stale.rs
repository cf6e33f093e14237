//! An engine with stale bytes in the padding of its sessions and contexts, which no destructor wipes: for
//! tests that nothing of them is left in memory that is freed.

use std::any::Any;
use std::convert::Infallible;

use lanelock_core::engine::{
    Batch, Capability, Engine, EngineSession, PerQueue, QueueToken, Wiped,
};
use lanelock_core::session::SessionMemory;
use lanelock_core::{Device, SessionError, Status, Transform};
use lanelock_public_key::engine::{KeyBatch, KeyCapability, KeyEngine, KeyEngineSession, KeyHalf};
use lanelock_public_key::{KeyError, KeyTransform};

use crate::freed::{Finding, Secrets, freed};

const SECRET: [u8; 16] = *b"\xf0of sixteen byte";

/// Forty bytes with the secret twice.
#[must_use]
pub fn stale() -> [u8; 40] {
    let mut bytes = [0; 40];
    bytes[3..19].copy_from_slice(&SECRET);
    bytes[24..].copy_from_slice(&SECRET);
    bytes
}

/// What `run` leaves of the secret, where [`Reader`](crate::freed::Reader) is the allocator.
pub fn left(run: impl FnOnce()) -> Vec<Finding> {
    let mut secrets = Secrets::default();
    secrets.add("the secret", &SECRET);
    freed(secrets, run).1
}

/// A session, of whatever is asked for.
#[derive(Debug, Default)]
pub struct StaleSession {
    contexts: PerQueue<[u8; 40]>,
    padding: Option<[u8; 40]>,
}

impl StaleSession {
    /// One with its stale bytes.
    #[must_use]
    pub fn boxed() -> Box<Self> {
        Box::new(Self {
            padding: Some(stale()),
            ..Self::default()
        })
    }

    fn use_context(&self, queue: &mut QueueToken) {
        let context = self.contexts.get_or_try_make(queue, || Ok(stale()));
        let context: Result<_, Infallible> = context;
        assert!(context.is_ok_and(|context| Some(*context) == self.padding));
    }
}

impl EngineSession for StaleSession {
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, queue: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        self.use_context(queue);
        batch.complete(Status::Success);
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

impl KeyEngineSession for StaleSession {
    fn group(&self) -> u32 {
        0
    }

    fn process(&self, queue: &mut QueueToken, batch: &mut KeyBatch<'_, '_>) {
        self.use_context(queue);
        batch.for_each(|mut op| op.succeed(1));
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

/// The engine that opens them.
struct Stale {
    keys: KeyHalf,
}

impl Engine for Stale {
    fn name(&self) -> &'static str {
        "stale"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn capabilities(&self) -> &[Capability] {
        &[]
    }

    fn open(&self, _: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Ok(StaleSession::boxed())
    }

    fn extension(&self) -> Option<&dyn Any> {
        Some(&self.keys)
    }
}

struct StaleKeys;

impl KeyEngine for StaleKeys {
    fn capabilities(&self) -> Vec<KeyCapability> {
        Vec::new()
    }

    fn open(&self, _: &KeyTransform) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        Ok(StaleSession::boxed())
    }
}

/// A device of this engine alone.
#[must_use]
pub fn stale_device() -> Device {
    let keys = KeyHalf::new(StaleKeys);
    Device::builder().engine(Stale { keys }).build()
}

/// That the secret is found in a session by itself, but not in one that is [`Wiped`].
///
/// # Panics
/// If not.
pub fn check_finding() {
    let found = left(|| drop(StaleSession::boxed()));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].size, size_of::<StaleSession>());
    assert_eq!(left(|| drop(Wiped::boxed(StaleSession::boxed()))), []);
}
