//! Memory of output columns, aligned as Arrow wants it and used again.

#![allow(unsafe_code)] // words as bytes, and advice on memory

use std::slice;
use std::sync::Mutex;

use rustix::mm::{Advice, madvise};

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

/// Most bytes that wait to be used again. New memory costs a page fault for every 4 KiB, which takes
/// longer than encrypting what fits.
const KEPT: usize = 48 << 20;

static FREE: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());

/// Bytes that begin at a multiple of eight. Their content is whatever the last user left.
pub(crate) struct Buffer {
    words: Vec<u64>,
    /// Invariant: at most eight times the words.
    len: usize,
}

impl Buffer {
    pub(crate) fn new(len: usize) -> Self {
        let words = len.div_ceil(8);
        Self {
            words: reused(words).unwrap_or_else(|| fresh(words)),
            len,
        }
    }

    pub(crate) fn zeroed(len: usize) -> Self {
        let mut buffer = Self::new(len);
        buffer.bytes_mut().fill(0);
        buffer
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the same memory, at least as long; bytes need no alignment.
        unsafe { slice::from_raw_parts(self.words.as_ptr().cast(), self.len) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the same memory, at least as long, borrowed exclusively; any bytes are words.
        unsafe { slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.len) }
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let words = std::mem::take(&mut self.words);
        // Never waits: not for another thread, and not in a child of a fork that interrupted one.
        let Ok(mut free) = FREE.try_lock() else {
            return;
        };
        let kept: usize = free.iter().map(|words| 8 * words.len()).sum();
        if words.len() >= 512 && kept + 8 * words.len() <= KEPT {
            free.push(words);
        }
    }
}

/// Memory that no one has touched, in huge pages where the system has them: a column of gigabytes is
/// otherwise a million page faults.
fn fresh(words: usize) -> Vec<u64> {
    let memory = vec![0; words];
    let start = memory.as_ptr().cast::<u8>();
    let skipped = start.align_offset(HUGE);
    let whole = (8 * words).saturating_sub(skipped) / HUGE * HUGE;
    if whole > 0 {
        // SAFETY: the range lies within the memory; the advice changes how pages come, not what they
        // hold. A kernel without huge pages refuses, and all is as before.
        let _ = unsafe {
            madvise(
                start.wrapping_add(skipped).cast_mut().cast(),
                whole,
                Advice::LinuxHugepage,
            )
        };
    }
    memory
}

/// The smallest that is large enough and not twice as large.
fn reused(words: usize) -> Option<Vec<u64>> {
    let mut free = FREE.try_lock().ok()?;
    let fits = free
        .iter()
        .enumerate()
        .filter(|(_, free)| free.len() >= words && free.len() <= 2 * words);
    let (best, _) = fits.min_by_key(|(_, free)| free.len())?;
    Some(free.swap_remove(best))
}
