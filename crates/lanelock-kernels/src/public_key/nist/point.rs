//! Points of y² = x³ − 3 x + b in Jacobian coordinates: (X, Y, Z) is (X / Z², Y / Z³), and infinity
//! where Z is zero.
//!
//! The formulas are those of Cohen, Miyaji and Ono (1998) for sums and of Bernstein (2001) for
//! doubles. A double is right for every point, as none of a curve of odd order has Y = 0. A sum is
//! wrong where an operand is infinite or the two are equal; it is infinite where they are opposite.
//! [`Point::add_complete`] covers all of it; who uses the others says why it cannot happen.

use super::parameters::Parameters;
use crate::arch::digits::{DigitLanes, Mask};
use crate::arch::register::{Code, Proof};
use crate::public_key::digits::residue::Residue;
use crate::wipe::Plain;

/// An element of the field of `C`, in Montgomery's form.
pub(super) type Element<V, C, const N: usize> = Residue<V, <C as Parameters<N>>::Field, N>;

/// A point in affine coordinates, not infinity; each is below 2 p.
#[derive(Clone, Copy, Debug)]
pub(super) struct Affine<V: DigitLanes, C: Parameters<N>, const N: usize> {
    pub x: Element<V, C, N>,
    pub y: Element<V, C, N>,
}

/// A point in Jacobian coordinates; each is below 2 p.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<V: DigitLanes, C: Parameters<N>, const N: usize> {
    pub x: Element<V, C, N>,
    pub y: Element<V, C, N>,
    pub z: Element<V, C, N>,
}

// SAFETY: elements, which are plain data.
#[allow(unsafe_code)]
unsafe impl<V: DigitLanes, C: Parameters<N>, const N: usize> Plain for Point<V, C, N> {}

impl<V: DigitLanes, C: Parameters<N>, const N: usize> Affine<V, C, N> {
    /// The base point.
    #[inline(always)]
    pub fn generator(proof: V::Proof) -> Self {
        let [x, y] = &C::GENERATOR;
        let x = Residue::<V, C::Field, N>::constant(proof, x);
        let y = Residue::<V, C::Field, N>::constant(proof, y);
        Self {
            x: x.to_montgomery(),
            y: y.to_montgomery(),
        }
    }

    /// Which lanes are on the curve.
    #[inline(always)]
    pub fn is_on_curve(&self) -> V::Mask {
        is_zero::<V, C, N>(self.y.square().sub(square_of_y::<V, C, N>(self.x)))
    }

