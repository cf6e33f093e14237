//! A key prepared once for one operation, for use by every queue of its device.

use std::fmt;
use std::sync::Arc;

use lanelock_core::engine::Wiped;
use lanelock_core::session::SessionMemory;

use super::algorithm::KeySpec;
use super::alone::Alone;
use super::engine::KeyEngineSession;
use super::shape::Shape;
use super::transform::KeyTransform;

/// A [`KeyTransform`] prepared by one engine.
///
/// Immutable and shared freely between threads; cloning clones a reference. Keys are wiped when
/// the last clone goes and no queue uses them.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// # use lanelock_public_key::{FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey, SignatureScheme};
/// # let device = lanelock_testkit::key_device();
/// # let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
/// # let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
/// assert_eq!(session.spec().to_string(), "ed25519-sign");
/// assert_eq!((session.engine(), session.output_len(0)), ("toy", 64)); // bytes of a signature
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone)]
pub struct KeySession(Arc<Wiped<KeySessionInner>>);

pub(crate) struct KeySessionInner {
    pub(crate) shape: Shape,
    pub(crate) group: KeyGroup,
    pub(crate) engine: Box<Wiped<dyn KeyEngineSession>>,
    engine_name: &'static str,
    pub(crate) lanes: usize,
    pub(crate) per_pass: usize,
    spec: KeySpec,
    break_even: usize,
    alone: Option<Alone>,
}

/// Which operations may run in one call: same device, engine and engine-chosen group.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct KeyGroup {
    pub(crate) device: u32,
    pub(crate) engine: u16,
    group: u32,
}

impl KeySessionInner {
    pub(crate) fn spec(&self) -> KeySpec {
        self.spec
    }

    /// The session that runs this one's operation in a batch of `count`, if not this one.
    pub(crate) fn alone(&self, count: usize) -> Option<&Self> {
        if count >= self.break_even {
            return None;
        }
        self.alone.as_ref()?.session()
    }
}

impl KeySession {
    /// `session` of the engine called `engine_name`, the device's `index`-th; it pays from `break_even`
    /// operations on, and `alone` serves fewer.
    pub(super) fn new(
        device: u32,
        transform: &KeyTransform,
        (index, engine_name): (usize, &'static str),
        session: Box<dyn KeyEngineSession>,
        break_even: usize,
        alone: Option<Alone>,
    ) -> Self {
        let engine = Wiped::boxed(session);
        let group = KeyGroup {
            device,
            engine: u16::try_from(index).expect("checked when the device was built"),
            group: engine.group(),
        };
        let lanes = engine.lanes().max(1);
        Self(Arc::new(Wiped::new(KeySessionInner {
            shape: Shape::of(transform),
            group,
            engine_name,
            lanes,
            per_pass: engine.per_pass().clamp(1, lanes),
            engine,
            spec: transform.spec(),
            break_even,
            alone,
        })))
    }

    pub(crate) fn inner(&self) -> &KeySessionInner {
        &self.0
    }

    /// Operation, kind of key and scheme.
    #[must_use]
    pub fn spec(&self) -> KeySpec {
        self.0.spec
    }

    /// Name of the engine that runs it, in batches of [`KeySession::break_even`] and more.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.0.engine_name
    }

    /// Operations that run in lockstep; 1 if they run one at a time.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.0.lanes
    }

    /// Fewest operations that are faster together, in lanes, than one at a time by OpenSSL: a smaller
    /// batch runs on the device's next engine, unless the session is of an engine that was asked for by
    /// name.
    #[must_use]
    pub fn break_even(&self) -> usize {
        self.0.break_even
    }

    /// Room that an operation's output needs if its input has `input_len` bytes.
    #[must_use]
    pub fn output_len(&self, input_len: usize) -> usize {
        self.0.shape.output.needed(input_len)
    }

    /// Room that an operation's second output needs: the public key that is generated, the shared
    /// secret that is encapsulated; 0 for other operations.
    #[must_use]
    pub fn second_output_len(&self) -> usize {
        self.0.shape.second
    }

    /// Memory held, as the engines count it: that of the next engine from the first batch on that
    /// ran there.
    #[must_use]
    pub fn memory(&self) -> SessionMemory {
        let engine = self.0.engine.memory();
        let alone = self.0.alone.as_ref().and_then(Alone::prepared);
        let alone = alone.map(Self::memory).unwrap_or_default();
        SessionMemory {
            session: engine.session + alone.session + size_of::<KeySessionInner>(),
            per_queue_pair: engine.per_queue_pair + alone.per_queue_pair,
        }
    }
}

/// Shows the algorithm and the engine, never a key.
impl fmt::Debug for KeySession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySession")
            .field("spec", &self.spec().to_string())
            .field("engine", &self.engine())
            .finish_non_exhaustive()
    }
}
