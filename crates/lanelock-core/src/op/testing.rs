//! An engine that only has sessions, for tests.

use crate::engine::{Batch, Capability, Engine, EngineSession, QueueToken};
use crate::session::{SessionError, SessionMemory};
use crate::transform::Transform;

pub(super) struct Idle;

impl Engine for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn capabilities(&self) -> &[Capability] {
        &[]
    }

    fn open(&self, _: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Ok(Box::new(Self))
    }
}

impl EngineSession for Idle {
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, _: &mut QueueToken, _: &mut Batch<'_, '_>) {}

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}
