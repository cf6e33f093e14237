//! One message on its way through a lane: runs of whole blocks, then padding.

#![allow(unsafe_code)] // walks the parts of a message by pointer

use super::Algorithm;
use super::message::Message;
use super::tail::{Tail, pad_in_place};
use crate::bytes::copy_short;

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
    #[inline(always)]
    pub(super) unsafe fn new(before: u64, scratch: *mut u8) -> Self {
        Self {
            part: scratch,
            len: 0,
            total: before,
            scratch,
            padded: false,
        }
    }

    /// The first run of a message.
    #[inline(always)]
    pub(super) fn first_run<A: Algorithm, M: Message, T: Tail>(&mut self, message: &mut M) -> Run {
        match message.next_part() {
            Some(part) => {
                self.take(part);
                self.run::<A, M, T>(message)
            }
            None => self.pad::<A>(0),
        }
    }

    /// The next run, of one block at least; `None` when the padding was returned before.
    ///
    /// The run is valid for reading until the next call, as [`Message`] promises.
    #[inline(always)]
    pub(super) fn next_run<A: Algorithm, M: Message, T: Tail>(
        &mut self,
        message: &mut M,
    ) -> Option<Run> {
        if self.padded {
            return None;
        }
        Some(self.run::<A, M, T>(message))
    }

    #[inline(always)]
    fn run<A: Algorithm, M: Message, T: Tail>(&mut self, message: &mut M) -> Run {
        if self.len >= A::BLOCK {
            let blocks = self.len / A::BLOCK;
            let at = self.part;
            self.skip(blocks * A::BLOCK);
            return Run { at, blocks };
        }
        match message.next_part() {
            None => {
                self.padded = true;
                // SAFETY: `len` readable bytes, less than a block, and two blocks of scratch; the
                // instructions are those that the scheduler was compiled for.
                let blocks =
                    unsafe { T::pad(self.part, self.len, self.total, self.scratch, A::BLOCK) };
                Run {
                    at: self.scratch,
                    blocks,
                }
            }
            Some(next) => self.gather::<A, M>(message, next),
        }
    }

    /// One block from several parts, or the last of the message with its padding.
    ///
    /// What is left of this part is less than a block; `next` follows it.
    #[inline(never)]
    fn gather<A: Algorithm, M: Message>(&mut self, message: &mut M, next: *const [u8]) -> Run {
        let mut filled = 0;
        let mut next = Some(next);
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
            match next.take().or_else(|| message.next_part()) {
                Some(part) => self.take(part),
                None => return self.pad::<A>(filled),
            }
        }
    }

    /// Pads the `filled` bytes in the scratch.
    #[inline(always)]
    fn pad<A: Algorithm>(&mut self, filled: usize) -> Run {
        self.padded = true;
        // SAFETY: `filled` < one block, and two blocks of scratch.
        let blocks = unsafe { pad_in_place(filled, self.total, self.scratch, A::BLOCK) };
        Run {
            at: self.scratch,
            blocks,
        }
    }

    /// The scratch it was made with.
    #[inline(always)]
    pub(super) fn scratch(&self) -> *mut u8 {
        self.scratch
    }

    #[inline(always)]
    fn take(&mut self, part: *const [u8]) {
        // An empty slice may point anywhere, and even a masked load of no byte takes hundreds of
        // cycles where no memory is mapped. What `part` points to already is valid.
        if part.is_empty() {
            return;
        }
        self.part = part.cast();
        self.len = part.len();
        self.total += part.len() as u64;
    }

    #[inline(always)]
    fn skip(&mut self, count: usize) {
        self.part = self.part.wrapping_add(count);
        self.len -= count;
    }
}
