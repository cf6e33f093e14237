//! A self-contained page with charts.

use std::path::Path;

use crate::failure::Failure;
use crate::row::Report;

/// Writes the page to `path`.
///
/// # Errors
/// [`Failure::Output`] if it cannot be written.
pub fn write(_report: &Report, path: &Path) -> Result<(), Failure> {
    Err(Failure::Failed(format!(
        "--html {}: not built yet",
        path.display()
    )))
}
