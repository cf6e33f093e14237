//! Arithmetic modulo 2¹³⁰ − 5, one number at a time, without secret-dependent branches.

use crate::wipe::wipe;

pub(super) const MASK_44: u64 = (1 << 44) - 1;
pub(super) const MASK_42: u64 = (1 << 42) - 1;

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
    /// `r` in limbs of 64 bits.
    pub(super) wide_r: [u64; 2],
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
            wide_r: [low, high],
            s: u128::from(wide(4)) | u128::from(wide(6)) << 64,
        }
    }

    /// Overwrites the key.
    pub(crate) fn wipe(&mut self) {
        wipe(&mut self.r.0);
        wipe(&mut self.wide_r);
        self.s = 0;
        core::hint::black_box(&mut self.s);
    }

    /// The tag of a message whose blocks were absorbed into `sum`.
    pub(crate) fn tag(&self, sum: Element) -> [u8; 16] {
        self.tag_of_wide(sum.wide())
    }

    /// The same of limbs of 64 bits, the last below 8.
    #[inline(always)]
    pub(super) fn tag_of_wide(&self, sum: [u64; 3]) -> [u8; 16] {
        reduced(sum).wrapping_add(self.s).to_le_bytes()
    }
}

impl Element {
    /// From sums of limbs, below 2⁴⁹.
    #[inline(always)]
    pub(super) fn of_sums([a, b, c]: [u64; 3]) -> Self {
        let b = b + (a >> 44);
        let c = c + (b >> 44);
        Self([(a & MASK_44) + 5 * (c >> 42), b & MASK_44, c & MASK_42])
    }

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

    /// In limbs of 64 bits, the last below 8.
    #[inline(always)]
    pub(super) fn wide(self) -> [u64; 3] {
        let [a, b, c] = self.0;
        let sum = u128::from(a) + (u128::from(b) << 44);
        // Of `c`, 40 bits are below 2¹²⁸.
        let (sum, carry) = sum.overflowing_add(u128::from(c) << 88);
        let top = (c >> 40) + u64::from(carry);
        let (sum, carry) = sum.overflowing_add(u128::from((top & !3) + (top >> 2)));
        [low(sum), low(sum >> 64), (top & 3) + u64::from(carry)]
    }

    /// The inverse of [`Self::wide`], of limbs of which the last is below 8.
    #[inline(always)]
    pub(super) fn of_wide([a, b, c]: [u64; 3]) -> Self {
        Self([
            a & MASK_44,
            (a >> 44 | b << 20) & MASK_44,
            b >> 24 | c << 40,
        ])
    }
}

/// The smallest number of the same residue, modulo 2¹²⁸. The last limb is below 8.
#[inline(always)]
fn reduced([a, b, top]: [u64; 3]) -> u128 {
    // Below 5 · 2¹²⁸: what is at 2¹³⁰ comes back as 5, so that the number is below 2¹³⁰.
    let sum = u128::from(a) | u128::from(b) << 64;
    let (sum, carry) = sum.overflowing_add(u128::from((top & !3) + (top >> 2)));
    let top = (top & 3) + u64::from(carry);
    // Subtract the modulus by adding 5: bit 130 of the sum says whether it went round.
    let (less, carry) = sum.overflowing_add(5);
    let wrapped = 0_u64.wrapping_sub((top + u64::from(carry)) >> 2);
    let wrapped = u128::from(wrapped) | u128::from(wrapped) << 64;
    (sum & !wrapped) | (less & wrapped)
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
pub(super) fn low(wide: u128) -> u64 {
    wide as u64
}
