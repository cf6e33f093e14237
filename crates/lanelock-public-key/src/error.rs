//! Why a key or a session could not be made.

use std::fmt;

/// Why a key or a public-key session could not be made.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{KeyError, KeyKind, SecretKey};
///
/// let refused = SecretKey::raw(KeyKind::Ed25519, &[7; 31]);
/// assert!(matches!(refused, Err(KeyError::Length { given: 31, .. })));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeyError {
    /// A part of a key, or a parameter, has a length that is not allowed.
    Length {
        /// Name of the key or session, such as `rsa-2048`.
        what: String,
        /// Which part.
        field: &'static str,
        /// The length given, in the unit that `allowed` names.
        given: usize,
        /// What is allowed.
        allowed: String,
    },
    /// An invalid key: an even modulus, a point off its curve, a scalar out of range.
    Refused {
        /// Name of the key.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// The scheme or operation does not go with this kind of key.
    Mismatch {
        /// Name of the key.
        what: String,
        /// What does not go with it.
        why: String,
    },
    /// The engine, or the device, does not offer this.
    Unsupported {
        /// Name of the session.
        what: String,
        /// What is missing, engine by engine.
        why: String,
    },
    /// A PEM or DER container that cannot be read.
    Container {
        /// The reader's error message.
        why: String,
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

impl KeyError {
    /// A key that is refused.
    pub fn refused(what: impl fmt::Display, why: impl Into<String>) -> Self {
        Self::Refused {
            what: what.to_string(),
            why: why.into(),
        }
    }

    /// A session that is not offered.
    pub fn unsupported(what: impl fmt::Display, why: impl Into<String>) -> Self {
        Self::Unsupported {
            what: what.to_string(),
            why: why.into(),
        }
    }

    pub(super) fn length(
        what: impl fmt::Display,
        field: &'static str,
        given: usize,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Length {
            what: what.to_string(),
            field,
            given,
            allowed: allowed.into(),
        }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length {
                what,
                field,
                given,
                allowed,
            } => write!(f, "{what}: {field} of {given}; allowed: {allowed}"),
            Self::Refused { what, why } => write!(f, "{what}: key refused: {why}"),
            Self::Mismatch { what, why } => write!(f, "{what}: {why}"),
            Self::Unsupported { what, why } => write!(f, "{what}: not available: {why}"),
            Self::Container { why } => write!(f, "key container: {why}"),
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

impl std::error::Error for KeyError {}
