//! Poly1305 of one message in lanes of digits: neighbouring blocks in neighbouring lanes. Each step
//! multiplies by the power of `r` that leads to the next register of blocks, and the last one by a power
//! of its own in each lane.

#![allow(unsafe_code)] // reads blocks by pointer
#![allow(clippy::needless_range_loop)] // an index names the limb on both sides

use super::BLOCK;
use super::factor::{Factor, Products, TOP, add, limbs};
use super::field::Element;
use crate::arch::digits::{DigitLanes, MAX_LANES};

/// Absorbs `blocks` ≥ 1 blocks into `sum` under the multiplier `r`.
///
/// # Safety
/// `at` is valid for reading the blocks.
#[inline(always)]
pub(super) unsafe fn spread<V: DigitLanes>(
    proof: V::Proof,
    r: &Element,
    sum: &mut Element,
    at: *const u8,
    blocks: usize,
) {
    assert!(V::LANES == MAX_LANES, "narrower ones are of words");
    // A first register with lanes to spare takes them at its front, where zeros change nothing.
    let begin = blocks.div_ceil(MAX_LANES) * MAX_LANES - blocks;
    let mut at = at.wrapping_sub(begin * BLOCK);
    let mut registers = blocks.div_ceil(MAX_LANES) - 1;

    let top = V::splat(proof, TOP);
    let powers = Powers::<V>::new(proof, r);
    let mut h = {
        let (first, bits) = (1_u8 << begin, u8::MAX << begin);
        let zero = V::zero(proof);
        let chosen = V::select(V::mask(proof, bits), top, zero);
        // SAFETY: the first `begin` blocks are before the caller's, and not read.
        let blocks = limbs(unsafe { V::load_blocks(proof, at, begin) }, chosen);
        let mut before = [zero; 3];
        for limb in 0..3 {
            let word = V::splat(proof, sum.0[limb]);
            before[limb] = V::select(V::mask(proof, first), word, zero);
        }
        add(before, blocks)
    };
    at = at.wrapping_add(LINES);
    if registers >= 2 {
        let step = powers.step;
        let two = Factor::new(step.times(powers.eighth));
        while registers >= 2 {
            // SAFETY: two of the registers of blocks that are left.
            let (one, other) = unsafe { (load(proof, at, top), load(proof, at.add(LINES), top)) };
            let products = Products::zero(proof).plus(one, &step).plus(h, &two);
            h = add(products.carried(), other);
            at = at.wrapping_add(2 * LINES);
            registers -= 2;
        }
    }
    if registers == 1 {
        // SAFETY: the register of blocks that is left.
        h = add(powers.step.times(h), unsafe { load(proof, at, top) });
    }
    let h = powers.lanes.times(h);
    *sum = Element::of_sums([h[0].sum(), h[1].sum(), h[2].sum()]);
}

/// Bytes of a register of blocks.
const LINES: usize = MAX_LANES * BLOCK;

/// The limbs of a register of blocks.
///
/// # Safety
/// They are valid for reading.
#[inline(always)]
unsafe fn load<V: DigitLanes>(proof: V::Proof, at: *const u8, top: V) -> [V; 3] {
    // SAFETY: the caller's promise, passed on.
    limbs(unsafe { V::load_blocks(proof, at, 0) }, top)
}

/// Powers of a multiplier.
struct Powers<V> {
    /// The eighth, in every lane.
    step: Factor<V>,
    eighth: [V; 3],
    /// From the eighth in the first lane down to the first in the last.
    lanes: Factor<V>,
}

impl<V: DigitLanes> Powers<V> {
    #[inline(always)]
    fn new(proof: V::Proof, r: &Element) -> Self {
        let mut power = [V::zero(proof); 3];
        for limb in 0..3 {
            power[limb] = V::splat(proof, r.0[limb]);
        }
        // From the first power in each lane to the second in every other one, from these to the fourth and
        // the third, and so on.
        let mut lanes = power;
        for higher in [0b0101_0101, 0b0011_0011, 0b0000_1111] {
            let more = Factor::new(power).times(lanes);
            for limb in 0..3 {
                lanes[limb] = V::select(V::mask(proof, higher), more[limb], lanes[limb]);
                power[limb] = lanes[limb].first();
            }
        }
        Self {
            step: Factor::new(power),
            eighth: power,
            lanes: Factor::new(lanes),
        }
    }
}
