//! One block per register: AES-NI and PCLMULQDQ, in the encoding of SSE or, where there is AVX2, in that of AVX.

use core::arch::x86_64::*;

use super::unknown;
use crate::arch::blocks::{Vector, one_block};
use crate::arch::register::{Proof, Register};
use crate::arch::x86_64::detect::{AesNi, Avx2};
use crate::arrays::each;

/// A register of 128 bits, and the proof of its instructions; GHASH's polynomials are `MIRRORED` or not.
/// The instructions are the same under [`Avx2`], but leave both operands as they were, and take one from
/// memory wherever it lies.
#[derive(Clone, Copy)]
pub(crate) struct Xmm<const MIRRORED: bool = true, P = AesNi>(__m128i, P);

const _: () = assert!(size_of::<Xmm>() == 16);

/// The proofs of registers of one block.
pub(crate) trait OneBlock: Proof {
    /// [`Vector::FED`].
    const FED: bool;
}

impl OneBlock for AesNi {
    const FED: bool = false;
}

impl OneBlock for Avx2 {
    const FED: bool = true;
}

impl<const MIRRORED: bool, P: OneBlock> Register for Xmm<MIRRORED, P> {
    type Proof = P;

    #[inline(always)]
    fn proof(self) -> P {
        self.1
    }
}

impl<const MIRRORED: bool, P: OneBlock> Vector for Xmm<MIRRORED, P> {
    const MIRRORED: bool = MIRRORED;
    const FED: bool = P::FED;
    const REGISTERS: usize = 16;
    const CARRIES: bool = true;
    one_block!(P);

    #[inline(always)]
    fn zero(proof: P) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_setzero_si128() }, proof)
    }

    #[inline(always)]
    unsafe fn load(proof: P, from: *const u8) -> Self {
        // SAFETY: the caller's 16 bytes.
        Self(unsafe { _mm_loadu_si128(from.cast()) }, proof)
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's 16 bytes.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    fn pin<const G: usize>(registers: &mut [Self; G]) {
        #[inline]
        #[target_feature(enable = "sse2")]
        fn here(register: &mut __m128i) {
            // SAFETY: no instruction is emitted; the register keeps its value.
            unsafe {
                core::arch::asm!(
                    "/* {0} */",
                    inout(xmm_reg) * register,
                    options(nostack, preserves_flags)
                );
            }
        }
        each!(G, |I| {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { here(&mut registers[I].0) }
        });
    }

    #[inline(always)]
    fn in_place(keys: *const u8) -> *const u8 {
        unknown(keys)
    }

    operations! {
        xor = |a, b| _mm_xor_si128(a, b);
        xor3 = |a, b, c| _mm_xor_si128(a, _mm_xor_si128(b, c));
        and = |a, b| _mm_and_si128(a, b);
        aes_enc = |a, key| _mm_aesenc_si128(a, key);
        aes_enc_last = |a, key| _mm_aesenclast_si128(a, key);
        aes_dec = |a, key| _mm_aesdec_si128(a, key);
        aes_dec_last = |a, key| _mm_aesdeclast_si128(a, key);
        reverse = |a| {
            let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            _mm_shuffle_epi8(a, order)
        };
        add32 = |a, b| _mm_add_epi32(a, b);
        add64 = |a, b| _mm_add_epi64(a, b);
        swap_halves = |a| _mm_shuffle_epi32::<0x4e>(a);
        low_to_high = |a| _mm_slli_si128::<8>(a);
        high_to_low = |a| _mm_srli_si128::<8>(a);
        words_up = |a| _mm_slli_si128::<4>(a);
        bytes_up = |a| _mm_slli_si128::<1>(a);
        last_byte = |a| _mm_srli_si128::<15>(a);
        last_word = |a| _mm_shuffle_epi32::<0xff>(a);
        last_word_rotated = |a| {
            let order = _mm_set1_epi32(0x0c0f_0e0d);
            _mm_shuffle_epi8(a, order)
        };
    }

    #[inline(always)]
    fn coefficients(self) -> Self {
        if const { MIRRORED } {
            return self.reverse();
        }
        // SAFETY: `self.1` is the proof of SSSE3. Each byte's bits from the last to the first, by halves.
        let mirrored = unsafe {
            let low = _mm_set_epi8(
                0x0f, 0x07, 0x0b, 0x03, 0x0d, 0x05, 0x09, 0x01, 0x0e, 0x06, 0x0a, 0x02, 0x0c, 0x04,
                0x08, 0x00,
            );
            let half = _mm_set1_epi8(15);
            let lower = _mm_shuffle_epi8(low, _mm_and_si128(self.0, half));
            let upper = _mm_and_si128(_mm_srli_epi16::<4>(self.0), half);
            // No bit of a table's entries leaves its byte.
            _mm_or_si128(_mm_slli_epi16::<4>(lower), _mm_shuffle_epi8(low, upper))
        };
        Self(mirrored, self.1)
    }

    #[inline(always)]
    fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        // SAFETY: `self.1` is the proof of PCLMULQDQ.
        let result = unsafe { _mm_clmulepi64_si128::<HALVES>(self.0, other.0) };
        Self(result, self.1)
    }

    #[inline(always)]
    fn carries(self) -> Self {
        // The highest words of the halves, each in the half that its bits enter.
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_shuffle_epi32::<0x5f>(self.0) }, self.1)
    }

    #[inline(always)]
    fn entering(self) -> Self {
        // SAFETY: SSE2 is part of x86-64. 0x87 is what x¹²⁸ is modulo the field's polynomial.
        let entering =
            unsafe { _mm_and_si128(_mm_srai_epi32::<31>(self.0), _mm_set_epi32(0, 1, 0, 0x87)) };
        Self(entering, self.1)
    }

    #[inline(always)]
    fn shl64(self, bits: u32) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        let shifted = unsafe { _mm_sll_epi64(self.0, _mm_cvtsi32_si128(bits.cast_signed())) };
        Self(shifted, self.1)
    }

    #[inline(always)]
    fn shr64(self, bits: u32) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        let shifted = unsafe { _mm_srl_epi64(self.0, _mm_cvtsi32_si128(bits.cast_signed())) };
        Self(shifted, self.1)
    }
}

impl<const MIRRORED: bool> Xmm<MIRRORED> {
    #[inline(always)]
    pub(super) fn register(self) -> __m128i {
        self.0
    }

    #[inline(always)]
    pub(super) fn of(proof: AesNi, register: __m128i) -> Self {
        Self(register, proof)
    }
}
