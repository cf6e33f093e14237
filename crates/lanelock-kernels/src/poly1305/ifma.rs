//! Poly1305 by 52-bit multiply-adds: eight lanes per register, one or two registers in flight.

#![allow(unsafe_code)] // loads and stores through per-lane pointers
#![allow(clippy::needless_range_loop)] // an index names the limb on both sides

use core::arch::x86_64::*;

use super::BLOCK;
use super::field::{MASK_42, MASK_44};
use super::lanes::Columns;
use crate::cpu::Ifma;

/// Absorbs `blocks` blocks in each of `lanes` lanes.
///
/// # Safety
/// `at` is valid for `lanes` pointers rounded up to 8, each valid for reading `blocks` blocks;
/// `lanes` ≤ 16.
pub(super) unsafe fn absorb(
    _: Ifma,
    columns: &mut Columns,
    at: *const *const u8,
    lanes: usize,
    blocks: usize,
) {
    // SAFETY: the token is the proof of the instructions; the rest is the caller's promise.
    unsafe {
        if lanes > 8 {
            groups::<2>(columns, at, blocks);
        } else {
            groups::<1>(columns, at, blocks);
        }
    }
}

/// `N` registers of eight lanes.
///
/// # Safety
/// As [`absorb`], with 8 · `N` lanes, and the CPU has AVX-512 F, VL and IFMA.
#[target_feature(enable = "avx512f,avx512vl,avx512ifma")]
unsafe fn groups<const N: usize>(columns: &mut Columns, at: *const *const u8, blocks: usize) {
    let zero = _mm512_setzero_si512();
    let (mask_44, mask_42) = (
        _mm512_set1_epi64(MASK_44.cast_signed()),
        _mm512_set1_epi64(MASK_42.cast_signed()),
    );
    let top = _mm512_set1_epi64(1 << 40); // 2¹²⁸ above the block
    let mut h = [[zero; 3]; N];
    let mut r = [[zero; 3]; N];
    let mut s = [[zero; 3]; N];
    for n in 0..N {
        for limb in 0..3 {
            // SAFETY: `Columns` has 16 words per limb.
            unsafe {
                h[n][limb] = _mm512_loadu_si512(columns.h[limb].as_ptr().add(8 * n).cast());
                r[n][limb] = _mm512_loadu_si512(columns.r[limb].as_ptr().add(8 * n).cast());
            }
            // 20 r = 16 r + 4 r
            s[n][limb] = _mm512_add_epi64(
                _mm512_slli_epi64::<4>(r[n][limb]),
                _mm512_slli_epi64::<2>(r[n][limb]),
            );
        }
    }
    for block in 0..blocks {
        for n in 0..N {
            // SAFETY: eight pointers from 8 · n, each with this block behind it.
            let (low, high) = unsafe { load(at.add(8 * n), block * BLOCK) };
            let middle =
                _mm512_or_si512(_mm512_srli_epi64::<44>(low), _mm512_slli_epi64::<20>(high));
            let h0 = _mm512_add_epi64(h[n][0], _mm512_and_si512(low, mask_44));
            let h1 = _mm512_add_epi64(h[n][1], _mm512_and_si512(middle, mask_44));
            let h2 = _mm512_srli_epi64::<24>(high);
            let h2 = _mm512_add_epi64(h[n][2], _mm512_or_si512(h2, top));

            // Two sums for each half, so that the multiply-adds do not wait for each other.
            let ([r0, r1, r2], [_, s1, s2]) = (r[n], s[n]);
            macro_rules! limb {
                ($half:ident, $x:expr, $y:expr, $z:expr) => {
                    _mm512_add_epi64($half($half(zero, h2, $z), h1, $y), $half(zero, h0, $x))
                };
            }
            let low0 = limb!(_mm512_madd52lo_epu64, r0, s2, s1);
            let high0 = limb!(_mm512_madd52hi_epu64, r0, s2, s1);
            let low1 = limb!(_mm512_madd52lo_epu64, r1, r0, s2);
            let high1 = limb!(_mm512_madd52hi_epu64, r1, r0, s2);
            let low2 = limb!(_mm512_madd52lo_epu64, r2, r1, r0);
            let high2 = limb!(_mm512_madd52hi_epu64, r2, r1, r0);

            // A high half weighs 2⁵² of its limb: 2⁸ of the next, and 20 · 2⁸ around the end.
            let around = _mm512_add_epi64(
                _mm512_slli_epi64::<12>(high2),
                _mm512_slli_epi64::<10>(high2),
            );
            let d0 = _mm512_add_epi64(low0, around);
            let d1 = _mm512_add_epi64(low1, _mm512_slli_epi64::<8>(high0));
            let d2 = _mm512_add_epi64(low2, _mm512_slli_epi64::<8>(high1));
            let d1 = _mm512_add_epi64(d1, _mm512_srli_epi64::<44>(d0));
            let d2 = _mm512_add_epi64(d2, _mm512_srli_epi64::<44>(d1));
            let over = _mm512_srli_epi64::<42>(d2);
            let five = _mm512_add_epi64(over, _mm512_slli_epi64::<2>(over));
            h[n][0] = _mm512_add_epi64(_mm512_and_si512(d0, mask_44), five);
            h[n][1] = _mm512_and_si512(d1, mask_44);
            h[n][2] = _mm512_and_si512(d2, mask_42);
        }
    }
    for n in 0..N {
        for limb in 0..3 {
            // SAFETY: `Columns` has 16 words per limb.
            unsafe {
                let to = columns.h[limb].as_mut_ptr().add(8 * n);
                _mm512_storeu_si512(to.cast(), h[n][limb]);
            }
        }
    }
}

/// One block of eight lanes: the low and the high words.
///
/// # Safety
/// The CPU has AVX-512 F; `at` is valid for 8 pointers, each plus `offset` for 16 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
unsafe fn load(at: *const *const u8, offset: usize) -> (__m512i, __m512i) {
    macro_rules! four {
        ($a:literal $b:literal $c:literal $d:literal) => {{
            // SAFETY: four of the caller's eight pointers.
            unsafe {
                let x = |lane: usize| {
                    _mm_loadu_si128(at.add(lane).read().add(offset).cast::<__m128i>())
                };
                let four = _mm512_castsi128_si512(x($a));
                let four = _mm512_inserti32x4::<1>(four, x($b));
                let four = _mm512_inserti32x4::<2>(four, x($c));
                _mm512_inserti32x4::<3>(four, x($d))
            }
        }};
    }
    let (even, odd) = (four!(0 2 4 6), four!(1 3 5 7));
    (
        _mm512_unpacklo_epi64(even, odd),
        _mm512_unpackhi_epi64(even, odd),
    )
}
