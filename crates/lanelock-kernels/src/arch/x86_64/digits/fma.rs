//! Two 256-bit registers: AVX2, and products of digits by FMA.
//!
//! A double has 53 bits, the product of two digits 104. A fused multiply-add rounds once, so that
//! with rounding toward zero ([`TowardZero`](super::TowardZero)) a·b + 2¹⁰⁴ ends with bits 52 to 103
//! of the product; a·b less those, plus 2⁵², ends with the bits below (Emmart, Zheng, Weems, "Faster
//! Modular Exponentiation Using Double Precision Floating Point Arithmetic on the GPU", ARITH 2018).
//! All operands and results are zero or normal numbers, for which these instructions take the same
//! time.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::arch::digits::{DIGIT_BITS, DigitLanes, LANES, Mask, Words};
use crate::arch::register::Register;
use crate::arch::x86_64::detect::Fma as Token;
use crate::arch::x86_64::words::transpose_four;
use crate::wipe::Plain;

/// Lanes of a register.
const HALF: usize = LANES / 2;

/// Eight lanes in two 256-bit registers, and the proof that there are such.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fma([__m256i; 2], Token);

/// All ones in the lanes that are chosen, zero in the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FmaMask([__m256i; 2], Token);

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

const _: () = assert!(size_of::<Fma>() == 64);

/// An expression of intrinsics, for each half of the operands, which are the proof of AVX2. It is no
/// closure: those are compiled without the instructions before they are inlined, if they are at all.
macro_rules! halves {
    (|$half:ident| $result:expr) => {{
        // SAFETY: whoever has a value or a token has AVX2.
        unsafe {
            let first = {
                let $half = 0;
                $result
            };
            let $half = 1;
            [first, $result]
        }
    }};
}

impl DigitLanes for Fma {
    type Mask = FmaMask;
    type Factor = [__m256d; 2];

    const IN_REGISTERS: bool = true;
    const BY_COLUMNS: bool = true;

    #[inline(always)]
    fn splat(proof: Token, word: u64) -> Self {
        Self(halves!(|_h| _mm256_set1_epi64x(word.cast_signed())), proof)
    }

    #[inline(always)]
    fn load(proof: Token, words: &Words) -> Self {
        // The array is as long as two registers.
        let at = words.as_ptr().cast::<__m256i>();
        Self(halves!(|h| _mm256_loadu_si256(at.add(h))), proof)
    }

    #[inline(always)]
    fn store(self, words: &mut Words) {
        let at = words.as_mut_ptr().cast::<__m256i>();
        halves!(|h| _mm256_storeu_si256(at.add(h), self.0[h]));
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(halves!(|h| _mm256_add_epi64(self.0[h], other.0[h])), self.1)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(halves!(|h| _mm256_sub_epi64(self.0[h], other.0[h])), self.1)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(halves!(|h| _mm256_and_si256(self.0[h], other.0[h])), self.1)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(halves!(|h| _mm256_or_si256(self.0[h], other.0[h])), self.1)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(halves!(|h| _mm256_xor_si256(self.0[h], other.0[h])), self.1)
    }

    #[inline(always)]
    fn shift_left<const N: u32>(self) -> Self {
        const { assert!(N < 64) };
        let words = halves!(|h| _mm256_sll_epi64(self.0[h], _mm_set_epi64x(0, N.into())));
        Self(words, self.1)
    }

