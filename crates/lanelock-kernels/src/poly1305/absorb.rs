//! Poly1305 in lanes: limbs of 44, 44 and 42 bits fit the 52-bit multiply-add and leave room for
//! sums. One or two registers are in flight.

#![allow(unsafe_code)] // loads through per-lane pointers
#![allow(clippy::needless_range_loop)] // an index names the limb on both sides

use super::BLOCK;
use super::field::{MASK_42, MASK_44};
use super::lanes::Columns;
use crate::arch::digits::{DigitLanes, MAX_LANES};

/// Absorbs `blocks` blocks in each lane of `N` registers.
///
/// # Safety
/// `at` is valid for [`MAX_LANES`] · `N` pointers, each valid for reading `blocks` blocks.
#[inline(always)]
pub(super) unsafe fn absorb<V: DigitLanes, const N: usize>(
    proof: V::Proof,
    columns: &mut Columns,
    at: *const *const u8,
    blocks: usize,
) {
    assert!(V::LANES == MAX_LANES, "narrower ones are of words");
    let zero = V::zero(proof);
    let (mask_44, mask_42) = (V::splat(proof, MASK_44), V::splat(proof, MASK_42));
    let top = V::splat(proof, 1 << 40); // 2¹²⁸ above the block
    let mut h = [[zero; 3]; N];
    let mut r = [[zero; 3]; N];
    let mut s = [[zero; 3]; N];
    for n in 0..N {
        for limb in 0..3 {
            h[n][limb] = V::load(proof, &columns.h[limb][n]);
            r[n][limb] = V::load(proof, &columns.r[limb][n]);
            // 20 r = 16 r + 4 r
            s[n][limb] = (r[n][limb].shift_left::<4>()).add(r[n][limb].shift_left::<2>());
        }
    }
    for block in 0..blocks {
        for n in 0..N {
            // SAFETY: eight pointers from 8 · n, each with this block after it.
            let (low, high) = unsafe { V::load_pairs(proof, at.add(MAX_LANES * n), block * BLOCK) };
            let middle = low.shift_right::<44>().or(high.shift_left::<20>());
            let h0 = h[n][0].add(low.and(mask_44));
            let h1 = h[n][1].add(middle.and(mask_44));
            let h2 = h[n][2].add(high.shift_right::<24>().or(top));

            // Two sums for each half, so that the multiply-adds do not wait for each other.
            let ([r0, r1, r2], [_, s1, s2]) = (r[n], s[n]);
            macro_rules! limb {
                ($half:ident, $x:expr, $y:expr, $z:expr) => {
                    zero.$half(h2, $z).$half(h1, $y).add(zero.$half(h0, $x))
                };
            }
            let low0 = limb!(mul_add_low, r0, s2, s1);
            let high0 = limb!(mul_add_high, r0, s2, s1);
            let low1 = limb!(mul_add_low, r1, r0, s2);
            let high1 = limb!(mul_add_high, r1, r0, s2);
            let low2 = limb!(mul_add_low, r2, r1, r0);
            let high2 = limb!(mul_add_high, r2, r1, r0);

            // A high half weighs 2⁵² of its limb: 2⁸ of the next, and 20 · 2⁸ around the end.
            let around = high2.shift_left::<12>().add(high2.shift_left::<10>());
            let d0 = low0.add(around);
            let d1 = low1
                .add(high0.shift_left::<8>())
                .add(d0.shift_right::<44>());
            let d2 = low2
                .add(high1.shift_left::<8>())
                .add(d1.shift_right::<44>());
            let over = d2.shift_right::<42>();
            let five = over.add(over.shift_left::<2>());
            h[n] = [d0.and(mask_44).add(five), d1.and(mask_44), d2.and(mask_42)];
        }
    }
    for n in 0..N {
        for limb in 0..3 {
            h[n][limb].store(&mut columns.h[limb][n]);
        }
    }
}
