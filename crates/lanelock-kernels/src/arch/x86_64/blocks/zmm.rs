//! Four blocks per register: AVX-512 with VAES and VPCLMULQDQ.

use core::arch::x86_64::*;

use super::Xmm;
use crate::arch::blocks::Vector;
use crate::arch::register::Register;
use crate::arch::x86_64::detect::{AesNi, Avx512};
use crate::arrays::each;

/// A register of 512 bits, and the proof of its instructions; a product of blocks takes `PRODUCTS`
/// multiplications, and GHASH's polynomials are `MIRRORED` or not.
#[derive(Clone, Copy)]
pub(crate) struct Zmm<const PRODUCTS: usize = 3, const MIRRORED: bool = true>(__m512i, Avx512);

const _: () = assert!(size_of::<Zmm>() == 64);

impl<const PRODUCTS: usize, const MIRRORED: bool> Register for Zmm<PRODUCTS, MIRRORED> {
    type Proof = Avx512;

    #[inline(always)]
    fn proof(self) -> Avx512 {
        self.1
    }
}

impl<const PRODUCTS: usize, const MIRRORED: bool> Vector for Zmm<PRODUCTS, MIRRORED> {
    const BLOCKS: usize = 4;
    const MASKS: bool = true;
    const PRODUCTS: usize = PRODUCTS;
    const MIRRORED: bool = MIRRORED;
    type Single = Xmm<MIRRORED>;

    #[inline(always)]
    fn single(proof: Avx512) -> AesNi {
        proof.aesni()
    }

    #[inline(always)]
    fn zero(proof: Avx512) -> Self {
        // SAFETY: the token is the proof of AVX-512 F.
        Self(unsafe { _mm512_setzero_si512() }, proof)
    }

    #[inline(always)]
    fn splat(proof: Avx512, block: u128) -> Self {
        // SAFETY: a block is read.
        unsafe { Self::broadcast(proof, block.to_le_bytes().as_ptr()) }
    }

