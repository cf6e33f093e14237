//! Which files a program's probes go to, and whether return probes do harm there.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use lanelock::telemetry::reader::process::Process;

use super::library::{Identity, Library};
use super::{elf, process};
use crate::failure::Failure;
use crate::programs::find;
use crate::shown;

/// The files of a program that its probes go to.
#[derive(Clone, Debug)]
pub(super) struct Libraries {
    pub(super) ssl: Library,
    /// The provider's module, if the program has it or will.
    pub(super) module: Option<Library>,
    pub(super) crypto: Library,
}

/// Those of them that one process has mapped.
#[derive(Debug, Default)]
pub(super) struct Mapped {
    pub(super) ssl: Option<Library>,
    pub(super) module: Option<Library>,
    crypto: Option<Library>,
}

impl Mapped {
    /// Those of process `pid`; none if it has ended.
    pub(super) fn of(pid: u32) -> Self {
        let process = Process::new(pid);
        let mut mapped = Self::default();
        for mapping in process.mappings().into_iter().flatten() {
            for (start, library) in [
                ("libssl.so", &mut mapped.ssl),
                ("libcrypto.so", &mut mapped.crypto),
                ("lanelock.so", &mut mapped.module),
            ] {
                if library.is_none() && is_named(&mapping.path, start) {
                    *library = Library::mapped(&process, &mapping).ok();
                }
            }
        }
        mapped
    }
}

