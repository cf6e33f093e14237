//! The vectors of x86-64.

mod xmm;
mod ymm;
mod zmm;

pub(crate) use xmm::Xmm;
pub(crate) use ymm::Ymm;
pub(crate) use zmm::Zmm;

use core::arch::x86_64::{_mm_aeskeygenassist_si128, _mm_cvtsi128_si32, _mm_set1_epi32};

/// The S-box on each byte of a word.
///
/// # Safety
/// The CPU has AES-NI.
#[target_feature(enable = "aes")]
pub(crate) unsafe fn sub_word(word: u32) -> u32 {
    // The instruction's first result is the S-box of the second word.
    let words = _mm_aeskeygenassist_si128::<0>(_mm_set1_epi32(word.cast_signed()));
    _mm_cvtsi128_si32(words).cast_unsigned()
}
