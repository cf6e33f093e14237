//! Polynomials modulo X²⁵⁶ + 1 and q, and their transforms (FIPS 203, section 4.3).
//!
//! Plain loops, which the compiler turns into a tier's instructions: each runs over halves of
//! arrays, without a branch. Products are Montgomery's with R = 2¹⁶: a · b / R.

#![allow(unsafe_code)] // enters kernels, and promises that polynomials are plain

use super::parameters::{N, Q};
use crate::arch::words::{Kernel, Registers};
use crate::machine::Machine;
use crate::wipe::Plain;

/// Half of the coefficients.
pub(super) const HALF: usize = N / 2;

/// A polynomial. Transformed, its first half has the coefficients of even index, the second those
/// of odd index.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Poly(pub(super) [i16; N]);

// SAFETY: integers.
unsafe impl Plain for Poly {}

impl Poly {
    pub(super) const ZERO: Self = Self([0; N]);
}

/// Something to do, compiled for the registers of a machine.
pub(super) trait Step {
    /// Always inlined.
    fn run<S: Registers>(self, proof: S::Proof);
}

/// Runs `step` on `machine`.
#[inline]
pub(super) fn on(machine: Machine, step: impl Step) {
    // SAFETY: a step has no contract.
    unsafe { machine.words.run((step,)) };
}

impl<T: Step> Kernel for (T,) {
    /// They sieve, and pack and unpack coefficients.
    const PERMUTES_BYTES: bool = true;

    #[inline(always)]
    unsafe fn run<S: Registers>(self, proof: S::Proof) {
        self.0.run::<S>(proof);
    }
}

/// Transforms polynomials whose coefficients are below q in magnitude; of the result they are in
/// 0..=q.
pub(super) struct Ntt<'p>(pub(super) &'p mut [Poly]);

impl Step for Ntt<'_> {
    #[inline(always)]
    fn run<S: Registers>(self, _: S::Proof) {
        for poly in self.0 {
            let mut other = Poly::ZERO;
            let (a, b) = (&mut poly.0, &mut other.0);
            // Each layer adds less than q: the last leaves 8 · q < 2¹⁵.
            forward(a, b, &LAYERS[0]);
            forward(b, a, &LAYERS[1]);
            forward(a, b, &LAYERS[2]);
            forward(b, a, &LAYERS[3]);
            forward(a, b, &LAYERS[4]);
            forward(b, a, &LAYERS[5]);
            forward(a, b, &LAYERS[6]);
            for i in 0..N {
                a[i] = barrett(b[i]);
            }
        }
    }
}

/// The inverse, times R, of polynomials whose coefficients are below 2¹⁵ in magnitude; of the result they
/// are below q.
pub(super) struct Inverse<'p>(pub(super) &'p mut [Poly]);

impl Step for Inverse<'_> {
    #[inline(always)]
    fn run<S: Registers>(self, _: S::Proof) {
        for poly in self.0 {
            let mut other = Poly::ZERO;
            let (a, b) = (&mut poly.0, &mut other.0);
            for i in 0..N {
                b[i] = barrett(a[i]);
            }
            backward(b, a, &INVERSES[6]);
            backward(a, b, &INVERSES[5]);
            backward(b, a, &INVERSES[4]);
            backward(a, b, &INVERSES[3]);
            backward(b, a, &INVERSES[2]);
            backward(a, b, &INVERSES[1]);
            backward(b, a, &INVERSES[0]);
            for value in a {
                *value = multiply(*value, SCALE);
            }
        }
    }
}

/// A layer: pairs of the halves, to neighbours.
#[inline(always)]
fn forward(from: &[i16; N], to: &mut [i16; N], zetas: &Factors) {
    for i in 0..HALF {
        let product = zetas.multiply(i, from[i + HALF]);
        to[2 * i] = from[i].wrapping_add(product);
        to[2 * i + 1] = from[i].wrapping_sub(product);
    }
}

/// A layer back: neighbours, to pairs of the halves.
#[inline(always)]
fn backward(from: &[i16; N], to: &mut [i16; N], zetas: &Factors) {
    for i in 0..HALF {
        let (u, v) = (from[2 * i], from[2 * i + 1]);
        to[i] = barrett(u.wrapping_add(v));
        to[i + HALF] = zetas.multiply(i, u.wrapping_sub(v));
    }
}

/// Adds a · b / R, of transformed polynomials with coefficients in 0..=2¹², to `sum`: less than 2 · q to each
/// coefficient (algorithms 11 and 12).
#[inline(always)]
pub(super) fn multiply_add(sum: &mut Poly, a: &Poly, b: &Poly) {
    let (sum, a, b) = (&mut sum.0, &a.0, &b.0);
    for i in 0..HALF {
        let (a0, a1) = (a[i], a[i + HALF]);
        let (b0, b1) = (b[i], b[i + HALF]);
        let high = GAMMAS.multiply(i, b1);
        let even = multiply(a0, b0).wrapping_add(multiply(a1, high));
        let odd = multiply(a0, b1).wrapping_add(multiply(a1, b0));
        sum[i] = sum[i].wrapping_add(even);
        sum[i + HALF] = sum[i + HALF].wrapping_add(odd);
    }
}

