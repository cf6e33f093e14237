//! How a command ends when it does not succeed.

use std::fmt;
use std::io;
use std::io::Write;
use std::process::ExitCode;

/// The reason, which decides the exit code.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something that does not exist or does not fit: exit code 2. The
    /// message names the option, its value and the remedy.
    Usage(String),
    /// A check found a wrong result, or a measurement saw an operation fail: exit code 1.
    Failed(String),
    /// Output could not be written: exit code 1, or 0 if the reader has gone, as in `… | head`.
    Output {
        /// What was written to.
        to: String,
        /// What went wrong.
        error: io::Error,
    },
    /// Help or a version was asked for and is the whole output: exit code 0.
    Help(String),
}

impl Failure {
    /// For `map_err` on writes to standard output.
    pub fn stdout(error: io::Error) -> Self {
        Self::Output {
            to: "standard output".to_owned(),
            error,
        }
    }

    /// The same failure, saying in which part of the work it happened.
    pub fn within(self, part: &str) -> Self {
        match self {
            Self::Usage(text) => Self::Usage(text),
            Self::Failed(text) => Self::Failed(format!("{part}: {text}")),
            other => other,
        }
    }

    /// Says why, and returns the exit code.
    pub fn report(&self) -> ExitCode {
        let silent = match self {
            Self::Help(text) => {
                let _reader_gone = io::stdout().write_all(text.as_bytes());
                true
            }
            Self::Output { error, .. } => error.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        };
        if silent {
            return ExitCode::SUCCESS;
        }
        let _nowhere_to_say_it = writeln!(io::stderr(), "lanelock: {self}");
        match self {
            Self::Usage(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Failed(text) | Self::Help(text) => f.write_str(text),
            Self::Output { to, error } => write!(f, "cannot write {to}: {error}"),
        }
    }
}
