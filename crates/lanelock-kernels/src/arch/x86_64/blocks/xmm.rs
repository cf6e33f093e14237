//! One block per register: AES-NI and PCLMULQDQ.

use core::arch::x86_64::*;

use crate::arch::blocks::{Kernel, Vector};

#[derive(Clone, Copy)]
pub(crate) struct Xmm(__m128i);

// SAFETY (every block below): the instructions are there because `enter` was called with the
// token; pointers are valid for the bytes that the trait's contract states for the function.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Vector for Xmm {
    const BLOCKS: usize = 1;
    type Single = Self;

    #[inline(always)]
    unsafe fn enter<K: Kernel>(kernel: K) -> K::Output {
        #[target_feature(enable = "aes,pclmulqdq,ssse3,sse4.1")]
        unsafe fn compiled<K: Kernel>(kernel: K) -> K::Output {
            unsafe { kernel.run::<Xmm>() }
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
        unsafe { Self(_mm_setzero_si128()) }
    }

    #[inline(always)]
    unsafe fn splat(block: u128) -> Self {
        unsafe { Self::load(block.to_le_bytes().as_ptr()) }
    }

    #[inline(always)]
    unsafe fn ramp() -> Self {
        unsafe { Self::zero() }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        unsafe { Self(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_bytes(from: *const u8, bytes: usize) -> Self {
        let mut padded = [0_u8; 16];
        unsafe {
            from.copy_to_nonoverlapping(padded.as_mut_ptr(), bytes);
            Self::load(padded.as_ptr())
        }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, bytes: usize) {
        let mut padded = [0_u8; 16];
        unsafe {
            self.store(padded.as_mut_ptr());
            to.copy_from_nonoverlapping(padded.as_ptr(), bytes);
        }
    }

    #[inline(always)]
    unsafe fn keep_bytes(self, bytes: usize) -> Self {
        let mut padded = [0_u8; 16];
        unsafe {
            self.store_bytes(padded.as_mut_ptr(), bytes);
            Self::load(padded.as_ptr())
        }
    }

    #[inline(always)]
    unsafe fn broadcast(from: *const u8) -> Self {
        unsafe { Self::load(from) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const *mut u8) -> Self {
        unsafe { Self::load(*from) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *const *mut u8) {
        unsafe { self.store(*to) }
    }

    #[inline(always)]
    unsafe fn load_lines(from: *const *const u8, offset: usize, blocks: usize) -> [Self; 4] {
        unsafe {
            let line = (*from).add(offset);
            let mut lines = [Self::zero(); 4];
            for j in 0..4 {
                if j < blocks {
                    lines[j] = Self::load(line.add(16 * j));
                }
            }
            lines
        }
    }

    #[inline(always)]
    unsafe fn store_lines(lines: [Self; 4], to: *const *mut u8, offset: usize, blocks: usize) {
        unsafe {
            let line = (*to).add(offset);
            for j in 0..4 {
                if j < blocks {
                    lines[j].store(line.add(16 * j));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn pin<const G: usize>(registers: &mut [Self; G]) {
        #[inline]
        #[target_feature(enable = "sse2")]
        unsafe fn here(register: &mut __m128i) {
            unsafe {
                core::arch::asm!(
                    "/* {0} */",
                    inout(xmm_reg) * register,
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
        unsafe { Self(_mm_xor_si128(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor3(self, b: Self, c: Self) -> Self {
        unsafe { self.xor(b.xor(c)) }
    }

    #[inline(always)]
    unsafe fn aes_enc(self, key: Self) -> Self {
        unsafe { Self(_mm_aesenc_si128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn aes_enc_last(self, key: Self) -> Self {
        unsafe { Self(_mm_aesenclast_si128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn aes_dec(self, key: Self) -> Self {
        unsafe { Self(_mm_aesdec_si128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn aes_dec_last(self, key: Self) -> Self {
        unsafe { Self(_mm_aesdeclast_si128(self.0, key.0)) }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        unsafe {
            let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            Self(_mm_shuffle_epi8(self.0, order))
        }
    }

    #[inline(always)]
    unsafe fn add32(self, other: Self) -> Self {
        unsafe { Self(_mm_add_epi32(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn add64(self, other: Self) -> Self {
        unsafe { Self(_mm_add_epi64(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        unsafe { Self(_mm_clmulepi64_si128::<HALVES>(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn swap_halves(self) -> Self {
        unsafe { Self(_mm_shuffle_epi32::<0x4e>(self.0)) }
    }

    #[inline(always)]
    unsafe fn low_to_high(self) -> Self {
        unsafe { Self(_mm_slli_si128::<8>(self.0)) }
    }

    #[inline(always)]
    unsafe fn high_to_low(self) -> Self {
        unsafe { Self(_mm_srli_si128::<8>(self.0)) }
    }

    #[inline(always)]
    unsafe fn shl64(self, bits: u32) -> Self {
        unsafe { Self(_mm_sll_epi64(self.0, _mm_cvtsi32_si128(bits.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn shr64(self, bits: u32) -> Self {
        unsafe { Self(_mm_srl_epi64(self.0, _mm_cvtsi32_si128(bits.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn shift_in(self, before: Self) -> Self {
        before
    }

    #[inline(always)]
    unsafe fn fold(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn first(self) -> Self {
        self
    }

    #[inline(always)]
    unsafe fn pair(_: Self, _: Self) -> Self {
        unreachable!("one block per register")
    }

    #[inline(always)]
    unsafe fn fold_rows(rows: [Self; 4]) -> Self {
        rows[0]
    }

    #[inline(always)]
    unsafe fn from_singles(singles: [Self; 4]) -> Self {
        singles[0]
    }

    #[inline(always)]
    unsafe fn from_single(single: Self) -> Self {
        single
    }
}

impl Xmm {
    #[inline(always)]
    pub(super) fn register(self) -> __m128i {
        self.0
    }

    #[inline(always)]
    pub(super) fn of(register: __m128i) -> Self {
        Self(register)
    }
}
