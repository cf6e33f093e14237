//! The end of a message by masked moves.

use core::arch::x86_64::*;

use super::detect::Avx512Bw;
use crate::arch::words::Pad;
use crate::arch::words::pad::blocks;

/// Masked moves of whole lines: no branch on the length, and one store per line, which the
/// kernel's load of that line can take over.
#[derive(Clone, Copy)]
pub struct MaskedMoves(pub(super) Avx512Bw);

impl Pad for MaskedMoves {
    #[inline(always)]
    unsafe fn pad(
        self,
        from: *const u8,
        count: usize,
        total: u64,
        scratch: *mut u8,
        block: usize,
    ) -> usize {
        // SAFETY: the value is the proof of AVX-512; the rest is the caller's promise.
        unsafe { pad_masked(from, count, total, scratch, block) }
    }
}

/// See [`MaskedMoves`].
///
/// # Safety
/// As [`Pad::pad`], and the CPU has the instructions.
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
    let end = _mm512_set1_epi8(0x80_u8.cast_signed());
    let low = (total << 3).swap_bytes().cast_signed();
    // A line with the text from `at`, 0x80 if it ends there, zeros.
    let line = |at: usize| {
        let (bytes, stop) = match count.checked_sub(at) {
            Some(inside @ 0..64) => (!0 >> 1 >> (63 - inside), 1 << inside),
            Some(_) => (!0, 0),
            None => (0, 0),
        };
        // SAFETY: only the bytes of the mask are read, and they are below `count`.
        let text = unsafe { _mm512_maskz_loadu_epi8(bytes, from.wrapping_add(at).cast()) };
        _mm512_mask_mov_epi8(text, stop, end)
    };
    // SAFETY: the lines are those of one or two blocks of scratch.
    unsafe {
        let scratch = scratch.cast::<__m512i>();
        if block == 64 {
            // Both blocks, without a branch on how many it takes.
            let length = _mm512_maskz_set1_epi64(0x80, low);
            let here = _mm512_maskz_set1_epi64(if blocks == 1 { 0x80 } else { 0 }, low);
            let (bytes, stop) = (!0 >> 1 >> (63 - count), 1 << count);
            let text = _mm512_maskz_loadu_epi8(bytes, from.cast());
            let text = _mm512_mask_mov_epi8(text, stop, end);
            _mm512_storeu_si512(scratch, _mm512_or_si512(text, here));
            _mm512_storeu_si512(scratch.add(1), length);
        } else {
            let high = (total >> 61).swap_bytes().cast_signed();
            let length = _mm512_set_epi64(low, high, 0, 0, 0, 0, 0, 0);
            _mm512_storeu_si512(scratch, line(0));
            let text = line(64);
            if blocks == 1 {
                _mm512_storeu_si512(scratch.add(1), _mm512_or_si512(text, length));
            } else {
                _mm512_storeu_si512(scratch.add(1), text);
                _mm512_storeu_si512(scratch.add(2), _mm512_setzero_si512());
                _mm512_storeu_si512(scratch.add(3), length);
            }
        }
    }
    blocks
}
