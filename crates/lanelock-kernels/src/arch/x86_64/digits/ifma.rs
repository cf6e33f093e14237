//! One 512-bit register: AVX-512 F, DQ and IFMA.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::arch::digits::{self, DigitLanes, MAX_LANES, Mask, Words};
use crate::arch::register::Register;
use crate::arch::x86_64::detect::Ifma as Token;
use crate::wipe::Plain;

/// Eight lanes in a 512-bit register, and the proof that there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ifma(__m512i, Token);

/// A mask register, of which eight bits are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IfmaMask(__mmask8);

// SAFETY: integers and a value of no size.
unsafe impl Plain for Ifma {}

impl Register for Ifma {
    type Proof = Token;

    #[inline(always)]
    fn proof(self) -> Token {
        self.1
    }
}

const _: () = assert!(size_of::<Ifma>() == 64);

impl DigitLanes for Ifma {
    type Mask = IfmaMask;
    type Factor = Self;

    const LANES: usize = MAX_LANES;
    const IN_REGISTERS: bool = true;
    const BY_COLUMNS: bool = false;

    #[inline(always)]
    fn splat(proof: Token, word: u64) -> Self {
        // SAFETY: the token is the proof of AVX-512 F.
        Self(unsafe { _mm512_set1_epi64(word.cast_signed()) }, proof)
    }

