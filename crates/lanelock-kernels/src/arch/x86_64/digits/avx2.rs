//! What registers of 256 bits have in common, whatever they multiply by: AVX2.
//!
//! One register, not two for eight lanes: of the sixteen that there are, a number of a curve takes five
//! or eight.

use core::arch::x86_64::*;

use crate::arch::digits::{DigitLanes, MAX_LANES, Mask, Words};
use crate::arch::register::{Proof, Register};
use crate::arch::x86_64::detect::Avx2;
use crate::arch::x86_64::words::transpose_four;
use crate::wipe::Plain;

/// Instructions that multiply digits of 256-bit registers: the rest of [`DigitLanes`], whose methods
/// these are.
pub(crate) trait Multiply: Proof {
    /// See [`DigitLanes::Factor`].
    type Factor: Plain;

    /// See [`DigitLanes::BY_COLUMNS`].
    const BY_COLUMNS: bool;

    /// The narrower proof that this one contains.
    fn avx2(self) -> Avx2;

    /// See [`DigitLanes::mul_add_low`].
    fn mul_add_low(sum: Quad<Self>, a: Quad<Self>, b: Quad<Self>) -> Quad<Self>;
    /// See [`DigitLanes::mul_add_high`].
    fn mul_add_high(sum: Quad<Self>, a: Quad<Self>, b: Quad<Self>) -> Quad<Self>;

    /// See [`DigitLanes::factor`].
    fn factor(digit: Quad<Self>) -> Self::Factor;

    /// See [`DigitLanes::add_products`].
    fn add_products<const BITS: u32>(
        low: &mut Quad<Self>,
        high: &mut Quad<Self>,
        a: &[Self::Factor],
        b: &[Self::Factor],
    );
    /// See [`DigitLanes::add_two_columns`].
    fn add_two_columns(sums: &mut [Quad<Self>; 3], a: &[Self::Factor], b: &[Self::Factor]);
    /// See [`DigitLanes::low_product`].
    fn low_product(self, a: Self::Factor, b: Self::Factor) -> Self::Factor;

    /// See [`DigitLanes::in_order`].
    #[inline(always)]
    fn in_order(earlier: Quad<Self>, later: Quad<Self>) -> [Quad<Self>; 2] {
        [earlier, later]
    }
}

/// Lanes of a register.
const LANES: usize = 4;

/// Four lanes in a 256-bit register, and the proof that there are such.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quad<P>(pub(super) __m256i, pub(super) P);

/// All ones in the lanes that are chosen, zero in the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuadMask(__m256i, Avx2);

// SAFETY: integers and a value of no size.
unsafe impl<P: Multiply> Plain for Quad<P> {}

impl<P: Multiply> Register for Quad<P> {
    type Proof = P;

    #[inline(always)]
    fn proof(self) -> P {
        self.1
    }
}

/// Intrinsics whose operands are the proof of AVX2. It is no closure: those are compiled without the
/// instructions before they are inlined, if they are at all.
macro_rules! avx2 {
    ($result:expr) => {{
        // SAFETY: whoever has a value or a token has AVX2.
        unsafe { $result }
    }};
}
pub(super) use avx2;

impl<P: Multiply> DigitLanes for Quad<P> {
    type Mask = QuadMask;
    type Factor = P::Factor;

    const LANES: usize = LANES;
    const IN_REGISTERS: bool = true;
    const BY_COLUMNS: bool = P::BY_COLUMNS;

    #[inline(always)]
    fn splat(proof: P, word: u64) -> Self {
        Self(avx2!(_mm256_set1_epi64x(word.cast_signed())), proof)
    }

    #[inline(always)]
    fn load(proof: P, words: &Words) -> Self {
        // The array is longer than a register.
        Self(avx2!(_mm256_loadu_si256(words.as_ptr().cast())), proof)
    }

