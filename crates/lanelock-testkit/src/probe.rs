//! An engine that hands what it gets to a closure.

use std::fmt;
use std::sync::Arc;

use lanelock_core::engine::{Batch, Capability, Engine, EngineSession, QueueToken, ValidOp};
use lanelock_core::session::SessionMemory;
use lanelock_core::{SessionError, Status, Transform};

type Run = dyn Fn(&mut QueueToken, &mut Batch<'_, '_>) + Send + Sync;

/// Offers every algorithm, as one group, and runs a closure on each batch or operation.
#[derive(Clone)]
pub struct Probe(Arc<Run>);

/// A session of a [`Probe`], as closures meet it in plain batches.
pub struct ProbeSession {
    probe: Probe,
    /// The first byte of its key; 0 without one.
    pub key: u8,
}

impl Probe {
    /// `visit` returns the status to complete the operation with.
    pub fn new(visit: impl Fn(&mut ValidOp<'_, '_>) -> Status + Send + Sync + 'static) -> Self {
        Self::batches(move |_, batch| {
            batch.for_each(|mut op| {
                let status = visit(&mut op);
                op.complete(status);
            });
        })
    }

    /// `run` completes the operations of a batch.
    pub fn batches(
        run: impl Fn(&mut QueueToken, &mut Batch<'_, '_>) + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(run))
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

    fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Ok(Box::new(ProbeSession {
            probe: self.clone(),
            key: transform.key().first().copied().unwrap_or_default(),
        }))
    }
}

impl EngineSession for ProbeSession {
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, queue: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        (self.probe.0)(queue, batch);
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

impl fmt::Debug for ProbeSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeSession").finish_non_exhaustive()
    }
}