impl Libraries {
    /// Those that a process and its descendants have mapped.
    pub(super) fn mapped(root: u32) -> Result<Self, Failure> {
        let mut module = None;
        let mut libraries = None;
        for pid in process::tree(root) {
            let mapped = Mapped::of(pid);
            libraries = libraries.or_else(|| mapped.ssl.zip(mapped.crypto));
            module = module.or(mapped.module);
        }
        let name = process::name(root).unwrap_or_default();
        let (ssl, crypto) = libraries.ok_or_else(|| {
            Failure::Failed(format!(
                "process {root} ({name}) has no libssl mapped, and neither has a descendant: it \
                 makes no TLS connections, or OpenSSL is linked in statically"
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
            .ok_or_else(|| Failure::Usage(format!("{}: no such program", shown::name(command))))?;
        let module = match module {
            Some(path) => Some(Library::named(path).map_err(|error| {
                Failure::Usage(format!("--module {}: {error}", shown::name(path)))
            })?),
            None => None,
        };
        let linked = output_of(Command::new("ldd").arg(&program));
        let system = output_of(Command::new("/sbin/ldconfig").arg("-p"));
        let library = |start: &str| {
            let mut files = paths(&linked).chain(paths(&system));
            let file = files.find(|file| is_named(file, start)).ok_or_else(|| {
                Failure::Failed(format!(
                    "neither {} is linked with {start}, nor has the system one: apt-get install \
                     libssl3",
                    shown::name(&program)
                ))
            })?;
            // As the kernel names what is mapped.
            let file = file.canonicalize().unwrap_or(file);
            Library::named(&file)
                .map_err(|error| Failure::Failed(format!("{}: {error}", shown::name(&file))))
        };
        Ok(Self {
            ssl: library("libssl.so.3")?,
            module,
            crypto: library("libcrypto.so.3")?,
        })
    }
}

/// Checks that nobody who uses this libcrypto may pause an operation between the call and the return
/// of one of its functions: return probes, which reach all of them, would make it crash.
///
/// # Errors
/// [`Failure::Failed`] naming a process that may, and why.
pub(super) fn check_nobody_pauses(libcrypto: &Library) -> Result<(), Failure> {
    let mut known = BTreeMap::new();
    for pid in Process::all() {
        let process = Process::new(pid);
        if !uses(&process, libcrypto) {
            continue;
        }
        let Some((file, why)) = pausing(&process, &mut known) else {
            continue;
        };
        return Err(Failure::Failed(format!(
            "--crypto: process {pid} ({}) has {file} mapped, {why}; return probes in {} would \
             crash it; trace without --crypto: batches are timed anyway",
            process::name(pid).unwrap_or_default(),
            libcrypto.name(),
        )));
    }
    Ok(())
}

/// Whether a process has mapped this very file, under whatever name.
fn uses(process: &Process, library: &Library) -> bool {
    let mappings = process.mappings().into_iter().flatten();
    mappings
        .filter(|mapping| mapping.inode == library.identity().1)
        .filter_map(|mapping| Library::mapped(process, &mapping).ok())
        .any(|mapped| mapped.identity() == library.identity())
}

/// A file of a process with code that may pause a job, and why it may. Verdicts are kept in
/// `known`.
fn pausing(
    process: &Process,
    known: &mut BTreeMap<Identity, Option<&'static str>>,
) -> Option<(String, &'static str)> {
    let mut seen = BTreeSet::new();
    for mapping in process.mappings().into_iter().flatten() {
        // The libraries themselves offer it and do not.
        let is_library = ["libcrypto.so", "libssl.so"]
            .iter()
            .any(|start| is_named(&mapping.path, start));
        if is_library || !seen.insert((mapping.device, mapping.inode)) {
            continue;
        }
        // Devices hold no code; what has been unmapped meanwhile, none that is used.
        let Ok(file) = Library::mapped(process, &mapping) else {
            continue;
        };
        let verdict = known
            .entry(file.identity())
            .or_insert_with(|| may_pause(&file));
        if let Some(why) = *verdict {
            return Some((file.name().to_owned(), why));
        }
    }
    None
}

/// Why code in a file may pause jobs, if it may.
fn may_pause(file: &Library) -> Option<&'static str> {
    const UNKNOWN: &str = "which cannot be read and so may pause operations";
    match elf::is_elf(file.file()) {
        Ok(false) => None,
        Ok(true) => match elf::has_symbol(file.file(), "ASYNC_pause_job") {
            Ok(false) => None,
            Ok(true) => Some("which may pause operations"),
            Err(_) => Some(UNKNOWN),
        },
        Err(_) => Some(UNKNOWN),
    }
}

fn is_named(file: &Path, start: &str) -> bool {
    file.file_name()
        .is_some_and(|name| name.as_bytes().starts_with(start.as_bytes()))
}

/// What a command prints; nothing where it fails.
fn output_of(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout);
    String::from_utf8_lossy(&output.unwrap_or_default()).into_owned()
}

/// `name => path (…)` in each line, as `ldd` and `ldconfig -p` print libraries.
pub(crate) fn paths(text: &str) -> impl Iterator<Item = PathBuf> {
    text.lines().filter_map(|line| {
        let path = line.split_once(" => ")?.1;
        let path = path.split(" (").next()?.trim();
        path.starts_with('/').then(|| PathBuf::from(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_imports_the_pause_may_pause() {
        let own = Library::named(&std::env::current_exe().expect("a path")).expect("a file");
        assert_eq!(may_pause(&own), None);
        let openssl = find("openssl").expect("OpenSSL's command");
        let libraries = Libraries::of_command(openssl.as_os_str(), None).expect("its libraries");
        // libssl pauses nothing by itself, but it imports the function.
        let imports = elf::has_symbol(libraries.ssl.file(), "ASYNC_start_job");
        assert_eq!(imports, Ok(true));
        assert_eq!(
            may_pause(&libraries.crypto),
            Some("which may pause operations")
        );
    }

    #[test]
    fn what_is_no_sound_elf_file_is_not_trusted() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let verdict = |content: &[u8]| {
            std::fs::write(file.path(), content).expect("written");
            may_pause(&Library::named(file.path()).expect("a regular file"))
        };
        assert_eq!(verdict(b""), None);
        assert_eq!(verdict(b"about \0ASYNC_pause_job\0"), None);
        let broken = verdict(b"\x7fELF\x02 and no more").expect("not known");
        assert!(broken.contains("cannot be read"), "{broken}");
    }

    #[test]
    fn a_library_of_its_own_is_used_by_nobody_else() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let library = Library::named(file.path()).expect("a regular file");
        assert!(check_nobody_pauses(&library).is_ok());
    }

    #[test]
    fn a_commands_libraries_have_the_names_that_the_kernel_has_for_them() {
        let found = Libraries::of_command(OsStr::new("openssl"), None).expect("OpenSSL's command");
        for library in [found.ssl, found.crypto] {
            let file = PathBuf::from(library.name());
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