/// a · b / R, below q in magnitude, for a · b below q · 2¹⁵.
#[inline(always)]
pub(super) fn multiply(a: i16, b: i16) -> i16 {
    reduced(high(a, b), a.wrapping_mul(b).wrapping_mul(Q_INVERSE))
}

#[inline(always)]
fn reduced(high_half: i16, quotient: i16) -> i16 {
    high_half.wrapping_sub(high(quotient, Q))
}

/// The high half of a product.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // 16 bits remain
pub(super) fn high(a: i16, b: i16) -> i16 {
    ((i32::from(a) * i32::from(b)) >> 16) as i16
}

/// The same modulo q, in 0..=q.
#[inline(always)]
pub(super) fn barrett(a: i16) -> i16 {
    let quotient = high(a, BARRETT) >> 10;
    a.wrapping_sub(quotient.wrapping_mul(Q))
}

/// The same modulo q, in 0..q.
#[inline(always)]
pub(super) fn canonical(a: i16) -> i16 {
    let below = barrett(a).wrapping_sub(Q);
    below.wrapping_add((below >> 15) & Q)
}

/// ⌈2²⁶ / q⌉
pub(super) const BARRETT: i16 = 20159;

/// 1 / q modulo R
const Q_INVERSE: i16 = {
    let mut inverse = 1_i16;
    let mut i = 0;
    while i < 4 {
        inverse = inverse.wrapping_mul(2_i16.wrapping_sub(Q.wrapping_mul(inverse)));
        i += 1;
    }
    assert!(inverse.wrapping_mul(Q) == 1);
    inverse
};

/// R² modulo q: a product with it is times R.
pub(super) const R_SQUARED: i16 = montgomery(montgomery(1) as i64);

/// R² / 128 modulo q
const SCALE: i16 = montgomery(montgomery(power(128, 3327)) as i64);

/// Numbers in Montgomery's form, and each divided by q modulo R.
#[repr(align(64))]
struct Factors {
    factors: [i16; HALF],
    quotients: [i16; HALF],
}

impl Factors {
    const fn new(factors: [i16; HALF]) -> Self {
        let mut quotients = [0; HALF];
        let mut i = 0;
        while i < HALF {
            quotients[i] = factors[i].wrapping_mul(Q_INVERSE);
            i += 1;
        }
        Self { factors, quotients }
    }

    /// `value` times factor `i`.
    #[inline(always)]
    fn multiply(&self, i: usize, value: i16) -> i16 {
        reduced(
            high(value, self.factors[i]),
            value.wrapping_mul(self.quotients[i]),
        )
    }
}

/// What a layer multiplies the second half by, and the inverse: of layer `l` and pair `i`, ζ to the
/// power of the reversed bits of 2ˡ + i mod 2ˡ.
static LAYERS: [Factors; 7] = layers(false);
static INVERSES: [Factors; 7] = layers(true);

const fn layers(inverse: bool) -> [Factors; 7] {
    let mut layers = [const { Factors::new([0; HALF]) }; 7];
    let mut layer = 0;
    while layer < 7 {
        let mut factors = [0; HALF];
        let mut i = 0;
        while i < HALF {
            let block = (1 << layer) + (i & ((1 << layer) - 1));
            let exponent = reversed(block);
            let exponent = if inverse { 256 - exponent } else { exponent };
            factors[i] = montgomery(power(17, exponent));
            i += 1;
        }
        layers[layer] = Factors::new(factors);
        layer += 1;
    }
    layers
}

/// What X² is, for each pair of coefficients: ζ to the power of 2 · i + 1, the bits of i reversed.
static GAMMAS: Factors = {
    let mut factors = [0; HALF];
    let mut i = 0;
    while i < HALF {
        factors[i] = montgomery(power(17, 2 * reversed(i) + 1));
        i += 1;
    }
    Factors::new(factors)
};

/// Seven bits in reversed order.
#[allow(clippy::cast_possible_truncation)] // seven bits
const fn reversed(bits: usize) -> u32 {
    (bits as u32).reverse_bits() >> 25
}

/// base to the power of exponent modulo q
const fn power(base: i64, exponent: u32) -> i64 {
    let (mut result, mut i) = (1, 0);
    while i < exponent {
        result = result * base % Q as i64;
        i += 1;
    }
    result
}

/// value · R modulo q, as the number closest to zero.
#[allow(clippy::cast_possible_truncation)] // a number below q
const fn montgomery(value: i64) -> i16 {
    let product = (value * 65536).rem_euclid(Q as i64);
    let centred = if product > Q as i64 / 2 {
        product - Q as i64
    } else {
        product
    };
    centred as i16
}
