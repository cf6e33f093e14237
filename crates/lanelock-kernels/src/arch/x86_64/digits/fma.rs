//! A 256-bit register: AVX2, and products of digits by FMA.
//!
//! A double has 53 bits, the product of two digits 104. A fused multiply-add rounds once, so that
//! with rounding toward zero ([`TowardZero`](super::TowardZero)) a·b + 2¹⁰⁴ ends with bits 52 to 103
//! of the product; a·b less those, plus 2⁵², ends with the bits below (Emmart, Zheng, Weems, "Faster
//! Modular Exponentiation Using Double Precision Floating Point Arithmetic on the GPU", ARITH 2018).
//! All operands and results are zero or normal numbers, for which these instructions take the same
//! time.

use core::arch::asm;
use core::arch::x86_64::*;

use super::avx2::{Multiply, Quad, avx2};
use crate::arch::digits::{DIGIT_BITS, DigitLanes};
use crate::arch::x86_64::detect::{Avx2, Fma as Token};
use crate::wipe::Plain;

/// Four lanes in a 256-bit register.
pub(crate) type Fma = Quad<Token>;

// SAFETY: floating-point numbers.
unsafe impl Plain for __m256d {}

const _: () = assert!(size_of::<Fma>() == 32);

impl Multiply for Token {
    type Factor = __m256d;

    const BY_COLUMNS: bool = true;

    #[inline(always)]
    fn avx2(self) -> Avx2 {
        self.avx2()
    }

    #[inline(always)]
    fn mul_add_low(mut sum: Fma, a: Fma, b: Fma) -> Fma {
        let mut high = sum;
        Self::add_products::<DIGIT_BITS>(&mut sum, &mut high, &[low_bits(a)], &[low_bits(b)]);
        sum
    }

    #[inline(always)]
    fn mul_add_high(mut sum: Fma, a: Fma, b: Fma) -> Fma {
        let mut low = sum;
        Self::add_products::<DIGIT_BITS>(&mut low, &mut sum, &[low_bits(a)], &[low_bits(b)]);
        sum
    }

    #[inline(always)]
    fn factor(digit: Fma) -> __m256d {
        avx2!(double(digit.0))
    }

    #[inline(always)]
    fn add_products<const BITS: u32>(low: &mut Fma, high: &mut Fma, a: &[__m256d], b: &[__m256d]) {
        assert!(a.len() == b.len());
        let count = a.len();
        // The exponents of all halves, taken away before they are added.
        let low_exponents = Fma::splat(low.1, two_to(52).wrapping_mul(count as u64));
        let high_exponents = Fma::splat(low.1, two_to(52 + BITS).wrapping_mul(count as u64));
        // In registers: what is behind references might be a factor.
        let (mut low_sum, mut high_sum) = (low.sub(low_exponents).0, high.sub(high_exponents).0);
        for i in 0..count {
            // SAFETY: `low.1` is the proof of AVX2 and FMA.
            unsafe { add_product::<BITS>(&mut low_sum, &mut high_sum, a[i], b[count - 1 - i]) };
        }
        (low.0, high.0) = (low_sum, high_sum);
    }

    #[inline(always)]
    fn add_two_columns(sums: &mut [Fma; 3], a: &[__m256d], b: &[__m256d]) {
        assert!(b.len() == a.len() + 1);
        let (lower, last) = b.split_at(a.len());
        let proof = sums[0].1;
        let count = a.len() as u64;
        let low = Fma::splat(proof, two_to(52).wrapping_mul(count));
        let high = Fma::splat(proof, two_to(104).wrapping_mul(count));
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
    fn low_product(self, a: __m256d, b: __m256d) -> __m256d {
        // As in `add_product`, but the low half is not added to 2⁵².
        let power = Fma::splat(self, two_to(104)).0;
        avx2!(low_product(a, b, _mm256_castsi256_pd(power)))
    }
}

/// The low 52 bits, to multiply.
#[inline(always)]
fn low_bits(word: Fma) -> __m256d {
    word.and(Fma::splat(word.1, (1 << DIGIT_BITS) - 1)).factor()
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
