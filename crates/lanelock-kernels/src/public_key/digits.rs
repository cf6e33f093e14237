//! Numbers in digits of 52 bits, the least significant first: one at a time in plain integers here,
//! one for each lane in the modules below.
//!
//! RSA, the NIST curves and the scalars of edwards25519 compute with them. No branch and no address
//! depends on a value. What the constants of a curve need is `const`.

mod by_columns;
pub(super) mod columns;
pub(super) mod inverse;
pub(super) mod residue;
#[cfg(test)]
mod tests;

use core::hint::black_box;

use crate::arch::digits::{DIGIT_BITS, Words};
use crate::wipe::wipe;

/// The largest digit, and a mask of all its bits.
pub(super) const DIGIT: u64 = (1 << DIGIT_BITS) - 1;

/// Bytes that two digits fill.
const PAIR: usize = 13;

/// The low digit, and what is above it, which must fit a word.
#[allow(clippy::cast_possible_truncation)] // as promised
#[inline]
pub(super) const fn split(wide: u128) -> (u64, u64) {
    (wide as u64 & DIGIT, (wide >> DIGIT_BITS) as u64)
}

/// A number from 64-bit words, most significant first, as the standards print them.
///
/// # Panics
/// If it does not fit.
pub(super) const fn from_words<const N: usize>(words: &[u64]) -> [u64; N] {
    let mut digits = [0; N];
    let mut bit = 0;
    while bit < words.len() * 64 {
        let word = words[words.len() - 1 - bit / 64];
        digits[bit / 52] |= (word >> (bit % 64) & 1) << (bit % 52);
        bit += 1;
    }
    digits
}

/// The number in `bytes`, most significant first. Bytes for which there are no digits are left out.
#[inline]
pub(super) fn from_bytes(digits: &mut [u64], bytes: &[u8]) {
    let mut rest = bytes;
    let mut padded = [0; PAIR];
    for pair in digits.chunks_mut(2) {
        let last = if let Some((lead, last)) = rest.split_last_chunk() {
            rest = lead;
            last
        } else {
            padded = [0; PAIR];
            padded[PAIR - rest.len()..].copy_from_slice(rest);
            rest = &[];
            &padded
        };
        let [a, b, c, d, e, f, g, h, i, j, k, l, m] = *last;
        // Two loads; bytes copied one by one and loaded as a whole would wait for the stores.
        let above = u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> (64 - (8 * PAIR - 64));
        let low = u64::from_be_bytes([f, g, h, i, j, k, l, m]);
        pair[0] = low & DIGIT;
        if let Some(high) = pair.get_mut(1) {
            *high = above << (64 - DIGIT_BITS) | low >> DIGIT_BITS;
        }
    }
    wipe(&mut padded);
}

/// Writes the number to all of `bytes`, most significant first. Digits that have no room are left
/// out.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the low half is meant
pub(super) const fn to_bytes(digits: &[u64], bytes: &mut [u8]) {
    let mut rest = bytes;
    let mut i = 0;
    while !rest.is_empty() {
        let low = if i < digits.len() { digits[i] } else { 0 };
        let high = if i + 1 < digits.len() {
            digits[i + 1]
        } else {
            0
        };
        let wide = low as u128 | (high as u128) << DIGIT_BITS;
        if rest.len() < PAIR {
            let wide = wide.to_be_bytes();
            rest.copy_from_slice(wide.split_at(wide.len() - rest.len()).1);
            return;
        }
        let (lead, last) = rest.split_at_mut(rest.len() - PAIR);
        // Three bytes twice: two stores.
        let above = ((wide >> (8 * PAIR - 64)) as u64).to_be_bytes();
        last.split_at_mut(above.len()).0.copy_from_slice(&above);
        let below = (wide as u64).to_be_bytes();
        last.split_at_mut(PAIR - below.len())
            .1
            .copy_from_slice(&below);
        rest = lead;
        i += 2;
    }
}

/// [`from_bytes`] to `lane`.
pub(super) fn put<const N: usize>(columns: &mut [Words; N], lane: usize, bytes: &[u8]) {
    let mut digits = [0; N];
    from_bytes(&mut digits, bytes);
    for (column, digit) in columns.iter_mut().zip(digits) {
        column[lane] = digit;
    }
    wipe(&mut digits);
}

/// [`to_bytes`] of `lane`.
pub(super) fn get<const N: usize>(columns: &[Words; N], lane: usize, bytes: &mut [u8]) {
    let mut digits = [0; N];
    for (digit, column) in digits.iter_mut().zip(columns) {
        *digit = column[lane];
    }
    to_bytes(&digits, bytes);
    wipe(&mut digits);
}

/// a ← a − b where `mask` has ones, modulo the power of two past the end of a; the borrow, 0 or 1.
///
/// # Panics
/// If the lengths differ, here and below.
#[inline]
pub(super) const fn subtract(a: &mut [u64], b: &[u64], mask: u64) -> u64 {
    assert!(a.len() == b.len());
    let mut borrow = 0;
    let mut i = 0;
    while i < a.len() {
        let difference = a[i].wrapping_sub(b[i] & mask).wrapping_sub(borrow);
        a[i] = difference & DIGIT;
        borrow = difference >> 63;
        i += 1;
    }
    borrow
}

/// The borrow of a − b: 1 if a is below b, else 0. The compiler is not shown that there are only
/// these two values, so that it makes no branch of them.
#[inline]
pub(super) const fn is_below(a: &[u64], b: &[u64]) -> u64 {
    assert!(a.len() == b.len());
    let mut borrow = 0;
    let mut i = 0;
    while i < a.len() {
        borrow = a[i].wrapping_sub(b[i]).wrapping_sub(borrow) >> 63;
        i += 1;
    }
    black_box(borrow)
}

/// Subtracts `modulus` from a number that is not below it.
#[inline]
pub(super) const fn reduce_once(number: &mut [u64], modulus: &[u64]) {
    let mask = is_below(number, modulus).wrapping_sub(1);
    subtract(number, modulus, mask);
}

/// Doubles a number below `modulus`, modulo `modulus`, which leaves its highest bit clear.
#[inline]
pub(super) const fn double(number: &mut [u64], modulus: &[u64]) {
    let mut carry = 0;
    let mut i = 0;
    while i < number.len() {
        let doubled = number[i] << 1 | carry;
        number[i] = doubled & DIGIT;
        carry = doubled >> DIGIT_BITS;
        i += 1;
    }
    reduce_once(number, modulus);
}

/// 2^`exponent` modulo `modulus`, which has less than 52 N bits.
pub(super) const fn power_of_two<const N: usize>(modulus: &[u64; N], exponent: usize) -> [u64; N] {
    let mut power = [0; N];
    power[0] = 1;
    let mut round = 0;
    while round < exponent {
        double(&mut power, modulus);
        round += 1;
    }
    power
}

/// −1 / `odd` modulo 2⁵².
pub(super) const fn negative_inverse(odd: u64) -> u64 {
    inverse(odd).wrapping_neg() & DIGIT
}

/// 1 / `odd` modulo 2⁶⁴.
const fn inverse(odd: u64) -> u64 {
    // Each of Newton's steps doubles the number of right bits, of which 1 / odd ≈ odd has three.
    let mut inverse = odd;
    let mut round = 0;
    while round < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
}
