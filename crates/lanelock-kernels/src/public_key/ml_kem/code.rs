//! Coefficients as bytes: whole, or compressed (FIPS 203, section 4.2.1).

use super::parameters::{N, POLY, Q};
use super::poly::{BARRETT, HALF, Poly, Step, barrett, canonical, high};
use crate::arch::words::Registers;

/// Writes a transformed polynomial, any coefficients, with twelve bits each.
pub(super) struct Encode<'p> {
    pub(super) poly: &'p Poly,
    pub(super) to: &'p mut [u8],
}

impl Step for Encode<'_> {
    #[inline(always)]
    fn run<S: Registers>(self, _: S::Proof) {
        let mut values = [0_u16; N];
        for (value, coefficient) in values.iter_mut().zip(&self.poly.0) {
            *value = canonical(*coefficient).cast_unsigned();
        }
        let triples = self.to.as_chunks_mut::<3>().0;
        for (i, triple) in triples.iter_mut().enumerate().take(HALF) {
            let bits = u32::from(values[i]) | u32::from(values[i + HALF]) << 12;
            let [a, b, c, _] = bits.to_le_bytes();
            *triple = [a, b, c];
        }
    }
}

/// Reads a transformed polynomial with twelve bits a coefficient, from [`POLY`] bytes and more than one
/// that follows; returns whether all are below q.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // twelve bits remain
pub(super) fn decode(bytes: &[u8], poly: &mut Poly) -> bool {
    // Six bytes at a time, with what follows them.
    let mut fours = [0_u64; N / 4];
    for (i, four) in fours.iter_mut().enumerate() {
        let place = bytes[..POLY + 2][6 * i..].first_chunk();
        *four = u64::from_le_bytes(*place.expect("the last six of them, and two more"));
    }
    let (evens, odds) = poly.0.split_at_mut(HALF);
    let pairs = evens.as_chunks_mut::<2>().0.iter_mut();
    for ((four, even), odd) in fours.iter().zip(pairs).zip(odds.as_chunks_mut::<2>().0) {
        for (i, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
            *even = (four >> (24 * i)) as i16 & 0xfff;
            *odd = (four >> (24 * i + 12)) as i16 & 0xfff;
        }
    }
    // The top bit of the difference is set for what is below q.
    poly.0.iter().fold(-1, |all, value| all & (value - Q)) < 0
}

/// A message's bits as coefficients, added to a polynomial.
#[inline(always)]
pub(super) fn add_message(poly: &mut Poly, message: &[u8; 32]) {
    for (byte, eight) in message.iter().zip(poly.0.as_chunks_mut::<8>().0) {
        for (bit, value) in eight.iter_mut().enumerate() {
            let half = i16::from(byte >> bit & 1) * ((Q + 1) / 2);
            *value = value.wrapping_add(half);
        }
    }
}

/// The message nearest to a polynomial.
#[inline(always)]
pub(super) fn message(poly: &Poly) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (byte, eight) in bytes.iter_mut().zip(poly.0.as_chunks::<8>().0) {
        for (bit, value) in eight.iter().enumerate() {
            let one = compress::<1>(*value).to_le_bytes()[0];
            *byte |= one << bit;
        }
    }
    bytes
}

/// Writes a polynomial, any coefficients, with `bits` bits each.
#[inline(always)]
pub(super) fn write_compressed(bits: usize, poly: &Poly, to: &mut [u8]) {
    match bits {
        4 => write::<4>(poly, to),
        5 => write::<5>(poly, to),
        10 => write::<10>(poly, to),
        _ => write::<11>(poly, to),
    }
}

/// Reads a polynomial with `bits` bits a coefficient.
#[inline(always)]
pub(super) fn read_compressed(bits: usize, from: &[u8], poly: &mut Poly) {
    match bits {
        4 => read::<4>(from, poly),
        5 => read::<5>(from, poly),
        10 => read::<10>(from, poly),
        _ => read::<11>(from, poly),
    }
}

#[inline(always)]
fn write<const D: usize>(poly: &Poly, to: &mut [u8]) {
    let mut values = [0_u16; N];
    for (value, coefficient) in values.iter_mut().zip(&poly.0) {
        *value = compress::<D>(*coefficient);
    }
    let mut pairs = [0_u32; N / 2];
    for (pair, [low, high]) in pairs.iter_mut().zip(values.as_chunks::<2>().0) {
        *pair = u32::from(*low) | u32::from(*high) << D;
    }
    let mut fours = [0_u64; N / 4];
    for (four, [low, high]) in fours.iter_mut().zip(pairs.as_chunks::<2>().0) {
        *four = u64::from(*low) | u64::from(*high) << (2 * D);
    }
    let places = to.as_chunks_mut::<D>().0;
    for (place, [low, high]) in places.iter_mut().zip(fours.as_chunks::<2>().0) {
        let bits = u128::from(*low) | u128::from(*high) << (4 * D);
        place.copy_from_slice(&bits.to_le_bytes()[..D]);
    }
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // the low bits are taken
fn read<const D: usize>(from: &[u8], poly: &mut Poly) {
    let mut fours = [0_u64; N / 4];
    let places = from.as_chunks::<D>().0;
    for (place, [low, high]) in places.iter().zip(fours.as_chunks_mut::<2>().0) {
        let mut all = [0; 16];
        all[..D].copy_from_slice(place);
        let bits = u128::from_le_bytes(all);
        (*low, *high) = (bits as u64, (bits >> (4 * D)) as u64);
    }
    for (four, values) in fours.iter().zip(poly.0.as_chunks_mut::<4>().0) {
        for (i, value) in values.iter_mut().enumerate() {
            *value = decompress::<D>((four >> (D * i)) as u16 & ((1 << D) - 1));
        }
    }
}

/// ⌈2ᴰ / q · x⌋ modulo 2ᴰ, for D from 1 to 11, without a division: that may take a time that depends
/// on the number.
#[inline(always)]
pub(super) fn compress<const D: usize>(value: i16) -> u16 {
    // q, which is compressed as zero is, need not become zero.
    let x = barrett(value);
    // The factor exceeds 2²⁶ / q by less than 1/7: this is ⌊2ᴰ / q · x⌋, or one more where 2ᴰ / q · x is
    // less than 1/70 below an integer, so that the rest is from -48 to q - 1.
    let quotient = high(x << (D / 11), BARRETT) >> 10_usize.saturating_sub(D);
    let rest = (x << D).wrapping_sub(quotient.wrapping_mul(Q));
    // A rest above q / 2 rounds up: the difference is negative.
    let rounded = quotient - ((Q / 2 - rest) >> 15);
    rounded.cast_unsigned() & ((1 << D) - 1)
}

/// ⌈q / 2ᴰ · y⌋, for y below 2ᴰ
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // below q
fn decompress<const D: usize>(value: u16) -> i16 {
    ((u32::from(value) * u32::from(Q.cast_unsigned()) + (1 << (D - 1))) >> D) as i16
}
