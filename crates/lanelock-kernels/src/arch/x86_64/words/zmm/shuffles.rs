//! Registers transposed, loaded with bytes in another order, and instructions that the compiler does not
//! see through.

use core::arch::asm;
use core::arch::x86_64::*;

use super::Wide;

/// The orders of bytes that turn those of each word around.
pub(super) const SWAP_32: [i64; 2] = [0x0405_0607_0001_0203, 0x0c0d_0e0f_0809_0a0b];
pub(super) const SWAP_64: [i64; 2] = [0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f];

/// A register from `*at + offset`, with the bytes of each quarter in another order.
///
/// # Safety
/// `at` is valid for reading a pointer, and this, plus `offset`, for 64 bytes.
#[inline(always)]
pub(super) unsafe fn load_swapped(
    _: impl Wide,
    [low, high]: [i64; 2],
    at: *const *const u8,
    offset: usize,
) -> __m512i {
    // SAFETY: the token is the proof of AVX-512 BW; the caller's promise.
    unsafe {
        let order = _mm512_broadcast_i32x4(_mm_set_epi64x(high, low));
        _mm512_shuffle_epi8(_mm512_loadu_si512(at.read().add(offset).cast()), order)
    }
}

/// Transposes 16 × 16 words.
#[inline(always)]
pub(super) fn transpose_sixteen(proof: impl Wide, lines: [__m512i; 16]) -> [__m512i; 16] {
    // SAFETY: the token is the proof of AVX-512 F.
    unsafe {
        // Quarters first: z[j] of `group` has words 4·group… of lanes j, j+4, j+8, j+12.
        let mut quarters = [[_mm512_setzero_si512(); 4]; 4];
        for j in 0..4 {
            let (a, b, c, d) = (lines[j], lines[j + 4], lines[j + 8], lines[j + 12]);
            let words = gather_quarters(proof, [a, b, c, d]);
            for group in 0..4 {
                quarters[group][j] = words[group];
            }
        }
        let mut columns = [_mm512_setzero_si512(); 16];
        for group in 0..4 {
            let words = transpose_quarters(proof, quarters[group]);
            for i in 0..4 {
                columns[4 * group + i] = words[i];
            }
        }
        columns
    }
}

/// Transposes 4 × 4 words inside each 128-bit quarter.
#[inline(always)]
pub(super) fn transpose_quarters(_: impl Wide, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: the token is the proof of AVX-512 F.
    unsafe {
        let ab_low = _mm512_unpacklo_epi32(a, b);
        let ab_high = _mm512_unpackhi_epi32(a, b);
        let cd_low = _mm512_unpacklo_epi32(c, d);
        let cd_high = _mm512_unpackhi_epi32(c, d);
        [
            _mm512_unpacklo_epi64(ab_low, cd_low),
            _mm512_unpackhi_epi64(ab_low, cd_low),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

/// Transposes 8 × 8 words.
#[inline(always)]
pub(super) fn transpose_eight(proof: impl Wide, r: [__m512i; 8]) -> [__m512i; 8] {
    // SAFETY: the token is the proof of AVX-512 F.
    unsafe {
        // Pairs of words of neighbouring rows, in each quarter.
        let mut even = [_mm512_setzero_si512(); 4];
        let mut odd = even;
        for i in 0..4 {
            even[i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
            odd[i] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
        }
        let (e, o) = (gather_quarters(proof, even), gather_quarters(proof, odd));
        [e[0], o[0], e[1], o[1], e[2], o[2], e[3], o[3]]
    }
}

/// Transposes 4 × 4 quarters of 128 bits.
#[inline(always)]
pub(super) fn gather_quarters(_: impl Wide, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: the token is the proof of AVX-512 F.
    unsafe {
        let ab_low = _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b);
        let ab_high = _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b);
        let cd_low = _mm512_shuffle_i64x2::<0b01_00_01_00>(c, d);
        let cd_high = _mm512_shuffle_i64x2::<0b11_10_11_10>(c, d);
        [
            _mm512_shuffle_i64x2::<0b10_00_10_00>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0b11_01_11_01>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0b10_00_10_00>(ab_high, cd_high),
            _mm512_shuffle_i64x2::<0b11_01_11_01>(ab_high, cd_high),
        ]
    }
}

/// The products of the low halves. Of the intrinsic, where it knows that high halves are zeros, the
/// compiler makes a product of whole words, which AVX-512 DQ has, and which takes three times as long.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn multiply(a: __m512i, b: __m512i) -> __m512i {
    let product;
    // SAFETY: one instruction, of registers.
    unsafe {
        asm!(
            "vpmuludq {0}, {1}, {2}",
            lateout(zmm_reg) product,
            in(zmm_reg) a,
            in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    product
}

/// See [`WordLanes::tie`]: no instruction, but one that the compiler does not see through.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn tie(mut a: __m512i, mut b: __m512i) -> (__m512i, __m512i) {
    // SAFETY: no instruction is emitted; both registers keep their values.
    unsafe {
        asm!("/* {0} {1} */", inout(zmm_reg) a, inout(zmm_reg) b, options(pure, nomem, nostack, preserves_flags));
    }
    (a, b)
}

/// See [`WordLanes::here`]: no instruction, but one that the compiler neither sees through nor moves.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn here(mut a: __m512i) -> __m512i {
    // SAFETY: no instruction is emitted; the register keeps its value.
    unsafe {
        asm!("/* {0} */", inout(zmm_reg) a, options(nomem, nostack, preserves_flags));
    }
    a
}
