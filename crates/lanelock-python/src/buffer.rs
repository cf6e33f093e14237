//! Memory of output columns, aligned as Arrow wants it and used again.

use std::sync::Mutex;

use crate::arrow::{as_bytes, as_bytes_mut};

/// Most bytes that wait to be used again. New memory costs a page fault for every 4 KiB, which takes
/// longer than encrypting what fits.
const KEPT: usize = 48 << 20;

static FREE: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());

/// Bytes that begin at a multiple of eight. Their content is whatever the last user left.
pub(crate) struct Buffer {
    words: Vec<u64>,
    len: usize,
}

impl Buffer {
    pub(crate) fn new(len: usize) -> Self {
        let words = len.div_ceil(8);
        Self {
            words: reused(words).unwrap_or_else(|| vec![0; words]),
            len,
        }
    }

    pub(crate) fn zeroed(len: usize) -> Self {
        let mut buffer = Self::new(len);
        buffer.bytes_mut().fill(0);
        buffer
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &as_bytes(&self.words)[..self.len]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut as_bytes_mut(&mut self.words)[..self.len]
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
