//! One message on its way through a lane: runs of whole blocks, then padding.

#![allow(unsafe_code)] // walks the parts of a message by pointer

use super::Algorithm;
use super::job::Job;
use crate::arch::words::{Pad, pad_in_place};
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
    /// Blocks in the scratch that end the message and were not returned yet, once it is read.
    ending: Option<usize>,
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
            ending: None,
        }
    }

    /// The first run of a message.
    #[inline(always)]
    pub(super) fn first_run<A: Algorithm>(
        &mut self,
        moves: impl Pad,
        message: &mut Job<'_, A>,
    ) -> Run {
        if let Some(part) = message.next_part() {
            self.take(part);
        }
        self.run(moves, message)
    }

    /// The next run, of one block at least; `None` when the padding was returned before.
    ///
    /// The run is valid for reading until the next call, as [`Job`] promises.
    #[inline(always)]
    pub(super) fn next_run<A: Algorithm>(
        &mut self,
        moves: impl Pad,
        message: &mut Job<'_, A>,
    ) -> Option<Run> {
        match self.ending {
            None => Some(self.run(moves, message)),
            Some(0) => None,
            Some(blocks) => Some(self.end(blocks)),
        }
    }

    #[inline(always)]
    fn run<A: Algorithm>(&mut self, moves: impl Pad, message: &mut Job<'_, A>) -> Run {
        let whole = Run {
            at: self.part,
            blocks: self.len / A::BLOCK,
        };
        if !message.is_read() {
            return self.run_of_several::<A>(whole, message);
        }
        // The end is prepared before the blocks in front of it are compressed: for all lanes at
        // once, instead of one by one as they get there.
        self.skip(whole.blocks * A::BLOCK);
        // SAFETY: `len` readable bytes, less than a block, and two blocks of scratch, which hold
        // nothing any more.
        let blocks = unsafe { moves.pad(self.part, self.len, self.total, self.scratch, A::BLOCK) };
        if whole.blocks == 0 {
            return self.end(blocks);
        }
        self.ending = Some(blocks);
        whole
    }

    /// The run in the scratch that ends the message.
    #[inline(always)]
    fn end(&mut self, blocks: usize) -> Run {
        self.ending = Some(0);
        Run {
            at: self.scratch,
            blocks,
        }
    }

    /// A run before the last part: the whole blocks that are left of this one, or a block of this
    /// one and the next.
    #[inline(never)]
    fn run_of_several<A: Algorithm>(&mut self, whole: Run, message: &mut Job<'_, A>) -> Run {
        if whole.blocks > 0 {
            self.skip(whole.blocks * A::BLOCK);
            return whole;
        }
        self.gather::<A>(message)
    }

    /// One block from several parts, or the last of the message with its padding.
    ///
    /// What is left of this part is less than a block.
    fn gather<A: Algorithm>(&mut self, message: &mut Job<'_, A>) -> Run {
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
            let Some(part) = message.next_part() else {
                // SAFETY: `filled` < one block, and two blocks of scratch.
                let blocks = unsafe { pad_in_place(filled, self.total, self.scratch, A::BLOCK) };
                return self.end(blocks);
            };
            self.take(part);
        }
    }

    /// Blocks in the scratch that come behind the present run; `None` if more comes than those.
    #[inline(always)]
    pub(super) fn ending(&self) -> Option<usize> {
        self.ending
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
