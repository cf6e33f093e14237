//! Two blocks per register: VAES and VPCLMULQDQ under AVX2.

use core::arch::x86_64::*;

use super::{Xmm, unknown};
use crate::arch::blocks::Vector;
use crate::arch::register::Register;
use crate::arch::x86_64::detect::{AesNi, Vaes256};
use crate::arrays::each;

/// A register of 256 bits, and the proof of its instructions.
#[derive(Clone, Copy)]
pub(crate) struct Ymm(__m256i, Vaes256);

const _: () = assert!(size_of::<Ymm>() == 32);

impl Register for Ymm {
    type Proof = Vaes256;

    #[inline(always)]
    fn proof(self) -> Vaes256 {
        self.1
    }
}

impl Vector for Ymm {
    const BLOCKS: usize = 2;
    const REGISTERS: usize = 16;
    type Single = Xmm;

    #[inline(always)]
    fn single(proof: Vaes256) -> AesNi {
        proof.avx2().aesni()
    }

    #[inline(always)]
    fn zero(proof: Vaes256) -> Self {
        // SAFETY: the token is the proof of AVX2.
        Self(unsafe { _mm256_setzero_si256() }, proof)
    }

    #[inline(always)]
    fn splat(proof: Vaes256, block: u128) -> Self {
        // SAFETY: a block is read.
        unsafe { Self::broadcast(proof, block.to_le_bytes().as_ptr()) }
    }

    #[inline(always)]
    fn ramp(proof: Vaes256) -> Self {
        // SAFETY: the token is the proof of AVX2.
        Self(unsafe { _mm256_set_epi64x(0, 1, 0, 0) }, proof)
    }

    #[inline(always)]
    unsafe fn load(proof: Vaes256, from: *const u8) -> Self {
        // SAFETY: the caller's 32 bytes.
        Self(unsafe { _mm256_loadu_si256(from.cast()) }, proof)
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's 32 bytes.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_bytes(proof: Vaes256, from: *const u8, bytes: usize) -> Self {
        let single = Self::single(proof);
        // SAFETY: the caller's bytes, 32 at most.
        unsafe {
            if bytes <= 16 {
                return Self::from_single(proof, Xmm::load_bytes(single, from, bytes));
            }
            let rest = Xmm::load_bytes(single, from.add(16), bytes - 16);
            Self::pair(proof, Xmm::load(single, from), rest)
        }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's bytes, 32 at most.
        unsafe {
            if bytes <= 16 {
                return self.first().store_bytes(to, bytes);
            }
            self.first().store(to);
            self.second().store_bytes(to.add(16), bytes - 16);
        }
    }

    #[inline(always)]
    unsafe fn keep_bytes(self, bytes: usize) -> Self {
        // SAFETY: the caller's promise: 32 bytes at most.
        unsafe {
            if bytes <= 16 {
                return Self::from_single(self.1, self.first().keep_bytes(bytes));
            }
            Self::pair(self.1, self.first(), self.second().keep_bytes(bytes - 16))
        }
    }