    #[inline(always)]
    fn shift_right<const N: u32>(self) -> Self {
        const { assert!(N < 64) };
        let words = halves!(|h| _mm256_srl_epi64(self.0[h], _mm_set_epi64x(0, N.into())));
        Self(words, self.1)
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
    fn factor(self) -> [__m256d; 2] {
        halves!(|h| double(self.0[h]))
    }

    #[inline(always)]
    fn add_products<const BITS: u32>(
        low: &mut Self,
        high: &mut Self,
        a: &[[__m256d; 2]],
        b: &[[__m256d; 2]],
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
    fn add_two_columns(sums: &mut [Self; 3], a: &[[__m256d; 2]], b: &[[__m256d; 2]]) {
        assert!(b.len() == a.len() + 1);
        let (lower, last) = b.split_at(a.len());
        let proof = sums[0].1;
        let count = a.len() as u64;
        let low = Self::splat(proof, two_to(52).wrapping_mul(count));
        let high = Self::splat(proof, two_to(104).wrapping_mul(count));
        let biased = [
            sums[0].sub(low),
            sums[1].sub(low).sub(high),
            sums[2].sub(high),
        ];
        // One half after the other: the sums of both are more than there are registers.
        for half in 0..2 {
            let mut halves = [biased[0].0[half], biased[1].0[half], biased[2].0[half]];
            let mut upper = last[0][half];
            // Two at a time, as each is what the one before was.
            for (a, b) in a.chunks_exact(2).zip(lower.rchunks_exact(2)) {
                // SAFETY: `proof` is that of AVX2 and FMA.
                unsafe {
                    add_two_products(&mut halves, a[0][half], b[1][half], upper);
                    add_two_products(&mut halves, a[1][half], b[0][half], b[1][half]);
                }
                upper = b[0][half];
            }
            if let [a] = a.chunks_exact(2).remainder() {
                // SAFETY: as above.
                unsafe { add_two_products(&mut halves, a[half], b[0][half], upper) };
            }
            for (sum, half_sum) in sums.iter_mut().zip(halves) {
                sum.0[half] = half_sum;
            }
        }
    }

    #[inline(always)]
    fn low_product(proof: Token, a: [__m256d; 2], b: [__m256d; 2]) -> [__m256d; 2] {
        // As in `add_product`, but the low half is not added to 2⁵².
        let power = Self::splat(proof, two_to(104)).0;
        halves!(|h| low_product(a[h], b[h], _mm256_castsi256_pd(power[h])))
    }

    #[inline(always)]
    fn is_zero(self) -> FmaMask {
        let words = halves!(|h| _mm256_cmpeq_epi64(self.0[h], _mm256_setzero_si256()));
        FmaMask(words, self.1)
    }

    #[inline(always)]
    fn is_negative(self) -> FmaMask {
        let words = halves!(|h| _mm256_cmpgt_epi64(_mm256_setzero_si256(), self.0[h]));
        FmaMask(words, self.1)
    }

    #[inline(always)]
    fn select(mask: FmaMask, a: Self, b: Self) -> Self {
        let words = halves!(|h| _mm256_blendv_epi8(b.0[h], a.0[h], mask.0[h]));
        Self(words, a.1)
    }

    #[inline(always)]
    fn lookup(table: &[Words; 2], index: Self) -> Self {
        let proof = index.1;
        let [low, high] = [Self::load(proof, &table[0]), Self::load(proof, &table[1])];
        let quarters = [low.0[0], low.0[1], high.0[0], high.0[1]];
        Self(halves!(|h| lookup(quarters, index.0[h])), proof)
    }

    #[inline(always)]
    fn transpose(proof: Token, rows: [&Words; LANES]) -> [Self; LANES] {
        let mut words = [Self::zero(proof); LANES];
        for lane in 0..LANES {
            words[lane] = Self::load(proof, rows[lane]);
        }
        let mut columns = [Self::zero(proof); LANES];
        for part in 0..2 {
            let [a, b, c, d, e, f, g, h] = words;
            let upper = [a.0[part], b.0[part], c.0[part], d.0[part]];
            let lower = [e.0[part], f.0[part], g.0[part], h.0[part]];
            let avx2 = proof.avx2();
            let (first, second) = (transpose_four(avx2, upper), transpose_four(avx2, lower));
            for i in 0..HALF {
                columns[HALF * part + i].0 = [first[i], second[i]];
            }
        }
        columns
    }

    #[inline(always)]
    unsafe fn load_pairs(proof: Token, at: *const *const u8, offset: usize) -> (Self, Self) {
        let (mut low, mut high) = (Self::zero(proof), Self::zero(proof));
        for h in 0..2 {
            // SAFETY: the token is the proof of AVX2; four of the caller's eight pointers.
            let pairs = unsafe { load_pairs(at.add(HALF * h), offset) };
            (low.0[h], high.0[h]) = pairs;
        }
        (low, high)
    }

    #[inline(always)]
    fn mask(proof: Token, bits: u8) -> FmaMask {
        const LANE: Words = [1, 2, 4, 8, 16, 32, 64, 128];
        let lane = Self::load(proof, &LANE);
        Self::splat(proof, bits.into()).and(lane).equals(lane)
    }
}

impl Fma {
    /// The low 52 bits, to multiply.
    #[inline(always)]
    fn low_bits(self) -> [__m256d; 2] {
        self.and(Self::splat(self.1, (1 << DIGIT_BITS) - 1))
            .factor()
    }
}

impl Mask for FmaMask {
    #[inline(always)]
    fn bits(self) -> u8 {
        let [low, high] = halves!(|h| _mm256_movemask_pd(_mm256_castsi256_pd(self.0[h])));
        (low | high << HALF).to_le_bytes()[0]
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(halves!(|h| _mm256_and_si256(self.0[h], other.0[h])), self.1)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(halves!(|h| _mm256_or_si256(self.0[h], other.0[h])), self.1)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(halves!(|h| _mm256_xor_si256(self.0[h], other.0[h])), self.1)
    }

    #[inline(always)]
    fn not(self) -> Self {
        let words = halves!(|h| _mm256_xor_si256(self.0[h], _mm256_set1_epi64x(-1)));
        Self(words, self.1)
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
    low: &mut [__m256i; 2],
    high: &mut [__m256i; 2],
    a: [__m256d; 2],
    b: [__m256d; 2],
) {
    let power = two_to(52 + BITS);
    // With 2⁵² for the low half: a unit of its last place is 2^`BITS`.
    let both = power + (1 << (52 - BITS));
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(
            "vmovdqa {part_0}, {power}",
            "vmovdqa {part_1}, {power}",
            "vfmadd231pd {part_0}, {a_0}, {b_0}",
            "vfmadd231pd {part_1}, {a_1}, {b_1}",
            "vpaddq {high_0}, {high_0}, {part_0}",
            "vpaddq {high_1}, {high_1}, {part_1}",
            "vsubpd {part_0}, {both}, {part_0}",
            "vsubpd {part_1}, {both}, {part_1}",
            "vfmadd231pd {part_0}, {a_0}, {b_0}",
            "vfmadd231pd {part_1}, {a_1}, {b_1}",
            "vpaddq {low_0}, {low_0}, {part_0}",
            "vpaddq {low_1}, {low_1}, {part_1}",
            a_0 = in(ymm_reg) a[0],
            a_1 = in(ymm_reg) a[1],
            b_0 = in(ymm_reg) b[0],
            b_1 = in(ymm_reg) b[1],
            power = in(ymm_reg) _mm256_set1_epi64x(power.cast_signed()),
            both = in(ymm_reg) _mm256_set1_epi64x(both.cast_signed()),
            part_0 = out(ymm_reg) _,
            part_1 = out(ymm_reg) _,
            low_0 = inout(ymm_reg) low[0],
            low_1 = inout(ymm_reg) low[1],
            high_0 = inout(ymm_reg) high[0],
            high_1 = inout(ymm_reg) high[1],
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

/// The words of a table, four in each register, with these places; of a place, four bits count.
#[inline]
#[target_feature(enable = "avx2")]
fn lookup(quarters: [__m256i; 4], places: __m256i) -> __m256i {
    let [a, b, c, d] = quarters;
    // The instruction moves halves of words, and looks at three bits of their places.
    let even = _mm256_and_si256(_mm256_slli_epi64::<1>(places), _mm256_set1_epi64x(0b111));
    let odd = _mm256_or_si256(even, _mm256_set1_epi64x(1));
    let halves = _mm256_or_si256(even, _mm256_slli_epi64::<32>(odd));
    let a = _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(a, halves));
    let b = _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(b, halves));
    let c = _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(c, halves));
    let d = _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(d, halves));
    // Chosen by the highest bits of words: bits 2 and 3 of the places.
    let second = _mm256_castsi256_pd(_mm256_slli_epi64::<61>(places));
    let upper = _mm256_castsi256_pd(_mm256_slli_epi64::<60>(places));
    let ab = _mm256_blendv_pd(a, b, second);
    let cd = _mm256_blendv_pd(c, d, second);
    _mm256_castpd_si256(_mm256_blendv_pd(ab, cd, upper))
}

/// Two words of four lanes.
///
/// # Safety
/// `at` is valid for 4 pointers, each plus `offset` for 16 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_pairs(at: *const *const u8, offset: usize) -> (__m256i, __m256i) {
    let mut pairs = [_mm_setzero_si128(); HALF];
    for lane in 0..HALF {
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
