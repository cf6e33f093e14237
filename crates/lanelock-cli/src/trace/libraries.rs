//! Which files a program's probes go to, and whether return probes do harm there.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::process;
use super::requirements::find;
use crate::failure::Failure;

/// The files of a program that its probes go to.
#[derive(Clone, Debug)]
pub(super) struct Libraries {
    pub(super) ssl: PathBuf,
    /// The provider's module, if the program has it or will.
    pub(super) module: Option<PathBuf>,
    pub(super) crypto: PathBuf,
}

impl Libraries {
    /// Those that a process and its descendants have mapped.
    pub(super) fn mapped(root: u32) -> Result<Self, Failure> {
        let mut module = None;
        let mut libraries = None;
        for pid in process::tree(root) {
            let files = process::mapped_files(pid).unwrap_or_default();
            libraries = libraries.or_else(|| Some((ssl(pid, &files)?, crypto(pid, &files)?)));
            module = module.or_else(|| self::module(pid, &files));
        }
        let name = process::name(root).unwrap_or_default();
        let (ssl, crypto) = libraries.ok_or_else(|| {
            Failure::Failed(format!(
                "process {root} ({name}) has no libssl mapped, nor has a descendant: it makes no \
                 TLS connections, has OpenSSL linked in statically, or its libssl was replaced on \
                 disk since it started (then restart it)"
            ))
        })?;
        Ok(Self {
            ssl,
            module,
            crypto,
        })
    }

    /// Those that a command will map, as far as its executable tells: those it is linked with,
    /// else those that the system's programs are.
    pub(super) fn of_command(command: &OsStr, module: Option<&Path>) -> Result<Self, Failure> {
        let program = find(command)
            .ok_or_else(|| Failure::Usage(format!("{}: no such program", command.display())))?;
        let module = match module {
            Some(path) => Some(path.canonicalize().map_err(|error| {
                Failure::Usage(format!("--module {}: {error}", path.display()))
            })?),
            None => None,
        };
        let linked = output_of(Command::new("ldd").arg(&program));
        let system = output_of(Command::new("/sbin/ldconfig").arg("-p"));
        let library = |start: &str| {
            let mut files = paths(&linked).chain(paths(&system));
            files.find(|file| is_named(file, start)).ok_or_else(|| {
                Failure::Failed(format!(
                    "neither {} is linked with {start}, nor has the system one: apt-get install \
                     libssl3",
                    program.display()
                ))
            })
        };
        // As the kernel names what is mapped: one file that is probed under two names counts twice.
        let library = |start| {
            let file: PathBuf = library(start)?;
            Ok::<_, Failure>(file.canonicalize().unwrap_or(file))
        };
        Ok(Self {
            ssl: library("libssl.so.3")?,
            module,
            crypto: library("libcrypto.so.3")?,
        })
    }
}

/// The libssl of a process that runs, if it has one.
pub(super) fn ssl(pid: u32, files: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    of_process(pid, named(files, "libssl.so")?)
}

/// The libcrypto of a process that runs, if it has one.
fn crypto(pid: u32, files: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    of_process(pid, named(files, "libcrypto.so")?)
}

/// The provider's module in a process that runs, if it has it.
pub(super) fn module(pid: u32, files: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    of_process(pid, named(files, "lanelock.so")?)
}

/// Checks that nobody who uses this libcrypto may pause an operation between the call and the return
/// of one of its functions: return probes, which reach all of them, would make it crash.
///
/// # Errors
/// [`Failure::Failed`] naming a process that may, and why.
pub(super) fn check_nobody_pauses(libcrypto: &Path) -> Result<(), Failure> {
    let mut known = BTreeMap::new();
    for pid in process::tree(1) {
        let files = process::mapped_files(pid).unwrap_or_default();
        let own = crypto(pid, &files);
        if own.and_then(|own| identity(&own)) != identity(libcrypto) {
            continue;
        }
        let inside = files.iter().filter_map(|file| of_process(pid, file));
        let pauses = |file: &PathBuf| {
            *known
                .entry(file.clone())
                .or_insert_with_key(|file| may_pause(file))
        };
        if let Some(file) = inside.into_iter().find(pauses) {
            return Err(Failure::Failed(format!(
                "--crypto: process {pid} ({}) has {} mapped, which may pause operations; return \
                 probes in {} would make it crash; trace without --crypto, batches are timed as \
                 they are",
                process::name(pid).unwrap_or_default(),
                file.display(),
                libcrypto.display()
            )));
        }
    }
    Ok(())
}

