//! What `/proc` says about another process, which may be hostile: names and paths are bytes of its
//! choice, and a file is opened only if that cannot wait or do anything.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::OFlags;

/// A process by its number, whether it is there or not.
#[derive(Clone, Debug)]
pub struct Process {
    folder: PathBuf,
}

/// What the kernel tells about a process in one line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Status {
    /// `R` running, `S` sleeping, `T` stopped, `Z` ended, and others.
    pub state: char,
    /// Number of its parent.
    pub parent: u32,
    /// Time from the start of the system to its own, in ticks of the clock.
    started: u64,
}

/// A part of a process's memory that shows a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mapping {
    /// The file's path as its process sees it, with ` (deleted)` at its end if it has no name now.
    pub path: PathBuf,
    /// The file's inode.
    pub inode: u64,
    /// Number of its device.
    pub device: (u32, u32),
    range: String,
}

/// Bytes of a file of `/proc` that is read as a whole: the longest has a word for each interrupt.
const SMALL: u64 = 1 << 20;
/// Bytes of a line of `maps`: addresses and numbers, and a path of up to a page, with each byte that
/// may be escaped taking four.
const LINE: u64 = 128 + 4 * 4096;

impl Process {
    /// The process of this number.
    #[must_use]
    pub fn new(pid: u32) -> Self {
        Self {
            folder: PathBuf::from(format!("/proc/{pid}")),
        }
    }

    /// Numbers of all processes.
    #[must_use]
    pub fn all() -> Vec<u32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        numbers
    }

    /// The name that the process has given itself, at most 15 bytes of any value; `None` if there is
    /// no such process.
    #[must_use]
    pub fn name(&self) -> Option<Vec<u8>> {
        let mut name = self.small("comm").ok()?;
        // The kernel ends it with a line break; one before that belongs to the name.
        name.pop();
        Some(name)
    }

    /// Its state; `None` if there is no such process.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        Status::parse(&self.small("stat").ok()?)
    }

    /// When it started.
    #[must_use]
    pub fn started(&self) -> Option<SystemTime> {
        let ticks = self.status()?.started;
        let system = small(Path::new("/proc/stat")).ok()?;
        let booted = field(&system, b"btime ")?;
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        let after = Duration::from_secs(booted).checked_add(Duration::from_millis(
            ticks.saturating_mul(1000) / per_second,
        ))?;
        SystemTime::UNIX_EPOCH.checked_add(after)
    }

    /// The number that it has in its own namespace; `None` if there is no such process.
    pub(super) fn inner_pid(&self) -> Option<u32> {
        let status = self.small("status").ok()?;
        let mut lines = status.split(|byte| *byte == b'\n');
        let numbers = lines.find_map(|line| line.strip_prefix(b"NSpid:"))?;
        let numbers = std::str::from_utf8(numbers).ok()?;
        numbers.split_whitespace().next_back()?.parse().ok()
    }

    /// The files that it has mapped, one after the other: a process may have any number.
    ///
    /// # Errors
    /// If there is no such process, or it is not ours to look at.
    pub fn mappings(&self) -> io::Result<impl Iterator<Item = Mapping> + use<>> {
        let mut lines = BufReader::new(File::open(self.folder.join("maps"))?);
        let mut line = Vec::new();
        Ok(std::iter::from_fn(move || {
            loop {
                line.clear();
                match (&mut lines).take(LINE).read_until(b'\n', &mut line) {
                    Ok(1..) => {}
                    _ => return None,
                }
                if let Some(mapping) = Mapping::parse(&line) {
                    return Some(mapping);
                }
            }
        }))
    }

    /// Opens a file that it has mapped: that very file, whatever its name leads to by now. Needs
    /// root.
    ///
    /// # Errors
    /// As [`open_regular`].
    pub fn open(&self, mapping: &Mapping) -> io::Result<File> {
        open_regular(&self.folder.join("map_files").join(&mapping.range))
    }

    /// The entries of its table of descriptors.
    pub(super) fn descriptors(&self) -> io::Result<impl Iterator<Item = PathBuf> + use<>> {
        let entries = fs::read_dir(self.folder.join("fd"))?;
        Ok(entries.flatten().map(|entry| entry.path()))
    }

    fn small(&self, name: &str) -> io::Result<Vec<u8>> {
        small(&self.folder.join(name))
    }
}