    /// The points with these x and with y odd in the lanes of `odd`, and the lanes that have one
    /// (SEC 1, section 2.3.4).
    #[inline(always)]
    pub fn with_x(x: Element<V, C, N>, odd: V::Mask) -> (Self, V::Mask) {
        let y = square_of_y::<V, C, N>(x).square_root();
        let differs = y.to_plain().canonical().is_odd().xor(odd);
        let y = Residue::select(differs, y.opposite(), y);
        let point = Self { x, y };
        (point, point.is_on_curve())
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

/// x³ − 3 x + b, below 1.01 p.
#[inline(always)]
fn square_of_y<V: DigitLanes, C: Parameters<N>, const N: usize>(
    x: Element<V, C, N>,
) -> Element<V, C, N> {
    let b = Element::<V, C, N>::constant(x.proof(), &C::B).to_montgomery();
    let cube = x.square().mul(x);
    Residue::folded(|i| {
        let thrice = x.digit(i).add(x.digit(i)).add(x.digit(i));
        cube.digit(i).sub(thrice).add(b.digit(i))
    })
}

/// What the sum of two points is made of: both over the common denominator z, and their difference.
pub(super) struct Slope<V: DigitLanes, C: Parameters<N>, const N: usize> {
    /// X and Y of the first point.
    u: Element<V, C, N>,
    s: Element<V, C, N>,
    /// How much further X and Y of the second are.
    h: Element<V, C, N>,
    r: Element<V, C, N>,
    z: Element<V, C, N>,
}

impl<V: DigitLanes, C: Parameters<N>, const N: usize> Point<V, C, N> {
    /// Twice the point.
    #[inline(always)]
    #[must_use]
    pub fn double(&self) -> Self {
        self.x.proof().call(Double(self))
    }

    /// `self` + `other`, `other` negated in the lanes of `negate`. Neither is infinite and they
    /// differ.
    #[inline(always)]
    #[must_use]
    pub fn add<O: Operand<V, C, N>>(&self, other: &O, negate: V::Mask) -> Self {
        self.x
            .proof()
            .call(Add::<V, C, O, N, false>(self, other, negate))
    }

    /// As [`Self::add`], for points that may be equal.
    #[inline(always)]
    #[must_use]
    pub fn add_or_double<O: Operand<V, C, N>>(&self, other: &O, negate: V::Mask) -> Self {
        self.x
            .proof()
            .call(Add::<V, C, O, N, true>(self, other, negate))
    }

    /// `self` + `other`, whatever they are.
    #[inline(always)]
    #[must_use]
    pub fn add_complete(&self, other: &Self) -> Self {
        let sum = self.add_or_double(other, V::mask(self.x.proof(), 0));
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
}

/// What can be added to a point.
pub(super) trait Operand<V: DigitLanes, C: Parameters<N>, const N: usize> {
    /// The slope from `from` to this one, negated in the lanes of `negate`; always inlined.
    fn slope(&self, from: &Point<V, C, N>, negate: V::Mask) -> Slope<V, C, N>;
}

impl<V: DigitLanes, C: Parameters<N>, const N: usize> Operand<V, C, N> for Point<V, C, N> {
    #[inline(always)]
    fn slope(&self, from: &Self, negate: V::Mask) -> Slope<V, C, N> {
        let (zz, from_zz) = (self.z.square(), from.z.square());
        let u = from.x.mul(zz);
        let s = from.y.mul(zz.mul(self.z));
        let other_u = self.x.mul(from_zz);
        let other_s = self.y.mul(from_zz.mul(from.z));
        Slope::new((u, s), (other_u, other_s), negate, self.z.mul(from.z))
    }
}

/// With fewer products.
impl<V: DigitLanes, C: Parameters<N>, const N: usize> Operand<V, C, N> for Affine<V, C, N> {
    #[inline(always)]
    fn slope(&self, from: &Point<V, C, N>, negate: V::Mask) -> Slope<V, C, N> {
        let zz = from.z.square();
        let other_u = self.x.mul(zz);
        let other_s = self.y.mul(zz.mul(from.z));
        Slope::new((from.x, from.y), (other_u, other_s), negate, from.z)
    }
}

struct Double<'p, V: DigitLanes, C: Parameters<N>, const N: usize>(&'p Point<V, C, N>);

impl<V: DigitLanes, C: Parameters<N>, const N: usize> Code for Double<'_, V, C, N> {
    type Output = Point<V, C, N>;

    #[inline(always)]
    fn run(self) -> Point<V, C, N> {
        let Point { x, y, z } = *self.0;
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
        Point {
            x: x3,
            y: y3,
            z: z3,
        }
    }
}

/// The sum of two points, the second negated in some lanes; if `OR_DOUBLE`, they may be equal.
struct Add<'p, V: DigitLanes, C: Parameters<N>, O, const N: usize, const OR_DOUBLE: bool>(
    &'p Point<V, C, N>,
    &'p O,
    V::Mask,
);

impl<V: DigitLanes, C: Parameters<N>, O: Operand<V, C, N>, const N: usize, const OR_DOUBLE: bool>
    Code for Add<'_, V, C, O, N, OR_DOUBLE>
{
    type Output = Point<V, C, N>;

    #[inline(always)]
    fn run(self) -> Point<V, C, N> {
        let Self(point, other, negate) = self;
        let slope = other.slope(point, negate);
        if OR_DOUBLE {
            Point::select(slope.is_none(), &point.double(), &slope.sum())
        } else {
            slope.sum()
        }
    }
}

impl<V: DigitLanes, C: Parameters<N>, const N: usize> Slope<V, C, N> {
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
fn is_zero<V: DigitLanes, C: Parameters<N>, const N: usize>(element: Element<V, C, N>) -> V::Mask {
    element.canonical().is_zero()
}
