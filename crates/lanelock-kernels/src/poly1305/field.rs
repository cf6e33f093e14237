//! Arithmetic modulo 2¹³⁰ − 5, one number at a time, without secret-dependent branches.

#![allow(unsafe_code)] // reads blocks by pointer

use super::BLOCK;
use crate::wipe::wipe;

pub(super) const MASK_44: u64 = (1 << 44) - 1;
pub(super) const MASK_42: u64 = (1 << 42) - 1;

/// From this many blocks on the square of the multiplier, which two blocks at a time need, is worth
/// a multiplication.
const PAIRS: usize = 4;

/// A number in limbs of weight 1, 2⁴⁴ and 2⁸⁸.
///
/// Invariant: limbs are below 2⁴⁶, so that the products of a multiplication add up in 128 bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Element(pub(super) [u64; 3]);

/// The one-time key of a message: the multiplier `r` and the final addend `s`. Plain data, that
/// its owner wipes.
#[derive(Clone, Copy)]
pub(crate) struct Secret {
    pub(super) r: Element,
    s: u128,
}

impl Secret {
    /// From the first 32 bytes of the message's keystream.
    pub(crate) fn new(key: &[u32; 8]) -> Self {
        let wide = |i: usize| u64::from(key[i]) | u64::from(key[i + 1]) << 32;
        let low = wide(0) & 0x0fff_fffc_0fff_ffff;
        let high = wide(2) & 0x0fff_fffc_0fff_fffc;
        let r = Element([
            low & MASK_44,
            (low >> 44 | high << 20) & MASK_44,
            high >> 24,
        ]);
        Self {
            r,
            s: u128::from(wide(4)) | u128::from(wide(6)) << 64,
        }
    }

    /// Overwrites the key.
    pub(crate) fn wipe(&mut self) {
        wipe(&mut self.r.0);
        self.s = 0;
        core::hint::black_box(&mut self.s);
    }

    /// The tag of a message whose blocks were absorbed into `sum`.
    pub(crate) fn tag(&self, sum: Element) -> [u8; 16] {
        sum.reduced().wrapping_add(self.s).to_le_bytes()
    }
}

impl Element {
    /// `self · other`, partly reduced.
    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        reduce(self.products(other))
    }

    /// The limbs of `self · other`, below 2⁹⁸.
    #[inline(always)]
    fn products(self, other: Self) -> [u128; 3] {
        let [a0, a1, a2] = self.0;
        let [b0, b1, b2] = other.0;
        // 2¹³² = 4 · 2¹³⁰ ≡ 20.
        let (c1, c2) = (20 * b1, 20 * b2);
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        [
            product(a0, b0) + product(a1, c2) + product(a2, c1),
            product(a0, b1) + product(a1, b0) + product(a2, c2),
            product(a0, b2) + product(a1, b1) + product(a2, b0),
        ]
    }

    /// `self + other`, limb by limb.
    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        let ([a0, a1, a2], [b0, b1, b2]) = (self.0, other.0);
        Self([a0 + b0, a1 + b1, a2 + b2])
    }

    /// `self` to the power `exponent` ≥ 1, which is public.
    pub(super) fn power_vartime(self, exponent: usize) -> Self {
        let mut result = self;
        for bit in (0..exponent.ilog2()).rev() {
            result = result.times(result);
            if exponent >> bit & 1 == 1 {
                result = result.times(self);
            }
        }
        result
    }

    /// Absorbs `blocks` blocks under the multiplier `r`.
    ///
    /// # Safety
    /// `at` is valid for reading them.
    #[inline(always)]
    pub(super) unsafe fn absorb(self, r: Self, at: *const u8, blocks: usize) -> Self {
        let mut sum = self;
        let mut done = 0;
        if blocks >= PAIRS {
            // Two at a time: (h + a) r² + b r carries once, and b r waits for nothing.
            let square = r.times(r);
            while done + 1 < blocks {
                // SAFETY: two of the caller's `blocks`.
                let (a, b) = unsafe { (Self::block(at, done), Self::block(at, done + 1)) };
                let (early, late) = (b.products(r), sum.plus(a).products(square));
                sum = reduce([late[0] + early[0], late[1] + early[1], late[2] + early[2]]);
                done += 2;
            }
        }
        while done < blocks {
            // SAFETY: one of the caller's `blocks`.
            sum = sum.plus(unsafe { Self::block(at, done) }).times(r);
            done += 1;
        }
        sum
    }

    /// Block `number` from `at` on, and 2¹²⁸.
    ///
    /// # Safety
    /// `at` is valid for reading it.
    #[inline(always)]
    unsafe fn block(at: *const u8, number: usize) -> Self {
        // SAFETY: the caller's promise; no alignment is needed.
        let bytes = unsafe { at.add(BLOCK * number).cast::<[u8; BLOCK]>().read() };
        let block = u128::from_le_bytes(bytes);
        Self([
            low(block) & MASK_44,
            low(block >> 44) & MASK_44,
            low(block >> 88) | 1 << 40,
        ])
    }

    /// The smallest number of the same residue, modulo 2¹²⁸.
    fn reduced(self) -> u128 {
        let [h0, h1, h2] = self.0;
        // Carries twice: afterwards the limbs are in their widths.
        let carry = |[h0, h1, h2]: [u64; 3]| {
            let h1 = h1 + (h0 >> 44);
            let h2 = h2 + (h1 >> 44);
            [(h0 & MASK_44) + 5 * (h2 >> 42), h1 & MASK_44, h2 & MASK_42]
        };
        let [h0, h1, h2] = carry(carry(carry([h0, h1, h2])));
        // Subtract the modulus by adding 5: bit 130 of the sum says whether it went round.
        let g0 = h0 + 5;
        let g1 = h1 + (g0 >> 44);
        let g2 = h2 + (g1 >> 44);
        let wrapped = 0_u64.wrapping_sub(g2 >> 42);
        let select = |h: u64, g: u64| (h & !wrapped) | (g & wrapped);
        let h0 = select(h0, g0 & MASK_44);
        let h1 = select(h1, g1 & MASK_44);
        let h2 = select(h2, g2 & MASK_42);
        u128::from(h0) | u128::from(h1) << 44 | u128::from(h2) << 88
    }
}

/// A number from the limbs of a product, below 2⁹⁸.
#[inline(always)]
fn reduce([d0, d1, d2]: [u128; 3]) -> Element {
    let d1 = d1 + (d0 >> 44);
    let d2 = d2 + (d1 >> 44);
    let h0 = low(d0) & MASK_44;
    let h1 = low(d1) & MASK_44;
    let h2 = low(d2) & MASK_42;
    let h0 = h0 + 5 * low(d2 >> 42);
    Element([h0 & MASK_44, h1 + (h0 >> 44), h2])
}

/// The low 64 bits.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // that is the purpose
fn low(wide: u128) -> u64 {
    wide as u64
}
