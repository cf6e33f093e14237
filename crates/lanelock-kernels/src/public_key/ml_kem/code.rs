//! Coefficients as bytes: whole, or compressed (FIPS 203, section 4.2.1).

use super::parameters::{N, POLY, Q};
use super::poly::{HALF, Poly, Step, canonical};
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

/// Reads a transformed polynomial with twelve bits a coefficient; returns whether all are below q.
#[inline(always)]
pub(super) fn decode(bytes: &[u8], poly: &mut Poly) -> bool {
    let mut over = 0;
    for (i, triple) in bytes[..POLY].as_chunks::<3>().0.iter().enumerate() {
        let [a, b, c] = triple.map(i16::from);
        let (even, odd) = (a | (b & 15) << 8, b >> 4 | c << 4);
        // The top bit of the difference is set for what is below q.
        over |= !(even - Q) | !(odd - Q);
        poly.0[i] = even;
        poly.0[i + HALF] = odd;
    }
    over >= 0
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
    for (eight, bytes) in values
        .as_chunks::<8>()
        .0
        .iter()
        .zip(to.as_chunks_mut::<D>().0)
    {
        let mut bits = 0_u128;
        for (i, value) in eight.iter().enumerate() {
            bits |= u128::from(*value) << (D * i);
        }
        bytes.copy_from_slice(&bits.to_le_bytes()[..D]);
    }
}

#[inline(always)]
fn read<const D: usize>(from: &[u8], poly: &mut Poly) {
    for (bytes, eight) in from
        .as_chunks::<D>()
        .0
        .iter()
        .zip(poly.0.as_chunks_mut::<8>().0)
    {
        let mut all = [0; 16];
        all[..D].copy_from_slice(bytes);
        let bits = u128::from_le_bytes(all);
        for (i, value) in eight.iter_mut().enumerate() {
            let [a, b, ..] = (bits >> (D * i)).to_le_bytes();
            *value = decompress::<D>(u16::from_le_bytes([a, b]) & ((1 << D) - 1));
        }
    }
}

/// ⌈2ᴰ / q · x⌋ modulo 2ᴰ, by a multiplication: a division may take a time that depends on the
/// number.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // D bits remain
pub(super) fn compress<const D: usize>(value: i16) -> u16 {
    // The numerator n is below 2²³, and the factor exceeds 2⁴⁰ / q by less than one: the quotient
    // exceeds n / q by less than 2⁻¹⁷, and n / q is never that close below an integer.
    const FACTOR: u64 = (1 << 40) / 3329 + 1;
    let numerator = (u64::from(canonical(value).cast_unsigned()) << D) + 1664;
    ((numerator * FACTOR) >> 40) as u16 & ((1 << D) - 1)
}

/// ⌈q / 2ᴰ · y⌋
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // below q
fn decompress<const D: usize>(value: u16) -> i16 {
    ((u32::from(value) * u32::from(Q.cast_unsigned()) + (1 << (D - 1))) >> D) as i16
}
