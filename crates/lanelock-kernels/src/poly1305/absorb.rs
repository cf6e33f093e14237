//! Poly1305 of a message in each lane of digits. One or two registers are in flight.

#![allow(unsafe_code)] // loads through per-lane pointers
#![allow(clippy::needless_range_loop)] // an index names the limb on both sides

use super::BLOCK;
use super::factor::{Factor, TOP, add, limbs};
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
    let top = V::splat(proof, TOP);
    let mut h = [[zero; 3]; N];
    let mut r = [Factor::new([zero; 3]); N];
    for n in 0..N {
        let mut limbs = [zero; 3];
        for limb in 0..3 {
            h[n][limb] = V::load(proof, &columns.h[limb][n]);
            limbs[limb] = V::load(proof, &columns.r[limb][n]);
        }
        r[n] = Factor::new(limbs);
    }
    for block in 0..blocks {
        for n in 0..N {
            // SAFETY: eight pointers from 8 · n, each with this block after it.
            let pairs = unsafe { V::load_pairs(proof, at.add(MAX_LANES * n), block * BLOCK) };
            h[n] = r[n].times(add(h[n], limbs(pairs, top)));
        }
    }
    for n in 0..N {
        for limb in 0..3 {
            h[n][limb].store(&mut columns.h[limb][n]);
        }
    }
}
