//! The keystream of one short message.

#![allow(unsafe_code)] // raw rows

use core::mem::MaybeUninit;

use super::block::BLOCK;
use super::kernels::Kernels;
use crate::arch::words::DoubleRow;
use crate::bytes::{copy_short, xor_block};
use crate::wipe::wipe;

/// Most blocks of a [`Lone`]: a kilobyte and a one-time key.
pub(super) const MOST: usize = 17;

/// Rows for [`MOST`] blocks, rounded up to what registers of any tier write.
pub(super) const ROOM: usize = 24;

/// Consecutive blocks of keystream. Wiped on drop.
///
/// Invariant: the first `blocks` rows are initialised.
pub(super) struct Lone {
    rows: MaybeUninit<[DoubleRow<u32>; ROOM]>,
    blocks: usize,
}

impl Lone {
    /// No block yet.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            rows: MaybeUninit::uninit(),
            blocks: 0,
        }
    }

    /// Makes it `blocks` blocks from the state's counter on; where it lies, as a copy would take as
    /// long as a block.
    ///
    /// # Panics
    /// If there are more than [`MOST`], or it was filled before.
    #[inline]
    pub(super) fn fill(&mut self, kernels: &Kernels, state: &DoubleRow<u32>, blocks: usize) {
        assert!(self.blocks == 0, "a lone message has one key stream");
        assert!(blocks <= MOST, "a lone message is short");
        // SAFETY: `ROOM` rows, and no more than `MOST` blocks.
        unsafe { kernels.consecutive(state, self.rows.as_mut_ptr().cast(), blocks) };
        self.blocks = blocks;
    }

    /// Block `number`.
    #[inline]
    pub(super) fn block(&self, number: usize) -> &DoubleRow<u32> {
        assert!(number < self.blocks, "a block that was asked for");
        // SAFETY: the invariant.
        unsafe { &*self.rows.as_ptr().cast::<DoubleRow<u32>>().add(number) }
    }

    /// XORs `len` bytes with the blocks from `first` on.
    ///
    /// # Panics
    /// If there are not so many.
    ///
    /// # Safety
    /// `input` is valid for reading and `output` for writing `len` bytes; they are the same
    /// memory or disjoint.
    #[inline]
    pub(super) unsafe fn apply(&self, first: usize, input: *const u8, output: *mut u8, len: usize) {
        for at in (0..len).step_by(BLOCK) {
            let mask = self.block(first + at / BLOCK).as_ptr().cast();
            let (input, output) = (input.wrapping_add(at), output.wrapping_add(at));
            let part = (len - at).min(BLOCK);
            // SAFETY: `part` bytes from `at` on are the caller's.
            unsafe {
                if part == BLOCK {
                    xor_block(mask, input, output);
                    continue;
                }
                let mut block = [0; BLOCK];
                let block = block.as_mut_ptr();
                copy_short(input, block, part);
                xor_block(mask, block, block);
                copy_short(block, output, part);
            }
        }
    }
}

impl Drop for Lone {
    fn drop(&mut self) {
        // SAFETY: the invariant.
        wipe(unsafe {
            core::slice::from_raw_parts_mut(
                self.rows.as_mut_ptr().cast::<DoubleRow<u32>>(),
                self.blocks,
            )
        });
    }
}
