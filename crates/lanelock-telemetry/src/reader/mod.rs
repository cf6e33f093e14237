//! Reads the page of another process, which may be mid-way through writing, or malicious: every
//! field is checked, and nothing it says decides how much memory is read.

mod error;
mod filter;
mod find;
mod listener;
mod parse;
pub mod process;
mod stats;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::SealFlags;

pub use error::{FindError, PageError};
pub use listener::Listener;
pub use stats::{Owner, QueueStats, Snapshot, Stats};

use crate::layout::{BLOCK_WORDS, BLOCKS, HEADER_WORDS, header};

/// The page of a process. It stays readable after the process has ended.
///
/// ```
/// # use lanelock_telemetry as telemetry;
/// use telemetry::reader::{FindError, Reader};
///
/// // A process that has run no public-key operation has no page.
/// let page = Reader::open(std::process::id());
/// assert!(matches!(page, Err(FindError::NoPage(_))));
/// ```
#[derive(Debug)]
pub struct Reader {
    file: File,
    pid: u32,
}

/// Times that a snapshot is taken anew because a queue ended meanwhile.
const TRIES: usize = 8;

impl Reader {
    /// Finds the page of process `pid`: one's own, or as root anybody's.
    ///
    /// # Errors
    /// Why there is none, with the remedy.
    pub fn open(pid: u32) -> Result<Self, FindError> {
        find::find(pid)
    }

    /// The page behind a descriptor.
    ///
    /// # Errors
    /// [`PageError`] if it is none.
    pub fn of(file: File) -> Result<Self, PageError> {
        // Only memory files have seals: reading one waits for no disk and no file system in user
        // space, and what cannot shrink does not end early.
        let seals = rustix::fs::fcntl_get_seals(&file).unwrap_or(SealFlags::empty());
        if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) {
            return Err(PageError::NotSealed);
        }
        let header = words(&file, 0, HEADER_WORDS)?;
        let pid = parse::pid(&header)?;
        Ok(Self { file, pid })
    }

    /// Number of the process that writes the page, as that process knows it.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// What the page says now. Counters of one moment may differ by the operations in flight.
    ///
    /// # Errors
    /// [`PageError`] names the first field that is not as a page has it.
    pub fn read(&self) -> Result<Snapshot, PageError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let header = words(&self.file, 0, HEADER_WORDS)?;
            let snapshot = parse::page(&header, |index| {
                words(&self.file, HEADER_WORDS + index * BLOCK_WORDS, BLOCK_WORDS)
            })?;
            let after = words(&self.file, header::MOVES, 1)?;
            let still =
                header[header::MOVES].is_multiple_of(2) && after[0] == header[header::MOVES];
            // One that was taken while a queue ended may count it twice, or not at all.
            if still || tries == TRIES {
                return Ok(snapshot);
            }
        }
    }
}

/// Words of the file from word `at` on. The kernel copies aligned memory in words or larger units.
fn words(file: &File, at: usize, len: usize) -> Result<Vec<u64>, PageError> {
    let mut bytes = vec![0; len * 8];
    let offset = (at * 8) as u64;
    file.read_exact_at(&mut bytes, offset)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => PageError::Short { at },
            _ => PageError::Unreadable(error),
        })?;
    let words = bytes.chunks_exact(8);
    Ok(words
        .map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
        .collect())
}

const _: () = assert!(BLOCKS > 0);
