//! Why a row failed, and the exceptions of the package.

use std::fmt;

use lanelock::{Op, OpError, SessionError, Status};
use pyo3::exceptions::{PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    lanelock,
    RowError,
    PyValueError,
    "Some rows failed. `row` is the first of them, `reason` says why, `failed` counts them all."
);
pyo3::create_exception!(
    lanelock,
    NonceWarning,
    PyRuntimeWarning,
    "A key has encrypted a large part of the messages that its algorithm allows with random nonces."
);

/// Why one row failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reason {
    /// The tag does not match.
    Forged,
    /// A ciphertext is shorter than nonce and tag, which take so many bytes.
    Short(usize),
    /// The array is not as Arrow wants it.
    Malformed,
    /// A nonce of so many bytes, where so many are needed.
    Nonce(usize, usize),
    /// The nonce is null.
    NullNonce,
    /// No key has this number.
    Key(i64),
    /// The key number is null.
    NullKey,
    /// The additional data is null.
    NullAad,
    /// A ciphertext of another layout.
    Layout(&'static str),
    /// The value that was decrypted is not of the type asked for.
    Type(String),
    /// The operation was refused.
    Refused(String),
    /// The engine failed.
    Engine,
}

impl Reason {
    /// That of an operation which did not succeed.
    #[cold]
    pub(crate) fn of(op: &Op<'_>) -> Self {
        match op.status() {
            Status::AuthFailed => Self::Forged,
            Status::InvalidArgs => Self::Refused(
                op.error()
                    .as_ref()
                    .map_or_else(String::new, OpError::to_string),
            ),
            _ => Self::Engine,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forged => f.write_str(
                "authentication failed: another key, other additional data, or a value that was \
                 changed",
            ),
            Self::Short(least) => write!(f, "the ciphertext has less than {least} bytes"),
            Self::Malformed => f.write_str("the Arrow array's offsets point outside of its data"),
            Self::Nonce(given, allowed) => {
                write!(f, "a nonce of {given} bytes; allowed: {allowed}")
            }
            Self::NullNonce => f.write_str("the nonce is null"),
            Self::Key(number) => write!(f, "no key has the number {number}"),
            Self::NullKey => f.write_str("the key number is null"),
            Self::NullAad => f.write_str("the additional data is null"),
            Self::Layout(why) => f.write_str(why),
            Self::Type(why) | Self::Refused(why) => f.write_str(why),
            Self::Engine => f.write_str("the engine failed"),
        }
    }
}

/// The exception for the failed rows of a column, the first of which is given.
pub(crate) fn row_error(py: Python<'_>, row: usize, reason: &Reason, failed: usize) -> PyErr {
    let others = match failed {
        1 => String::new(),
        _ => format!(" ({failed} rows failed)"),
    };
    let reason = reason.to_string();
    let error = RowError::new_err(format!("row {row}: {reason}{others}"));
    let value = error.value(py);
    // Setting an attribute of an exception fails only without memory, and then the text says it all.
    let _ = value.setattr("row", row);
    let _ = value.setattr("reason", reason);
    let _ = value.setattr("failed", failed);
    error
}

/// The exception for a session that cannot be made.
pub(crate) fn session_error(error: &SessionError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
