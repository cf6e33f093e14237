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
    /// The program that was run has said what there is to say: its own exit code.
    Exit(u8),
    /// Help is the whole output: exit code 0 if it was asked for, 2 if a command is missing.
    Help(clap::Error),
}

impl Failure {
    /// For `map_err` on what fails for a reason of its own.
    pub fn of(error: impl fmt::Display) -> Self {
        Self::Failed(error.to_string())
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
        let said = match self {
            Self::Output { error, .. } if error.kind() == io::ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            Self::Exit(code) => return ExitCode::from(*code),
            Self::Help(help) => help.print(),
            _ => writeln!(io::stderr(), "lanelock: {self}"),
        };
        // Without a reader there is nobody to tell.
        let _unheard = said;
        match self {
            Self::Help(help) if !help.use_stderr() => ExitCode::SUCCESS,
            Self::Usage(_) | Self::Help(_) => ExitCode::from(2),
            Self::Failed(_) | Self::Output { .. } | Self::Exit(_) => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Failed(text) => f.write_str(text),
            Self::Help(help) => help.fmt(f),
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Output { to, error } => write!(f, "cannot write {to}: {error}"),
        }
    }
}
