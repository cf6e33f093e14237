//! Poly1305 of one message in plain integers: limbs of 64 bits, for which the clamped multiplier has
//! room. Few instructions, each of which waits for the one before: other work fits beside them.

#![allow(unsafe_code)] // reads blocks by pointer

use super::BLOCK;
use super::field::{Element, Secret, low};
use crate::bytes::load_short;
use crate::wipe::wipe;

/// A sum in progress. Plain data, that its owner wipes.
#[derive(Clone, Copy)]
pub(crate) struct Running {
    /// Weights 1, 2⁶⁴ and 2¹²⁸. Invariant: the last is below 8.
    h: [u64; 3],
    /// Below 2⁶⁰ each; the second is a multiple of 4.
    r: [u64; 2],
    /// 5/4 of the second limb of `r`: what it is at 2¹³⁰.
    s: u64,
}

impl Running {
    /// Goes on from `sum` under the multiplier of `secret`.
    #[inline(always)]
    pub(crate) fn new(secret: &Secret, sum: Element) -> Self {
        let ([r0, r1], h) = (secret.wide_r, sum.wide());
        Self {
            h,
            r: [r0, r1],
            s: r1 + (r1 >> 2),
        }
    }

    /// What was absorbed so far.
    #[inline(always)]
    pub(crate) fn sum(&self) -> Element {
        Element::of_wide(self.h)
    }

    /// The tag under the one-time key that it was made with.
    #[inline(always)]
    pub(crate) fn tag(&self, secret: &Secret) -> [u8; BLOCK] {
        secret.tag_of_wide(self.h)
    }

    /// Overwrites it.
    #[inline(always)]
    pub(crate) fn wipe(&mut self) {
        wipe(&mut self.h);
        wipe(&mut self.r);
        wipe(core::slice::from_mut(&mut self.s));
    }

    /// Absorbs a block, and 2¹²⁸ with it.
    #[inline(always)]
    pub(crate) fn block(&mut self, block: [u8; BLOCK]) {
        let ([h0, h1, h2], [r0, r1], s) = (self.h, self.r, self.s);
        let ([h0, h1], carry) = add(h0, h1, u128::from_le_bytes(block));
        let h2 = h2 + 1 + u64::from(carry); // at most 9

        // 2¹³⁰ ≡ 5: what `r1` takes beyond 2¹²⁸ comes back by `s`. Products are below 2¹²⁵; what is
        // added to `h2 * s` or to `h2 * r0`, below 2⁶², leaves it below 2⁶⁴, and so does 5/4 of the latter.
        let d0 = product(h0, r0) + product(h1, s);
        let d1 = product(h0, r1) + product(h1, r0) + u128::from(h2 * s + low(d0 >> 64));
        let d2 = h2 * r0 + low(d1 >> 64);

        // What is left of `d2` above its two bits comes back by 5.
        let ([h0, h1], carry) = add(low(d0), low(d1), u128::from(5 * (d2 >> 2)));
        self.h = [h0, h1, (d2 & 3) + u64::from(carry)];
    }

    /// Absorbs `len` bytes, and zeros up to a whole block.
    ///
    /// # Safety
    /// `at` is valid for reading them.
    #[inline(always)]
    pub(crate) unsafe fn padded(&mut self, at: *const u8, len: usize) {
        let rest = len % BLOCK;
        // SAFETY: the caller's promise; what is left is less than a block.
        unsafe {
            self.absorb(at, len / BLOCK);
            if rest > 0 {
                let block = load_short(at.add(len - rest), rest);
                self.block(block.to_le_bytes());
            }
        }
    }

    /// Absorbs `blocks` blocks.
    ///
    /// # Safety
    /// `at` is valid for reading them.
    #[inline(always)]
    pub(crate) unsafe fn absorb(&mut self, at: *const u8, blocks: usize) {
        for block in 0..blocks {
            // SAFETY: one of the caller's `blocks`; no alignment is needed.
            self.block(unsafe { at.add(BLOCK * block).cast::<[u8; BLOCK]>().read() });
        }
    }
}

#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// The sum of a number in two limbs and another, and the carry.
#[inline(always)]
fn add(low_limb: u64, high_limb: u64, more: u128) -> ([u64; 2], bool) {
    let limbs = u128::from(low_limb) | u128::from(high_limb) << 64;
    let (sum, carry) = limbs.overflowing_add(more);
    ([low(sum), low(sum >> 64)], carry)
}
