//! An engine that does nothing, for the cost of everything around an engine.

use lanelock::engine::{Batch, Capability, Engine, EngineSession, Features, QueueToken};
use lanelock::session::SessionMemory;
use lanelock::{Algorithm, SessionError, Status, Transform};

/// Completes every operation with [`Status::Success`] and touches no byte of it.
///
/// It exists in this benchmark alone: a device that holds it would report messages as encrypted
/// that are not.
#[derive(Debug)]
pub struct NullEngine {
    capabilities: Vec<Capability>,
}

/// Has nothing to keep.
struct NullSession;

impl NullEngine {
    /// The name by which `--engine` asks for it.
    pub const NAME: &'static str = "null";

    /// Offers every algorithm.
    pub fn new() -> Self {
        let chains = Features {
            chains: true,
            ..Features::default()
        };
        Self {
            capabilities: Algorithm::families()
                .map(|algorithm| Capability::standard(algorithm, chains))
                .collect(),
        }
    }
}

impl Engine for NullEngine {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn version(&self) -> String {
        "touches nothing".to_owned()
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn open(&self, _transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Ok(Box::new(NullSession))
    }
}

impl EngineSession for NullSession {
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, _queue: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        batch.for_each(|mut op| op.complete(Status::Success));
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}
