//! The end of a message in scratch memory: its last bytes, 0x80, zeros, the length in bits.

#![allow(unsafe_code)] // raw moves

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

use crate::bytes::{copy_short, zero};

/// How a tail is put together: by the widest moves that the caller is compiled for.
pub(super) trait Tail {
    /// Pads the `count` bytes at `from` into `scratch`; returns the number of blocks, 1 or 2.
    /// `total` is the length of the message in bytes.
    ///
    /// # Safety
    /// `from` is valid for reading `count` < `block` bytes and `scratch` for writing two blocks;
    /// `block` is 64 or 128; the CPU has the instructions.
    unsafe fn pad(
        from: *const u8,
        count: usize,
        total: u64,
        scratch: *mut u8,
        block: usize,
    ) -> usize;
}

/// Blocks that the padding of `count` bytes takes: it needs a byte and the length field.
#[inline(always)]
fn blocks(count: usize, block: usize) -> usize {
    if count + 1 + block / 8 > block { 2 } else { 1 }
}

/// Moves of any CPU.
pub(super) struct Moves;

impl Tail for Moves {
    #[inline(always)]
    unsafe fn pad(
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
pub(super) unsafe fn pad_in_place(
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

/// Masked moves of whole lines: no branch on the length, and one store per line, which the
/// kernel's load of that line can take over.
#[cfg(target_arch = "x86_64")]
pub(super) struct MaskedMoves;

#[cfg(target_arch = "x86_64")]
impl Tail for MaskedMoves {
    #[inline(always)]
    unsafe fn pad(
        from: *const u8,
        count: usize,
        total: u64,
        scratch: *mut u8,
        block: usize,
    ) -> usize {
        // SAFETY: the caller's promise, AVX-512 among it.
        unsafe { pad_masked(from, count, total, scratch, block) }
    }
}

/// See [`MaskedMoves`].
///
/// # Safety
/// As [`Tail::pad`].
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
unsafe fn pad_masked(
    from: *const u8,
    count: usize,
    total: u64,
    scratch: *mut u8,
    block: usize,
) -> usize {
    let blocks = blocks(count, block);
    let lines = blocks * block / 64;
    let end = _mm512_set1_epi8(0x80_u8.cast_signed());
    let low = (total << 3).swap_bytes().cast_signed();
    let high = if block == 128 {
        (total >> 61).swap_bytes().cast_signed()
    } else {
        0
    };
    let length = _mm512_set_epi64(low, high, 0, 0, 0, 0, 0, 0);
    for line in 0..lines {
        let at = 64 * line;
        let (bytes, stop) = match count.checked_sub(at) {
            Some(inside @ 0..64) => (!0 >> 1 >> (63 - inside), 1 << inside),
            Some(_) => (!0, 0),
            None => (0, 0),
        };
        // SAFETY: only the bytes of the mask are read, and they are below `count`; the line is
        // inside the scratch.
        unsafe {
            let text = _mm512_maskz_loadu_epi8(bytes, from.wrapping_add(at).cast());
            let mut padded = _mm512_mask_mov_epi8(text, stop, end);
            if line + 1 == lines {
                padded = _mm512_or_si512(padded, length);
            }
            _mm512_storeu_si512(scratch.add(at).cast(), padded);
        }
    }
    blocks
}
