//! The keystream of one short message.

#![allow(unsafe_code)] // raw rows

use core::mem::MaybeUninit;

use super::block::BLOCK;
use super::kernels::Kernels;
use crate::arch::words::DoubleRow;
use crate::bytes::xor_short;
use crate::wipe::wipe;

/// Most blocks of a [`Lone`]: a kilobyte and a one-time key, and as many as are made with these.
pub(super) const MOST: usize = 20;

/// How many of a message's blocks, of which the first is its one-time key, are best made in one go where
/// registers have sixteen words. The others fill registers, or nearly so.
#[inline]
pub(super) fn head(blocks: usize) -> usize {
    match blocks % 16 {
        _ if blocks <= MOST => blocks,
        0 => 16,
        // With those of a register, in registers of rows.
        rest @ 1..=4 => 16 + rest,
        rest => rest,
    }
}

/// Rows for [`MOST`] blocks, rounded up to what registers of any tier write.
pub(super) const ROOM: usize = 24;

/// Memory of a [`Lone`]. Apart from how many rows are initialised, or the compiler would initialise all of them
/// with the number.
pub(super) struct Room(MaybeUninit<[DoubleRow<u32>; ROOM]>);

impl Room {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self(MaybeUninit::uninit())
    }
}

/// Consecutive blocks of keystream. Wiped on drop.
///
/// Invariant: the first `blocks` rows are initialised.
pub(super) struct Lone<'r> {
    rows: &'r mut Room,
    blocks: usize,
}

impl<'r> Lone<'r> {
    /// No block yet.
    #[inline(always)]
    pub(super) fn new(rows: &'r mut Room) -> Self {
        Self { rows, blocks: 0 }
    }

    /// Makes it `blocks` blocks from the state's counter on.
    ///
    /// # Panics
    /// If there are more than [`MOST`], or it was filled before.
    #[inline]
    pub(super) fn fill(&mut self, kernels: &Kernels, state: &DoubleRow<u32>, blocks: usize) {
        assert!(self.blocks == 0, "a lone message has one key stream");
        assert!(blocks <= MOST, "a lone message is short");
        // SAFETY: `ROOM` rows, and no more than `MOST` blocks.
        unsafe { kernels.consecutive(state, self.rows.0.as_mut_ptr().cast(), blocks) };
        self.blocks = blocks;
    }

    /// Block `number`.
    #[inline]
    pub(super) fn block(&self, number: usize) -> &DoubleRow<u32> {
        assert!(number < self.blocks, "a block that was asked for");
        // SAFETY: the invariant.
        unsafe { &*self.rows.0.as_ptr().cast::<DoubleRow<u32>>().add(number) }
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
    pub(super) unsafe fn apply(
        &self,
        kernels: &Kernels,
        first: usize,
        input: *const u8,
        output: *mut u8,
        len: usize,
    ) {
        let blocks = len.div_ceil(BLOCK);
        assert!(first + blocks <= self.blocks, "blocks that were asked for");
        let rows = self.rows.0.as_ptr().cast::<DoubleRow<u32>>();
        // SAFETY: the caller's promise; the blocks are there.
        unsafe { apply(kernels, rows.add(first), input, output, len) }
    }
}

/// XORs `len` bytes with blocks of keystream.
///
/// # Safety
/// As for [`Kernels::xor`].
#[inline(always)]
pub(super) unsafe fn apply(
    kernels: &Kernels,
    mask: *const DoubleRow<u32>,
    input: *const u8,
    output: *mut u8,
    len: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if len < BLOCK {
            xor_short(mask.cast(), input, output, len);
        } else {
            kernels.xor(mask, input, output, len);
        }
    }
}

impl Drop for Lone<'_> {
    fn drop(&mut self) {
        // SAFETY: the invariant.
        wipe(unsafe {
            core::slice::from_raw_parts_mut(
                self.rows.0.as_mut_ptr().cast::<DoubleRow<u32>>(),
                self.blocks,
            )
        });
    }
}
