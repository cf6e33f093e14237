//! A key described once: the prepared, immutable form that operations refer to.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use crate::algorithm::{Algorithm, Spec};
use crate::engine::{EngineSession, Wiped};
use crate::shared::Shared;
use crate::sizes::Sizes;
use crate::transform::{Direction, Transform};
use crate::validate::Rules;

/// A transform with its keys, prepared by one engine.
///
/// Immutable and shared freely between threads; cloning clones a reference. What changes while it
/// is used lives in contexts, one for each queue pair that uses the session, which are freed (and
/// wiped) with the session or the queue pair, whichever goes first.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Aead, Transform};
///
/// let session = device.session(Transform::seal(Aead::AesGcm, &[7; 16]).tag_len(12))?;
/// assert_eq!((session.iv_len(), session.tag_len()), (12, 12));
/// let elsewhere = session.clone();
/// std::thread::spawn(move || elsewhere.spec()).join().unwrap();
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[derive(Clone)]
pub struct Session(Arc<Wiped<SessionInner>>);

/// What an operation reaches through one pointer. What every operation reads is on its first line of
/// the cache: of a thousand sessions, each line is one to wait for.
#[repr(C, align(64))]
pub(crate) struct SessionInner {
    pub(crate) kind: Kind,
    pub(crate) engine: Box<Wiped<dyn EngineSession>>,
    /// Invariant: of what is in `engine`. Asking that each time would be a call.
    engine_type: TypeId,
    /// Begins with what building an operation needs.
    pub(crate) rules: Rules,
    description: Description,
}

const _: () = assert!(std::mem::offset_of!(SessionInner, rules) + size_of::<u64>() <= 64);

/// Sessions of the same kind are of one device, have the same rules, and engine's parts of the same type:
/// they hold the same value, and it is its address that counts.
#[derive(Clone, Debug)]
pub(crate) struct Kind(Arc<()>);

/// The kinds of one device's sessions.
#[derive(Debug, Default)]
pub(crate) struct Kinds(Shared<(Rules, TypeId), ()>);

struct Description {
    spec: Spec,
    direction: Direction,
    engine_name: &'static str,
    choice: Choice,
}

/// Why a session runs on its engine.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::session::Choice;
/// use lanelock::{Hash, Transform};
///
/// let session = device.session_on("toy", Transform::hash(Hash::Sha256))?;
/// assert_eq!(session.choice(), &Choice::Named);
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Choice {
    /// The caller named the engine.
    Named,
    /// The first engine in the device's order that offers the transform; the engines before it
    /// refused.
    FirstThatOffers {
        /// Name of each engine that refused, with its reason.
        refused: Vec<(&'static str, SessionError)>,
    },
}

/// Bytes of memory that a session holds.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Hash, Mac, Transform};
///
/// let session = device.session(Transform::compute(Mac::Hmac(Hash::Sha256), b"key"))?;
/// let memory = session.memory();
/// let on_four_threads = memory.session + 4 * memory.per_queue_pair;
/// assert!(on_four_threads > 0);
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SessionMemory {
    /// By the session itself, keys included.
    pub session: usize,
    /// In addition, for each queue pair that has used the session.
    pub per_queue_pair: usize,
}

/// Why a session could not be made.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Cipher, SessionError, Transform};
///
/// let refused = device.session(Transform::encrypt(Cipher::AesCbc, &[0; 15]));
/// let Err(error @ SessionError::Length { given: 15, .. }) = refused else {
///     panic!("no key of AES has 15 bytes");
/// };
/// assert!(error.to_string().contains("16, 24 or 32"));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SessionError {
    /// A key, IV or tag length that the algorithm does not allow.
    Length {
        /// The algorithm.
        what: Spec,
        /// Which length.
        field: &'static str,
        /// The length given, in bytes.
        given: usize,
        /// The lengths allowed.
        allowed: Sizes,
    },
    /// The engine, or the device, does not offer the algorithm.
    Unsupported {
        /// The algorithm.
        what: Spec,
        /// What is missing.
        why: String,
    },
    /// A key that the algorithm forbids.
    WeakKey {
        /// The algorithm.
        what: Spec,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The device has no engine of this name.
    NoSuchEngine {
        /// The name asked for.
        name: String,
        /// The names of the device's engines.
        known: Vec<&'static str>,
    },
    /// The engine failed.
    Engine {
        /// The engine's name.
        engine: &'static str,
        /// What it was doing, and its error message.
        why: String,
    },
}

impl Session {
    pub(crate) fn new(
        transform: &Transform,
        engine: Box<Wiped<dyn EngineSession>>,
        engine_name: &'static str,
        (rules, kind): (Rules, Kind),
        choice: Choice,
    ) -> Self {
        let description = Description {
            spec: transform.spec(),
            direction: transform.direction(),
            engine_name,
            choice,
        };
        Self(Arc::new(Wiped::new(SessionInner {
            rules,
            kind,
            engine_type: Any::type_id(&**engine),
            engine,
            description,
        })))
    }

    #[inline]
    pub(crate) fn inner(&self) -> &SessionInner {
        &self.0
    }

    /// The algorithm with its key lengths.
    #[must_use]
    pub fn spec(&self) -> Spec {
        self.0.description.spec
    }

    /// The algorithm family.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.0.description.spec.algorithm
    }

    /// Whether it protects messages or opens them.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.0.description.direction
    }

    /// IV length of every operation, in bytes.
    #[must_use]
    pub fn iv_len(&self) -> usize {
        self.0.rules.iv_len()
    }

    /// Tag or digest length of every operation, in bytes.
    #[must_use]
    pub fn tag_len(&self) -> usize {
        self.0.rules.tag_len()
    }

    /// Name of the engine that runs this session.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.0.description.engine_name
    }

    /// Why that engine.
    #[must_use]
    pub fn choice(&self) -> &Choice {
        &self.0.description.choice
    }

    /// Memory held, as the engine counts it.
    #[must_use]
    pub fn memory(&self) -> SessionMemory {
        let engine = self.0.engine.memory();
        SessionMemory {
            session: engine.session + size_of::<SessionInner>(),
            ..engine
        }
    }
}

