//! What a program asks the dynamic linker for.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, StringTable};

/// The dynamic section of a file, as far as it matters here.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Elf {
    /// Whether it is loaded by the dynamic linker at all.
    pub is_dynamic: bool,
    /// Names of libraries.
    pub needed: Vec<String>,
    /// Folders that are searched first.
    pub search: Vec<PathBuf>,
}

impl Elf {
    /// Reads a file; `None` if it is no ELF file.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let data = fs::read(path).ok()?;
        Self::parse(&data, path.parent().unwrap_or(Path::new("/")))
    }

    /// Reads the bytes of a file in folder `origin`; `None` if they are no ELF file.
    pub(crate) fn parse(data: &[u8], origin: &Path) -> Option<Self> {
        match data.get(4) {
            Some(&elf::ELFCLASS64) => parse::<FileHeader64<Endianness>>(data, origin),
            Some(&elf::ELFCLASS32) => parse::<FileHeader32<Endianness>>(data, origin),
            _ => None,
        }
    }
}

fn parse<H: FileHeader<Endian = Endianness>>(data: &[u8], origin: &Path) -> Option<Elf> {
    let header = H::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    let dynamic = segments
        .iter()
        .find_map(|segment| segment.dynamic(endian, data).ok()?);
    let Some(entries) = dynamic else {
        return Some(Elf::default());
    };
    let value = |tag: i64| {
        let found = entries.iter().find(|entry| entry.tag(endian) == tag)?;
        Some(found.d_val(endian).into())
    };
    let strings =
        value(elf::DT_STRTAB)
            .zip(value(elf::DT_STRSZ))
            .and_then(|(address, size): (u64, u64)| {
                let found = segments
                    .iter()
                    .find_map(|segment| segment.data_range(endian, data, address, size).ok()?);
                Some(StringTable::new(found?, 0, size))
            });
    let text = |offset: u64| {
        let bytes = strings.as_ref()?.get(u32::try_from(offset).ok()?).ok()?;
        Some(bytes.to_vec())
    };
    let texts = |tags: &[i64]| {
        let entries = entries
            .iter()
            .filter(|entry| tags.contains(&entry.tag(endian)));
        let texts = entries.filter_map(|entry| text(entry.d_val(endian).into()));
        texts.collect::<Vec<Vec<u8>>>()
    };
    let needed = texts(&[elf::DT_NEEDED]);
    let search = texts(&[elf::DT_RPATH, elf::DT_RUNPATH]);
    let search = search
        .iter()
        .flat_map(|paths| paths.split(|byte| *byte == b':'));
    // A static executable that is placed anywhere has a dynamic section as well, and no linker.
    let has_linker = segments.iter().any(|s| s.p_type(endian) == elf::PT_INTERP);
    Some(Elf {
        is_dynamic: has_linker || !needed.is_empty(),
        needed: needed
            .into_iter()
            .map(|name| String::from_utf8_lossy(&name).into_owned())
            .collect(),
        search: search.map(|path| expand(path, origin)).collect(),
    })
}

fn expand(path: &[u8], origin: &Path) -> PathBuf {
    let text = OsString::from_vec(path.to_vec());
    match text.to_str() {
        Some(text) => {
            let origin = origin.to_string_lossy();
            let text = text.replace("${ORIGIN}", &origin);
            PathBuf::from(text.replace("$ORIGIN", &origin))
        }
        None => PathBuf::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_linked_dynamically() {
        let elf = Elf::read(&std::env::current_exe().expect("a path")).expect("an ELF file");
        assert!(elf.is_dynamic);
        assert!(elf.needed.iter().any(|name| name == "libc.so.6"), "{elf:?}");
    }

    #[test]
    fn text_is_no_elf_file() {
        assert_eq!(Elf::read(Path::new("/etc/passwd")), None);
    }

    #[test]
    fn the_origin_is_the_files_folder() {
        assert_eq!(
            expand(b"$ORIGIN/../lib", Path::new("/a/b")),
            PathBuf::from("/a/b/../lib")
        );
    }
}