    #[inline(always)]
    unsafe fn broadcast(proof: Vaes256, from: *const u8) -> Self {
        // SAFETY: the caller's 16 bytes.
        let register = unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast())) };
        Self(register, proof)
    }

    #[inline(always)]
    unsafe fn gather(proof: Vaes256, from: *const *mut u8) -> Self {
        let single = Self::single(proof);
        // SAFETY: the caller's two pointers, each to 16 bytes.
        let (a, b) = unsafe { (Xmm::load(single, *from), Xmm::load(single, *from.add(1))) };
        Self::pair(proof, a, b)
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *const *mut u8) {
        // SAFETY: the caller's two pointers, each to 16 bytes.
        unsafe {
            self.first().store(*to);
            self.second().store(*to.add(1));
        }
    }

    #[inline(always)]
    unsafe fn load_lines(
        proof: Vaes256,
        from: *const *const u8,
        offset: usize,
        blocks: usize,
    ) -> [Self; 4] {
        // SAFETY: the token is the proof of AVX2; the caller's `blocks` blocks behind both pointers.
        unsafe {
            let a = (*from).add(offset);
            let b = (*from.add(1)).add(offset);
            let mut lines = [Self::zero(proof); 4];
            if blocks == 4 {
                for j in [0, 2] {
                    let pair_a = Self::load(proof, a.add(16 * j)).0;
                    let pair_b = Self::load(proof, b.add(16 * j)).0;
                    lines[j] = Self(_mm256_permute2x128_si256::<0x20>(pair_a, pair_b), proof);
                    lines[j + 1] = Self(_mm256_permute2x128_si256::<0x31>(pair_a, pair_b), proof);
                }
            } else {
                for j in 0..3 {
                    if j < blocks {
                        let (a, b) = (a.add(16 * j).cast(), b.add(16 * j).cast());
                        lines[j] = Self(_mm256_loadu2_m128i(b, a), proof);
                    }
                }
            }
            lines
        }
    }

    #[inline(always)]
    unsafe fn store_lines(lines: [Self; 4], to: *const *mut u8, offset: usize, blocks: usize) {
        // SAFETY: the lines are the proof of AVX2; the caller's `blocks` blocks behind both pointers.
        unsafe {
            let a = (*to).add(offset);
            let b = (*to.add(1)).add(offset);
            if blocks == 4 {
                for j in [0, 2] {
                    let (even, odd) = (lines[j].0, lines[j + 1].0);
                    let low = _mm256_permute2x128_si256::<0x20>(even, odd);
                    _mm256_storeu_si256(a.add(16 * j).cast(), low);
                    let high = _mm256_permute2x128_si256::<0x31>(even, odd);
                    _mm256_storeu_si256(b.add(16 * j).cast(), high);
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
    fn pin<const G: usize>(registers: &mut [Self; G]) {
        #[inline]
        #[target_feature(enable = "avx")]
        fn here(register: &mut __m256i) {
            // SAFETY: no instruction is emitted; the register keeps its value.
            unsafe {
                core::arch::asm!(
                    "/* {0} */",
                    inout(ymm_reg) * register,
                    options(nostack, preserves_flags)
                );
            }
        }
        each!(G, |I| {
            // SAFETY: the register is the proof of its instructions.
            unsafe { here(&mut registers[I].0) }
        });
    }

    #[inline(always)]
    fn in_place(keys: *const u8) -> *const u8 {
        unknown(keys)
    }

    operations! {
        xor = |a, b| _mm256_xor_si256(a, b);
        xor3 = |a, b, c| _mm256_xor_si256(a, _mm256_xor_si256(b, c));
        and = |a, b| _mm256_and_si256(a, b);
        aes_enc = |a, key| _mm256_aesenc_epi128(a, key);
        aes_enc_last = |a, key| _mm256_aesenclast_epi128(a, key);
        aes_dec = |a, key| _mm256_aesdec_epi128(a, key);
        aes_dec_last = |a, key| _mm256_aesdeclast_epi128(a, key);
        reverse = |a| {
            let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(order))
        };
        add32 = |a, b| _mm256_add_epi32(a, b);
        add64 = |a, b| _mm256_add_epi64(a, b);
        swap_halves = |a| _mm256_shuffle_epi32::<0x4e>(a);
        low_to_high = |a| _mm256_bslli_epi128::<8>(a);
        high_to_low = |a| _mm256_bsrli_epi128::<8>(a);
        words_up = |a| _mm256_bslli_epi128::<4>(a);
        bytes_up = |a| _mm256_bslli_epi128::<1>(a);
        last_byte = |a| _mm256_bsrli_epi128::<15>(a);
        last_word = |a| _mm256_shuffle_epi32::<0xff>(a);
        last_word_rotated = |a| {
            let order = _mm_set1_epi32(0x0c0f_0e0d);
            _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(order))
        };
    }

    #[inline(always)]
    fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        // SAFETY: `self.1` is the proof of VPCLMULQDQ.
        let result = unsafe { _mm256_clmulepi64_epi128::<HALVES>(self.0, other.0) };
        Self(result, self.1)
    }

    #[inline(always)]
    fn shl64(self, bits: u32) -> Self {
        // SAFETY: `self.1` is the proof of AVX2.
        let shifted = unsafe { _mm256_sll_epi64(self.0, _mm_cvtsi32_si128(bits.cast_signed())) };
        Self(shifted, self.1)
    }

    #[inline(always)]
    fn shr64(self, bits: u32) -> Self {
        // SAFETY: `self.1` is the proof of AVX2.
        let shifted = unsafe { _mm256_srl_epi64(self.0, _mm_cvtsi32_si128(bits.cast_signed())) };
        Self(shifted, self.1)
    }

    #[inline(always)]
    fn shift_in(self, before: Self) -> Self {
        // SAFETY: `self.1` is the proof of AVX2.
        let shifted = unsafe { _mm256_permute2x128_si256::<0x21>(before.0, self.0) };
        Self(shifted, self.1)
    }

    #[inline(always)]
    fn fold(self) -> Xmm {
        // SAFETY: as above.
        let folded = unsafe {
            let high = _mm256_extracti128_si256::<1>(self.0);
            _mm_xor_si128(_mm256_castsi256_si128(self.0), high)
        };
        Xmm::of(Self::single(self.1), folded)
    }

    #[inline(always)]
    fn first(self) -> Xmm {
        // SAFETY: as above.
        let first = unsafe { _mm256_castsi256_si128(self.0) };
        Xmm::of(Self::single(self.1), first)
    }

    #[inline(always)]
    fn pair(proof: Vaes256, a: Xmm, b: Xmm) -> Self {
        // SAFETY: the token is the proof of AVX2.
        let result = unsafe { _mm256_set_m128i(b.register(), a.register()) };
        Self(result, proof)
    }

    #[inline(always)]
    fn fold_rows(rows: [Self; 4]) -> Self {
        let [a, b, ..] = rows;
        // SAFETY: `a.1` is the proof of AVX2.
        let folded = unsafe {
            _mm256_xor_si256(
                _mm256_permute2x128_si256::<0x20>(a.0, b.0),
                _mm256_permute2x128_si256::<0x31>(a.0, b.0),
            )
        };
        Self(folded, a.1)
    }

    #[inline(always)]
    fn from_singles(proof: Vaes256, singles: [Xmm; 4]) -> Self {
        Self::pair(proof, singles[0], singles[1])
    }

    #[inline(always)]
    fn from_single(proof: Vaes256, single: Xmm) -> Self {
        // SAFETY: the token is the proof of AVX2.
        Self(unsafe { _mm256_zextsi128_si256(single.register()) }, proof)
    }
}

impl Ymm {
    /// Block 1.
    #[inline(always)]
    fn second(self) -> Xmm {
        // SAFETY: `self.1` is the proof of AVX2.
        let second = unsafe { _mm256_extracti128_si256::<1>(self.0) };
        Xmm::of(Self::single(self.1), second)
    }
}
