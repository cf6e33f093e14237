//! The message schedule of SHA-512 for two blocks (FIPS 180-4, section 6.4.2, step 1).

use core::arch::x86_64::*;

use super::{CONSTANTS, Sums};

/// The newest sixteen words of both blocks' schedules. [`super::rounds`] goes on with it.
pub(super) struct Schedule<const ROTATES: bool> {
    /// Two words of the first block and two of the second each; the oldest is first.
    pub(super) pairs: [__m256i; 8],
    /// Sigma 0 of the oldest pair, and the pair four later: moved by a word, a part of the next pair.
    pub(super) part: __m256i,
}

impl<const ROTATES: bool> Schedule<ROTATES> {
    /// The first sixteen words; puts their sums in `sums`.
    ///
    /// # Safety
    /// The CPU has the instructions of [`super::with_avx512`] with `ROTATES`, of [`super::with_avx2`] without.
    /// Both blocks are readable, `sums` is valid for two, and a multiple of 32.
    #[inline(always)]
    pub(super) unsafe fn new(blocks: [*const u8; 2], sums: *mut Sums) -> Self {
        // SAFETY: a block is 8 registers of 16 bytes; the caller promises the rest.
        unsafe {
            let swap = _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607);
            let swap = _mm256_broadcastsi128_si256(swap);
            let mut pairs = [swap; 8];
            for (i, pair) in pairs.iter_mut().enumerate() {
                let [low, high] =
                    blocks.map(|block| _mm_loadu_si128(block.cast::<__m128i>().add(i)));
                *pair = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), swap);
            }
            let oldest = pairs[0];
            let r = _mm256_or_si256(
                _mm256_srli_epi64::<1>(oldest),
                _mm256_slli_epi64::<63>(oldest),
            );
            let s = _mm256_shuffle_epi8(oldest, right_by_eight());
            let sigma = _mm256_xor_si256(_mm256_xor_si256(r, s), _mm256_srli_epi64::<7>(oldest));
            let part = _mm256_add_epi64(sigma, pairs[4]);
            put(&pairs[..4], sums, 0);
            let schedule = Self { pairs, part };
            schedule.put(sums, 1);
            schedule
        }
    }

    /// Puts the newest eight words of both blocks in the sums number `to` of ten, each with its constant.
    ///
    /// # Safety
    /// The CPU has AVX2; `sums` is valid for ten, and a multiple of 32; `to` is below ten.
    #[inline(always)]
    pub(super) unsafe fn put(&self, sums: *mut Sums, to: usize) {
        // SAFETY: the caller's promise, passed on.
        unsafe { put(&self.pairs[4..], sums, to) }
    }
}

/// As [`Schedule::put`], of four `pairs`.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn put(pairs: &[__m256i], sums: *mut Sums, to: usize) {
    for (i, pair) in pairs.iter().enumerate() {
        // SAFETY: inside both arrays, as the caller promises; those of `sums` are aligned.
        unsafe {
            let constants = CONSTANTS.as_ptr().add(to).cast::<__m256i>().add(i);
            let sum = _mm256_add_epi64(*pair, _mm256_loadu_si256(constants));
            _mm256_store_si256(sums.add(to).cast::<__m256i>().add(i), sum);
        }
    }
}

/// The order of bytes that turns words right by eight bits.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
pub(super) unsafe fn right_by_eight() -> __m256i {
    let [first, second] = [0x0007_0605_0403_0201, 0x080f_0e0d_0c0b_0a09];
    // SAFETY: the caller's promise.
    unsafe { _mm256_set_epi64x(second, first, second, first) }
}
