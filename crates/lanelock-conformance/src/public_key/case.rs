//! One test: an operation and what should become of it.

use std::fmt;

use lanelock_core::Status;

use super::message::{KeyMessage, Observed};

pub(super) struct Case {
    pub(super) id: String,
    pub(super) comment: String,
    /// Cases with the same number have the same transform.
    pub(super) key: usize,
    /// How many cases of the same key come before it.
    pub(super) rank: usize,
    pub(super) message: KeyMessage,
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
    /// What is wrong with the result, if anything.
    pub(super) fn judge(&self, found: &Observed) -> Result<(), String> {
        let Observed {
            status,
            output,
            why,
            ..
        } = found;
        let success = *status == Status::Success;
        let right = match &self.expected {
            Expected::Output(expected) => success && output == expected,
            Expected::Accepted => success,
            Expected::Refused => {
                matches!(status, Status::AuthFailed | Status::InvalidArgs) && why.is_some()
            }
            Expected::Not(other) => !success || output != other,
            Expected::Either(expected) => !success || output == expected,
        };
        if right {
            return Ok(());
        }
        let why = why.as_ref().map_or(String::new(), |why| format!(": {why}"));
        Err(format!(
            "{}{why}; expected {}",
            status.name(),
            self.expected
        ))
    }
}
