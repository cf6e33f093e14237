//! Where HAProxy is.

use std::path::PathBuf;

/// HAProxy's program; says so if it is not installed, as a test without it shows nothing. Debian's
/// packages put it where only root's PATH leads.
pub fn haproxy() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    let mut programs = folders.map(|folder| folder.join("haproxy"));
    let found = programs.find(|program| program.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: HAProxy is not installed (apt-get install haproxy)");
    }
    found
}
