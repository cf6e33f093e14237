//! A 256-bit register: AVX2, and the 52-bit multiply-adds of AVX-IFMA.
//!
//! These are the instructions of AVX-512 IFMA in the encoding of AVX, for CPUs without AVX-512: sixteen
//! registers, and no masks. CPUs with AVX-512 IFMA run registers of twice the width
//! ([`Ifma`](super::Ifma)); tests run this code there in the encoding of AVX-512.

use core::arch::asm;
use core::arch::x86_64::*;

use super::avx2::{Multiply, Quad, avx2};
use crate::arch::digits;
use crate::arch::register::Proof;
#[cfg(test)]
use crate::arch::x86_64::detect::EvexIfma as EvexToken;
use crate::arch::x86_64::detect::{Avx2, AvxIfma as Token};

/// Four lanes in a 256-bit register.
pub(crate) type AvxIfma = Quad<Token>;

/// The same in the encoding of AVX-512.
#[cfg(test)]
pub(crate) type EvexIfma = Quad<EvexToken>;

const _: () = assert!(size_of::<AvxIfma>() == 32);

/// An encoding of the multiply-adds, and the proof that this CPU has it.
pub(crate) trait Encoding: Proof {
    /// The narrower proof that this one contains.
    fn avx2(self) -> Avx2;

    /// See [`DigitLanes::mul_add_low`](digits::DigitLanes::mul_add_low).
    fn add_low(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i;
    /// See [`DigitLanes::mul_add_high`](digits::DigitLanes::mul_add_high).
    fn add_high(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i;
}

impl Encoding for Token {
    #[inline(always)]
    fn avx2(self) -> Avx2 {
        self.avx2()
    }

    #[inline(always)]
    fn add_low(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token is the proof of AVX-IFMA.
        unsafe { _mm256_madd52lo_avx_epu64(sum, a, b) }
    }

    #[inline(always)]
    fn add_high(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_madd52hi_avx_epu64(sum, a, b) }
    }
}

#[cfg(test)]
impl Encoding for EvexToken {
    #[inline(always)]
    fn avx2(self) -> Avx2 {
        self.avx2()
    }

    #[inline(always)]
    fn add_low(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token is the proof of AVX-512 IFMA and VL.
        unsafe { _mm256_madd52lo_epu64(sum, a, b) }
    }

    #[inline(always)]
    fn add_high(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_madd52hi_epu64(sum, a, b) }
    }
}

impl<E: Encoding> Multiply for E {
    type Factor = Quad<E>;

    // By rows, sixteen registers hold the eleven sums of a row at most, and one factor; the other is
    // an operand in memory. By columns, each multiply-add would wait for the one before.
    const BY_COLUMNS: bool = false;

    #[inline(always)]
    fn avx2(self) -> Avx2 {
        Encoding::avx2(self)
    }

    #[inline(always)]
    fn mul_add_low(sum: Quad<E>, a: Quad<E>, b: Quad<E>) -> Quad<E> {
        Quad(sum.1.add_low(sum.0, a.0, b.0), sum.1)
    }

    #[inline(always)]
    fn mul_add_high(sum: Quad<E>, a: Quad<E>, b: Quad<E>) -> Quad<E> {
        Quad(sum.1.add_high(sum.0, a.0, b.0), sum.1)
    }

    #[inline(always)]
    fn factor(digit: Quad<E>) -> Quad<E> {
        digit
    }

    #[inline(always)]
    fn add_products<const BITS: u32>(
        low: &mut Quad<E>,
        high: &mut Quad<E>,
        a: &[Quad<E>],
        b: &[Quad<E>],
    ) {
        digits::add_products::<Quad<E>, BITS>(low, high, a, b);
    }

    #[inline(always)]
    fn add_two_columns(sums: &mut [Quad<E>; 3], a: &[Quad<E>], b: &[Quad<E>]) {
        digits::add_two_columns(sums, a, b);
    }

    #[inline(always)]
    fn low_product(self, a: Quad<E>, b: Quad<E>) -> Quad<E> {
        digits::low_product::<Quad<E>>(self, a, b)
    }

    #[inline(always)]
    fn in_order(earlier: Quad<E>, later: Quad<E>) -> [Quad<E>; 2] {
        avx2!(in_order(earlier.0, later.0)).map(|register| Quad(register, earlier.1))
    }
}

/// See [`DigitLanes::in_order`](digits::DigitLanes::in_order): to the compiler, each of the results needs
/// both operands.
#[inline]
#[target_feature(enable = "avx2")]
fn in_order(mut earlier: __m256i, mut later: __m256i) -> [__m256i; 2] {
    // SAFETY: there is no instruction in it.
    unsafe {
        asm!(
            "/* {} {} */",
            inout(ymm_reg) earlier,
            inout(ymm_reg) later,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    [earlier, later]
}
