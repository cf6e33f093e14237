//! The page of a process, through `/proc`.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::Reader;
use super::error::FindError;
use super::process::{Process, open_regular};
use crate::PAGE_NAME;

/// Looks through the descriptors of `pid`, and where the page's has been closed, as a daemon does
/// with all of them, through its mappings, which needs root.
pub(super) fn find(pid: u32) -> Result<Reader, FindError> {
    let process = Process::new(pid);
    if process.name().is_none() {
        return Err(FindError::NoSuchProcess(pid));
    }
    // As the process itself sees its number: it may live in a container.
    let inner = process.inner_pid().unwrap_or(pid);
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => FindError::NoSuchProcess(pid),
        _ => FindError::NotPermitted(pid),
    };
    let mut last = FindError::NoPage(pid);
    for entry in process.descriptors().map_err(refused)? {
        let is_page = fs::read_link(&entry).is_ok_and(|target| is_page(&target));
        if !is_page {
            continue;
        }
        match open_regular(&entry) {
            Ok(file) => match Reader::of(file) {
                // A forked child holds its parent's page, too.
                Ok(reader) if reader.pid == inner => return Ok(reader),
                Ok(_) => {}
                Err(error) => last = FindError::Page(pid, error),
            },
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                last = FindError::NotPermitted(pid);
            }
            // Closed meanwhile, or something else of this name.
            Err(_) => {}
        }
    }
    mapped(&process, inner).ok_or(last)
}

fn is_page(target: &Path) -> bool {
    let name = target.as_os_str().as_bytes().strip_prefix(b"/memfd:");
    name.is_some_and(|name| {
        name.strip_suffix(b" (deleted)").unwrap_or(name) == PAGE_NAME.as_bytes()
    })
}

/// The page among the mappings of a process.
fn mapped(process: &Process, inner: u32) -> Option<Reader> {
    let mappings = process.mappings().ok()?;
    let mut files = mappings
        .filter(|mapping| is_page(&mapping.path))
        .filter_map(|mapping| process.open(&mapping).ok());
    files.find_map(|file| Reader::of(file).ok().filter(|found| found.pid == inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_memory_file_of_this_name_is_a_page() {
        assert!(is_page(Path::new("/memfd:lanelock-stats (deleted)")));
        assert!(!is_page(Path::new("/memfd:lanelock-stats2 (deleted)")));
        assert!(!is_page(Path::new("/tmp/lanelock-stats")));
    }

    #[test]
    fn a_process_that_is_not_there_is_named() {
        // Numbers end at 2^22 on Linux.
        let error = find(1 << 23).expect_err("no such number").to_string();
        assert!(
            error.starts_with("process 8388608: no such process"),
            "{error}"
        );
    }
}