impl Status {
    /// Reads the line of `/proc/PID/stat`: `pid (name) state parent …`, the 22nd of which is the start; a name may hold anything.
    #[must_use]
    pub fn parse(stat: &[u8]) -> Option<Self> {
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
        let mut words = rest.split_ascii_whitespace();
        Some(Self {
            state: words.next()?.chars().next()?,
            parent: words.next()?.parse().ok()?,
            started: words.nth(17)?.parse().ok()?,
        })
    }
}

impl Mapping {
    /// Reads a line of `/proc/PID/maps`: `start-end permissions offset device inode     path`; `None` where there is no file. A line
    /// break in a path is written as `\012`.
    #[must_use]
    pub fn parse(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let at = line.iter().position(|byte| *byte == b'/')?;
        let (numbers, path) = line.split_at(at);
        let mut words = std::str::from_utf8(numbers).ok()?.split_ascii_whitespace();
        let range = words.next()?.to_owned();
        let (major, minor) = words.nth(2)?.split_once(':')?;
        Some(Self {
            path: std::ffi::OsString::from_vec(path.to_vec()).into(),
            inode: words.next()?.parse().ok()?,
            device: (
                u32::from_str_radix(major, 16).ok()?,
                u32::from_str_radix(minor, 16).ok()?,
            ),
            range,
        })
    }
}

/// Opens a regular file to read it. Neither a FIFO, which waits for a writer, nor a device, which
/// may do anything, is opened by this, even if it takes the file's place meanwhile.
///
/// # Errors
/// What the kernel says, or [`io::ErrorKind::InvalidInput`] if it is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = |flags: OFlags| flags.bits().cast_signed();
    let place = File::options()
        .read(true)
        .custom_flags(flags(OFlags::PATH))
        .open(path)?;
    if !place.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    // The link leads to what was looked at, not to its name.
    File::options()
        .read(true)
        .custom_flags(flags(OFlags::NONBLOCK | OFlags::NOCTTY))
        .open(format!("/proc/self/fd/{}", place.as_raw_fd()))
}

fn small(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(SMALL).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The number after `key` at the start of a line.
fn field(text: &[u8], key: &[u8]) -> Option<u64> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let value = lines.find_map(|line| line.strip_prefix(key))?;
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn mappings_are_read_whatever_their_names() {
        let line = b"7f03-7f04 r-xp 00000000 fe:01 43                         /opt/my app/caf\xe9.so (deleted)\n";
        let mapping = Mapping::parse(line).expect("a file");
        assert_eq!((mapping.device, mapping.inode), ((0xfe, 1), 43));
        assert_eq!(mapping.range, "7f03-7f04");
        let path = mapping.path.as_os_str().as_bytes();
        assert_eq!(path, b"/opt/my app/caf\xe9.so (deleted)");
        for line in [
            &b"7f05-7f06 rw-p 00000000 00:00 0                          [heap]\n"[..],
            b"7f07-7f08 rw-p 00000000 00:00 0 \n",
            b"",
        ] {
            assert_eq!(Mapping::parse(line), None, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn a_name_hides_no_state() {
        let rest = " S 34 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 7777 10";
        for name in [&b"a) b) R"[..], b"caf\xe9", b"x\n1 (y) Z 1", b""] {
            let stat = [b"12 (", name, b")", rest.as_bytes()].concat();
            let status = Status::parse(&stat).expect("well formed");
            let expected = ('S', 34, 7777);
            assert_eq!((status.state, status.parent, status.started), expected);
        }
    }

    #[test]
    fn this_process_is_there() {
        let me = std::process::id();
        assert!(Process::all().contains(&me));
        let process = Process::new(me);
        assert!(process.name().is_some_and(|name| !name.is_empty()));
        assert_ne!(process.status().expect("it runs").state, 'Z');
        assert!(process.started().expect("it has started") < SystemTime::now());
        assert!(process.mappings().expect("its own").count() > 3);
        // Numbers end at 2^22 on Linux.
        assert!(Process::new(1 << 23).name().is_none());
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = std::env::temp_dir().join(format!("lanelock-fifo-{}", std::process::id()));
        let made = rustix::fs::mkfifoat(rustix::fs::CWD, &folder, rustix::fs::Mode::RUSR);
        made.expect("a FIFO");
        let opened = open_regular(&folder);
        fs::remove_file(&folder).expect("its own");
        let kind = opened.expect_err("a FIFO without a writer").kind();
        assert_eq!(kind, io::ErrorKind::InvalidInput);
        assert!(open_regular(Path::new("/dev/zero")).is_err());
        let mut first = [0; 4];
        let mut own = open_regular(Path::new("/proc/self/exe")).expect("a regular file");
        own.read_exact(&mut first).expect("it has content");
        assert_eq!(&first, b"\x7fELF");
    }
}
