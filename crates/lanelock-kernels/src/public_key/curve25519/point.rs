//! Points of edwards25519 (RFC 8032, section 5.1), one in each lane.
//!
//! A point is kept as the sum and the difference of Y and X, which both the addition and the
//! doubling multiply. Both are complete: no point is an exception.

use super::field::{Element, GROUPS, Wide};
use super::words::{self, Secret};
use crate::arch::digits::DigitLanes;
use crate::arch::register::Code;
use crate::wipe::{Plain, wipe};

/// Y + X, Y − X and Z.
#[derive(Clone, Copy, Debug)]
pub(super) struct Projective<V> {
    pub(super) sum: Element<V>,
    pub(super) difference: Element<V>,
    /// A product.
    pub(super) z: Wide<V>,
}

/// A point with T = X·Y/Z, which an addition needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extended<V> {
    pub(super) projective: Projective<V>,
    t: Element<V>,
}

/// What is added: y + x, y − x and 2d·x·y.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addend<V>(pub(super) [Element<V>; 3]);

/// A sum before its four products: X = e·f, Y = g·h, Z = f·g, T = e·h.
struct Completed<V> {
    e: Element<V>,
    f: Element<V>,
    g: Element<V>,
    h: Element<V>,
}

impl<V: DigitLanes> Extended<V> {
    /// The neutral element.
    #[inline(always)]
    pub(super) fn neutral(proof: V::Proof) -> Self {
        let one = Element::one(proof);
        Self {
            projective: Projective {
                sum: one,
                difference: one,
                z: one.wide(),
            },
            t: Element::zero(proof),
        }
    }

    /// `self` + `addend`, or − `addend` in the lanes of `negative`.
    #[inline(always)]
    pub(super) fn add(self, addend: Addend<V>, negative: V::Mask) -> Self {
        V::run(self.t.0[0].proof(), Add(self, addend, negative))
    }
}

/// See [`Extended::add`].
struct Add<V: DigitLanes>(Extended<V>, Addend<V>, V::Mask);

impl<V: DigitLanes> Code for Add<V> {
    type Output = Extended<V>;

    #[inline(always)]
    fn run(self) -> Extended<V> {
        let Self(point, addend, negative) = self;
        let Addend([mut y_plus_x, mut y_minus_x, t_2d]) = addend;
        Element::swap(negative, &mut y_plus_x, &mut y_minus_x);
        let Projective { sum, difference, z } = point.projective;
        let a = difference.mul_wide(y_minus_x);
        let b = sum.mul_wide(y_plus_x);
        let c = point.t.mul_wide(t_2d);
        let d = z.add(z);
        let (mut f, mut g) = (d.sub(c).carry(), d.add(c).carry());
        Element::swap(negative, &mut f, &mut g);
        Completed {
            e: b.sub(a).carry(),
            f,
            g,
            h: b.add(a).carry(),
        }
        .extended()
    }
}

impl<V: DigitLanes> Projective<V> {
    /// 2 · `self`
    #[inline(always)]
    pub(super) fn double(self) -> Self {
        self.double_completed().projective()
    }

    /// 2 · `self`, to add to.
    #[inline(always)]
    pub(super) fn double_extended(self) -> Extended<V> {
        self.double_completed().extended()
    }

    /// With s = Y + X and d = Y − X, all coordinates fourfold: e = 4XY = s² − d²,
    /// h = 2 (X² + Y²) = s² + d², g = 2 (Y² − X²) = 2sd, f = 4Z² − g.
    #[inline(always)]
    fn double_completed(self) -> Completed<V> {
        V::run(self.sum.0[0].proof(), Double(self))
    }

    /// Encodes (section 5.1.2) the points of at most [`GROUPS`] groups of lanes, as many as there
    /// is room for in `encoded`, and wipes them.
    #[inline(always)]
    pub(super) fn encode_all(points: &mut [Self], encoded: &mut [[u8; 32]]) {
        let Some(first) = points.first() else { return };
        let mut inverses = [first.sum; GROUPS];
        let inverses = &mut inverses[..points.len()];
        for (inverse, point) in inverses.iter_mut().zip(points.iter()) {
            *inverse = point.z.add(point.z).carry();
        }
        Element::invert_all(inverses);
        for (i, encoded) in encoded.chunks_mut(V::LANES).enumerate() {
            // Twice each coordinate, divided by 2Z.
            let x = points[i].sum.sub(points[i].difference).mul(inverses[i]);
            let y = points[i].sum.add(points[i].difference).mul(inverses[i]);
            let mut words = y.to_words();
            words[3] = words[3].or(x.reduce().0[0].shift_left::<63>());
            let mut columns = Secret::new();
            words::store(words, &mut columns.0);
            for (lane, encoded) in encoded.iter_mut().enumerate() {
                *encoded = words::get(&columns.0, lane);
            }
        }
        wipe(inverses);
        wipe(points);
    }
}

