//! The end of a message in scratch memory: its last bytes, 0x80, zeros, the length in bits.

use crate::bytes::{copy_short, zero};

/// How a tail is put together: by the widest moves that the caller is compiled for.
pub trait Pad: Copy {
    /// Pads the `count` bytes at `from` into `scratch`; returns the number of blocks, 1 or 2.
    /// `total` is the length of the message in bytes.
    ///
    /// # Safety
    /// `from` is valid for reading `count` < `block` bytes and `scratch` for writing two blocks;
    /// `block` is 64 or 128.
    unsafe fn pad(
        self,
        from: *const u8,
        count: usize,
        total: u64,
        scratch: *mut u8,
        block: usize,
    ) -> usize;
}

/// Blocks that the padding of `count` bytes takes: it needs a byte and the length field.
#[inline(always)]
pub(in crate::arch) fn blocks(count: usize, block: usize) -> usize {
    if count + 1 + block / 8 > block { 2 } else { 1 }
}

/// Moves of any CPU.
#[derive(Clone, Copy)]
pub struct Moves;

impl Pad for Moves {
    #[inline(always)]
    unsafe fn pad(
        self,
        from: *const u8,
        count: usize,
        total: u64,
        scratch: *mut u8,
        block: usize,
    ) -> usize {
        let blocks = blocks(count, block);
        let end = blocks * block;
        // SAFETY: `count` < one block, so every write ends at `end` ≤ two blocks of scratch.
        unsafe {
            copy_short(from, scratch, count);
            close(count, total, scratch, end, block);
        }
        blocks
    }
}

/// Ends the `count` bytes that are in the scratch already; returns the number of blocks.
///
/// # Safety
/// `count` is below a block, `scratch` valid for writing two.
#[inline(always)]
pub(crate) unsafe fn pad_in_place(
    count: usize,
    total: u64,
    scratch: *mut u8,
    block: usize,
) -> usize {
    let blocks = blocks(count, block);
    // SAFETY: `blocks` blocks of scratch.
    unsafe { close(count, total, scratch, blocks * block, block) };
    blocks
}

/// Writes 0x80, zeros and the length from `count` to `end`.
///
/// # Safety
/// `scratch` is valid for writing `end` bytes; `count` + 9 ≤ `end` ≤ `count` + 256.
#[inline(always)]
unsafe fn close(count: usize, total: u64, scratch: *mut u8, end: usize, block: usize) {
    // SAFETY: everything ends at `end`.
    unsafe {
        zero(scratch.add(count), end - count);
        scratch.add(count).write(0x80);
        let field = scratch.add(end - 8).cast::<[u8; 8]>();
        field.write((total << 3).to_be_bytes());
        if block == 128 {
            // The field has 16 bytes; its first half is zero below 2⁶¹ bytes.
            field.sub(1).write((total >> 61).to_be_bytes());
        }
    }
}
