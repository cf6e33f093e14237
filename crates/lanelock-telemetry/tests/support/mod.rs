//! An engine of eight lanes whose signatures are the message.

use lanelock_core::engine::{Capability, Engine, EngineSession, QueueToken};
use lanelock_core::public_key::engine::{KeyBatch, KeyCapability, KeyEngine, KeyEngineSession};
use lanelock_core::public_key::{
    KeyError, KeyJob, KeyKind, KeyReason, KeySession, KeyTransform, SecretKey, SignatureScheme,
};
use lanelock_core::session::{SessionError, SessionMemory};
use lanelock_core::{Device, Transform};

pub const LANES: usize = 8;

struct Toy;
struct ToySession;

impl Engine for Toy {
    fn name(&self) -> &'static str {
        "toy"
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

    fn public_key(&self) -> Option<&dyn KeyEngine> {
        Some(self)
    }
}

impl KeyEngine for Toy {
    fn capabilities(&self) -> Vec<KeyCapability> {
        Vec::new()
    }

    fn open(&self, _: &KeyTransform) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        Ok(Box::new(ToySession))
    }
}

impl KeyEngineSession for ToySession {
    fn group(&self) -> u32 {
        0
    }

    fn lanes(&self) -> usize {
        LANES
    }

    fn process(&self, _: &mut QueueToken, batch: &mut KeyBatch<'_, '_>) {
        batch.for_each(|mut op| {
            let message = op.input();
            if message == b"fault" {
                return op.fail(KeyReason::Fault);
            }
            op.output()[..message.len()].copy_from_slice(message);
            op.succeed(message.len());
        });
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

/// A device whose queues are observed, and a session of it.
pub fn device() -> (Device, KeySession) {
    let device = Device::builder().engine(Toy);
    let device = device.key_observers(lanelock_telemetry::observer).build();
    let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32]).expect("a key");
    let transform = KeyTransform::sign(SignatureScheme::EdDsa, &key);
    let session = device.key_session(&transform).expect("the toy takes all");
    (device, session)
}

/// The name of what the session does.
pub const ALGORITHM: &str = "ed25519-sign";

pub fn job(session: &KeySession, message: &[u8]) -> KeyJob {
    KeyJob::sign(session, message.to_vec(), vec![0; 64])
}
