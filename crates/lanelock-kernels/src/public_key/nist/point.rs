//! Points of y² = x³ − 3 x + b in Jacobian coordinates: (X, Y, Z) is (X / Z², Y / Z³), and infinity
//! where Z is zero.
//!
//! The formulas are those of Cohen, Miyaji and Ono (1998) for sums and of Bernstein (2001) for
//! doubles. A double is right for every point, as none of a curve of odd order has Y = 0. A sum is
//! wrong where an operand is infinite or the two are equal; it is infinite where they are opposite.
//! [`Point::add_complete`] covers all of it; who uses the others says why it cannot happen.

use super::parameters::Parameters;
use super::residue::Residue;
use crate::public_key::lanes::{Lanes, Mask};
use crate::wipe::Plain;

/// An element of the field of `C`, in Montgomery's form.
pub(super) type Element<V, C, const N: usize> = Residue<V, <C as Parameters<N>>::Field, N>;

/// A point in affine coordinates, not infinity; each is below 2 p.
#[derive(Clone, Copy, Debug)]
pub(super) struct Affine<V: Lanes, C: Parameters<N>, const N: usize> {
    pub x: Element<V, C, N>,
    pub y: Element<V, C, N>,
}

/// A point in Jacobian coordinates; each is below 2 p.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<V: Lanes, C: Parameters<N>, const N: usize> {
    pub x: Element<V, C, N>,
    pub y: Element<V, C, N>,
    pub z: Element<V, C, N>,
}

// SAFETY: elements, which are plain data.
#[allow(unsafe_code)]
unsafe impl<V: Lanes, C: Parameters<N>, const N: usize> Plain for Point<V, C, N> {}

impl<V: Lanes, C: Parameters<N>, const N: usize> Affine<V, C, N> {
    /// The base point.
    #[inline(always)]
    pub fn generator(proof: V::Proof) -> Self {
        let [x, y] = C::GENERATOR.map(|coordinate| Residue::constant(proof, &coordinate));
        Self {
            x: x.to_montgomery(),
            y: y.to_montgomery(),
        }
    }

    /// Which lanes are on the curve.
    #[inline(always)]
    pub fn is_on_curve(&self) -> V::Mask {
        let Self { x, y } = *self;
        let b = Element::<V, C, N>::constant(x.proof(), &C::B).to_montgomery();
        V::outlined(x.proof(), || {
            let cube = x.square().mul(x);
            let square = y.square();
            is_zero::<V, C, N>(Residue::folded(|i| {
                let thrice = x.digit(i).add(x.digit(i)).add(x.digit(i));
                let right = cube.digit(i).sub(thrice).add(b.digit(i));
                square.digit(i).sub(right)
            }))
        })
    }

    /// `a` in the lanes of `mask`, `b` in the others.
    #[inline(always)]
    pub fn select(mask: V::Mask, a: &Self, b: &Self) -> Self {
        Self {
            x: Residue::select(mask, a.x, b.x),
            y: Residue::select(mask, a.y, b.y),
        }
    }

    /// The same point with Z = 1.
    #[inline(always)]
    pub fn to_jacobian(self) -> Point<V, C, N> {
        Point {
            x: self.x,
            y: self.y,
            z: Residue::one(self.x.proof()),
        }
    }
}

/// What the sum of two points is made of: both over the common denominator z, and their difference.
struct Slope<V: Lanes, C: Parameters<N>, const N: usize> {
    /// X and Y of the first point.
    u: Element<V, C, N>,
    s: Element<V, C, N>,
    /// How much further X and Y of the second are.
    h: Element<V, C, N>,
    r: Element<V, C, N>,
    z: Element<V, C, N>,
}

impl<V: Lanes, C: Parameters<N>, const N: usize> Point<V, C, N> {
    /// Twice the point.
    #[inline(always)]
    #[must_use]
    pub fn double(&self) -> Self {
        V::outlined(self.x.proof(), || self.double_here())
    }

    #[inline(always)]
    fn double_here(&self) -> Self {
        let Self { x, y, z } = *self;
        let delta = z.square();
        let gamma = y.square();
        let beta = x.mul(gamma);
        // The operands are below 1.01 p and 4 p.
        let alpha = Element::<V, C, N>::folded(|i| {
            let difference = x.digit(i).sub(delta.digit(i));
            difference.add(difference).add(difference)
        })
        .mul(x.add(delta));
        let square = alpha.square();
        let x3: Element<V, C, N> =
            Residue::folded(|i| square.digit(i).sub(beta.digit(i).shift_left::<3>()));
        // (Y + Z)² with Y + Z below 4 p.
        let sum = y.add(z).square();
        let z3 = Residue::folded(|i| sum.digit(i).sub(gamma.digit(i)).sub(delta.digit(i)));
        let rest = Element::<V, C, N>::folded(|i| beta.digit(i).shift_left::<2>().sub(x3.digit(i)));
        let product = alpha.mul(rest);
        let fourth = gamma.square();
        let y3 = Residue::folded(|i| product.digit(i).sub(fourth.digit(i).shift_left::<3>()));
        Self {
            x: x3,
            y: y3,
            z: z3,
        }
    }

