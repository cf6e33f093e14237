//! One block per register: AES-NI and PCLMULQDQ.

use core::arch::x86_64::*;

use crate::arch::blocks::Vector;
use crate::arch::register::Register;
use crate::arch::x86_64::detect::AesNi;

/// A register of 128 bits, and the proof of its instructions.
#[derive(Clone, Copy)]
pub(crate) struct Xmm(__m128i, AesNi);

const _: () = assert!(size_of::<Xmm>() == 16);

impl Register for Xmm {
    type Proof = AesNi;

    #[inline(always)]
    fn proof(self) -> AesNi {
        self.1
    }
}

impl Vector for Xmm {
    const BLOCKS: usize = 1;
    type Single = Self;

    #[inline(always)]
    fn single(proof: AesNi) -> AesNi {
        proof
    }

    #[inline(always)]
    fn zero(proof: AesNi) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_setzero_si128() }, proof)
    }

    #[inline(always)]
    fn splat(proof: AesNi, block: u128) -> Self {
        // SAFETY: a block is read.
        unsafe { Self::load(proof, block.to_le_bytes().as_ptr()) }
    }

    #[inline(always)]
    fn ramp(proof: AesNi) -> Self {
        Self::zero(proof)
    }

    #[inline(always)]
    unsafe fn load(proof: AesNi, from: *const u8) -> Self {
        // SAFETY: the caller's 16 bytes.
        Self(unsafe { _mm_loadu_si128(from.cast()) }, proof)
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's 16 bytes.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_bytes(proof: AesNi, from: *const u8, bytes: usize) -> Self {
        let mut padded = [0_u8; 16];
        // SAFETY: the caller's bytes, 16 at most.
        unsafe {
            from.copy_to_nonoverlapping(padded.as_mut_ptr(), bytes);
            Self::load(proof, padded.as_ptr())
        }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, bytes: usize) {
        let mut padded = [0_u8; 16];
        // SAFETY: the caller's bytes, 16 at most.
        unsafe {
            self.store(padded.as_mut_ptr());
            to.copy_from_nonoverlapping(padded.as_ptr(), bytes);
        }
    }

    #[inline(always)]
    unsafe fn keep_bytes(self, bytes: usize) -> Self {
        let mut padded = [0_u8; 16];
        // SAFETY: the caller's promise: 16 bytes at most.
        unsafe {
            self.store_bytes(padded.as_mut_ptr(), bytes);
            Self::load(self.1, padded.as_ptr())
        }
    }

    #[inline(always)]
    unsafe fn broadcast(proof: AesNi, from: *const u8) -> Self {
        // SAFETY: the caller's 16 bytes.
        unsafe { Self::load(proof, from) }
    }

    #[inline(always)]
    unsafe fn gather(proof: AesNi, from: *const *mut u8) -> Self {
        // SAFETY: the caller's one pointer, to 16 bytes.
        unsafe { Self::load(proof, *from) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *const *mut u8) {
        // SAFETY: the caller's one pointer, to 16 bytes.
        unsafe { self.store(*to) }
    }

    #[inline(always)]
    unsafe fn load_lines(
        proof: AesNi,
        from: *const *const u8,
        offset: usize,
        blocks: usize,
    ) -> [Self; 4] {
        let mut lines = [Self::zero(proof); 4];
        // SAFETY: the caller's `blocks` blocks behind the one pointer.
        unsafe {
            let line = (*from).add(offset);
            for j in 0..4 {
                if j < blocks {
                    lines[j] = Self::load(proof, line.add(16 * j));
                }
            }
        }
        lines
    }

    #[inline(always)]
    unsafe fn store_lines(lines: [Self; 4], to: *const *mut u8, offset: usize, blocks: usize) {
        // SAFETY: the caller's `blocks` blocks behind the one pointer.
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
        for register in registers {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { here(&mut register.0) }
        }
    }

    operations! {
        xor = |a, b| _mm_xor_si128(a, b);
        xor3 = |a, b, c| _mm_xor_si128(a, _mm_xor_si128(b, c));
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
    }

    #[inline(always)]
    fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        // SAFETY: `self.1` is the proof of PCLMULQDQ.
        let result = unsafe { _mm_clmulepi64_si128::<HALVES>(self.0, other.0) };
        Self(result, self.1)
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

    #[inline(always)]
    fn shift_in(self, before: Self) -> Self {
        before
    }

    #[inline(always)]
    fn fold(self) -> Self {
        self
    }

    #[inline(always)]
    fn first(self) -> Self {
        self
    }

    #[inline(always)]
    fn pair(_: AesNi, _: Self, _: Self) -> Self {
        unreachable!("one block per register")
    }

    #[inline(always)]
    fn fold_rows(rows: [Self; 4]) -> Self {
        rows[0]
    }

    #[inline(always)]
    fn from_singles(_: AesNi, singles: [Self; 4]) -> Self {
        singles[0]
    }

    #[inline(always)]
    fn from_single(_: AesNi, single: Self) -> Self {
        single
    }
}

impl Xmm {
    #[inline(always)]
    pub(super) fn register(self) -> __m128i {
        self.0
    }

    #[inline(always)]
    pub(super) fn of(proof: AesNi, register: __m128i) -> Self {
        Self(register, proof)
    }
}
