//! What this command reads and has not written: users' configurations, programs, what the dynamic
//! linker prints. Each takes text or bytes, so that it can be given any.

use std::path::{Path, PathBuf};

pub use crate::run::Elf as Linked;
use crate::{run, trace};

/// The configuration that `lanelock run` writes for a program that would read the file `user`.
///
/// # Errors
/// Why the two cannot be put together, as `lanelock run` says it.
pub fn configuration(module: &Path, user: &Path) -> Result<String, String> {
    run::configuration(module, user).map_err(|failure| failure.to_string())
}

/// Reads an ELF file that is in folder `origin`; `None` if it is none.
#[must_use]
pub fn linked(file: &[u8], origin: &Path) -> Option<Linked> {
    Linked::parse(file, origin)
}

/// The paths in what `ldd` or `ldconfig -p` has printed.
#[must_use]
pub fn libraries(text: &str) -> Vec<PathBuf> {
    trace::paths(text).collect()
}