    #[inline(always)]
    fn store(self, words: &mut Words) {
        avx2!(_mm256_storeu_si256(words.as_mut_ptr().cast(), self.0));
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(avx2!(_mm256_add_epi64(self.0, other.0)), self.1)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(avx2!(_mm256_sub_epi64(self.0, other.0)), self.1)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(avx2!(_mm256_and_si256(self.0, other.0)), self.1)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(avx2!(_mm256_or_si256(self.0, other.0)), self.1)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(avx2!(_mm256_xor_si256(self.0, other.0)), self.1)
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        const { assert!(N < 64) };
        let count = avx2!(_mm_set_epi64x(0, N.into()));
        Self(avx2!(_mm256_sll_epi64(self.0, count)), self.1)
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        const { assert!(N < 64) };
        let count = avx2!(_mm_set_epi64x(0, N.into()));
        Self(avx2!(_mm256_srl_epi64(self.0, count)), self.1)
    }

    #[inline(always)]
    fn shift_right_signed<const N: u32>(self) -> Self {
        // With 2⁶³ added, it is not negative.
        let biased = self.xor(Self::splat(self.1, 1 << 63));
        let bias = Self::splat(self.1, 1 << (63 - N));
        biased.shift_right::<N>().sub(bias)
    }

    #[inline(always)]
    fn mul_add_low(self, a: Self, b: Self) -> Self {
        P::mul_add_low(self, a, b)
    }

    #[inline(always)]
    fn mul_add_high(self, a: Self, b: Self) -> Self {
        P::mul_add_high(self, a, b)
    }

    #[inline(always)]
    fn factor(self) -> P::Factor {
        P::factor(self)
    }

    #[inline(always)]
    fn add_products<const BITS: u32>(
        low: &mut Self,
        high: &mut Self,
        a: &[P::Factor],
        b: &[P::Factor],
    ) {
        P::add_products::<BITS>(low, high, a, b);
    }

    #[inline(always)]
    fn add_two_columns(sums: &mut [Self; 3], a: &[P::Factor], b: &[P::Factor]) {
        P::add_two_columns(sums, a, b);
    }

    #[inline(always)]
    fn low_product(proof: P, a: P::Factor, b: P::Factor) -> P::Factor {
        proof.low_product(a, b)
    }

    #[inline(always)]
    fn in_order(earlier: Self, later: Self) -> [Self; 2] {
        P::in_order(earlier, later)
    }

    #[inline(always)]
    fn is_zero(self) -> QuadMask {
        let zero = Self::zero(self.1);
        QuadMask(avx2!(_mm256_cmpeq_epi64(self.0, zero.0)), self.1.avx2())
    }

    #[inline(always)]
    fn is_negative(self) -> QuadMask {
        let zero = Self::zero(self.1);
        QuadMask(avx2!(_mm256_cmpgt_epi64(zero.0, self.0)), self.1.avx2())
    }

    #[inline(always)]
    fn select(mask: QuadMask, a: Self, b: Self) -> Self {
        Self(avx2!(_mm256_blendv_epi8(b.0, a.0, mask.0)), a.1)
    }

    #[inline(always)]
    fn lookup(table: &[Words; 2], index: Self) -> Self {
        // SAFETY: the value is the proof of AVX2; the table holds four registers.
        let words = unsafe { lookup(table.as_ptr().cast(), index.0) };
        Self(words, index.1)
    }

    #[inline(always)]
    fn crossed(self, distance: usize) -> Self {
        const LANE: Words = [0, 1, 2, 3, 4, 5, 6, 7];
        let distance = Self::splat(self.1, distance as u64);
        let place = Self::load(self.1, &LANE).xor(distance);
        Self(avx2!(permute(self.0, place.0)), self.1)
    }