    #[inline(always)]
    fn load(proof: Token, words: &Words) -> Self {
        // SAFETY: the token is the proof of AVX-512 F; the array is as long as the register.
        Self(unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }, proof)
    }

    #[inline(always)]
    fn store(self, words: &mut Words) {
        // SAFETY: `self.1` is the proof of AVX-512 F; the array is as long as the register.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), self.0) };
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: `self.1` is the proof of AVX-512 F.
        Self(unsafe { _mm512_add_epi64(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_sub_epi64(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_and_si512(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_or_si512(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        const { assert!(N < 64) };
        // SAFETY: as above.
        Self(unsafe { _mm512_slli_epi64::<N>(self.0) }, self.1)
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        const { assert!(N < 64) };
        // SAFETY: as above.
        Self(unsafe { _mm512_srli_epi64::<N>(self.0) }, self.1)
    }

    #[inline(always)]
    fn shift_right_signed<const N: u32>(self) -> Self {
        const { assert!(N < 64) };
        // SAFETY: as above.
        Self(unsafe { _mm512_srai_epi64::<N>(self.0) }, self.1)
    }

    #[inline(always)]
    fn mul_add_low(self, a: Self, b: Self) -> Self {
        // SAFETY: `self.1` is the proof of IFMA.
        Self(unsafe { _mm512_madd52lo_epu64(self.0, a.0, b.0) }, self.1)
    }

    #[inline(always)]
    fn mul_add_high(self, a: Self, b: Self) -> Self {
        // SAFETY: `self.1` is the proof of IFMA.
        Self(unsafe { _mm512_madd52hi_epu64(self.0, a.0, b.0) }, self.1)
    }

    #[inline(always)]
    fn factor(self) -> Self {
        self
    }

    #[inline(always)]
    fn add_products<const BITS: u32>(low: &mut Self, high: &mut Self, a: &[Self], b: &[Self]) {
        digits::add_products::<Self, BITS>(low, high, a, b);
    }

    #[inline(always)]
    fn in_order(earlier: Self, later: Self) -> [Self; 2] {
        // SAFETY: `earlier.1` is the proof of AVX-512 F.
        unsafe { in_order(earlier.0, later.0) }.map(|register| Self(register, earlier.1))
    }

    #[inline(always)]
    fn is_zero(self) -> IfmaMask {
        // SAFETY: `self.1` is the proof of AVX-512 F.
        IfmaMask(unsafe { _mm512_testn_epi64_mask(self.0, self.0) })
    }

    #[inline(always)]
    fn is_negative(self) -> IfmaMask {
        // SAFETY: `self.1` is the proof of AVX-512 DQ.
        IfmaMask(unsafe { _mm512_movepi64_mask(self.0) })
    }

    #[inline(always)]
    fn select(mask: IfmaMask, a: Self, b: Self) -> Self {
        // SAFETY: `a.1` is the proof of AVX-512 F.
        Self(unsafe { _mm512_mask_blend_epi64(mask.0, b.0, a.0) }, a.1)
    }

    #[inline(always)]
    fn lookup(table: &[Words; 2], index: Self) -> Self {
        let proof = index.1;
        let (low, high) = (Self::load(proof, &table[0]), Self::load(proof, &table[1]));
        // SAFETY: the token is the proof of AVX-512 F.
        Self(
            unsafe { _mm512_permutex2var_epi64(low.0, index.0, high.0) },
            proof,
        )
    }

    #[inline(always)]
    fn crossed(self, distance: usize) -> Self {
        const LANE: Words = [0, 1, 2, 3, 4, 5, 6, 7];
        let distance = Self::splat(self.1, distance as u64);
        let place = Self::load(self.1, &LANE).xor(distance);
        // SAFETY: `self.1` is the proof of AVX-512 F.
        Self(unsafe { _mm512_permutexvar_epi64(place.0, self.0) }, self.1)
    }

    #[inline(always)]
    fn first(self) -> Self {
        // SAFETY: `self.1` is the proof of AVX-512 F.
        let first = unsafe { _mm512_broadcastq_epi64(_mm512_castsi512_si128(self.0)) };
        Self(first, self.1)
    }

    #[inline(always)]
    fn transpose(proof: Token, rows: [&Words; MAX_LANES]) -> [Self; MAX_LANES] {
        let mut r = [Self::zero(proof).0; MAX_LANES];
        for i in 0..MAX_LANES {
            r[i] = Self::load(proof, rows[i]).0;
        }
        // SAFETY: the token is the proof of AVX-512 F.
        unsafe {
            // Pairs of lanes, then pairs of pairs, then halves.
            let mut pairs = r;
            for i in 0..MAX_LANES / 2 {
                pairs[2 * i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
                pairs[2 * i + 1] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
            }
            let mut columns = [Self(r[0], proof); MAX_LANES];
            for odd in 0..2 {
                let (a, b) = (pairs[odd], pairs[odd + 2]);
                let (c, d) = (pairs[odd + 4], pairs[odd + 6]);
                // 128-bit parts 0 and 2, and 1 and 3, of two registers.
                let (ab_even, ab_odd) = (
                    _mm512_shuffle_i64x2::<0x88>(a, b),
                    _mm512_shuffle_i64x2::<0xdd>(a, b),
                );
                let (cd_even, cd_odd) = (
                    _mm512_shuffle_i64x2::<0x88>(c, d),
                    _mm512_shuffle_i64x2::<0xdd>(c, d),
                );
                columns[odd].0 = _mm512_shuffle_i64x2::<0x88>(ab_even, cd_even);
                columns[odd + 2].0 = _mm512_shuffle_i64x2::<0x88>(ab_odd, cd_odd);
                columns[odd + 4].0 = _mm512_shuffle_i64x2::<0xdd>(ab_even, cd_even);
                columns[odd + 6].0 = _mm512_shuffle_i64x2::<0xdd>(ab_odd, cd_odd);
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn load_pairs(proof: Token, at: *const *const u8, offset: usize) -> (Self, Self) {
        // SAFETY: the token is the proof of AVX-512; the pointers are the caller's.
        let (low, high) = unsafe { load_pairs(at, offset) };
        (Self(low, proof), Self(high, proof))
    }

    #[inline(always)]
    unsafe fn load_blocks(proof: Token, at: *const u8, first: usize) -> (Self, Self) {
        const LOW: Words = [0, 2, 4, 6, 8, 10, 12, 14];
        const HIGH: Words = [1, 3, 5, 7, 9, 11, 13, 15];
        let words = 0xffff_u16 << (2 * first);
        let [lower, upper] = words.to_le_bytes();
        let (low, high) = (Self::load(proof, &LOW), Self::load(proof, &HIGH));
        // SAFETY: the token is the proof of AVX-512 F; masked loads read only what their mask has, which
        // is what the caller promises.
        unsafe {
            let at = at.cast::<i64>();
            let a = _mm512_maskz_loadu_epi64(lower, at);
            let b = _mm512_maskz_loadu_epi64(upper, at.wrapping_add(MAX_LANES));
            (
                Self(_mm512_permutex2var_epi64(a, low.0, b), proof),
                Self(_mm512_permutex2var_epi64(a, high.0, b), proof),
            )
        }
    }

    #[inline(always)]
    fn sum(self) -> u64 {
        // SAFETY: `self.1` is the proof of AVX-512 F.
        unsafe { _mm512_reduce_add_epi64(self.0) }.cast_unsigned()
    }

    #[inline(always)]
    fn mask(_: Token, bits: u8) -> IfmaMask {
        IfmaMask(bits)
    }
}

impl Mask for IfmaMask {
    #[inline(always)]
    fn bits(self) -> u8 {
        self.0
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// See [`DigitLanes::in_order`]: to the compiler, each of the results needs both operands.
///
/// # Safety
/// The CPU has AVX-512 F.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn in_order(mut earlier: __m512i, mut later: __m512i) -> [__m512i; 2] {
    // SAFETY: there is no instruction in it.
    unsafe {
        asm!(
            "/* {} {} */",
            inout(zmm_reg) earlier,
            inout(zmm_reg) later,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    [earlier, later]
}

/// Two words of eight lanes.
///
/// # Safety
/// The CPU has AVX-512 F; `at` is valid for 8 pointers, each plus `offset` for 16 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(in crate::arch::x86_64) unsafe fn load_pairs(
    at: *const *const u8,
    offset: usize,
) -> (__m512i, __m512i) {
    macro_rules! four {
        ($a:literal $b:literal $c:literal $d:literal) => {{
            // SAFETY: four of the caller's eight pointers.
            unsafe {
                let x = |lane: usize| {
                    _mm_loadu_si128(at.add(lane).read().add(offset).cast::<__m128i>())
                };
                let four = _mm512_castsi128_si512(x($a));
                let four = _mm512_inserti32x4::<1>(four, x($b));
                let four = _mm512_inserti32x4::<2>(four, x($c));
                _mm512_inserti32x4::<3>(four, x($d))
            }
        }};
    }
    let (even, odd) = (four!(0 2 4 6), four!(1 3 5 7));
    (
        _mm512_unpacklo_epi64(even, odd),
        _mm512_unpackhi_epi64(even, odd),
    )
}
