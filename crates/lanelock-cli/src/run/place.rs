//! Where the configuration is kept: a file that is named after its content.
//!
//! A program may read its configuration again whenever it or a child of it executes anew, as HAProxy
//! does to reload, so the file outlives the command that wrote it. It is the same file for the same
//! module, options and configuration, and need never be removed.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Keeps `text` where its user alone can write and everybody can read, as a server may start
/// workers as another user.
///
/// # Errors
/// [`Failure::Usage`] if no folder can be written to, with each and its error.
pub(super) fn keep(text: &str) -> Result<PathBuf, Failure> {
    let mut refusals = Vec::new();
    for folder in folders() {
        match keep_in(&folder, text) {
            Ok(path) => return Ok(path),
            Err(error) => refusals.push(format!("{}: {error}", folder.display())),
        }
    }
    Err(Failure::Usage(format!(
        "cannot write the program's configuration: {}; make one of these folders writable, or \
         save the output of `lanelock run --show-config` to a file and set OPENSSL_CONF to it",
        refusals.join("; ")
    )))
}

/// Folders to try, best first. Root trusts no environment variable: who owns a folder above could
/// put another file there.
fn folders() -> Vec<PathBuf> {
    let user = rustix::process::geteuid();
    let shared = PathBuf::from(format!("/dev/shm/lanelock-{}", user.as_raw()));
    if user.is_root() {
        return vec!["/run/lanelock".into(), shared];
    }
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    let cache = cache.filter(|path| path.is_absolute());
    let own = cache.map(|path| path.join("lanelock"));
    own.into_iter().chain([shared]).collect()
}

fn keep_in(folder: &Path, text: &str) -> io::Result<PathBuf> {
    own(folder)?;
    let digest = openssl::sha::sha256(text.as_bytes());
    let name: String = digest[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let path = folder.join(name + ".cnf");
    if holds(&path, text) {
        return Ok(path);
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file()
        .set_permissions(Permissions::from_mode(0o644))?;
    file.persist(&path)?;
    Ok(path)
}

/// Makes the folder if it is not there; refuses one that another user could have filled.
fn own(folder: &Path) -> io::Result<()> {
    let made = DirBuilder::new().mode(0o755).create(folder);
    match made {
        // Whatever the umask.
        Ok(()) => return fs::set_permissions(folder, Permissions::from_mode(0o755)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let found = fs::symlink_metadata(folder)?;
    let refused = |why| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    if !found.is_dir() {
        return refused("it is not a folder");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refused("it belongs to another user");
    }
    if found.mode() & 0o022 != 0 {
        return refused("others may write to it");
    }
    Ok(())
}

/// Whether this file, which is in a folder of the user's own, is what would be written.
fn holds(path: &Path, text: &str) -> bool {
    let is_right = |file: fs::Metadata| file.is_file() && file.mode() & 0o777 == 0o644;
    fs::symlink_metadata(path).is_ok_and(is_right)
        && fs::read(path).is_ok_and(|found| found == text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_is_one_file_which_all_may_read() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("lanelock");
        let path = keep_in(&folder, "a").expect("kept");
        assert_eq!(keep_in(&folder, "a").expect("kept"), path);
        assert_ne!(keep_in(&folder, "b").expect("kept"), path);
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 2);
        let mode = |path: &Path| fs::metadata(path).expect("it is there").mode() & 0o777;
        assert_eq!((mode(&folder), mode(&path)), (0o755, 0o644));
    }

    #[test]
    fn what_stands_there_instead_is_replaced() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = keep_in(parent.path(), "a").expect("kept");
        fs::write(&path, "another").expect("written");
        assert_eq!(keep_in(parent.path(), "a").expect("kept"), path);
        fs::remove_file(&path).expect("removed");
        let elsewhere = parent.path().join("elsewhere");
        fs::write(&elsewhere, "a").expect("written");
        std::os::unix::fs::symlink(&elsewhere, &path).expect("a link");
        keep_in(parent.path(), "a").expect("kept");
        assert!(fs::symlink_metadata(&path).expect("it is there").is_file());
    }

    #[test]
    fn a_folder_that_others_may_fill_is_refused() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("open");
        fs::create_dir(&folder).expect("made");
        fs::set_permissions(&folder, Permissions::from_mode(0o1777)).expect("opened");
        let error = keep_in(&folder, "a").expect_err("refused");
        assert_eq!(error.to_string(), "others may write to it");
        let link = parent.path().join("link");
        std::os::unix::fs::symlink(parent.path(), &link).expect("a link");
        let error = keep_in(&link, "a").expect_err("refused");
        assert_eq!(error.to_string(), "it is not a folder");
    }
}
