//! Products modulo 2¹³⁰ − 5 in lanes of digits: limbs of 44, 44 and 42 bits fit the 52-bit multiply-add
//! and leave room for sums.

use super::field::{MASK_42, MASK_44};
use crate::arch::digits::DigitLanes;

/// 2¹²⁸ above a block, in its last limb.
pub(super) const TOP: u64 = 1 << 40;

/// A number that others are multiplied by, in each lane.
#[derive(Clone, Copy)]
pub(super) struct Factor<V> {
    r: [V; 3],
    /// 20 times the upper two limbs: what they are at 2¹³².
    s: [V; 2],
}

/// Sums of products whose carries are still to be done: their lower 52 bits, and what is above.
#[derive(Clone, Copy)]
pub(super) struct Products<V> {
    low: [V; 3],
    high: [V; 3],
}

impl<V: DigitLanes> Factor<V> {
    /// Of limbs below 2⁴⁵, 2⁴⁴ and 2⁴².
    #[inline(always)]
    pub(super) fn new(r: [V; 3]) -> Self {
        let zero = V::zero(r[0].proof());
        let twenty = V::splat(r[0].proof(), 20);
        let [_, r1, r2] = r;
        let s = [zero.mul_add_low(r1, twenty), zero.mul_add_low(r2, twenty)];
        Self { r, s }
    }

    /// The product with a number of limbs below 2⁴⁶ + 2⁴⁴, 2⁴⁶ + 2⁴⁴ and 2⁴⁴; its own are below 2⁴⁵,
    /// 2⁴⁴ and 2⁴².
    #[inline(always)]
    pub(super) fn times(&self, h: [V; 3]) -> [V; 3] {
        Products::zero(h[0].proof()).plus(h, self).carried()
    }
}

impl<V: DigitLanes> Products<V> {
    #[inline(always)]
    pub(super) fn zero(proof: V::Proof) -> Self {
        let zero = [V::zero(proof); 3];
        Self {
            low: zero,
            high: zero,
        }
    }

    /// With one more product: of a number of limbs below 2⁴⁶ + 2⁴⁴, 2⁴⁶ + 2⁴⁴ and 2⁴⁴, or of a block;
    /// there may be one of each. The first limb comes last, as carries reach it last.
    #[inline(always)]
    pub(super) fn plus(self, [h0, h1, h2]: [V; 3], by: &Factor<V>) -> Self {
        let ([r0, r1, r2], [s1, s2]) = (by.r, by.s);
        let (l, h) = (self.low, self.high);
        macro_rules! limb {
            ($half:ident, $sum:expr, $x:expr, $y:expr, $z:expr) => {
                $sum.$half(h1, $y).$half(h2, $z).$half(h0, $x)
            };
        }
        Self {
            low: [
                limb!(mul_add_low, l[0], r0, s2, s1),
                limb!(mul_add_low, l[1], r1, r0, s2),
                limb!(mul_add_low, l[2], r2, r1, r0),
            ],
            high: [
                limb!(mul_add_high, h[0], r0, s2, s1),
                limb!(mul_add_high, h[1], r1, r0, s2),
                limb!(mul_add_high, h[2], r2, r1, r0),
            ],
        }
    }

    /// Their limbs, below 2⁴⁵, 2⁴⁴ and 2⁴².
    #[inline(always)]
    pub(super) fn carried(self) -> [V; 3] {
        let ([low0, low1, low2], [high0, high1, high2]) = (self.low, self.high);
        let proof = low0.proof();
        let (mask_44, mask_42) = (V::splat(proof, MASK_44), V::splat(proof, MASK_42));
        // A high half weighs 2⁵² of its limb: 2⁸ of the next, and 20 · 2⁸ around the end. There it is below
        // 5/4 · 2³⁹, so that the product fits. Of a sum of shifts the compiler would make a multiplication
        // of 64 bits, which takes long.
        let d0 = low0.mul_add_low(high2, V::splat(proof, 20 << 8));
        let d1 = low1
            .add(high0.shift_left::<8>())
            .add(d0.shift_right::<44>());
        let d2 = low2
            .add(high1.shift_left::<8>())
            .add(d1.shift_right::<44>());
        let over = d2.shift_right::<42>();
        [
            d0.and(mask_44).mul_add_low(over, V::splat(proof, 5)),
            d1.and(mask_44),
            d2.and(mask_42),
        ]
    }
}

/// The limbs of blocks, with 2¹²⁸ above them.
#[inline(always)]
pub(super) fn limbs<V: DigitLanes>((low, high): (V, V), top: V) -> [V; 3] {
    let mask_44 = V::splat(low.proof(), MASK_44);
    let middle = low.shift_right::<44>().or(high.shift_left::<20>());
    [
        low.and(mask_44),
        middle.and(mask_44),
        high.shift_right::<24>().or(top),
    ]
}

/// Limb by limb.
#[inline(always)]
pub(super) fn add<V: DigitLanes>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [a[0].add(b[0]), a[1].add(b[1]), a[2].add(b[2])]
}
