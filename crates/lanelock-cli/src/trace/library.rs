//! A file that probes go to.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use lanelock::telemetry::reader::process::{Mapping, Process, open_regular};

use crate::shown;

/// Device and inode: probes are in the file, whatever its name.
pub(super) type Identity = (u64, u64);

/// A file that is held open, so that nothing depends on what its name leads to later.
#[derive(Clone, Debug)]
pub(super) struct Library {
    file: Arc<File>,
    identity: Identity,
    name: String,
}

impl Library {
    /// The file of this name.
    ///
    /// # Errors
    /// If it cannot be opened or is not a regular file.
    pub(super) fn named(path: &Path) -> io::Result<Self> {
        Self::of(open_regular(path)?, path)
    }

    /// The file that a process has mapped, even where its name has gone or belongs to another.
    ///
    /// # Errors
    /// If the process has ended or unmapped it, or the file is not a regular one.
    pub(super) fn mapped(process: &Process, mapping: &Mapping) -> io::Result<Self> {
        Self::of(process.open(mapping)?, &mapping.path)
    }

    fn of(file: File, name: &Path) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            identity: (metadata.dev(), metadata.ino()),
            file: Arc::new(file),
            name: shown::name(name),
        })
    }

    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Its path as its process sees it, as it may be shown.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The path for bpftrace, which needs nothing but this process to live. bpftrace replaces a path
    /// by the name that it leads to, and opens that; paths below a process's root it leaves alone.
    pub(super) fn probed(&self) -> String {
        let (pid, fd) = (std::process::id(), self.file.as_raw_fd());
        format!("/proc/{pid}/root/proc/{pid}/fd/{fd}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_probed_whatever_becomes_of_its_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("libssl\u{1b}.so.3");
        fs::write(&path, "first").expect("written");
        let library = Library::named(&path).expect("a regular file");
        fs::remove_file(&path).expect("its own");
        fs::write(&path, "second").expect("written");
        assert_eq!(fs::read(library.probed()).expect("held open"), b"first");
        assert!(library.name().ends_with("/libssl\\u{1b}.so.3"));
    }
}
