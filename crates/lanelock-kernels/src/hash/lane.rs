//! One message on its way through a lane: runs of whole blocks, then padding.

#![allow(unsafe_code)] // walks the parts of a message by pointer

use super::Algorithm;
use super::message::Message;

/// Room for the blocks that are not read in place: two of the largest block.
pub(super) const SCRATCH: usize = 256;

/// Where a lane is in its message.
///
/// Invariant: `part` is valid for reading `len` bytes, `scratch` for writing two blocks.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    part: *const u8,
    len: usize,
    /// Bytes hashed so far, with those that came before this message.
    total: u64,
    scratch: *mut u8,
    padded: bool,
}

/// A run of blocks that are contiguous in memory.
pub(super) struct Run {
    pub(super) at: *const u8,
    pub(super) blocks: usize,
}

impl Lane {
    /// A message that follows `before` bytes of whole blocks.
    ///
    /// # Safety
    /// `scratch` is valid for reads and writes of [`SCRATCH`] bytes or two blocks, if these are
    /// less, until the last run was compressed; no other lane uses it.
    #[inline]
    pub(super) unsafe fn new(before: u64, scratch: *mut u8) -> Self {
        Self {
            part: scratch,
            len: 0,
            total: before,
            scratch,
            padded: false,
        }
    }

    /// The next run, of one block at least; `None` when the padding was returned before.
    ///
    /// The run is valid for reading until the next call, as [`Message`] promises.
    #[inline]
    pub(super) fn next_run<A: Algorithm, M: Message>(&mut self, message: &mut M) -> Option<Run> {
        if self.padded {
            return None;
        }
        if self.len == 0 {
            match message.next_part() {
                Some(part) => self.take(part),
                None => return Some(self.pad::<A>(0)),
            }
        }
        if self.len >= A::BLOCK {
            let blocks = self.len / A::BLOCK;
            let at = self.part;
            self.skip(blocks * A::BLOCK);
            return Some(Run { at, blocks });
        }
        Some(self.gather::<A, M>(message))
    }

    /// One block from several parts, or the last of the message with its padding.
    #[inline]
    fn gather<A: Algorithm, M: Message>(&mut self, message: &mut M) -> Run {
        let mut filled = 0;
        loop {
            let count = self.len.min(A::BLOCK - filled);
            // SAFETY: `count` ≤ `len` readable bytes; `filled + count` ≤ one block of scratch.
            unsafe { copy_short(self.part, self.scratch.add(filled), count) };
            self.skip(count);
            filled += count;
            if filled == A::BLOCK {
                return Run {
                    at: self.scratch,
                    blocks: 1,
                };
            }
            match message.next_part() {
                Some(part) => self.take(part),
                None => return self.pad::<A>(filled),
            }
        }
    }

    /// Pads the `filled` bytes in the scratch: 0x80, zeros, the length in bits.
    #[inline]
    fn pad<A: Algorithm>(&mut self, filled: usize) -> Run {
        let length_field = A::BLOCK / 8;
        let blocks = if filled + 1 + length_field > A::BLOCK {
            2
        } else {
            1
        };
        let end = blocks * A::BLOCK;
        // SAFETY: `filled` < one block, so every write ends at `end` ≤ two blocks of scratch.
        // Zeros go to the whole rest of `end`: at most a block and what `filled` leaves.
        unsafe {
            zero(self.scratch.add(filled), end - filled);
            self.scratch.add(filled).write(0x80);
            let bits = (u128::from(self.total) << 3).to_be_bytes();
            let field = &bits[16 - length_field..];
            let to = self.scratch.add(end - length_field);
            to.copy_from_nonoverlapping(field.as_ptr(), length_field);
        }
        self.padded = true;
        Run {
            at: self.scratch,
            blocks,
        }
    }

    /// The scratch it was made with.
    #[inline]
    pub(super) fn scratch(&self) -> *mut u8 {
        self.scratch
    }

    #[inline]
    fn take(&mut self, part: *const [u8]) {
        self.part = part.cast();
        self.len = part.len();
        self.total += part.len() as u64;
    }

    #[inline]
    fn skip(&mut self, count: usize) {
        self.part = self.part.wrapping_add(count);
        self.len -= count;
    }
}

/// Copies at most 128 bytes by a few overlapping moves instead of a call.
///
/// # Safety
/// `from` is readable and `to` writable for `count` ≤ 128 bytes; they do not overlap.
#[inline]
unsafe fn copy_short(from: *const u8, to: *mut u8, count: usize) {
    macro_rules! two {
        ($size:literal) => {
            // SAFETY: $size ≤ `count` ≤ 2 · $size: the first and the last $size bytes.
            unsafe {
                let first = from.cast::<[u8; $size]>().read();
                let last = from.add(count - $size).cast::<[u8; $size]>().read();
                to.cast::<[u8; $size]>().write(first);
                to.add(count - $size).cast::<[u8; $size]>().write(last);
            }
        };
    }
    match count {
        0 => {}
        1 => {
            // SAFETY: one byte.
            unsafe { to.write(from.read()) }
        }
        2..=3 => two!(2),
        4..=7 => two!(4),
        8..=15 => two!(8),
        16..=31 => two!(16),
        32..=63 => two!(32),
        _ => two!(64),
    }
}

/// Writes 1 to 256 zeros.
///
/// # Safety
/// `to` is writable for `count` bytes.
#[inline]
unsafe fn zero(to: *mut u8, count: usize) {
    macro_rules! two {
        ($size:literal) => {
            // SAFETY: $size ≤ `count` ≤ 2 · $size: the first and the last $size bytes.
            unsafe {
                to.cast::<[u8; $size]>().write([0; $size]);
                to.add(count - $size)
                    .cast::<[u8; $size]>()
                    .write([0; $size]);
            }
        };
    }
    match count {
        // SAFETY: `count` bytes.
        0..=7 => unsafe { to.write_bytes(0, count) },
        8..=15 => two!(8),
        16..=31 => two!(16),
        32..=63 => two!(32),
        64..=127 => two!(64),
        _ => two!(128),
    }
}
