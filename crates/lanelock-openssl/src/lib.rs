//! The lanelock engine over OpenSSL 3: every algorithm that the loaded libcrypto has, one message
//! at a time, without per-message set-up.
//!
//! Algorithms are fetched once, when the engine is opened, from a library context of its own. A
//! session keeps its key and what contexts are made from; each queue pair that uses it makes one
//! keyed context on its own thread, and keeps it. From then on a message costs an IV (or a restart
//! from the keyed state), its updates and its tag: no fetch, no context copied or freed, no key or
//! padding set again, no lock.
//!
//! The capabilities list the algorithms for which OpenSSL does not allow that:
//!
//! | algorithm | exception | reason |
//! |---|---|---|
//! | SHA-3, SHAKE, cSHAKE, BLAKE2 and HMAC over them, before 3.5 | allocates inside libcrypto | EVP gives a restarted digest a new state |
//! | KMAC | allocates inside libcrypto | a restart absorbs the customization string and the key again |
//! | Poly1305 | the key is set for each message | its MAC refuses to restart |
//! | XChaCha20-Poly1305 | the key is set for each message | each message has its own |
//! | AES-XTS, AES-CCM, AES-GCM-SIV | segments are gathered | one update is one whole message |
//! | AES-GCM-SIV, from 3.2 on | a cipher is fetched, keys are set, memory is allocated | libcrypto derives each message's keys this way, and keeps its additional data |
//!
//! Contexts are made from the key rather than copied from one another: copying AEAD contexts is
//! broken in early 3.0, and memory allocated by the thread that uses it shares no cache line with
//! another thread's.

#![deny(unsafe_code)]

mod aead;
mod catalogue;
mod cbc;
mod chain;
mod cipher;
mod cmac;
mod context;
mod docsis;
mod ffi;
mod gather;
mod hash;
mod hmac;
mod mac;
mod public_key;
mod session;
mod siv;
mod triple_des_ctr;
mod xchacha;

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use lanelock_core::engine::{Capability, Engine, EngineSession};
use lanelock_core::{SessionError, Transform};
use lanelock_public_key::engine::KeyHalf;

use catalogue::Catalogue;
use ffi::ErrorMark;
use public_key::PublicKeys;
use session::OpenSslSession;

const NAME: &str = "openssl";

/// The engine. Opening it loads OpenSSL's default provider and fetches every algorithm, which takes
/// about a millisecond. The legacy provider, a file, is loaded when something needs it: a session of
/// single DES, the list of capabilities, or a container that is encrypted with DES or RC2.
pub struct OpenSsl {
    catalogue: Arc<Catalogue>,
    capabilities: OnceLock<Vec<Capability>>,
    public_keys: KeyHalf,
}

impl OpenSsl {
    /// Opens the engine over the libcrypto that this program is linked with.
    ///
    /// # Errors
    /// [`SessionError::Engine`] if it is older than 3.0 or its default provider does not load.
    pub fn new() -> Result<Self, SessionError> {
        let _mark = ErrorMark::set();
        let catalogue =
            Catalogue::new().map_err(|why| SessionError::Engine { engine: NAME, why })?;
        let catalogue = Arc::new(catalogue);
        Ok(Self {
            public_keys: KeyHalf::new(PublicKeys::new(catalogue.clone())),
            catalogue,
            capabilities: OnceLock::new(),
        })
    }
}

impl Engine for OpenSsl {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> String {
        ffi::version()
    }

    fn capabilities(&self) -> &[Capability] {
        self.capabilities.get_or_init(|| {
            let _mark = ErrorMark::set();
            self.catalogue.capabilities()
        })
    }

    fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        let _mark = ErrorMark::set();
        if !self.catalogue.offers(transform.algorithm()) {
            let why = format!("{} does not have it", ffi::version());
            return Err(SessionError::Unsupported {
                what: transform.spec(),
                why,
            });
        }
        Ok(Box::new(OpenSslSession::open(&self.catalogue, transform)?))
    }

    fn extension(&self) -> Option<&dyn Any> {
        Some(&self.public_keys)
    }
}

impl fmt::Debug for OpenSsl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSsl")
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}
