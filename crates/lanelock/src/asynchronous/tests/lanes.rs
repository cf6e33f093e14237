//! An engine of four lanes whose shared secret is the peer's key with every bit flipped.

use crate::engine::{Capability, Engine, EngineSession, QueueToken};
use crate::public_key::engine::{KeyBatch, KeyCapability, KeyEngine, KeyEngineSession};
use crate::public_key::{KeyError, KeyTransform, Operation};
use crate::session::SessionMemory;
use crate::{SessionError, Transform};

pub(super) struct Lanes;

impl Engine for Lanes {
    fn name(&self) -> &'static str {
        "lanes"
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

    fn public_key(&self) -> Option<&dyn KeyEngine> {
        Some(self)
    }
}

impl KeyEngine for Lanes {
    fn capabilities(&self) -> Vec<KeyCapability> {
        Vec::new()
    }

    fn open(&self, transform: &KeyTransform) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        match transform.spec().operation {
            Operation::Derive => Ok(Box::new(Self)),
            _ => Err(KeyError::unsupported(transform.spec(), "derives alone")),
        }
    }
}

impl KeyEngineSession for Lanes {
    fn group(&self) -> u32 {
        0
    }

    fn lanes(&self) -> usize {
        4
    }

    fn process(&self, _: &mut QueueToken, batch: &mut KeyBatch<'_, '_>) {
        batch.for_each(|mut op| {
            let peer = op.input();
            for (byte, flipped) in op.output().iter_mut().zip(peer) {
                *byte = !flipped;
            }
            op.succeed(peer.len());
        });
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}
