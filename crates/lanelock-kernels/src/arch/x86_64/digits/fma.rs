//! A 256-bit register: AVX2, and products of digits by FMA.
//!
//! A double has 53 bits, the product of two digits 104. A fused multiply-add rounds once, so that
//! with rounding toward zero ([`TowardZero`](super::TowardZero)) a·b + 2¹⁰⁴ ends with bits 52 to 103
//! of the product; a·b less those, plus 2⁵², ends with the bits below (Emmart, Zheng, Weems, "Faster
//! Modular Exponentiation Using Double Precision Floating Point Arithmetic on the GPU", ARITH 2018).
//! All operands and results are zero or normal numbers, for which these instructions take the same
//! time.
//!
//! One register, not two for eight lanes: of the sixteen that there are, a number of a curve takes five
//! or eight.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::arch::digits::{DIGIT_BITS, DigitLanes, MAX_LANES, Mask, Words};
use crate::arch::register::Register;
use crate::arch::x86_64::detect::Fma as Token;
use crate::arch::x86_64::words::transpose_four;
use crate::wipe::Plain;

/// Four lanes in a 256-bit register, and the proof that there are such.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fma(__m256i, Token);

/// All ones in the lanes that are chosen, zero in the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FmaMask(__m256i, Token);

// SAFETY: integers and a value of no size.
unsafe impl Plain for Fma {}
// SAFETY: floating-point numbers.
unsafe impl Plain for __m256d {}

impl Register for Fma {
    type Proof = Token;

    #[inline(always)]
    fn proof(self) -> Token {
        self.1
    }
}

const _: () = assert!(size_of::<Fma>() == 32);

/// Intrinsics whose operands are the proof of AVX2. It is no closure: those are compiled without the
/// instructions before they are inlined, if they are at all.
macro_rules! avx2 {
    ($result:expr) => {{
        // SAFETY: whoever has a value or a token has AVX2.
        unsafe { $result }
    }};
}

impl DigitLanes for Fma {
    type Mask = FmaMask;
    type Factor = __m256d;

    const LANES: usize = 4;
    const IN_REGISTERS: bool = true;
    const BY_COLUMNS: bool = true;

    #[inline(always)]
    fn splat(proof: Token, word: u64) -> Self {
        Self(avx2!(_mm256_set1_epi64x(word.cast_signed())), proof)
    }

