//! Two blocks per register: VAES and VPCLMULQDQ under AVX2.

use core::arch::x86_64::*;

use super::Xmm;
use crate::arch::blocks::{Kernel, Vector};

#[derive(Clone, Copy)]
pub(crate) struct Ymm(__m256i);

// SAFETY (every block below): the instructions are there because `enter` was called with the
// token; pointers are valid for the bytes that the trait's contract states for the function.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Vector for Ymm {
    const BLOCKS: usize = 2;
    type Single = Xmm;

    #[inline(always)]
    unsafe fn enter<K: Kernel>(kernel: K) -> K::Output {
        #[target_feature(enable = "aes,pclmulqdq,ssse3,sse4.1,avx2,bmi1,bmi2,vaes,vpclmulqdq")]
        unsafe fn compiled<K: Kernel>(kernel: K) -> K::Output {
            crate::frame::align();
            unsafe { kernel.run::<Ymm>() }
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
        unsafe { Self(_mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn splat(block: u128) -> Self {
        unsafe { Self::broadcast(block.to_le_bytes().as_ptr()) }
    }

    #[inline(always)]
    unsafe fn ramp() -> Self {
        unsafe { Self(_mm256_set_epi64x(0, 1, 0, 0)) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        unsafe { Self(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_bytes(from: *const u8, bytes: usize) -> Self {
        let mut padded = [0_u8; 32];
        unsafe {
            from.copy_to_nonoverlapping(padded.as_mut_ptr(), bytes);
            Self::load(padded.as_ptr())
        }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, bytes: usize) {
        let mut padded = [0_u8; 32];
        unsafe {
            self.store(padded.as_mut_ptr());
            to.copy_from_nonoverlapping(padded.as_ptr(), bytes);
        }
    }

    #[inline(always)]
    unsafe fn keep_bytes(self, bytes: usize) -> Self {
        let mut padded = [0_u8; 32];
        unsafe {
            self.store_bytes(padded.as_mut_ptr(), bytes);
            Self::load(padded.as_ptr())
        }
    }

    #[inline(always)]
    unsafe fn broadcast(from: *const u8) -> Self {
        unsafe { Self(_mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast()))) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const *mut u8) -> Self {
        unsafe { Self::pair(Xmm::load(*from), Xmm::load(*from.add(1))) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *const *mut u8) {
        unsafe {
            self.first().store(*to);
            Xmm::of(_mm256_extracti128_si256::<1>(self.0)).store(*to.add(1));
        }
    }

    #[inline(always)]
    unsafe fn load_lines(from: *const *const u8, offset: usize, blocks: usize) -> [Self; 4] {
        unsafe {
            let a = (*from).add(offset);
            let b = (*from.add(1)).add(offset);
            let mut lines = [Self::zero(); 4];
            if blocks == 4 {
                for j in [0, 2] {
                    let pair_a = Self::load(a.add(16 * j)).0;
                    let pair_b = Self::load(b.add(16 * j)).0;
                    lines[j] = Self(_mm256_permute2x128_si256::<0x20>(pair_a, pair_b));
                    lines[j + 1] = Self(_mm256_permute2x128_si256::<0x31>(pair_a, pair_b));
                }
            } else {
                for j in 0..3 {
                    if j < blocks {
                        let (a, b) = (a.add(16 * j).cast(), b.add(16 * j).cast());
                        lines[j] = Self(_mm256_loadu2_m128i(b, a));
                    }
                }
            }
            lines
        }
    }

    #[inline(always)]
    unsafe fn store_lines(lines: [Self; 4], to: *const *mut u8, offset: usize, blocks: usize) {
        unsafe {
            let a = (*to).add(offset);
            let b = (*to.add(1)).add(offset);
            if blocks == 4 {
                for j in [0, 2] {
                    let (even, odd) = (lines[j].0, lines[j + 1].0);
                    Self(_mm256_permute2x128_si256::<0x20>(even, odd)).store(a.add(16 * j));
                    Self(_mm256_permute2x128_si256::<0x31>(even, odd)).store(b.add(16 * j));
                }
            } else {
                for j in 0..3 {
                    if j < blocks {
                        let (a, b) = (a.add(16 * j).cast(), b.add(16 * j).cast());
                        _mm256_storeu2_m128i(b, a, lines[j].0);
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn pin<const G: usize>(registers: &mut [Self; G]) {
        #[inline]
        #[target_feature(enable = "avx")]
        unsafe fn here(register: &mut __m256i) {
            unsafe {
                core::arch::asm!(
                    "/* {0} */",
                    inout(ymm_reg) * register,
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
        unsafe { Self(_mm256_xor_si256(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor3(self, b: Self, c: Self) -> Self {
        unsafe { self.xor(b.xor(c)) }
    }

    #[inline(always)]
    unsafe fn aes_enc(self, key: Self) -> Self {
        unsafe { Self(_mm256_aesenc_epi128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn aes_enc_last(self, key: Self) -> Self {
        unsafe { Self(_mm256_aesenclast_epi128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn aes_dec(self, key: Self) -> Self {
        unsafe { Self(_mm256_aesdec_epi128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn aes_dec_last(self, key: Self) -> Self {
        unsafe { Self(_mm256_aesdeclast_epi128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        unsafe {
            let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            Self(_mm256_shuffle_epi8(
                self.0,
                _mm256_broadcastsi128_si256(order),
            ))
        }
    }

    #[inline(always)]
    unsafe fn add32(self, other: Self) -> Self {
        unsafe { Self(_mm256_add_epi32(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn add64(self, other: Self) -> Self {
        unsafe { Self(_mm256_add_epi64(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        unsafe { Self(_mm256_clmulepi64_epi128::<HALVES>(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn swap_halves(self) -> Self {
        unsafe { Self(_mm256_shuffle_epi32::<0x4e>(self.0)) }
    }

    #[inline(always)]
    unsafe fn low_to_high(self) -> Self {
        unsafe { Self(_mm256_bslli_epi128::<8>(self.0)) }
    }

    #[inline(always)]
    unsafe fn high_to_low(self) -> Self {
        unsafe { Self(_mm256_bsrli_epi128::<8>(self.0)) }
    }

    #[inline(always)]
    unsafe fn shl64(self, bits: u32) -> Self {
        unsafe {
            Self(_mm256_sll_epi64(
                self.0,
                _mm_cvtsi32_si128(bits.cast_signed()),
            ))
        }
    }

    #[inline(always)]
    unsafe fn shr64(self, bits: u32) -> Self {
        unsafe {
            Self(_mm256_srl_epi64(
                self.0,
                _mm_cvtsi32_si128(bits.cast_signed()),
            ))
        }
    }

    #[inline(always)]
    unsafe fn shift_in(self, before: Self) -> Self {
        unsafe { Self(_mm256_permute2x128_si256::<0x21>(before.0, self.0)) }
    }

    #[inline(always)]
    unsafe fn fold(self) -> Xmm {
        unsafe {
            let high = _mm256_extracti128_si256::<1>(self.0);
            Xmm::of(_mm_xor_si128(_mm256_castsi256_si128(self.0), high))
        }
    }

    #[inline(always)]
    unsafe fn first(self) -> Xmm {
        unsafe { Xmm::of(_mm256_castsi256_si128(self.0)) }
    }

    #[inline(always)]
    unsafe fn pair(a: Xmm, b: Xmm) -> Self {
        unsafe { Self(_mm256_set_m128i(b.register(), a.register())) }
    }

    #[inline(always)]
    unsafe fn fold_rows(rows: [Self; 4]) -> Self {
        let [a, b, ..] = rows;
        unsafe {
            Self(_mm256_xor_si256(
                _mm256_permute2x128_si256::<0x20>(a.0, b.0),
                _mm256_permute2x128_si256::<0x31>(a.0, b.0),
            ))
        }
    }

    #[inline(always)]
    unsafe fn from_singles(singles: [Xmm; 4]) -> Self {
        unsafe { Self::pair(singles[0], singles[1]) }
    }

    #[inline(always)]
    unsafe fn from_single(single: Xmm) -> Self {
        unsafe { Self(_mm256_zextsi128_si256(single.register())) }
    }
}