/// See [`Projective::double_completed`].
struct Double<V>(Projective<V>);

impl<V: DigitLanes> Code for Double<V> {
    type Output = Completed<V>;

    #[inline(always)]
    fn run(self) -> Completed<V> {
        let Projective { sum, difference, z } = self.0;
        let (s_2, d_2) = (sum.square_wide(), difference.square_wide());
        let z_2 = z.carry().square_wide();
        let sd = sum.mul_wide(difference);
        let half_f = z_2.add(z_2).sub(sd);
        Completed {
            e: s_2.sub(d_2).carry(),
            f: half_f.add(half_f).carry(),
            g: sd.add(sd).carry(),
            h: s_2.add(d_2).carry(),
        }
    }
}

#[allow(unsafe_code)] // the promise of `Plain`
// SAFETY: plain data throughout.
unsafe impl<V: Plain> Plain for Projective<V> {}

impl<V: DigitLanes> Completed<V> {
    #[inline(always)]
    fn projective(self) -> Projective<V> {
        let (x, y) = (self.e.mul_wide(self.f), self.g.mul_wide(self.h));
        Projective {
            sum: y.add(x).carry(),
            difference: y.sub(x).carry(),
            z: self.f.mul_wide(self.g),
        }
    }

    #[inline(always)]
    fn extended(self) -> Extended<V> {
        Extended {
            t: self.e.mul_wide(self.h).carry(),
            projective: self.projective(),
        }
    }
}

impl<V: DigitLanes> Addend<V> {
    /// `self` in the lanes of `mask`, the neutral element in the others.
    #[inline(always)]
    pub(super) fn or_neutral(self, mask: V::Mask) -> Self {
        let proof = self.0[0].0[0].proof();
        let (zero, one) = (Element::zero(proof), Element::one(proof));
        let [y_plus_x, y_minus_x, t_2d] = self.0;
        Self([
            Element::select(mask, y_plus_x, one),
            Element::select(mask, y_minus_x, one),
            Element::select(mask, t_2d, zero),
        ])
    }
}

/// A scalar in 51 signed odd digits of five bits: an odd number k < 2²⁵⁵ is the sum of
/// (2eᵢ − 31) · 32ⁱ, where the eᵢ are the digits of (k + 2²⁵⁵ − 1) / 2 = ⌊k / 2⌋ + 2²⁵⁴.
///
/// No digit is zero, and a table holds the sixteen odd multiples alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct OddDigits<V>([V; 4]);

/// How many digits [`OddDigits`] has.
pub(super) const WINDOWS: usize = 51;
/// Bits of a digit of [`OddDigits`].
pub(super) const WINDOW_BITS: usize = 5;

impl<V: DigitLanes> OddDigits<V> {
    /// Of a number below 2²⁵⁴, whose lowest bit is taken to be set.
    #[inline(always)]
    pub(super) fn new(number: [V; 4]) -> Self {
        let mut half = number;
        for i in 0..3 {
            half[i] = number[i]
                .shift_right::<1>()
                .or(number[i + 1].shift_left::<63>());
        }
        let top = V::splat(number[0].proof(), 1 << 62);
        half[3] = number[3].shift_right::<1>().or(top);
        Self(half)
    }

    /// Takes the digit of the highest weight and moves up the others: the place of its absolute
    /// value among the odd numbers, and whether it is negative.
    #[inline(always)]
    pub(super) fn take_highest(&mut self) -> (V, V::Mask) {
        // Bits 250 to 254.
        let digit = self.0[3].shift_right::<58>();
        let place = self.place(digit);
        let mut moved = self.0;
        for i in (1..4).rev() {
            moved[i] = self.0[i]
                .shift_left::<5>()
                .or(self.0[i - 1].shift_right::<59>());
        }
        moved[0] = self.0[0].shift_left::<5>();
        moved[3] = moved[3].and(V::splat(digit.proof(), u64::MAX >> 1));
        self.0 = moved;
        place
    }

    /// As [`Self::take_highest`], from the other end.
    #[inline(always)]
    pub(super) fn take_lowest(&mut self) -> (V, V::Mask) {
        let digit = self.0[0].and(V::splat(self.0[0].proof(), 31));
        let place = self.place(digit);
        for i in 0..3 {
            self.0[i] = self.0[i]
                .shift_right::<5>()
                .or(self.0[i + 1].shift_left::<59>());
        }
        self.0[3] = self.0[3].shift_right::<5>();
        place
    }

    /// 2e − 31 is negative for e < 16. Its absolute value is number e − 16 or 15 − e of 1, 3, 5, …
    #[inline(always)]
    fn place(self, digit: V) -> (V, V::Mask) {
        let proof = digit.proof();
        let negative = digit.and(V::splat(proof, 16)).is_zero();
        let fifteen = V::splat(proof, 15);
        let low = digit.and(fifteen);
        (V::select(negative, low.xor(fifteen), low), negative)
    }
}
