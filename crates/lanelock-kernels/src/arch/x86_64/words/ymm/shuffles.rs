//! Registers transposed, and the bytes of one in another order.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::arch::words::{Word, WordLanes};
use crate::arch::x86_64::detect::Avx2;

/// Transposes 8 × 8 words of 32 bits.
#[inline(always)]
pub(super) fn transpose_eight(proof: Avx2, r: [__m256i; 8]) -> [__m256i; 8] {
    // SAFETY: the token is the proof of AVX2.
    unsafe {
        let (top, bottom) = (
            transpose_halves(proof, [r[0], r[1], r[2], r[3]]),
            transpose_halves(proof, [r[4], r[5], r[6], r[7]]),
        );
        let mut words = r;
        for i in 0..4 {
            words[i] = _mm256_permute2x128_si256::<0x20>(top[i], bottom[i]);
            words[4 + i] = _mm256_permute2x128_si256::<0x31>(top[i], bottom[i]);
        }
        words
    }
}

/// Transposes 4 × 4 words of 32 bits inside each 128-bit half.
#[inline(always)]
fn transpose_halves(_: Avx2, [a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: the token is the proof of AVX2.
    unsafe {
        let ab_low = _mm256_unpacklo_epi32(a, b);
        let ab_high = _mm256_unpackhi_epi32(a, b);
        let cd_low = _mm256_unpacklo_epi32(c, d);
        let cd_high = _mm256_unpackhi_epi32(c, d);
        [
            _mm256_unpacklo_epi64(ab_low, cd_low),
            _mm256_unpackhi_epi64(ab_low, cd_low),
            _mm256_unpacklo_epi64(ab_high, cd_high),
            _mm256_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

/// Transposes 4 × 4 words of 64 bits.
#[inline(always)]
pub(in crate::arch::x86_64) fn transpose_four(_: Avx2, [a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: the token is the proof of AVX2.
    unsafe {
        let ab_even = _mm256_unpacklo_epi64(a, b);
        let ab_odd = _mm256_unpackhi_epi64(a, b);
        let cd_even = _mm256_unpacklo_epi64(c, d);
        let cd_odd = _mm256_unpackhi_epi64(c, d);
        [
            _mm256_permute2x128_si256::<0x20>(ab_even, cd_even),
            _mm256_permute2x128_si256::<0x20>(ab_odd, cd_odd),
            _mm256_permute2x128_si256::<0x31>(ab_even, cd_even),
            _mm256_permute2x128_si256::<0x31>(ab_odd, cd_odd),
        ]
    }
}

/// See [`WordLanes::tie`]: no instruction, but one that the compiler does not see through.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn tie(mut a: __m256i, mut b: __m256i) -> (__m256i, __m256i) {
    // SAFETY: no instruction is emitted; both registers keep their values.
    unsafe {
        asm!("/* {0} {1} */", inout(ymm_reg) a, inout(ymm_reg) b, options(pure, nomem, nostack, preserves_flags));
    }
    (a, b)
}

/// The order of bytes that a shuffle takes.
#[repr(align(32))]
pub(super) struct Order([u8; 32]);

/// The orders that rotate words of 32 bits to the right by eight, sixteen and twenty-four bits.
static BY_8: Order = order(1);
pub(super) static BY_16: Order = order(2);
pub(super) static BY_24: Order = order(3);

const fn order(bytes: u8) -> Order {
    let mut order = [0; 32];
    let mut i: u8 = 0;
    while i < 32 {
        order[i as usize] = i / 4 * 4 % 16 + (i + bytes) % 4;
        i += 1;
    }
    Order(order)
}

/// The order that rotates words of 32 bits to the right by `bits`, if these are whole bytes.
pub(super) const fn byte_order<V: WordLanes>(bits: i32) -> Option<&'static Order> {
    match (V::Word::BYTES, bits) {
        (4, 8) => Some(&BY_8),
        (4, 16) => Some(&BY_16),
        (4, 24) => Some(&BY_24),
        _ => None,
    }
}

/// Shuffles the bytes of each half; the order comes from memory. The compiler would keep it in a
/// register, where all sixteen hold a state of ChaCha, and merge shuffles with the ones behind them.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn shuffle(mut words: __m256i, order: &'static Order) -> __m256i {
    // SAFETY: one instruction, which reads 32 aligned bytes.
    unsafe {
        asm!(
            "vpshufb {words}, {words}, [{order}]",
            words = inout(ymm_reg) words,
            order = in(reg) order.0.as_ptr(),
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    words
}
