//! Numbers in digits of 52 bits, least significant first: constants, and the way from and to bytes.

use crate::arch::digits::{DIGIT_BITS, Words};

/// All ones in a digit.
pub(super) const DIGIT: u64 = (1 << DIGIT_BITS) - 1;

/// Bytes that two digits fill.
const PAIR: usize = 13;

/// Bytes of the longest number: P-384's eight digits.
const MOST_BYTES: usize = 4 * PAIR;

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

/// `a` − `b` modulo 2^(52 N), and whether it was negative.
pub(super) const fn subtract<const N: usize>(a: &[u64; N], b: &[u64; N]) -> ([u64; N], bool) {
    let mut difference = [0; N];
    let mut borrow = 0;
    let mut i = 0;
    while i < N {
        let digit = a[i].wrapping_sub(b[i]).wrapping_sub(borrow);
        difference[i] = digit & DIGIT;
        borrow = digit >> 63;
        i += 1;
    }
    (difference, borrow == 1)
}

/// 2^`exponent` modulo `modulus`, which has less than 52 N bits.
pub(super) const fn power_of_two<const N: usize>(modulus: &[u64; N], exponent: usize) -> [u64; N] {
    let mut power = [0; N];
    power[0] = 1;
    let mut round = 0;
    while round < exponent {
        let mut carry = 0;
        let mut i = 0;
        while i < N {
            let digit = power[i] << 1 | carry;
            power[i] = digit & DIGIT;
            carry = digit >> DIGIT_BITS;
            i += 1;
        }
        if let (difference, false) = subtract(&power, modulus) {
            power = difference;
        }
        round += 1;
    }
    power
}

/// −1 / `odd` modulo 2⁵².
pub(super) const fn negative_inverse(odd: u64) -> u64 {
    // Each of Newton's steps doubles the number of right bits, of which 1 / odd ≈ odd has three.
    let mut inverse = odd;
    let mut round = 0;
    while round < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    inverse.wrapping_neg() & DIGIT
}

/// Puts the number of `bytes`, most significant first, into `lane`. `bytes` are at most 48, and
/// at most what N digits hold.
pub(super) fn load<const N: usize>(digits: &mut [Words; N], lane: usize, bytes: &[u8]) {
    let mut little = [0; MOST_BYTES + 3];
    for (to, byte) in little.iter_mut().zip(bytes.iter().rev()) {
        *to = *byte;
    }
    for (pair, words) in digits.chunks_mut(2).enumerate() {
        let mut wide = [0; 16];
        wide[..PAIR].copy_from_slice(&little[pair * PAIR..][..PAIR]);
        let wide = u128::from_le_bytes(wide);
        words[0][lane] = low_half(wide) & DIGIT;
        if let Some(upper) = words.get_mut(1) {
            upper[lane] = low_half(wide >> DIGIT_BITS);
        }
    }
    crate::wipe::wipe(&mut little);
}

/// The number in `lane` to `bytes`, most significant first; it fits.
pub(super) fn store<const N: usize>(digits: &[Words; N], lane: usize, bytes: &mut [u8]) {
    let mut little = [0; MOST_BYTES];
    for (words, to) in digits.chunks(2).zip(little.as_chunks_mut::<PAIR>().0) {
        let upper = words.get(1).map_or(0, |upper| upper[lane]);
        let wide = u128::from(words[0][lane]) | u128::from(upper) << DIGIT_BITS;
        to.copy_from_slice(&wide.to_le_bytes()[..PAIR]);
    }
    for (to, byte) in bytes.iter_mut().rev().zip(little) {
        *to = byte;
    }
    crate::wipe::wipe(&mut little);
}

/// The number in `B` bytes, most significant first; it fits.
#[allow(clippy::cast_possible_truncation)] // a byte is meant
pub(super) const fn to_bytes<const N: usize, const B: usize>(digits: &[u64; N]) -> [u8; B] {
    let mut bytes = [0; B];
    let mut bit = 0;
    while bit < 8 * B {
        let one = (digits[bit / 52] >> (bit % 52) & 1) as u8;
        bytes[B - 1 - bit / 8] |= one << (bit % 8);
        bit += 1;
    }
    bytes
}

#[allow(clippy::cast_possible_truncation)] // the low half is meant
fn low_half(wide: u128) -> u64 {
    wide as u64
}
