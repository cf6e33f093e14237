//! What the command reads of programs: ELF files, `/proc/PID/maps` and `stat`, `ldd`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use lanelock_cli::readers::{Linked, libraries, linked};
use lanelock_telemetry::reader::process::{Mapping, Status};
use lanelock_testkit::Bytes;

/// The first byte chooses a reader. The rest is either what it reads, which gives no more than it
/// holds, or choices that make up a file, which is read back as it was made.
///
/// # Panics
/// If not.
pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    match first % 4 {
        0 => any_elf(rest),
        1 => made_elf(&mut Bytes::new(rest)),
        2 => any_text(rest),
        _ => made_text(&mut Bytes::new(rest)),
    }
}

/// Longest name that a file may have (PATH_MAX): a file that names one long string often must not
/// cost its length each time.
const LONGEST: usize = 4096;

fn any_elf(file: &[u8]) {
    let Some(found) = linked(file, Path::new("/origin")) else {
        return;
    };
    // An entry of the dynamic section has 8 or 16 bytes.
    assert!(
        found.needed.len() <= file.len() / 8,
        "{}",
        found.needed.len()
    );
    let longest = found.needed.iter().map(String::len).max();
    // A byte that is not UTF-8 becomes three.
    assert!(longest.is_none_or(|len| len <= 3 * LONGEST), "{longest:?}");
}

fn any_text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for path in libraries(&text) {
        let path = path.to_str().expect("a part of the text");
        assert!(path.starts_with('/') && text.contains(path), "{path:?}");
    }
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if let Some(mapping) = Mapping::parse(line) {
            let path = mapping.path.as_os_str().as_bytes();
            let end = line.strip_suffix(b"\n").unwrap_or(line);
            assert!(path.starts_with(b"/") && end.ends_with(path), "{mapping:?}");
        }
    }
    if let Some(status) = Status::parse(bytes) {
        let said = [status.state.to_string(), status.parent.to_string()];
        assert!(said.iter().all(|part| text.contains(part)), "{status:?}");
    }
}

const NAMES: &[&str] = &[
    "libssl.so.3",
    "libcrypto.so.3",
    "libcrypto.so.1.1",
    "lanelock.so",
    "a name (deleted)",
    "x",
];

fn made_text(choices: &mut Bytes<'_>) {
    let (mut maps, mut ldd) = (String::new(), String::new());
    let (mut mapped, mut linked) = (BTreeSet::new(), Vec::new());
    for _ in 0..choices.up_to(6) {
        let path = format!("/usr/{}", choices.pick(NAMES));
        let _ = match choices.up_to(2) {
            0 => writeln!(maps, "7f00-7f01 rw-p 00000000 00:00 0 "),
            1 => writeln!(maps, "7f00-7f01 rw-p 00000000 00:00 0          [heap]"),
            _ => {
                mapped.insert(PathBuf::from(&path));
                writeln!(maps, "7f00-7f01 r-xp 00001000 fe:01 42      {path}")
            }
        };
        let name = choices.pick(NAMES);
        let _ = match choices.up_to(2) {
            0 => writeln!(ldd, "\t{name} => not found"),
            1 => writeln!(ldd, "\tlinux-vdso.so.1 (0x00007ffd)"),
            _ => {
                let path = format!("/lib/{}", NAMES[choices.up_to(3)]);
                linked.push(PathBuf::from(&path));
                writeln!(ldd, "\t{name} => {path} (0x00007f)")
            }
        };
    }
    let read = maps.lines().map(str::as_bytes).filter_map(Mapping::parse);
    let read: BTreeSet<_> = read.map(|mapping| mapping.path).collect();
    assert_eq!(read, mapped, "{maps}");
    assert_eq!(libraries(&ldd), linked, "{ldd}");
    let state = *choices.pick(&['R', 'S', 'T', 'Z']);
    let parent = choices.up_to(60_000);
    let name = choices.pick(&["sh", "a b", "a) R 1", "(", ")) ) T 9"]);
    let stat = format!(
        "12 ({name}) {state} {parent} 12 12 0 -1 4194560{}",
        " 0".repeat(14)
    );
    let parent = u32::try_from(parent).expect("a small number");
    let status = Status::parse(stat.as_bytes()).expect("well formed");
    assert_eq!((status.state, status.parent), (state, parent), "{stat}");
}