impl Kinds {
    /// That of the sessions of this device with these rules and such an engine's part.
    pub(crate) fn of(&self, rules: &Rules, engine: &dyn EngineSession) -> Kind {
        let key = (*rules, Any::type_id(engine));
        Kind(self.0.get_or_make(key, || ()))
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl PartialEq for Kind {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl SessionInner {
    /// The engine's part, if it is a `T`.
    #[inline]
    #[allow(unsafe_code)] // a downcast that the standard library cannot inline
    pub(crate) fn engine_as<T: EngineSession>(&self) -> Option<&T> {
        // SAFETY: the invariant of the type.
        self.engine_is::<T>()
            .then(|| unsafe { self.engine_that_is() })
    }

    /// Whether the engine's part is a `T`.
    #[inline(always)]
    pub(crate) fn engine_is<T: EngineSession>(&self) -> bool {
        self.engine_type == TypeId::of::<T>()
    }

    /// The engine's part, which is a `T`.
    ///
    /// # Safety
    /// It is: so is that of any session of the same kind.
    #[inline(always)]
    #[allow(unsafe_code)] // a downcast without a look
    pub(crate) unsafe fn engine_that_is<T: EngineSession>(&self) -> &T {
        let engine: &dyn EngineSession = &**self.engine;
        // SAFETY: the caller's promise: the box holds a `T`, borrowed with `self`.
        unsafe { &*std::ptr::from_ref(engine).cast::<T>() }
    }

    /// Where the engine's part is.
    #[inline(always)]
    pub(crate) fn engine_ptr(&self) -> *const u8 {
        std::ptr::from_ref(&*self.engine).cast()
    }

    pub(crate) fn spec(&self) -> Spec {
        self.description.spec
    }
}

/// Shows the algorithm and the engine, never a key.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("algorithm", &self.spec().to_string())
            .field("direction", &self.direction())
            .field("engine", &self.engine())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named => f.write_str("named by the caller"),
            Self::FirstThatOffers { refused } if refused.is_empty() => {
                f.write_str("first in the device's order")
            }
            Self::FirstThatOffers { refused } => {
                f.write_str("first in the device's order that offers it (")?;
                for (i, (engine, why)) in refused.iter().enumerate() {
                    write!(f, "{}{engine}: {why}", if i > 0 { "; " } else { "" })?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length {
                what,
                field,
                given,
                allowed,
            } => {
                // A wrong key length is not part of a name.
                let name = if *field == "key" {
                    what.family()
                } else {
                    what.to_string()
                };
                write!(f, "{name}: {field} of {given} bytes; allowed: {allowed}")
            }
            Self::Unsupported { what, why } => write!(f, "{what}: not available: {why}"),
            Self::WeakKey { what, why } => write!(f, "{what}: key refused: {why}"),
            Self::NoSuchEngine { name, known } => {
                write!(
                    f,
                    "no engine '{name}'; this device has: {}",
                    known.join(", ")
                )
            }
            Self::Engine { engine, why } => write!(f, "engine {engine} failed: {why}"),
        }
    }
}

impl std::error::Error for SessionError {}