    #[inline(always)]
    fn transpose(proof: P, rows: [&Words; MAX_LANES]) -> [Self; MAX_LANES] {
        let [mut lower, mut upper] = [[Self::zero(proof).0; LANES]; 2];
        for lane in 0..LANES {
            let at = rows[lane].as_ptr().cast::<__m256i>();
            // SAFETY: the token is the proof of AVX2; a row is as long as two registers.
            (lower[lane], upper[lane]) =
                unsafe { (_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1))) };
        }
        let avx2 = proof.avx2();
        let ([a, b, c, d], [e, f, g, h]) =
            (transpose_four(avx2, lower), transpose_four(avx2, upper));
        let mut columns = [Self::zero(proof); MAX_LANES];
        for (column, words) in columns.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            column.0 = words;
        }
        columns
    }

    #[inline(always)]
    unsafe fn load_pairs(proof: P, at: *const *const u8, offset: usize) -> (Self, Self) {
        // SAFETY: the token is the proof of AVX2; the pointers are the caller's.
        let (low, high) = unsafe { load_pairs(at, offset) };
        (Self(low, proof), Self(high, proof))
    }

    #[inline(always)]
    fn mask(proof: P, bits: u8) -> QuadMask {
        const LANE: Words = [1, 2, 4, 8, 0, 0, 0, 0];
        let lane = Self::load(proof, &LANE);
        Self::splat(proof, bits.into()).and(lane).equals(lane)
    }
}

impl Mask for QuadMask {
    #[inline(always)]
    fn bits(self) -> u8 {
        avx2!(_mm256_movemask_pd(_mm256_castsi256_pd(self.0))).to_le_bytes()[0]
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(avx2!(_mm256_and_si256(self.0, other.0)), self.1)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(avx2!(_mm256_or_si256(self.0, other.0)), self.1)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(avx2!(_mm256_xor_si256(self.0, other.0)), self.1)
    }

    #[inline(always)]
    fn not(self) -> Self {
        let ones = avx2!(_mm256_set1_epi64x(-1));
        Self(avx2!(_mm256_xor_si256(self.0, ones)), self.1)
    }
}

/// The words of `table` with these places; of a place, four bits count.
///
/// # Safety
/// `table` is valid for reading four registers. No alignment is needed.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn lookup(table: *const __m256i, places: __m256i) -> __m256i {
    macro_rules! quarter {
        ($i:literal) => {{
            // SAFETY: one of the caller's four registers.
            let words = unsafe { _mm256_loadu_si256(table.add($i)) };
            _mm256_castsi256_pd(permute(words, places))
        }};
    }
    let (a, b, c, d) = (quarter!(0), quarter!(1), quarter!(2), quarter!(3));
    // Chosen by the highest bits of words: bits 2 and 3 of the places.
    let second = _mm256_castsi256_pd(_mm256_slli_epi64::<61>(places));
    let upper = _mm256_castsi256_pd(_mm256_slli_epi64::<60>(places));
    let ab = _mm256_blendv_pd(a, b, second);
    let cd = _mm256_blendv_pd(c, d, second);
    _mm256_castpd_si256(_mm256_blendv_pd(ab, cd, upper))
}

/// The words with these places; of a place, two bits count.
#[inline]
#[target_feature(enable = "avx2")]
fn permute(words: __m256i, places: __m256i) -> __m256i {
    // The instruction moves halves of words, and looks at three bits of their places.
    let even = _mm256_and_si256(_mm256_slli_epi64::<1>(places), _mm256_set1_epi64x(0b111));
    let odd = _mm256_or_si256(even, _mm256_set1_epi64x(1));
    let halves = _mm256_or_si256(even, _mm256_slli_epi64::<32>(odd));
    _mm256_permutevar8x32_epi32(words, halves)
}

/// Two words of four lanes.
///
/// # Safety
/// `at` is valid for 4 pointers, each plus `offset` for 16 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_pairs(at: *const *const u8, offset: usize) -> (__m256i, __m256i) {
    let mut pairs = [_mm_setzero_si128(); LANES];
    for lane in 0..LANES {
        // SAFETY: one of the caller's pointers.
        pairs[lane] = unsafe { _mm_loadu_si128(at.add(lane).read().add(offset).cast()) };
    }
    let even = _mm256_set_m128i(pairs[2], pairs[0]);
    let odd = _mm256_set_m128i(pairs[3], pairs[1]);
    (
        _mm256_unpacklo_epi64(even, odd),
        _mm256_unpackhi_epi64(even, odd),
    )
}