    #[inline(always)]
    fn load(proof: Token, words: &Words) -> Self {
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
    fn mul_add_low(mut self, a: Self, b: Self) -> Self {
        let mut high = self;
        Self::add_products::<DIGIT_BITS>(&mut self, &mut high, &[a.low_bits()], &[b.low_bits()]);
        self
    }

    #[inline(always)]
    fn mul_add_high(mut self, a: Self, b: Self) -> Self {
        let mut low = self;
        Self::add_products::<DIGIT_BITS>(&mut low, &mut self, &[a.low_bits()], &[b.low_bits()]);
        self
    }

    #[inline(always)]
    fn factor(self) -> __m256d {
        avx2!(double(self.0))
    }

    #[inline(always)]
    fn add_products<const BITS: u32>(
        low: &mut Self,
        high: &mut Self,
        a: &[__m256d],
        b: &[__m256d],
    ) {
        assert!(a.len() == b.len());
        let count = a.len();
        // The exponents of all halves, taken away before they are added.
        let low_exponents = Self::splat(low.1, two_to(52).wrapping_mul(count as u64));
        let high_exponents = Self::splat(low.1, two_to(52 + BITS).wrapping_mul(count as u64));
        // In registers: what is behind references might be a factor.
        let (mut low_sum, mut high_sum) = (low.sub(low_exponents).0, high.sub(high_exponents).0);
        for i in 0..count {
            // SAFETY: `low.1` is the proof of AVX2 and FMA.
            unsafe { add_product::<BITS>(&mut low_sum, &mut high_sum, a[i], b[count - 1 - i]) };
        }
        (low.0, high.0) = (low_sum, high_sum);
    }

    #[inline(always)]
    fn add_two_columns(sums: &mut [Self; 3], a: &[__m256d], b: &[__m256d]) {
        assert!(b.len() == a.len() + 1);
        let (lower, last) = b.split_at(a.len());
        let proof = sums[0].1;
        let count = a.len() as u64;
        let low = Self::splat(proof, two_to(52).wrapping_mul(count));
        let high = Self::splat(proof, two_to(104).wrapping_mul(count));
        let mut biased = [
            sums[0].sub(low).0,
            sums[1].sub(low).sub(high).0,
            sums[2].sub(high).0,
        ];
        let mut upper = last[0];
        // Two at a time, as each is what the one before was.
        for (a, b) in a.chunks_exact(2).zip(lower.rchunks_exact(2)) {
            // SAFETY: `proof` is that of AVX2 and FMA.
            unsafe {
                add_two_products(&mut biased, a[0], b[1], upper);
                add_two_products(&mut biased, a[1], b[0], b[1]);
            }
            upper = b[0];
        }
        if let [a] = a.chunks_exact(2).remainder() {
            // SAFETY: as above.
            unsafe { add_two_products(&mut biased, *a, b[0], upper) };
        }
        for (sum, biased) in sums.iter_mut().zip(biased) {
            sum.0 = biased;
        }
    }

    #[inline(always)]
    fn low_product(proof: Token, a: __m256d, b: __m256d) -> __m256d {
        // As in `add_product`, but the low half is not added to 2⁵².
        let power = Self::splat(proof, two_to(104)).0;
        avx2!(low_product(a, b, _mm256_castsi256_pd(power)))
    }

    #[inline(always)]
    fn is_zero(self) -> FmaMask {
        let zero = Self::zero(self.1);
        FmaMask(avx2!(_mm256_cmpeq_epi64(self.0, zero.0)), self.1)
    }

    #[inline(always)]
    fn is_negative(self) -> FmaMask {
        let zero = Self::zero(self.1);
        FmaMask(avx2!(_mm256_cmpgt_epi64(zero.0, self.0)), self.1)
    }

    #[inline(always)]
    fn select(mask: FmaMask, a: Self, b: Self) -> Self {
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
    fn transpose(proof: Token, rows: [&Words; MAX_LANES]) -> [Self; MAX_LANES] {
        let [mut lower, mut upper] = [[Self::zero(proof).0; Self::LANES]; 2];
        for lane in 0..Self::LANES {
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
    unsafe fn load_pairs(proof: Token, at: *const *const u8, offset: usize) -> (Self, Self) {
        // SAFETY: the token is the proof of AVX2; the pointers are the caller's.
        let (low, high) = unsafe { load_pairs(at, offset) };
        (Self(low, proof), Self(high, proof))
    }

    #[inline(always)]
    fn mask(proof: Token, bits: u8) -> FmaMask {
        const LANE: Words = [1, 2, 4, 8, 0, 0, 0, 0];
        let lane = Self::load(proof, &LANE);
        Self::splat(proof, bits.into()).and(lane).equals(lane)
    }
}

impl Fma {
    /// The low 52 bits, to multiply.
    #[inline(always)]
    fn low_bits(self) -> __m256d {
        self.and(Self::splat(self.1, (1 << DIGIT_BITS) - 1))
            .factor()
    }
}

impl Mask for FmaMask {
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

/// The bits of 2^`exponent`.
const fn two_to(exponent: u32) -> u64 {
    (exponent as u64 + 1023) << 52
}

/// Words below 2⁵² as doubles.
#[inline]
#[target_feature(enable = "avx2")]
fn double(words: __m256i) -> __m256d {
    let two_52 = _mm256_set1_epi64x(two_to(52).cast_signed());
    let sum = _mm256_castsi256_pd(_mm256_or_si256(words, two_52));
    _mm256_sub_pd(sum, _mm256_castsi256_pd(two_52))
}

/// Adds the low `BITS` bits of each product and 2⁵² to `low`, what is above them and 2^(52 + `BITS`)
/// to `high`: as the bits of doubles.
///
/// In assembly: the compiler would put off the sums, and keep their parts on the stack meanwhile. And
/// it takes rounding to nearest for granted.
///
/// # Safety
/// The CPU has AVX2 and FMA.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn add_product<const BITS: u32>(
    low: &mut __m256i,
    high: &mut __m256i,
    a: __m256d,
    b: __m256d,
) {
    let power = two_to(52 + BITS);
    // With 2⁵² for the low half: a unit of its last place is 2^`BITS`.
    let both = power + (1 << (52 - BITS));
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(
            "vmovdqa {part}, {power}",
            "vfmadd231pd {part}, {a}, {b}",
            "vpaddq {high}, {high}, {part}",
            "vsubpd {part}, {both}, {part}",
            "vfmadd231pd {part}, {a}, {b}",
            "vpaddq {low}, {low}, {part}",
            a = in(ymm_reg) a,
            b = in(ymm_reg) b,
            power = in(ymm_reg) _mm256_set1_epi64x(power.cast_signed()),
            both = in(ymm_reg) _mm256_set1_epi64x(both.cast_signed()),
            part = out(ymm_reg) _,
            low = inout(ymm_reg) *low,
            high = inout(ymm_reg) *high,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
}

/// The low 52 bits of a product; `power` is 2¹⁰⁴.
///
/// # Safety
/// The CPU has AVX2 and FMA.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn low_product(a: __m256d, b: __m256d, power: __m256d) -> __m256d {
    let mut low = power;
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(
            "vfmadd231pd {low}, {a}, {b}",
            "vsubpd {low}, {power}, {low}",
            "vfmadd231pd {low}, {a}, {b}",
            a = in(ymm_reg) a,
            b = in(ymm_reg) b,
            power = in(ymm_reg) power,
            low = inout(ymm_reg) low,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    low
}

/// Adds the product of `a` and `lower` to the first two sums and that of `a` and `upper` to the last
/// two, as [`add_product`] does with 52 bits.
///
/// # Safety
/// The CPU has AVX2 and FMA.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn add_two_products(sums: &mut [__m256i; 3], a: __m256d, lower: __m256d, upper: __m256d) {
    let power = two_to(104);
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(
            "vmovdqa {part}, {power}",
            "vmovdqa {next}, {power}",
            "vfmadd231pd {part}, {a}, {lower}",
            "vfmadd231pd {next}, {a}, {upper}",
            "vpaddq {middle}, {middle}, {part}",
            "vpaddq {high}, {high}, {next}",
            "vsubpd {part}, {both}, {part}",
            "vsubpd {next}, {both}, {next}",
            "vfmadd231pd {part}, {a}, {lower}",
            "vfmadd231pd {next}, {a}, {upper}",
            "vpaddq {low}, {low}, {part}",
            "vpaddq {middle}, {middle}, {next}",
            a = in(ymm_reg) a,
            lower = in(ymm_reg) lower,
            upper = in(ymm_reg) upper,
            power = in(ymm_reg) _mm256_set1_epi64x(power.cast_signed()),
            both = in(ymm_reg) _mm256_set1_epi64x((power + 1).cast_signed()),
            part = out(ymm_reg) _,
            next = out(ymm_reg) _,
            low = inout(ymm_reg) sums[0],
            middle = inout(ymm_reg) sums[1],
            high = inout(ymm_reg) sums[2],
            options(pure, nomem, nostack, preserves_flags)
        );
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
    let mut pairs = [_mm_setzero_si128(); Fma::LANES];
    for lane in 0..Fma::LANES {
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
