//! An odd modulus and its constants for Montgomery multiplication, in plain integers.

use super::number::{BLOCK_BITS, Digits};
use crate::public_key::digits::{DIGIT, negative_inverse, split};
use crate::taint::declassify;

/// Bits of a modulus of one block. The 8 bits that this leaves of each block are the room that
/// lets sums of numbers go unreduced.
pub(super) const MODULUS_BITS: usize = 512;

/// An odd modulus n of exactly 512·`B` bits. With R = 2^(520·`B`), n < R/2^(8·`B`).
#[derive(Clone, Debug)]
pub(super) struct Modulus<const B: usize> {
    /// n
    pub n: Digits<B>,
    /// −1/n modulo 2^104, in digits.
    pub inverse: [u64; 2],
    /// 1/2^520 mod n: the factor by which a block of the lowest weight moves to the next one.
    pub shift: Digits<B>,
    /// R mod n: one in Montgomery form.
    pub one: Digits<B>,
    /// R² mod n: the factor that brings a number into Montgomery form.
    pub square: Digits<B>,
}

impl<const B: usize> Modulus<B> {
    /// Prepares `n`, if it is odd and of exactly the size.
    pub fn new(n: Digits<B>) -> Option<Self> {
        let (digit, shift) = (MODULUS_BITS * B / 52, MODULUS_BITS * B % 52);
        let above = n.digits()[digit + 1..].iter().fold(0, |any, d| any | d);
        let high = n.digits()[digit] >> shift | above;
        let fits = (high == 0) & (n.window(MODULUS_BITS * B - 1, 1) == 1) & n.is_odd();
        if !declassify(fits) {
            return None;
        }
        // 2^bits mod n = 2^bits − n, as n has that many bits. From there doubling leads to R, and
        // on to R · 2^k, which squaring turns into R · 2^2k, up to R · R.
        let mut one = Digits::ZERO;
        one.subtract(&n, DIGIT);
        let digits = one.digits_mut();
        digits[digit] &= (1 << shift) - 1;
        digits[digit + 1..].fill(0);
        for _ in MODULUS_BITS * B..BLOCK_BITS * B {
            one.double(&n);
        }
        let mut modulus = Self {
            inverse: two_digits_of_inverse(n.digits()),
            shift: Digits::ZERO,
            square: one.clone(),
            one,
            n,
        };
        let squarings = (BLOCK_BITS * B).trailing_zeros();
        for _ in 0..(BLOCK_BITS * B) >> squarings {
            modulus.square.double(&modulus.n);
        }
        for _ in 0..squarings {
            modulus.square = modulus.multiply(&modulus.square, &modulus.square);
        }
        // R / 2^520 = 2^(520·(B − 1)), times 1/R.
        let mut block = Digits::ZERO;
        block.blocks_mut()[B - 1][0] = 1;
        modulus.shift = modulus.multiply(&block, &Digits::small(1));
        Some(modulus)
    }

    /// a · b / R mod n, for a and b whose product is below R · n.
    pub fn multiply(&self, a: &Digits<B>, b: &Digits<B>) -> Digits<B> {
        let mut sum = Digits::<B>::ZERO;
        let (n, b) = (self.n.digits(), b.digits());
        for a in a.digits() {
            let sum = sum.digits_mut();
            let low = u128::from(*a) * u128::from(b[0]) + u128::from(sum[0]);
            let quotient = split(low).0.wrapping_mul(self.inverse[0]) & DIGIT;
            // A carry is below 2^54: two products and two digits, divided by 2^52.
            let mut carry = split(low + u128::from(quotient) * u128::from(n[0])).1;
            for i in 1..n.len() {
                let column = u128::from(*a) * u128::from(b[i])
                    + u128::from(quotient) * u128::from(n[i])
                    + u128::from(sum[i] + carry);
                (sum[i - 1], carry) = split(column);
            }
            sum[n.len() - 1] = carry;
        }
        sum.reduce_once(&self.n);
        sum
    }
}

/// −1/n modulo 2^104.
fn two_digits_of_inverse(n: &[u64]) -> [u64; 2] {
    let inverse = negative_inverse(n[0]);
    // n times the lower digit is −1 and a multiple of 2^52, which the upper one takes away.
    let (_, above) = split(u128::from(n[0]) * u128::from(inverse) + 1);
    let above = above.wrapping_add(n[1].wrapping_mul(inverse));
    [inverse, above.wrapping_mul(inverse) & DIGIT]
}