fn made_elf(choices: &mut Bytes<'_>) {
    let elf = Elf {
        wide: choices.flag(),
        big_endian: choices.flag(),
        has_linker: choices.flag(),
        needed: names(choices),
        search: names(choices),
        // Addresses are not offsets.
        address: 0x1000 * choices.up_to(20) as u64,
    };
    let expected = Linked {
        is_dynamic: elf.has_linker || !elf.needed.is_empty(),
        needed: elf.needed.iter().map(|name| (*name).to_owned()).collect(),
        search: match elf.search.is_empty() {
            true => Vec::new(),
            false => elf
                .search
                .iter()
                .map(|name| Path::new("/origin").join(name))
                .collect(),
        },
    };
    assert_eq!(
        linked(&elf.write(), Path::new("/origin")),
        Some(expected),
        "{elf:?}"
    );
}

fn names(choices: &mut Bytes<'_>) -> Vec<&'static str> {
    (0..choices.up_to(3))
        .map(|_| *choices.pick(NAMES))
        .collect()
}

/// A file with a dynamic section.
#[derive(Debug)]
struct Elf {
    wide: bool,
    big_endian: bool,
    has_linker: bool,
    needed: Vec<&'static str>,
    /// Below the file's own folder.
    search: Vec<&'static str>,
    /// Where offset 0 is mapped.
    address: u64,
}

/// Numbers of the ELF specification.
const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const PT_INTERP: u64 = 3;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_STRSZ: u64 = 10;
const DT_RUNPATH: u64 = 29;

impl Elf {
    fn write(&self) -> Vec<u8> {
        let (header, segment) = if self.wide { (64, 56) } else { (52, 32) };
        let mut strings = vec![0];
        let mut dynamic = Vec::new();
        let mut string = |text: &str, dynamic: &mut Vec<(u64, u64)>, tag| {
            dynamic.push((tag, strings.len() as u64));
            strings.extend_from_slice(text.as_bytes());
            strings.push(0);
        };
        for name in &self.needed {
            string(name, &mut dynamic, DT_NEEDED);
        }
        if !self.search.is_empty() {
            let paths: Vec<_> = self
                .search
                .iter()
                .map(|name| format!("$ORIGIN/{name}"))
                .collect();
            string(&paths.join(":"), &mut dynamic, DT_RUNPATH);
        }
        let segments = 2 + u64::from(self.has_linker);
        let table = header + segments * segment;
        let at = table + strings.len() as u64;
        dynamic.push((DT_STRTAB, self.address + table));
        dynamic.push((DT_STRSZ, strings.len() as u64));
        dynamic.push((0, 0));
        let dynamic_len = dynamic.len() as u64 * if self.wide { 16 } else { 8 };

        let mut out = vec![0x7f, b'E', b'L', b'F'];
        out.extend([1 + u8::from(self.wide), 1 + u8::from(self.big_endian), 1]);
        out.resize(16, 0);
        // Type (shared), machine, version, entry, tables, flags, sizes and counts.
        self.put(&mut out, 2, &[3, if self.wide { 62 } else { 3 }]);
        self.put(&mut out, 4, &[1]);
        self.words(&mut out, &[0, header, 0]);
        self.put(&mut out, 4, &[0]);
        self.put(&mut out, 2, &[header, segment, segments, 0, 0, 0]);
        self.segment(&mut out, PT_LOAD, 0, at + dynamic_len);
        self.segment(&mut out, PT_DYNAMIC, at, dynamic_len);
        if self.has_linker {
            self.segment(&mut out, PT_INTERP, table, 1);
        }
        out.extend_from_slice(&strings);
        for (tag, value) in dynamic {
            self.words(&mut out, &[tag, value]);
        }
        out
    }

    fn segment(&self, out: &mut Vec<u8>, kind: u64, at: u64, len: u64) {
        let address = self.address + at;
        self.put(out, 4, &[kind]);
        if self.wide {
            self.put(out, 4, &[4]);
            self.words(out, &[at, address, address, len, len, 1]);
        } else {
            self.words(out, &[at, address, address, len, len, 4, 1]);
        }
    }

    /// Numbers as wide as an address.
    fn words(&self, out: &mut Vec<u8>, numbers: &[u64]) {
        self.put(out, if self.wide { 8 } else { 4 }, numbers);
    }

    fn put(&self, out: &mut Vec<u8>, width: usize, numbers: &[u64]) {
        for number in numbers {
            match self.big_endian {
                true => out.extend_from_slice(&number.to_be_bytes()[8 - width..]),
                false => out.extend_from_slice(&number.to_le_bytes()[..width]),
            }
        }
    }
}
