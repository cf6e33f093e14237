//! The page of a process, through `/proc`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::Reader;
use super::error::FindError;
use crate::PAGE_NAME;

/// Looks through the descriptors of `pid`, and where the page's has been closed, as a daemon does
/// with all of them, through its mappings, which needs root.
pub(super) fn find(pid: u32) -> Result<Reader, FindError> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    // As the process itself sees its number: it may live in a container.
    let Some(inner) = inner_pid(&process, pid) else {
        return Err(FindError::NoSuchProcess(pid));
    };
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => FindError::NoSuchProcess(pid),
        _ => FindError::NotPermitted(pid),
    };
    let mut last = FindError::NoPage(pid);
    for entry in fs::read_dir(process.join("fd")).map_err(refused)? {
        let Ok(entry) = entry else { continue };
        let is_page = fs::read_link(entry.path()).is_ok_and(|target| is_page(&target));
        if !is_page {
            continue;
        }
        match File::open(entry.path()) {
            Ok(file) => match Reader::of(file) {
                // A forked child holds its parent's page, too.
                Ok(reader) if reader.pid == inner => return Ok(reader),
                Ok(_) => {}
                Err(error) => last = FindError::Page(pid, error),
            },
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                last = FindError::NotPermitted(pid);
            }
            // Closed meanwhile.
            Err(_) => {}
        }
    }
    mapped(&process, inner).ok_or(last)
}

fn is_page(target: &Path) -> bool {
    let target = target.to_string_lossy();
    target
        .strip_prefix("/memfd:")
        .is_some_and(|name| name.strip_suffix(" (deleted)").unwrap_or(name) == PAGE_NAME)
}

/// The page among the mappings of a process.
fn mapped(process: &Path, inner: u32) -> Option<Reader> {
    let maps = fs::read_to_string(process.join("maps")).ok()?;
    let lines = maps.lines().filter(|line| {
        let path = line.find('/').map(|at| Path::new(&line[at..]));
        path.is_some_and(is_page)
    });
    let ranges = lines.filter_map(|line| line.split(' ').next());
    let mut files =
        ranges.filter_map(|range| File::open(process.join("map_files").join(range)).ok());
    files.find_map(|file| Reader::of(file).ok().filter(|found| found.pid == inner))
}

/// The number that a process has in its own namespace; `None` if there is no such process.
fn inner_pid(process: &Path, pid: u32) -> Option<u32> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let inner = line.and_then(|numbers| numbers.split_whitespace().next_back()?.parse().ok());
    Some(inner.unwrap_or(pid))
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
            error.starts_with("process 8388608: there is none"),
            "{error}"
        );
    }
}
