//! Four blocks per register: AVX-512 with VAES and VPCLMULQDQ.

use core::arch::x86_64::*;

use super::Xmm;
use crate::arch::blocks::{Kernel, Vector};

#[derive(Clone, Copy)]
pub(crate) struct Zmm(__m512i);

// SAFETY (every block below): the instructions are there because `enter` was called with the
// token; pointers are valid for the bytes that the trait's contract states for the function.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Vector for Zmm {
    const BLOCKS: usize = 4;
    const MASKS: bool = true;
    type Single = Xmm;

    #[inline(always)]
    unsafe fn enter<K: Kernel>(kernel: K) -> K::Output {
        #[target_feature(
            enable = "aes,pclmulqdq,ssse3,sse4.1,avx2,bmi1,bmi2,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2"
        )]
        unsafe fn compiled<K: Kernel>(kernel: K) -> K::Output {
            crate::frame::align();
            unsafe { kernel.run::<Zmm>() }
        }
        // rustc 1.95 ignores `inline(never)` on functions with target features.
        #[inline(never)]
        unsafe fn boundary<K: Kernel>(kernel: K) -> K::Output {
            unsafe { compiled(kernel) }
        }
        unsafe { boundary(kernel) }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        unsafe { Self(_mm512_setzero_si512()) }
    }

    #[inline(always)]
    unsafe fn splat(block: u128) -> Self {
        unsafe { Self::broadcast(block.to_le_bytes().as_ptr()) }
    }

    #[inline(always)]
    unsafe fn ramp() -> Self {
        unsafe { Self(_mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0)) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_bytes(from: *const u8, bytes: usize) -> Self {
        unsafe { Self(_mm512_maskz_loadu_epi8(first_bytes(bytes), from.cast())) }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, bytes: usize) {
        unsafe { _mm512_mask_storeu_epi8(to.cast(), first_bytes(bytes), self.0) }
    }

    #[inline(always)]
    unsafe fn keep_bytes(self, bytes: usize) -> Self {
        unsafe { Self(_mm512_maskz_mov_epi8(first_bytes(bytes), self.0)) }
    }

    #[inline(always)]
    unsafe fn broadcast(from: *const u8) -> Self {
        unsafe { Self(_mm512_broadcast_i32x4(_mm_loadu_si128(from.cast()))) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const *mut u8) -> Self {
        unsafe {
            let at = |i| Xmm::load(*from.add(i));
            Self::from_singles([at(0), at(1), at(2), at(3)])
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *const *mut u8) {
        unsafe {
            self.first().store(*to);
            Xmm::of(_mm512_extracti64x2_epi64::<1>(self.0)).store(*to.add(1));
            Xmm::of(_mm512_extracti64x2_epi64::<2>(self.0)).store(*to.add(2));
            Xmm::of(_mm512_extracti64x2_epi64::<3>(self.0)).store(*to.add(3));
        }
    }

    #[inline(always)]
    unsafe fn load_lines(from: *const *const u8, offset: usize, blocks: usize) -> [Self; 4] {
        unsafe {
            let mut lines = [Self::zero(); 4];
            for (i, line) in lines.iter_mut().enumerate() {
                let lane = (*from.add(i)).add(offset);
                *line = if blocks == 4 {
                    Self::load(lane)
                } else {
                    Self::load_bytes(lane, 16 * blocks)
                };
            }
            transpose(lines)
        }
    }

    #[inline(always)]
    unsafe fn store_lines(lines: [Self; 4], to: *const *mut u8, offset: usize, blocks: usize) {
        unsafe {
            for (i, line) in transpose(lines).into_iter().enumerate() {
                let lane = (*to.add(i)).add(offset);
                if blocks == 4 {
                    line.store(lane);
                } else {
                    line.store_bytes(lane, 16 * blocks);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn pin<const G: usize>(registers: &mut [Self; G]) {
        #[inline]
        #[target_feature(enable = "avx512f")]
        unsafe fn here(register: &mut __m512i) {
            unsafe {
                core::arch::asm!(
                    "/* {0} */",
                    inout(zmm_reg) * register,
                    options(nostack, preserves_flags)
                );
            }
        }
        for register in registers {
            unsafe { here(&mut register.0) }
        }
    }

    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        unsafe { Self(_mm512_xor_si512(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor3(self, b: Self, c: Self) -> Self {
        unsafe { Self(_mm512_ternarylogic_epi64::<0x96>(self.0, b.0, c.0)) }
    }

    #[inline(always)]
    unsafe fn aes_enc(self, key: Self) -> Self {
        unsafe { Self(_mm512_aesenc_epi128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn aes_enc_last(self, key: Self) -> Self {
        unsafe { Self(_mm512_aesenclast_epi128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn aes_dec(self, key: Self) -> Self {
        unsafe { Self(_mm512_aesdec_epi128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn aes_dec_last(self, key: Self) -> Self {
        unsafe { Self(_mm512_aesdeclast_epi128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        unsafe {
            let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            Self(_mm512_shuffle_epi8(self.0, _mm512_broadcast_i32x4(order)))
        }
    }

    #[inline(always)]
    unsafe fn add32(self, other: Self) -> Self {
        unsafe { Self(_mm512_add_epi32(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn add64(self, other: Self) -> Self {
        unsafe { Self(_mm512_add_epi64(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        unsafe { Self(_mm512_clmulepi64_epi128::<HALVES>(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn swap_halves(self) -> Self {
        unsafe { Self(_mm512_shuffle_epi32::<0x4e>(self.0)) }
    }

    #[inline(always)]
    unsafe fn low_to_high(self) -> Self {
        unsafe { Self(_mm512_bslli_epi128::<8>(self.0)) }
    }

    #[inline(always)]
    unsafe fn high_to_low(self) -> Self {
        unsafe { Self(_mm512_bsrli_epi128::<8>(self.0)) }
    }

    #[inline(always)]
    unsafe fn shl64(self, bits: u32) -> Self {
        unsafe {
            Self(_mm512_sll_epi64(
                self.0,
                _mm_cvtsi32_si128(bits.cast_signed()),
            ))
        }
    }

    #[inline(always)]
    unsafe fn shr64(self, bits: u32) -> Self {
        unsafe {
            Self(_mm512_srl_epi64(
                self.0,
                _mm_cvtsi32_si128(bits.cast_signed()),
            ))
        }
    }

    #[inline(always)]
    unsafe fn shift_in(self, before: Self) -> Self {
        unsafe { Self(_mm512_alignr_epi64::<6>(self.0, before.0)) }
    }

    #[inline(always)]
    unsafe fn fold(self) -> Xmm {
        unsafe {
            let high = _mm512_extracti64x4_epi64::<1>(self.0);
            let half = _mm256_xor_si256(_mm512_castsi512_si256(self.0), high);
            let high = _mm256_extracti128_si256::<1>(half);
            Xmm::of(_mm_xor_si128(_mm256_castsi256_si128(half), high))
        }
    }

    #[inline(always)]
    unsafe fn first(self) -> Xmm {
        unsafe { Xmm::of(_mm512_castsi512_si128(self.0)) }
    }

    #[inline(always)]
    unsafe fn pair(a: Xmm, b: Xmm) -> Self {
        unsafe {
            Self(_mm512_zextsi256_si512(_mm256_set_m128i(
                b.register(),
                a.register(),
            )))
        }
    }

    #[inline(always)]
    unsafe fn fold_rows(rows: [Self; 4]) -> Self {
        let [a, b, c, d] = rows;
        unsafe {
            let halves = |a: Self, b: Self| {
                Self(_mm512_xor_si512(
                    _mm512_shuffle_i64x2::<0x44>(a.0, b.0),
                    _mm512_shuffle_i64x2::<0xee>(a.0, b.0),
                ))
            };
            let (ab, cd) = (halves(a, b).0, halves(c, d).0);
            Self(_mm512_xor_si512(
                _mm512_shuffle_i64x2::<0x88>(ab, cd),
                _mm512_shuffle_i64x2::<0xdd>(ab, cd),
            ))
        }
    }

    #[inline(always)]
    unsafe fn from_singles(singles: [Xmm; 4]) -> Self {
        let [a, b, c, d] = singles;
        unsafe {
            let (low, high) = (Self::pair(a, b).0, Self::pair(c, d).0);
            Self(_mm512_inserti64x4::<1>(low, _mm512_castsi512_si256(high)))
        }
    }

    #[inline(always)]
    unsafe fn from_single(single: Xmm) -> Self {
        unsafe { Self(_mm512_zextsi128_si512(single.register())) }
    }
}

/// The mask of the first `bytes` bytes of a register.
///
/// # Safety
/// Runs under [`Vector::enter`].
#[inline(always)]
unsafe fn first_bytes(bytes: usize) -> u64 {
    debug_assert!(bytes <= 64);
    #[expect(clippy::cast_possible_truncation)]
    let bytes = bytes as u32;
    // SAFETY: BMI2 is part of the tier.
    unsafe { _bzhi_u64(u64::MAX, bytes) }
}

/// Exchanges block `j` of register `i` with block `i` of register `j`.
///
/// # Safety
/// Runs under [`Vector::enter`].
#[inline(always)]
unsafe fn transpose(rows: [Zmm; 4]) -> [Zmm; 4] {
    let [a, b, c, d] = rows;
    // SAFETY: AVX-512 F is part of the tier.
    unsafe {
        let ab_low = _mm512_shuffle_i64x2::<0x44>(a.0, b.0);
        let ab_high = _mm512_shuffle_i64x2::<0xee>(a.0, b.0);
        let cd_low = _mm512_shuffle_i64x2::<0x44>(c.0, d.0);
        let cd_high = _mm512_shuffle_i64x2::<0xee>(c.0, d.0);
        [
            Zmm(_mm512_shuffle_i64x2::<0x88>(ab_low, cd_low)),
            Zmm(_mm512_shuffle_i64x2::<0xdd>(ab_low, cd_low)),
            Zmm(_mm512_shuffle_i64x2::<0x88>(ab_high, cd_high)),
            Zmm(_mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high)),
        ]
    }
}
