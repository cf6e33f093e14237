//! Which part of the arithmetic is inlined.
//!
//! On registers everything is part of the kernels, so that digits stay in registers and neighbours
//! overlap. In plain integers it would be code without end, for no use: there, they are functions.

use super::{Element, Wide, inverse, product, square};
use crate::arch::digits::{Lanes, Work};

/// Lanes that multiply modulo p.
pub(in crate::public_key::curve25519) trait Field: Lanes {
    /// See [`product`].
    #[inline(always)]
    fn product(a: Element<Self>, b: Element<Self>) -> Wide<Self> {
        Self::run(a.0[0].proof(), Product(a, b))
    }

    /// See [`square`].
    #[inline(always)]
    fn square(a: Element<Self>) -> Wide<Self> {
        Self::run(a.0[0].proof(), Square(a))
    }

    /// See [`inverse`].
    #[inline(always)]
    fn inverse(a: Element<Self>) -> Element<Self> {
        Self::run(a.0[0].proof(), Inverse(a))
    }
}

impl<V: Lanes> Field for V {}

struct Product<V>(Element<V>, Element<V>);

impl<V: Lanes> Work for Product<V> {
    type Output = Wide<V>;

    #[inline(always)]
    fn run(self) -> Wide<V> {
        product(self.0, self.1)
    }
}

struct Square<V>(Element<V>);

impl<V: Lanes> Work for Square<V> {
    type Output = Wide<V>;

    #[inline(always)]
    fn run(self) -> Wide<V> {
        square(self.0)
    }
}

struct Inverse<V>(Element<V>);

impl<V: Lanes> Work for Inverse<V> {
    type Output = Element<V>;

    #[inline(always)]
    fn run(self) -> Element<V> {
        inverse(self.0)
    }
}
