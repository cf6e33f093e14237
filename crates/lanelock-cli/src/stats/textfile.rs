//! A file that others read at any time: they see the old one or the new one, whole.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::Builder;

/// Replaces a file, for everybody to read. Where that fails the old one stays.
///
/// # Errors
/// Those of the file system.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // node_exporter reads what ends in `.prom`, and as another user.
    let mut file = Builder::new()
        .prefix(".lanelock-")
        .suffix(".new")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // The rename itself, too, is to last.
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_replaced_or_stays() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("lanelock.prom");
        for text in ["first\n", "second\n"] {
            replace(&path, text).expect("a place to write");
            assert_eq!(fs::read_to_string(&path).expect("written"), text);
        }
        let entries = fs::read_dir(&folder).expect("readable").count();
        assert_eq!(entries, 1, "nothing else is left");

        // A directory of this name cannot be replaced.
        let other = folder.path().join("taken");
        fs::create_dir_all(other.join("inside")).expect("writable");
        assert!(replace(&other, "third\n").is_err());
        assert!(replace(&folder.path().join("none/lanelock.prom"), "third\n").is_err());
        assert_eq!(fs::read_to_string(&path).expect("still there"), "second\n");
        assert_eq!(fs::read_dir(&folder).expect("readable").count(), 2);
    }
}
