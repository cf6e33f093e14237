//! What CPUs with registers of 512 bits differ in: moving single bytes, which takes VBMI and VBMI2.

use core::arch::x86_64::*;

use crate::arch::register::Proof;
use crate::arch::x86_64::detect::{Avx512, Avx512Bw};
use crate::arch::x86_64::words::ymm;

/// The proof that there are registers of 512 bits, and of how their bytes move.
pub trait Wide: Proof + Into<Avx512Bw> + Into<()> + 'static {
    /// See [`Registers::assume`](crate::arch::words::Registers::assume).
    ///
    /// # Safety
    /// As there.
    unsafe fn assume() -> Self;

    /// See [`Registers::sieve`](crate::arch::words::Registers::sieve).
    ///
    /// # Safety
    /// As there.
    unsafe fn sieve(self, from: *const u8, to: *mut i16, bound: i16) -> usize;
}

impl Wide for Avx512 {
    #[inline(always)]
    unsafe fn assume() -> Self {
        // SAFETY: the caller's promise, passed on.
        unsafe { Self::assume() }
    }

    #[inline(always)]
    unsafe fn sieve(self, from: *const u8, to: *mut i16, bound: i16) -> usize {
        // SAFETY: the caller's promise, passed on.
        unsafe { by_permutation(self, from, to, bound) }
    }
}

/// Bytes do not cross quarters of a register: those of 256 bits sieve as well.
impl Wide for Avx512Bw {
    #[inline(always)]
    unsafe fn assume() -> Self {
        // SAFETY: the caller's promise, passed on.
        unsafe { Self::assume() }
    }

    #[inline(always)]
    unsafe fn sieve(self, from: *const u8, to: *mut i16, bound: i16) -> usize {
        // SAFETY: the caller's promise, passed on.
        unsafe { ymm::sieve(self.avx2(), from, to, bound) }
    }
}

/// Unpacks 32 numbers of twelve bits and writes those below `bound` one after the other, and anything
/// behind them; returns how many there are.
///
/// # Safety
/// `from` is readable for 48 bytes, `to` writable for 32 numbers.
#[inline(always)]
unsafe fn by_permutation(_: Avx512, from: *const u8, to: *mut i16, bound: i16) -> usize {
    /// The two bytes of each number: the first and the second, or the second and the third of three.
    static BYTES: [u8; 64] = {
        let mut bytes = [0; 64];
        let mut at = 0;
        while at < 64 {
            let (number, byte) = (at / 2, at % 2);
            #[allow(clippy::cast_possible_truncation)] // below 48
            let from = (number / 2 * 3 + number % 2 + byte) as u8;
            bytes[at] = from;
            at += 1;
        }
        bytes
    };
    // SAFETY: the token is the proof of AVX-512 with VBMI and VBMI2; the mask has 48 bytes; the caller
    // promises room for one register.
    unsafe {
        let packed = _mm512_maskz_loadu_epi8((1 << 48) - 1, from.cast());
        let order = _mm512_loadu_si512((&raw const BYTES).cast());
        let pairs = _mm512_permutexvar_epi8(order, packed);
        // Twelve bits of the first are below, of the second above.
        let shifts = _mm512_set1_epi32(4 << 16);
        let numbers = _mm512_srlv_epi16(pairs, shifts);
        let numbers = _mm512_and_si512(numbers, _mm512_set1_epi16(0xfff));
        let below = _mm512_cmplt_epi16_mask(numbers, _mm512_set1_epi16(bound));
        let chosen = _mm512_maskz_compress_epi16(below, numbers);
        _mm512_storeu_si512(to.cast(), chosen);
        below.count_ones() as usize
    }
}
