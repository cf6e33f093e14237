//! An engine that hands each operation to a closure.

use std::fmt;
use std::sync::Arc;

use lanelock_core::engine::{Batch, Capability, Engine, EngineSession, QueueToken, ValidOp};
use lanelock_core::session::SessionMemory;
use lanelock_core::{SessionError, Status, Transform};

type Visit = dyn Fn(&mut ValidOp<'_, '_>) -> Status + Send + Sync;

/// Offers every algorithm and runs a closure on each valid operation.
#[derive(Clone)]
pub struct Probe(Arc<Visit>);

impl Probe {
    /// `visit` returns the status to complete the operation with.
    pub fn new(visit: impl Fn(&mut ValidOp<'_, '_>) -> Status + Send + Sync + 'static) -> Self {
        Self(Arc::new(visit))
    }
}

impl Engine for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn capabilities(&self) -> &[Capability] {
        &[]
    }

    fn open(&self, _: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Ok(Box::new(self.clone()))
    }
}

impl EngineSession for Probe {
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        batch.for_each(|mut op| {
            let status = (self.0)(&mut op);
            op.complete(status);
        });
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").finish_non_exhaustive()
    }
}
