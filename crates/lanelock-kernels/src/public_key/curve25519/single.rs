//! Points of edwards25519 (RFC 8032, section 5.1), one at a time, and tables of their multiples:
//! computed by the compiler for the base point, and once for each public key.

use super::field::DIGITS;
use super::number::Number;

/// Odd multiples in a table: windows of five bits.
pub(super) const MULTIPLES: usize = 16;

/// A point in extended coordinates: x = X/Z, y = Y/Z, x·y = T/Z.
#[derive(Clone, Copy, Debug)]
pub(super) struct Single {
    x: Number,
    y: Number,
    z: Number,
    t: Number,
}

/// y + x, y − x and 2d·x·y of a point, reduced.
pub(super) type Affine = [[u64; DIGITS]; 3];

/// d = −121665/121666
const D: Number = Number::small(121_665)
    .negate()
    .mul(Number::small(121_666).invert());

const TWICE_D: Number = D.add(D);

impl Single {
    /// y = 4/5, x even.
    pub(super) const BASE: Self = {
        let y = Number::small(4).mul(Number::small(5).invert());
        match Self::with_y(y, false) {
            Some(point) => point,
            None => panic!("the base point is on the curve"),
        }
    };

    /// The point with this `y`, whose x is odd or even; `None` if there is none.
    ///
    /// As OpenSSL does, and unlike section 5.1.3, a `y` from p on is taken modulo p and x = 0 has
    /// either sign.
    pub(super) const fn with_y(y: Number, odd: bool) -> Option<Self> {
        let square = y.square();
        let (u, v) = (square.sub(Number::ONE), square.mul(D).add(Number::ONE));
        let Some(root) = Number::root_of_ratio(u, v) else {
            return None;
        };
        let x = if root.is_odd() == odd {
            root
        } else {
            root.negate()
        };
        Some(Self {
            x,
            y,
            z: Number::ONE,
            t: x.mul(y),
        })
    }

    pub(super) const fn negate(self) -> Self {
        Self {
            x: self.x.negate(),
            t: self.t.negate(),
            ..self
        }
    }

    /// Section 5.1.4; complete, so a point may be added to itself.
    pub(super) const fn add(self, other: Self) -> Self {
        let a = self.y.sub(self.x).mul(other.y.sub(other.x));
        let b = self.y.add(self.x).mul(other.y.add(other.x));
        let c = self.t.mul(TWICE_D).mul(other.t);
        let d = self.z.add(self.z).mul(other.z);
        let (e, f, g, h) = (b.sub(a), d.sub(c), d.add(c), b.add(a));
        Self {
            x: e.mul(f),
            y: g.mul(h),
            z: f.mul(g),
            t: e.mul(h),
        }
    }

    /// `self` times 1, 3, 5, …, 31.
    pub(super) const fn odd_multiples(self) -> [Affine; MULTIPLES] {
        let twice = self.add(self);
        let mut points = [self; MULTIPLES];
        let mut products = [self.z; MULTIPLES];
        let mut i = 1;
        while i < MULTIPLES {
            points[i] = points[i - 1].add(twice);
            products[i] = products[i - 1].mul(points[i].z);
            i += 1;
        }
        // Of the product of all z, one inverse; z is never zero.
        let mut inverse = products[MULTIPLES - 1].invert();
        let mut affine = [[[0; DIGITS]; 3]; MULTIPLES];
        while i > 0 {
            i -= 1;
            let point = points[i];
            let of_z = if i == 0 {
                inverse
            } else {
                inverse.mul(products[i - 1])
            };
            inverse = inverse.mul(point.z);
            let (x, y) = (point.x.mul(of_z), point.y.mul(of_z));
            affine[i] = [
                y.add(x).digits(),
                y.sub(x).digits(),
                x.mul(y).mul(TWICE_D).digits(),
            ];
        }
        affine
    }
}
