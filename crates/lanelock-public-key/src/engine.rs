//! What an engine offers for public keys, and how a batch reaches it.

use std::any::Any;
use std::fmt;

use lanelock_core::engine::{Engine, QueueToken};
use lanelock_core::session::SessionMemory;

use super::algorithm::KeySpec;
pub use super::batch::{KeyBatch, ValidKeyOp};
use super::error::KeyError;
use super::key::{PublicKey, SecretKey};
use super::transform::KeyTransform;

/// The public-key half of an [`Engine`], which hands it out in a [`KeyHalf`].
pub trait KeyEngine: Send + Sync {
    /// What is offered, for tables: one row for each kind and operation, with a usual scheme.
    fn capabilities(&self) -> Vec<KeyCapability>;

    /// Prepares `transform`, which has passed [`KeyTransform::validate`], and refuses invalid keys:
    /// factors that do not multiply to the modulus, points off their curve, scalars out of range, a
    /// public half of another key.
    ///
    /// # Errors
    /// On [`KeyError::Unsupported`], an automatic choice goes on to the next engine; any other
    /// error ends it.
    fn open(&self, transform: &KeyTransform) -> Result<Box<dyn KeyEngineSession>, KeyError>;

    /// Fewest operations of this kind that the engine runs faster than the next one runs them one at
    /// a time. An automatic choice leaves smaller batches to that one.
    fn break_even(&self, _spec: KeySpec) -> usize {
        1
    }

    /// This engine's reader of key containers, if it has one.
    fn keys(&self) -> Option<&dyn KeyReader> {
        None
    }
}

/// The public-key half as an engine keeps it, and returns it from [`Engine::extension`].
pub struct KeyHalf(Box<dyn KeyEngine>);

/// From an engine to its public-key half.
pub trait PublicKeyEngine {
    /// The half that serves public keys, if there is one.
    fn public_key(&self) -> Option<&dyn KeyEngine>;
}

impl KeyHalf {
    /// Keeps `half`.
    #[must_use]
    pub fn new(half: impl KeyEngine + 'static) -> Self {
        Self(Box::new(half))
    }
}

impl<E: Engine + ?Sized> PublicKeyEngine for E {
    fn public_key(&self) -> Option<&dyn KeyEngine> {
        let half: &KeyHalf = self.extension()?.downcast_ref()?;
        Some(&*half.0)
    }
}

/// An engine's reader of key containers. A container is not trusted: the reader bounds the cost of
/// reading it.
pub trait KeyReader {
    /// Reads a secret key from PEM or DER: PKCS #8, encrypted or not, or the older forms of RSA
    /// and EC. The public half comes with it.
    ///
    /// # Errors
    /// [`KeyError::Container`] if there is no such key, if it is encrypted and there is no
    /// passphrase or the passphrase does not open it, or if reading it would take too long.
    fn read_secret(&self, bytes: &[u8], passphrase: Option<&[u8]>) -> Result<SecretKey, KeyError>;

    /// Reads a public key from PEM or DER: `SubjectPublicKeyInfo`, or RSA's older form.
    ///
    /// # Errors
    /// [`KeyError::Container`] if there is no such key, or it is too large.
    fn read_public(&self, bytes: &[u8]) -> Result<PublicKey, KeyError>;

    /// Computes the public half of `key`.
    ///
    /// # Errors
    /// [`KeyError::Refused`] if the key is invalid, [`KeyError::Unsupported`] for an unknown kind.
    fn public_of(&self, key: &SecretKey) -> Result<PublicKey, KeyError>;
}

/// One operation on one kind of key as an engine offers it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KeyCapability {
    /// Operation, kind and a usual scheme.
    pub spec: KeySpec,
    /// Operations that run in lockstep; 1 if they run one at a time.
    pub lanes: usize,
}

/// The engine's part of a session.
pub trait KeyEngineSession: Any + Send + Sync {
    /// Operations whose sessions have the same number can share a batch, whatever their keys. The
    /// engine chooses the numbers: one for each algorithm and size. A queue keeps a list of those
    /// it has seen, so peers must not be able to choose how many there are.
    fn group(&self) -> u32;

    /// Operations that run in lockstep; 1 if they run one at a time.
    fn lanes(&self) -> usize {
        1
    }

    /// Operations that one pass over the registers runs: at most [`KeyEngineSession::lanes`], and a
    /// divisor of it. A batch takes as long as all passes that it starts.
    fn per_pass(&self) -> usize {
        self.lanes()
    }

    /// Runs the operations of one batch, at most [`KeyEngineSession::lanes`] where that is more
    /// than 1, all of this group, and gives each its result. Called on the session of the first;
    /// the others are reached through [`ValidKeyOp::session`]. One left without a result has
    /// failed, and its outputs are wiped.
    fn process(&self, queue: &mut QueueToken, batch: &mut KeyBatch<'_, '_>);

    /// Bytes held by the session itself, and by each queue's context.
    fn memory(&self) -> SessionMemory;
}

impl fmt::Debug for KeyHalf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyHalf").finish_non_exhaustive()
    }
}

impl fmt::Debug for dyn KeyEngineSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyEngineSession").finish_non_exhaustive()
    }
}
