//! A 128-bit register of AVX-512 with one word of 64 bits: of a lone Keccak state, whose permutation
//! is bound by the number of its instructions. Three-operand logic and rotations in place make it
//! 95 a round, which all find room in registers; in plain integers they are at least 130, and a third
//! of the words are in memory.

use core::arch::x86_64::*;

use crate::arch::words::Logic;
use crate::arch::x86_64::detect::Avx512Bw;

/// One word, in the low half.
#[derive(Clone, Copy, Debug)]
pub struct U64x1(__m128i, Avx512Bw);

// SAFETY: one word is read and written.
unsafe impl Logic for U64x1 {
    type Proof = Avx512Bw;
    const COUNT: usize = 1;

    #[inline(always)]
    fn splat(proof: Avx512Bw, word: u64) -> Self {
        // SAFETY: the token is the proof of AVX-512.
        Self(unsafe { _mm_set1_epi64x(word.cast_signed()) }, proof)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: `self.1` is the proof of AVX-512.
        Self(unsafe { _mm_xor_si128(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        // SAFETY: `self.1` is the proof of AVX-512 VL.
        let result = unsafe { _mm_ternarylogic_epi64::<0x96>(self.0, b.0, c.0) };
        Self(result, self.1)
    }

    #[inline(always)]
    fn xor_and_not(self, b: Self, c: Self) -> Self {
        // SAFETY: as above.
        let result = unsafe { _mm_ternarylogic_epi64::<0xd2>(self.0, b.0, c.0) };
        Self(result, self.1)
    }

    #[inline(always)]
    fn rotate<const R: i32, const L: i32>(self) -> Self {
        const { assert!(R + L == 64) };
        // SAFETY: as above.
        Self(unsafe { _mm_ror_epi64::<R>(self.0) }, self.1)
    }

    #[inline(always)]
    unsafe fn load(proof: Avx512Bw, words: *const u64) -> Self {
        // SAFETY: the caller promises one word.
        Self(unsafe { _mm_loadl_epi64(words.cast()) }, proof)
    }

    #[inline(always)]
    unsafe fn store(self, words: *mut u64) {
        // SAFETY: the caller promises room for one word.
        unsafe { _mm_storel_epi64(words.cast(), self.0) }
    }
}
