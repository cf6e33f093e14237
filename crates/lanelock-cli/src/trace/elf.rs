//! What an ELF file of another process says, which may be hostile: a bounded part of it is read.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader};
use object::read::{ReadCache, ReadRef};

/// Bytes of the longest part of a file that is read: the symbol names of the largest libraries have
/// some 20 MiB.
const LONGEST: u64 = 64 << 20;

/// Whether a file is an ELF file.
///
/// # Errors
/// If it cannot be read.
pub(super) fn is_elf(file: &File) -> io::Result<bool> {
    let mut magic = [0; 4];
    match file.read_exact_at(&mut magic, 0) {
        Ok(()) => Ok(magic == elf::ELFMAG),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether an ELF file defines or imports a symbol by this name, as the dynamic linker sees it.
///
/// # Errors
/// What is wrong with the file.
pub(super) fn has_symbol(file: &File, name: &str) -> Result<bool, String> {
    let wanted = [b"\0", name.as_bytes(), b"\0"].concat();
    let names = part(file, Part::DynamicStrings)?;
    Ok(holds(&names, &wanted))
}

/// Whether an ELF file has a USDT probe of this provider and name.
///
/// # Errors
/// What is wrong with the file.
pub(super) fn has_probe(file: &File, provider: &str, name: &str) -> Result<bool, String> {
    let wanted = [provider.as_bytes(), b"\0", name.as_bytes(), b"\0"].concat();
    let notes = part(file, Part::Section(b".note.stapsdt"))?;
    Ok(holds(&notes, &wanted))
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[derive(Clone, Copy)]
enum Part {
    /// Names of what the dynamic linker binds.
    DynamicStrings,
    Section(&'static [u8]),
}

/// A part of a file; empty where the file has none.
fn part(file: &File, part: Part) -> Result<Vec<u8>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("not a valid ELF file: {error}");
    let mut class = [0];
    file.read_exact_at(&mut class, 4)
        .map_err(|error| failed(&error))?;
    let cache = ReadCache::new(file.try_clone().map_err(|error| failed(&error))?);
    let data = Bounded(&cache);
    let found = match class[0] {
        elf::ELFCLASS64 => read::<FileHeader64<Endianness>>(data, part),
        _ => read::<FileHeader32<Endianness>>(data, part),
    };
    found
        .map_err(|error| failed(&error))?
        .ok_or_else(|| failed(&"a part of it is missing"))
}

/// `None` where the file points to a part that is not there.
fn read<H: FileHeader<Endian = Endianness>>(
    data: Bounded<'_>,
    part: Part,
) -> object::read::Result<Option<Vec<u8>>> {
    let header = H::parse(data)?;
    let endian = header.endian()?;
    match part {
        Part::DynamicStrings => {
            let segments = header.program_headers(endian, data)?;
            for segment in segments {
                let Some(entries) = segment.dynamic(endian, data)? else {
                    continue;
                };
                let value = |tag| {
                    let entry = entries.iter().find(|entry| entry.tag(endian) == tag);
                    entry.map(|entry| entry.d_val(endian).into())
                };
                let Some((address, size)) = value(elf::DT_STRTAB).zip(value(elf::DT_STRSZ)) else {
                    continue;
                };
                let names = segments.iter().find_map(|segment| {
                    let start: u64 = segment.p_vaddr(endian).into();
                    let inside = address.checked_sub(start)?;
                    let is_there = segment.p_type(endian) == elf::PT_LOAD
                        && inside < segment.p_filesz(endian).into();
                    let offset: u64 = segment.p_offset(endian).into();
                    data.read_bytes_at(offset.checked_add(inside).filter(|_| is_there)?, size)
                        .ok()
                });
                return Ok(names.map(<[u8]>::to_vec));
            }
            Ok(Some(Vec::new()))
        }
        Part::Section(name) => {
            let sections = header.sections(endian, data)?;
            match sections.section_by_name(endian, name) {
                Some((_, section)) => Ok(Some(section.data(endian, data)?.to_vec())),
                None => Ok(Some(Vec::new())),
            }
        }
    }
}

/// A file that is read part by part, none of which is longer than [`LONGEST`].
#[derive(Clone, Copy)]
struct Bounded<'c>(&'c ReadCache<File>);

impl<'c> ReadRef<'c> for Bounded<'c> {
    fn len(self) -> Result<u64, ()> {
        self.0.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'c [u8], ()> {
        match size {
            0..=LONGEST => self.0.read_bytes_at(offset, size),
            _ => Err(()),
        }
    }

    fn read_bytes_at_until(self, range: std::ops::Range<u64>, end: u8) -> Result<&'c [u8], ()> {
        self.0.read_bytes_at_until(range, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_read() {
        let own = File::open("/proc/self/exe").expect("a file");
        assert!(is_elf(&own).expect("readable"));
        assert_eq!(has_symbol(&own, "no_such_symbol_is_in_here_"), Ok(false));
        // Of the C library's, which it imports, a part of a name is none.
        assert_eq!(has_symbol(&own, "__libc_start_main"), Ok(true));
        assert_eq!(has_symbol(&own, "_libc_start_main"), Ok(false));
        // Telemetry is linked in with whatever opens a device, and has its probes in it.
        std::hint::black_box(lanelock::open_public_keys as fn() -> _);
        assert_eq!(has_probe(&own, "lanelock", "batch_start"), Ok(true));
        assert_eq!(has_probe(&own, "lanelock", "batch"), Ok(false));
    }

    /// A file of 2^40 bytes, nearly all of them a hole, whose names are said to be the whole of it.
    #[test]
    fn what_a_file_says_does_not_decide_how_much_is_read() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(1 << 40).expect("a hole");
        let own = File::open("/proc/self/exe").expect("a file");
        let mut start = vec![0; 1 << 16];
        own.read_exact_at(&mut start, 0).expect("longer");
        file.write_all_at(&start, 0).expect("written");
        // The number of program headers, and the entries' size, stay; where they are does not: they
        // are zeros, and so is the table of sections.
        let table = (1_u64 << 39).to_le_bytes();
        file.write_all_at(&table, 0x20).expect("program headers");
        file.write_all_at(&table, 0x28).expect("section headers");
        assert!(is_elf(&file).expect("readable"));
        assert_eq!(has_symbol(&file, "SSL_new"), Ok(false));
        assert!(has_probe(&file, "lanelock", "batch_start").is_ok_and(|has| !has));

        let data = ReadCache::new(file);
        assert!(Bounded(&data).read_bytes_at(0, LONGEST).is_ok());
        assert_eq!(Bounded(&data).read_bytes_at(0, LONGEST + 1), Err(()));
    }
}
