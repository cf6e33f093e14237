//! Which part of the arithmetic is inlined.
//!
//! On registers the products are part of the kernels, so that their digits stay in registers and
//! neighbours overlap; the inversion, 265 products one after the other, is a function. In plain
//! integers everything is.

#![allow(unsafe_code)] // enters a function that needs the instructions of a token

use super::{Element, Wide, inverse, product, square};
#[cfg(target_arch = "x86_64")]
use crate::public_key::lanes::Ifma;
use crate::public_key::lanes::{Lanes, Portable};

/// Lanes that multiply modulo p.
pub(in crate::public_key::curve25519) trait Field: Lanes {
    /// See [`product`].
    fn product(a: Element<Self>, b: Element<Self>) -> Wide<Self>;
    /// See [`square`].
    fn square(a: Element<Self>) -> Wide<Self>;
    /// See [`inverse`].
    fn inverse(a: Element<Self>) -> Element<Self>;
}

#[cfg(target_arch = "x86_64")]
impl Field for Ifma {
    #[inline(always)]
    fn product(a: Element<Self>, b: Element<Self>) -> Wide<Self> {
        product(a, b)
    }

    #[inline(always)]
    fn square(a: Element<Self>) -> Wide<Self> {
        square(a)
    }

    #[inline(always)]
    fn inverse(a: Element<Self>) -> Element<Self> {
        // SAFETY: the element carries the proof of the instructions.
        unsafe { inverse_ifma(a) }
    }
}

/// # Safety
/// The CPU has the instructions.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma,bmi2")]
unsafe fn inverse_ifma(a: Element<Ifma>) -> Element<Ifma> {
    inverse(a)
}

impl Field for Portable {
    #[inline(never)]
    fn product(a: Element<Self>, b: Element<Self>) -> Wide<Self> {
        product(a, b)
    }

    #[inline(never)]
    fn square(a: Element<Self>) -> Wide<Self> {
        square(a)
    }

    #[inline(never)]
    fn inverse(a: Element<Self>) -> Element<Self> {
        inverse(a)
    }
}