/// Whether code in a file pauses jobs; the libraries themselves offer it and do not.
fn may_pause(file: &Path) -> bool {
    !is_named(file, "libcrypto.so")
        && !is_named(file, "libssl.so")
        && is_elf(file)
        && process::names_symbol(file, "ASYNC_pause_job")
}

fn named<'f>(files: &'f BTreeSet<PathBuf>, start: &str) -> Option<&'f Path> {
    files
        .iter()
        .map(PathBuf::as_path)
        .find(|file| is_named(file, start))
}

fn is_named(file: &Path, start: &str) -> bool {
    file.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with(start))
}

fn is_elf(file: &Path) -> bool {
    let mut magic = [0; 4];
    File::open(file).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok())
        && magic == *b"\x7fELF"
}

/// Where a file of a process is for us: a container has a file system of its own. Nothing if it is
/// not there any more.
fn of_process(pid: u32, file: &Path) -> Option<PathBuf> {
    let inside = Path::new("/proc").join(pid.to_string()).join("root");
    let inside = inside.join(file.strip_prefix("/").ok()?);
    let wanted = identity(&inside)?;
    Some(match identity(file) == Some(wanted) {
        true => file.to_path_buf(),
        false => inside,
    })
}

/// Device and inode: probes are in the file, whatever its name.
fn identity(file: &Path) -> Option<(u64, u64)> {
    file.metadata().ok().map(|m| (m.dev(), m.ino()))
}

/// What a command prints; nothing where it fails.
fn output_of(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout);
    String::from_utf8_lossy(&output.unwrap_or_default()).into_owned()
}

/// `name => path (…)` in each line, as `ldd` and `ldconfig -p` print libraries.
fn paths(text: &str) -> impl Iterator<Item = PathBuf> {
    text.lines().filter_map(|line| {
        let path = line.split_once(" => ")?.1;
        let path = path.split(" (").next()?.trim();
        path.starts_with('/').then(|| PathBuf::from(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_others_than_the_libraries_pause() {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, content, expected) in [
            ("qat.so", "\x7fELF\0ASYNC_pause_job\0", true),
            ("nginx", "\x7fELF\0SSL_read\0", false),
            ("haproxy", "\x7fELF\0SSL_get_all_async_fds\0", false),
            ("libcrypto.so.3", "\x7fELF\0ASYNC_pause_job\0", false),
            ("notes.txt", "about \0ASYNC_pause_job\0", false),
        ] {
            let file = directory.path().join(name);
            fs::write(&file, content).expect("written");
            assert_eq!(may_pause(&file), expected, "{name}");
        }
    }

    #[test]
    fn a_library_of_its_own_is_used_by_nobody_else() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(check_nobody_pauses(file.path()).is_ok());
    }

    #[test]
    fn a_commands_libraries_have_the_names_that_the_kernel_has_for_them() {
        let found = Libraries::of_command(OsStr::new("openssl"), None).expect("OpenSSL's command");
        for file in [found.ssl, found.crypto] {
            assert_eq!(file.canonicalize().expect("a file"), file);
        }
    }

    #[test]
    fn the_dynamic_linkers_lists_are_read() {
        let text = "\
\tlinux-vdso.so.1 (0x00007ffd)
\tlibssl.so.3 => /lib/x86_64-linux-gnu/libssl.so.3 (0x00007f)
\tlibx.so => not found
\tlibcrypto.so.3 (libc6,x86-64) => /opt/lib/libcrypto.so.3
";
        let found: Vec<_> = paths(text).collect();
        let expected = [
            "/lib/x86_64-linux-gnu/libssl.so.3",
            "/opt/lib/libcrypto.so.3",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
    }
}