    #[inline(always)]
    fn ramp(proof: Avx512) -> Self {
        // SAFETY: the token is the proof of AVX-512 F.
        Self(unsafe { _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0) }, proof)
    }

    #[inline(always)]
    unsafe fn load(proof: Avx512, from: *const u8) -> Self {
        // SAFETY: the caller's 64 bytes.
        Self(unsafe { _mm512_loadu_si512(from.cast()) }, proof)
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller's 64 bytes.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_bytes(proof: Avx512, from: *const u8, bytes: usize) -> Self {
        let mask = first_bytes(proof, bytes);
        // SAFETY: the token is the proof of AVX-512 BW; the mask is of the caller's bytes.
        Self(unsafe { _mm512_maskz_loadu_epi8(mask, from.cast()) }, proof)
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8, bytes: usize) {
        let mask = first_bytes(self.1, bytes);
        // SAFETY: `self.1` is the proof of AVX-512 BW; the mask is of the caller's bytes.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), mask, self.0) }
    }

    #[inline(always)]
    unsafe fn keep_bytes(self, bytes: usize) -> Self {
        let mask = first_bytes(self.1, bytes);
        // SAFETY: `self.1` is the proof of AVX-512 BW.
        Self(unsafe { _mm512_maskz_mov_epi8(mask, self.0) }, self.1)
    }

    #[inline(always)]
    unsafe fn broadcast(proof: Avx512, from: *const u8) -> Self {
        // SAFETY: the token is the proof of AVX-512 F; the caller's 16 bytes.
        let register = unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(from.cast())) };
        Self(register, proof)
    }

    #[inline(always)]
    unsafe fn gather(proof: Avx512, from: *const *mut u8) -> Self {
        let single = Self::single(proof);
        // SAFETY: the caller's four pointers, each to 16 bytes.
        unsafe {
            let at = |i| Self::Single::load(single, *from.add(i));
            Self::from_singles(proof, [at(0), at(1), at(2), at(3)])
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *const *mut u8) {
        let single = Self::single(self.1);
        // SAFETY: `self.1` is the proof of AVX-512 DQ; the caller's four pointers, each to 16 bytes.
        unsafe {
            self.first().store(*to);
            let block = |block| Self::Single::of(single, block);
            block(_mm512_extracti64x2_epi64::<1>(self.0)).store(*to.add(1));
            block(_mm512_extracti64x2_epi64::<2>(self.0)).store(*to.add(2));
            block(_mm512_extracti64x2_epi64::<3>(self.0)).store(*to.add(3));
        }
    }

    #[inline(always)]
    unsafe fn load_lines(
        proof: Avx512,
        from: *const *const u8,
        offset: usize,
        blocks: usize,
    ) -> [Self; 4] {
        // SAFETY: the caller's `blocks` blocks behind each of four pointers.
        unsafe {
            let mut lines = [Self::zero(proof); 4];
            for (i, line) in lines.iter_mut().enumerate() {
                let lane = (*from.add(i)).add(offset);
                *line = if blocks == 4 {
                    Self::load(proof, lane)
                } else {
                    Self::load_bytes(proof, lane, 16 * blocks)
                };
            }
            transpose(lines)
        }
    }

    #[inline(always)]
    unsafe fn store_lines(lines: [Self; 4], to: *const *mut u8, offset: usize, blocks: usize) {
        // SAFETY: as for `load_lines`.
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
    fn pin<const G: usize>(registers: &mut [Self; G]) {
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn here(register: &mut __m512i) {
            // SAFETY: no instruction is emitted; the register keeps its value.
            unsafe {
                core::arch::asm!(
                    "/* {0} */",
                    inout(zmm_reg) * register,
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
    fn forget(_: Avx512) {
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn zero_upper() {
            macro_rules! zero {
                ($($register:tt)*) => {
                    // SAFETY: registers that are said to be overwritten.
                    unsafe {
                        core::arch::asm!(
                            $(concat!("vpxord ", $register, ", ", $register, ", ", $register),)*
                            $(out($register) _,)*
                            options(nostack, preserves_flags)
                        );
                    }
                };
            }
            zero!("zmm16" "zmm17" "zmm18" "zmm19" "zmm20" "zmm21" "zmm22" "zmm23" "zmm24" "zmm25" "zmm26"
                "zmm27" "zmm28" "zmm29" "zmm30" "zmm31");
        }
        // SAFETY: the proof.
        unsafe { zero_upper() }
    }

    operations! {
        xor = |a, b| _mm512_xor_si512(a, b);
        // The compiler makes one instruction of three, and sees a sum of more.
        xor3 = |a, b, c| _mm512_xor_si512(a, _mm512_xor_si512(b, c));
        and = |a, b| _mm512_and_si512(a, b);
        aes_enc = |a, key| _mm512_aesenc_epi128(a, key);
        aes_enc_last = |a, key| _mm512_aesenclast_epi128(a, key);
        aes_dec = |a, key| _mm512_aesdec_epi128(a, key);
        aes_dec_last = |a, key| _mm512_aesdeclast_epi128(a, key);
        reverse = |a| {
            let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(order))
        };
        add32 = |a, b| _mm512_add_epi32(a, b);
        add64 = |a, b| _mm512_add_epi64(a, b);
        swap_halves = |a| _mm512_shuffle_epi32::<0x4e>(a);
        low_to_high = |a| _mm512_bslli_epi128::<8>(a);
        high_to_low = |a| _mm512_bsrli_epi128::<8>(a);
        words_up = |a| _mm512_bslli_epi128::<4>(a);
        bytes_up = |a| _mm512_bslli_epi128::<1>(a);
        last_byte = |a| _mm512_bsrli_epi128::<15>(a);
        last_word = |a| _mm512_shuffle_epi32::<0xff>(a);
        last_word_rotated = |a| {
            let order = _mm_set1_epi32(0x0c0f_0e0d);
            _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(order))
        };
    }

    #[inline(always)]
    fn coefficients(self) -> Self {
        if const { MIRRORED } {
            return self.reverse();
        }
        // The bits of each byte from the last to the first. Not where bytes are moved, and products made.
        const MIRROR: i64 = 0x8040_2010_0804_0201_u64.cast_signed();
        // SAFETY: `self.1` is the proof of GFNI.
        let mirrored =
            unsafe { _mm512_gf2p8affine_epi64_epi8::<0>(self.0, _mm512_set1_epi64(MIRROR)) };
        Self(mirrored, self.1)
    }

    #[inline(always)]
    fn clmul<const HALVES: i32>(self, other: Self) -> Self {
        // SAFETY: `self.1` is the proof of VPCLMULQDQ.
        let result = unsafe { _mm512_clmulepi64_epi128::<HALVES>(self.0, other.0) };
        Self(result, self.1)
    }

    #[inline(always)]
    fn shl64(self, bits: u32) -> Self {
        // SAFETY: `self.1` is the proof of AVX-512 F.
        let shifted = unsafe { _mm512_sll_epi64(self.0, _mm_cvtsi32_si128(bits.cast_signed())) };
        Self(shifted, self.1)
    }

    #[inline(always)]
    fn shr64(self, bits: u32) -> Self {
        // SAFETY: `self.1` is the proof of AVX-512 F.
        let shifted = unsafe { _mm512_srl_epi64(self.0, _mm_cvtsi32_si128(bits.cast_signed())) };
        Self(shifted, self.1)
    }

    #[inline(always)]
    fn shift_in(self, before: Self) -> Self {
        // SAFETY: `self.1` is the proof of AVX-512 F.
        let result = unsafe { _mm512_alignr_epi64::<6>(self.0, before.0) };
        Self(result, self.1)
    }

    #[inline(always)]
    fn fold(self) -> Xmm<MIRRORED> {
        // SAFETY: as above.
        let folded = unsafe {
            let high = _mm512_extracti64x4_epi64::<1>(self.0);
            let half = _mm256_xor_si256(_mm512_castsi512_si256(self.0), high);
            let high = _mm256_extracti128_si256::<1>(half);
            _mm_xor_si128(_mm256_castsi256_si128(half), high)
        };
        Xmm::of(Self::single(self.1), folded)
    }

    #[inline(always)]
    fn first(self) -> Xmm<MIRRORED> {
        // SAFETY: as above.
        let first = unsafe { _mm512_castsi512_si128(self.0) };
        Xmm::of(Self::single(self.1), first)
    }

    #[inline(always)]
    fn pair(proof: Avx512, a: Xmm<MIRRORED>, b: Xmm<MIRRORED>) -> Self {
        // SAFETY: the token is the proof of AVX-512 F.
        let pair = unsafe { _mm512_zextsi256_si512(_mm256_set_m128i(b.register(), a.register())) };
        Self(pair, proof)
    }

    #[inline(always)]
    fn fold_rows(rows: [Self; 4]) -> Self {
        let [a, b, c, d] = rows;
        // SAFETY: `a.1` is the proof of AVX-512 F.
        let folded = unsafe {
            let halves = |a: Self, b: Self| {
                _mm512_xor_si512(
                    _mm512_shuffle_i64x2::<0x44>(a.0, b.0),
                    _mm512_shuffle_i64x2::<0xee>(a.0, b.0),
                )
            };
            let (ab, cd) = (halves(a, b), halves(c, d));
            _mm512_xor_si512(
                _mm512_shuffle_i64x2::<0x88>(ab, cd),
                _mm512_shuffle_i64x2::<0xdd>(ab, cd),
            )
        };
        Self(folded, a.1)
    }

    #[inline(always)]
    fn from_singles(proof: Avx512, singles: [Xmm<MIRRORED>; 4]) -> Self {
        let [a, b, c, d] = singles;
        let (low, high) = (Self::pair(proof, a, b).0, Self::pair(proof, c, d).0);
        // SAFETY: the token is the proof of AVX-512 F.
        let joined = unsafe { _mm512_inserti64x4::<1>(low, _mm512_castsi512_si256(high)) };
        Self(joined, proof)
    }

    #[inline(always)]
    fn from_single(proof: Avx512, single: Xmm<MIRRORED>) -> Self {
        // SAFETY: the token is the proof of AVX-512 F.
        Self(unsafe { _mm512_zextsi128_si512(single.register()) }, proof)
    }
}

/// The mask of the first `bytes` bytes of a register.
#[inline(always)]
fn first_bytes(_: Avx512, bytes: usize) -> u64 {
    debug_assert!(bytes <= 64);
    #[expect(clippy::cast_possible_truncation)]
    let bytes = bytes as u32;
    // SAFETY: the token is the proof of BMI2.
    unsafe { _bzhi_u64(u64::MAX, bytes) }
}

/// Exchanges block `j` of register `i` with block `i` of register `j`.
#[inline(always)]
fn transpose<const PRODUCTS: usize, const MIRRORED: bool>(
    rows: [Zmm<PRODUCTS, MIRRORED>; 4],
) -> [Zmm<PRODUCTS, MIRRORED>; 4] {
    let [a, b, c, d] = rows;
    let proof = a.1;
    // SAFETY: `proof` is that of AVX-512 F.
    unsafe {
        let ab_low = _mm512_shuffle_i64x2::<0x44>(a.0, b.0);
        let ab_high = _mm512_shuffle_i64x2::<0xee>(a.0, b.0);
        let cd_low = _mm512_shuffle_i64x2::<0x44>(c.0, d.0);
        let cd_high = _mm512_shuffle_i64x2::<0xee>(c.0, d.0);
        [
            Zmm(_mm512_shuffle_i64x2::<0x88>(ab_low, cd_low), proof),
            Zmm(_mm512_shuffle_i64x2::<0xdd>(ab_low, cd_low), proof),
            Zmm(_mm512_shuffle_i64x2::<0x88>(ab_high, cd_high), proof),
            Zmm(_mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high), proof),
        ]
    }
}
