//! Standard output and error, and files of results.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use crate::failure::Failure;
use crate::shown;

/// Writes text to standard output.
///
/// # Errors
/// [`Failure::Output`].
pub fn print(text: impl Display) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    let written = write!(output, "{text}").and_then(|()| output.flush());
    written.map_err(|error| Failure::Output {
        to: "standard output".to_owned(),
        error,
    })
}

/// A line of this command on standard error.
pub fn say(text: &str) {
    // There may be no reader.
    let _ = writeln!(io::stderr(), "lanelock: {text}");
}

/// Writes a file.
///
/// # Errors
/// [`Failure::Output`].
pub fn save(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::Output {
        to: shown::name(path),
        error,
    })
}
