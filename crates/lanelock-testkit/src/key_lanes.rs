//! An engine of public keys in lanes, whose operations are a function.

use std::any::Any;
use std::fmt;

use lanelock_core::engine::{Capability, Engine, EngineSession, QueueToken};
use lanelock_core::session::{SessionError, SessionMemory};
use lanelock_core::{Device, Transform};
use lanelock_public_key::engine::{
    KeyBatch, KeyCapability, KeyEngine, KeyEngineSession, KeyHalf, ValidKeyOp,
};
use lanelock_public_key::{KeyError, KeyTransform, Operation};

/// Offers one operation, with keys of any kind.
#[derive(Clone, Copy)]
pub struct KeyLanes {
    /// What it is called.
    pub name: &'static str,
    /// Operations that run in lockstep.
    pub lanes: usize,
    /// What it offers.
    pub operation: Operation,
    /// What it does.
    pub run: fn(ValidKeyOp<'_, '_>),
}

/// A device with an engine called `toy` whose signatures are the messages, for examples.
#[must_use]
pub fn key_device() -> Device {
    let lanes = KeyLanes {
        name: "toy",
        lanes: 8,
        operation: Operation::Sign,
        run: |mut op| {
            let message = op.input();
            op.output()[..message.len()].copy_from_slice(message);
            op.succeed(message.len());
        },
    };
    Device::builder().engine(lanes.engine()).build()
}

/// The engine of [`KeyLanes::engine`].
#[derive(Debug)]
pub struct KeyLanesEngine {
    name: &'static str,
    half: KeyHalf,
}

impl KeyLanes {
    /// An engine of these lanes, and of nothing else.
    #[must_use]
    pub fn engine(self) -> KeyLanesEngine {
        KeyLanesEngine {
            name: self.name,
            half: KeyHalf::new(self),
        }
    }
}

impl Engine for KeyLanesEngine {
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
            why: "public keys alone".to_owned(),
        })
    }

    fn extension(&self) -> Option<&dyn Any> {
        Some(&self.half)
    }
}

impl KeyEngine for KeyLanes {
    fn capabilities(&self) -> Vec<KeyCapability> {
        Vec::new()
    }

    fn open(&self, transform: &KeyTransform) -> Result<Box<dyn KeyEngineSession>, KeyError> {
        let spec = transform.spec();
        match spec.operation == self.operation {
            true => Ok(Box::new(*self)),
            false => Err(KeyError::unsupported(spec, "another operation")),
        }
    }
}

impl KeyEngineSession for KeyLanes {
    fn group(&self) -> u32 {
        0
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn process(&self, _: &mut QueueToken, batch: &mut KeyBatch<'_, '_>) {
        batch.for_each(self.run);
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

impl fmt::Debug for KeyLanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} lanes, {:?}",
            self.name, self.lanes, self.operation
        )
    }
}
