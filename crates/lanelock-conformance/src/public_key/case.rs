//! One test: an operation and what should become of it.

use std::fmt;

use lanelock_core::Status;
use lanelock_public_key::{KeyOp, KeyParts, KeySession, KeyTransform};

use super::Ready;

pub(super) struct Case {
    pub(super) id: String,
    pub(super) comment: String,
    /// Cases with the same number have the same transform.
    pub(super) key: usize,
    /// How many cases of the same key come before it.
    pub(super) rank: usize,
    pub(super) transform: KeyTransform,
    pub(super) input: Vec<u8>,
    pub(super) signature: Vec<u8>,
    pub(super) expected: Expected,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expected {
    /// Success, and this output.
    Output(Vec<u8>),
    /// Success; a signature has no output.
    Accepted,
    /// A status other than success.
    Refused,
    /// A success that says nothing: any output but this one.
    Not(Vec<u8>),
    /// Either; an output must be this one.
    Either(Vec<u8>),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(output) => write!(f, "{}", hex::encode(output)),
            Self::Accepted => f.write_str("success"),
            Self::Refused => f.write_str("a refusal"),
            Self::Not(output) => write!(f, "anything but {}", hex::encode(output)),
            Self::Either(output) => write!(f, "a refusal or {}", hex::encode(output)),
        }
    }
}

impl Case {
    pub(super) fn room(&self, ready: &Ready) -> Vec<u8> {
        vec![0xee; ready.session.output_len(self.input.len())]
    }

    pub(super) fn op<'a>(&'a self, session: &'a KeySession, output: &'a mut [u8]) -> KeyOp<'a> {
        let parts = KeyParts {
            input: &self.input,
            signature: &self.signature,
            output,
            second: &mut [],
        };
        KeyOp::of(session, parts)
    }

    /// What is wrong with the result, if anything.
    pub(super) fn judge(&self, op: &KeyOp<'_>) -> Result<(), String> {
        let success = op.status() == Status::Success;
        let right = match &self.expected {
            Expected::Output(output) => success && op.result() == output,
            Expected::Accepted => success,
            Expected::Refused => {
                matches!(op.status(), Status::AuthFailed | Status::InvalidArgs)
                    && op.error().is_some()
            }
            Expected::Not(output) => !success || op.result() != output,
            Expected::Either(output) => !success || op.result() == output,
        };
        if right {
            return Ok(());
        }
        let status = op.status().name();
        let why = op
            .error()
            .map_or(String::new(), |error| format!(": {error}"));
        Err(format!("{status}{why}; expected {}", self.expected))
    }
}
