//! The libraries of a program, and which OpenSSL is among them.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::elf::Elf;

/// What of OpenSSL the dynamic linker loads with a program.
#[derive(Debug, Default)]
pub(super) struct OpenSsl {
    /// Files of the name `libcrypto.so…`.
    pub(super) libcryptos: Vec<PathBuf>,
    /// Whether there is a libssl.
    pub(super) has_libssl: bool,
    /// Other libraries for TLS.
    pub(super) other_tls: Vec<String>,
}

/// Beginnings of the names of libraries that speak TLS by themselves.
const OTHER_TLS: [&str; 5] = [
    "libgnutls.so",
    "libssl3.so",
    "libmbedtls.so",
    "libwolfssl.so",
    "libs2n.so",
];

/// Looks through the libraries of `elf`, and their own libraries.
pub(super) fn openssl(elf: &Elf) -> OpenSsl {
    let folders = folders();
    let mut found = OpenSsl::default();
    let mut seen = HashSet::new();
    let mut queue: VecDeque<(String, Vec<PathBuf>)> = VecDeque::new();
    let push = |elf: &Elf, queue: &mut VecDeque<_>| {
        let needed = elf.needed.iter().cloned();
        queue.extend(needed.map(|name| (name, elf.search.clone())));
    };
    push(elf, &mut queue);
    while let Some((name, search)) = queue.pop_front() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let places = search.iter().chain(&folders);
        let mut places = places.map(|folder| folder.join(&name));
        let Some(path) = places.find(|path| path.is_file()) else {
            continue;
        };
        if name.starts_with("libcrypto.so") {
            found.libcryptos.push(path);
            continue;
        }
        found.has_libssl |= name.starts_with("libssl.so");
        if OTHER_TLS.iter().any(|other| name.starts_with(other)) {
            found.other_tls.push(name.clone());
        }
        if let Some(elf) = Elf::read(&path) {
            push(&elf, &mut queue);
        }
    }
    found
}

/// The major version in the name of a libcrypto; 1 for the names of older ones.
pub(super) fn major(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let version = name.strip_prefix("libcrypto.so.")?;
    version.split('.').next()?.parse().ok()
}

/// The folder of a libcrypto's configuration: built into the library as a string.
pub(super) fn directory(libcrypto: Option<&Path>) -> Option<PathBuf> {
    let path = match libcrypto {
        Some(path) => path.to_owned(),
        // Loaded later, as by Python's module `ssl`: then from the usual places.
        None => {
            let folders = folders();
            let mut places = folders.iter().map(|folder| folder.join("libcrypto.so.3"));
            places.find(|path| path.is_file())?
        }
    };
    directory_of(&fs::read(path).ok()?)
}

/// The same of a file's content.
pub(super) fn directory_of(bytes: &[u8]) -> Option<PathBuf> {
    const START: &[u8] = b"OPENSSLDIR: \"";
    let at = bytes
        .windows(START.len())
        .position(|window| window == START)?;
    let rest = &bytes[at + START.len()..];
    let end = rest.iter().position(|byte| *byte == b'"')?;
    Some(PathBuf::from(std::str::from_utf8(&rest[..end]).ok()?))
}

/// Where the dynamic linker looks (ld.so(8)), but for its cache, which is made of the same.
fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
        folders.extend(std::env::split_paths(&path));
    }
    configured(Path::new("/etc/ld.so.conf"), &mut folders, 0);
    let usual = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];
    folders.extend(usual.map(PathBuf::from));
    folders
}

fn configured(file: &Path, folders: &mut Vec<PathBuf>, depth: usize) {
    let Ok(text) = fs::read_to_string(file) else {
        return;
    };
    for line in text
        .lines()
        .map(|line| line.split('#').next().unwrap_or("").trim())
    {
        if let Some(pattern) = line.strip_prefix("include ") {
            // `include /etc/ld.so.conf.d/*.conf` is the only form in use.
            let pattern = Path::new(pattern.trim());
            let entries = pattern
                .parent()
                .and_then(|folder| fs::read_dir(folder).ok());
            let mut files: Vec<_> = entries.into_iter().flatten().flatten().collect();
            files.sort_by_key(fs::DirEntry::file_name);
            for file in files.iter().map(fs::DirEntry::path) {
                if depth < 4 && file.extension() == pattern.extension() {
                    configured(&file, folders, depth + 1);
                }
            }
        } else if line.starts_with('/') {
            folders.push(PathBuf::from(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_version() {
        let cases = [
            ("/lib/libcrypto.so.3", Some(3)),
            ("/lib/libcrypto.so.1.1", Some(1)),
            ("/lib/libcrypto.so.1.0.0", Some(1)),
            ("/lib/libcrypto.so", None),
        ];
        for (path, expected) in cases {
            assert_eq!(major(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn openssls_command_has_one_libcrypto_which_knows_its_folder() {
        let folders = std::env::var_os("PATH").expect("a path");
        let mut places = std::env::split_paths(&folders).map(|folder| folder.join("openssl"));
        let openssl = places
            .find(|path| path.is_file())
            .expect("OpenSSL's command");
        let found = super::openssl(&Elf::read(&openssl).expect("an ELF file"));
        assert!(found.has_libssl);
        let found = found.libcryptos;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(major(&found[0]) >= Some(3));
        let folder = directory(Some(&found[0])).expect("a folder");
        assert!(folder.is_absolute(), "{folder:?}");
    }
}