    /// `self` + `other`, `other` negated in the lanes of `negate`. Neither is infinite and they
    /// differ.
    #[inline(always)]
    #[must_use]
    pub fn add(&self, other: &Self, negate: V::Mask) -> Self {
        V::outlined(self.x.proof(), || self.slope(other, negate).sum())
    }

    /// As [`Self::add`], with fewer products.
    #[inline(always)]
    #[must_use]
    pub fn add_affine(&self, other: &Affine<V, C, N>, negate: V::Mask) -> Self {
        V::outlined(self.x.proof(), || self.slope_affine(other, negate).sum())
    }

    /// As [`Self::add`], for points that may be equal.
    #[inline(always)]
    #[must_use]
    pub fn add_or_double(&self, other: &Self, negate: V::Mask) -> Self {
        V::outlined(self.x.proof(), || {
            let slope = self.slope(other, negate);
            Self::select(slope.is_none(), &self.double(), &slope.sum())
        })
    }

    /// As [`Self::add_affine`], for points that may be equal.
    #[inline(always)]
    #[must_use]
    pub fn add_affine_or_double(&self, other: &Affine<V, C, N>, negate: V::Mask) -> Self {
        V::outlined(self.x.proof(), || {
            let slope = self.slope_affine(other, negate);
            Self::select(slope.is_none(), &self.double(), &slope.sum())
        })
    }

    /// `self` + `other`, whatever they are.
    #[inline(always)]
    #[must_use]
    pub fn add_complete(&self, other: &Self) -> Self {
        let sum = self.add_or_double(other, V::Mask::from_bits(0));
        let sum = Self::select(other.is_infinite(), self, &sum);
        Self::select(self.is_infinite(), other, &sum)
    }

    /// Which lanes are infinite.
    #[inline(always)]
    pub fn is_infinite(&self) -> V::Mask {
        self.z.canonical().is_zero()
    }

    /// `a` in the lanes of `mask`, `b` in the others.
    #[inline(always)]
    pub fn select(mask: V::Mask, a: &Self, b: &Self) -> Self {
        Self {
            x: Residue::select(mask, a.x, b.x),
            y: Residue::select(mask, a.y, b.y),
            z: Residue::select(mask, a.z, b.z),
        }
    }

    /// The affine coordinates, given 1 / Z.
    #[inline(always)]
    pub fn to_affine(self, inverse: Element<V, C, N>) -> Affine<V, C, N> {
        let square = inverse.square();
        Affine {
            x: self.x.mul(square),
            y: self.y.mul(square.mul(inverse)),
        }
    }

    #[inline(always)]
    fn slope(&self, other: &Self, negate: V::Mask) -> Slope<V, C, N> {
        let (zz, other_zz) = (self.z.square(), other.z.square());
        let u = self.x.mul(other_zz);
        let s = self.y.mul(other_zz.mul(other.z));
        let other_u = other.x.mul(zz);
        let other_s = other.y.mul(zz.mul(self.z));
        let z = self.z.mul(other.z);
        Slope::new((u, s), (other_u, other_s), negate, z)
    }

    #[inline(always)]
    fn slope_affine(&self, other: &Affine<V, C, N>, negate: V::Mask) -> Slope<V, C, N> {
        let zz = self.z.square();
        let other_u = other.x.mul(zz);
        let other_s = other.y.mul(zz.mul(self.z));
        Slope::new((self.x, self.y), (other_u, other_s), negate, self.z)
    }
}

impl<V: Lanes, C: Parameters<N>, const N: usize> Slope<V, C, N> {
    #[inline(always)]
    fn new(
        (u, s): (Element<V, C, N>, Element<V, C, N>),
        (other_u, other_s): (Element<V, C, N>, Element<V, C, N>),
        negate: V::Mask,
        z: Element<V, C, N>,
    ) -> Self {
        let h = other_u.sub(u);
        let r = Residue::folded(|i| {
            let there = other_s.digit(i);
            let there = V::select(negate, V::zero(there.proof()).sub(there), there);
            there.sub(s.digit(i))
        });
        Self { u, s, h, r, z }
    }

    /// Where the two points are the same.
    #[inline(always)]
    fn is_none(&self) -> V::Mask {
        is_zero::<V, C, N>(self.h).and(is_zero::<V, C, N>(self.r))
    }

    /// The sum of the two points.
    #[inline(always)]
    fn sum(&self) -> Point<V, C, N> {
        let Self { u, s, h, r, z } = *self;
        let hh = h.square();
        let hhh = h.mul(hh);
        let v = u.mul(hh);
        let rr = r.square();
        let x = Residue::folded(|i| {
            rr.digit(i)
                .sub(hhh.digit(i))
                .sub(v.digit(i).shift_left::<1>())
        });
        // r · (v − X) − s · h³: 1.01² p² and 2 p · 1.01 p.
        let y = r.mul_add(v.sub(x), s, hhh.opposite());
        Point { x, y, z: z.mul(h) }
    }
}

/// Which lanes are zero, of a number below 2 p.
#[inline(always)]
fn is_zero<V: Lanes, C: Parameters<N>, const N: usize>(element: Element<V, C, N>) -> V::Mask {
    element.canonical().is_zero()
}
