//! The program that is to run, and whether it can run under a provider.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::When;
use super::elf::Elf;
use super::library::{self, OpenSsl};
use crate::failure::Failure;

/// A program with a dynamic linker, and the libcrypto that is loaded with it.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// What the kernel executes: the same, or the interpreter of a script.
    pub(super) binary: PathBuf,
    /// `None` if none is loaded at the start: a plugin may load one later.
    pub(super) libcrypto: Option<PathBuf>,
    /// Whether libssl is loaded at the start.
    pub(super) has_libssl: bool,
    /// Whether it is known to load libssl as a plugin's library.
    pub(super) loads_libssl: bool,
    /// Libraries for TLS that are not OpenSSL's.
    pub(super) other_tls: Vec<String>,
    /// Whether it gets privileges by its start: see [`PRIVILEGED`].
    pub(super) is_privileged: bool,
}

/// What a privileged program means.
pub(super) const PRIVILEGED: &str = "the program has a setuid or setgid bit or file capabilities: the dynamic linker and OpenSSL \
     then ignore the environment, so neither LD_PRELOAD nor OPENSSL_CONF would load the module. To \
     use lanelock, load the provider in the system's own openssl.cnf";

/// Servers whose plugins bring libssl.
const LOADS_LIBSSL: [&str; 1] = ["lighttpd"];

/// Scripts that are run by scripts stop here, as in the kernel.
const MOST_SCRIPTS: usize = 4;

impl Program {
    /// Finds a command as a shell does and looks at what it is made of.
    ///
    /// # Errors
    /// [`Failure::Usage`] says why it cannot run under the provider, and the remedy.
    pub(super) fn find(command: &OsStr) -> Result<Self, Failure> {
        let path = on_path(command)?;
        let binary = binary(&path, 0)?;
        let OpenSsl {
            libcryptos,
            has_libssl,
            other_tls,
        } = openssl(&binary)?;
        let name = binary.file_name().and_then(OsStr::to_str);
        Ok(Self {
            path,
            libcrypto: libcryptos.into_iter().next(),
            has_libssl,
            loads_libssl: name.is_some_and(|name| LOADS_LIBSSL.contains(&name)),
            other_tls,
            is_privileged: is_privileged(&binary),
            binary,
        })
    }
}

impl Program {
    /// Whether a libcrypto was linked into the program: each has its folder as a string.
    pub(super) fn contains_openssl(&self) -> bool {
        let found = |file: Vec<u8>| library::directory_of(&file).is_some();
        fs::read(&self.binary).is_ok_and(found)
    }

    /// Whether the module is to stand before the C library's and libssl's functions.
    pub(super) fn is_preloaded(&self, event_loop: Option<When>) -> bool {
        self.has_libssl
            || self.loads_libssl && event_loop != Some(When::Off)
            || event_loop == Some(When::On)
    }
}

fn on_path(command: &OsStr) -> Result<PathBuf, Failure> {
    if command.as_bytes().contains(&b'/') {
        let path = PathBuf::from(command);
        return match fs::metadata(&path) {
            Ok(file) if file.is_file() && is_executable(&file) => Ok(path),
            Ok(_) => Err(refused(&path, "it is not executable; see chmod(1)")),
            Err(error) => Err(refused(&path, &error.to_string())),
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&folders).map(|folder| folder.join(command));
    let found = places
        .find(|path| fs::metadata(path).is_ok_and(|file| file.is_file() && is_executable(&file)));
    found.ok_or_else(|| refused(Path::new(command), "there is no such command on your PATH"))
}

fn is_executable(file: &fs::Metadata) -> bool {
    file.permissions().mode() & 0o111 != 0
}

/// What the kernel executes: the file itself, or what runs it as a script.
fn binary(path: &Path, depth: usize) -> Result<PathBuf, Failure> {
    match interpreter(path) {
        Some(interpreter) if depth < MOST_SCRIPTS => binary(&on_path(&interpreter)?, depth + 1),
        _ => Ok(path.to_owned()),
    }
}

/// Whether the kernel will tell the program that it has privileges of its file (`AT_SECURE` of
/// getauxval(3)).
fn is_privileged(path: &Path) -> bool {
    const SET_USER: u32 = 0o4000;
    const SET_GROUP: u32 = 0o2010;
    let Ok(file) = fs::metadata(path) else {
        return false;
    };
    if rustix::thread::no_new_privs().unwrap_or(false) {
        return false;
    }
    let user = rustix::process::getuid();
    let has = |bits: u32| file.mode() & bits == bits;
    let capabilities = rustix::fs::getxattr(path, "security.capability", &mut [0_u8; 64]);
    has(SET_USER) && file.uid() != user.as_raw()
        || has(SET_GROUP) && file.gid() != rustix::process::getgid().as_raw()
        || !user.is_root() && capabilities.is_ok()
}

fn openssl(path: &Path) -> Result<OpenSsl, Failure> {
    let Some(elf) = Elf::read(path) else {
        // What the kernel makes of it will be said by the kernel.
        return Ok(OpenSsl::default());
    };
    if !elf.is_dynamic {
        return Err(refused(
            path,
            "it is statically linked: it contains its own copy of OpenSSL, if any, and cannot load \
             a provider; use a build that is linked with the system's libcrypto.so.3",
        ));
    }
    let found = library::openssl(&elf);
    let old = found
        .libcryptos
        .iter()
        .find(|path| library::major(path).is_some_and(|major| major < 3));
    if let Some(old) = old {
        return Err(refused(
            path,
            &format!(
                "it is linked with {}: OpenSSL before 3.0 has no providers; use a build that is \
                 linked with libcrypto.so.3",
                old.display()
            ),
        ));
    }
    Ok(found)
}

/// What runs a script: the program after `#!`, or after `#!/usr/bin/env`.
fn interpreter(path: &Path) -> Option<OsString> {
    use std::io::Read;
    let mut start = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(256).read_to_end(&mut start).ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let mut words = words.map(OsStr::from_bytes);
    let program = words.next()?;
    let is_env = Path::new(program).file_name() == Some(OsStr::new("env"));
    // Options and assignments of env(1) come before the program.
    let is_option =
        |word: &&OsStr| word.as_bytes().starts_with(b"-") || word.as_bytes().contains(&b'=');
    match is_env {
        true => words.find(|word| !is_option(word)).map(OsStr::to_owned),
        false => Some(program.to_owned()),
    }
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::Usage(format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_what_runs_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("script");
        let cases = [
            ("#!/bin/sh\nexit\n", Some("/bin/sh")),
            ("#! /usr/bin/env python3 -u\n", Some("python3")),
            ("#!/usr/bin/env -S A=b python3\n", Some("python3")),
            ("exit\n", None),
        ];
        for (text, expected) in cases {
            fs::write(&path, text).expect("a file");
            assert_eq!(
                interpreter(&path).as_deref(),
                expected.map(OsStr::new),
                "{text}"
            );
        }
    }
}
