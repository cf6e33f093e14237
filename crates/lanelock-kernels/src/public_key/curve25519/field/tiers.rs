//! Which part of the arithmetic is inlined.
//!
//! On registers everything is part of the kernels, so that digits stay in registers and neighbours
//! overlap. In plain integers it would be code without end, for no use: there, they are functions.

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
        inverse(a)
    }
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
