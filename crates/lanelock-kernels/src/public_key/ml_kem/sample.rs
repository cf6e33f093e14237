//! Polynomials from random bytes (FIPS 203, section 4.2.2).

#![allow(unsafe_code)] // writes behind what was sampled

use super::matrix::PADDED;
use super::parameters::{N, Q};
use super::poly::{HALF, Poly};
use crate::arch::words::Registers;

/// Candidates that a sampler takes in: no fewer than it needs, and those of one more block.
const ROOM: usize = 512;

/// A transformed polynomial being sampled from public bytes (algorithm 7).
pub(super) struct Uniform {
    /// Invariant: those before `count` are below q.
    coefficients: [i16; ROOM],
    count: usize,
}

impl Uniform {
    /// Without coefficients.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            coefficients: [0; ROOM],
            count: 0,
        }
    }

    /// Takes what is accepted of the first bytes.
    #[inline(always)]
    pub(super) fn begin<S: Registers>(&mut self, proof: S::Proof, bytes: &[u8; PADDED]) {
        const { assert!(PADDED / 3 * 2 <= ROOM) };
        let to = self.coefficients.as_mut_ptr();
        let mut count = 0;
        for packed in bytes.as_chunks::<48>().0 {
            // SAFETY: 48 bytes; as each adds at most the 32 numbers there is room for, all fit.
            count += unsafe { S::sieve(proof, packed.as_ptr(), to.add(count), Q) };
        }
        self.count = count.min(N);
    }

    /// Takes what is accepted of more bytes, a multiple of three and no more than a block.
    #[inline(always)]
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let mut count = self.count;
        for triple in bytes.as_chunks::<3>().0 {
            let [a, b, c] = triple.map(i16::from);
            for candidate in [a | (b & 15) << 8, b >> 4 | c << 4] {
                self.coefficients[count % ROOM] = candidate;
                count += usize::from(candidate < Q);
            }
        }
        self.count = count.min(N);
    }

    /// Whether there are enough.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.count == N
    }

    /// The polynomial, of enough of them.
    #[inline(always)]
    pub(super) fn poly(&self) -> Poly {
        let mut poly = Poly::ZERO;
        for i in 0..HALF {
            poly.0[i] = self.coefficients[2 * i];
            poly.0[i + HALF] = self.coefficients[2 * i + 1];
        }
        poly
    }
}

/// A small polynomial of 64 · η bytes (algorithm 8).
#[inline(always)]
pub(super) fn centred(eta: usize, bytes: &[u8], poly: &mut Poly) {
    match eta {
        2 => {
            for (byte, two) in bytes.iter().zip(poly.0.as_chunks_mut::<2>().0) {
                let sums = (byte & 0x55) + (byte >> 1 & 0x55);
                let half = |shift: u32| (sums >> shift & 3).cast_signed();
                *two = [half(0) - half(2), half(4) - half(6)].map(i16::from);
            }
        }
        _ => {
            for (triple, four) in bytes
                .as_chunks::<3>()
                .0
                .iter()
                .zip(poly.0.as_chunks_mut::<4>().0)
            {
                let [a, b, c] = *triple;
                let bits = u32::from_le_bytes([a, b, c, 0]);
                let ones = 0x0024_9249;
                let sums = (bits & ones) + (bits >> 1 & ones) + (bits >> 2 & ones);
                for (i, value) in four.iter_mut().enumerate() {
                    let three = |shift: usize| (sums >> (6 * i + shift) & 7).to_le_bytes()[0];
                    *value = i16::from(three(0)) - i16::from(three(3));
                }
            }
        }
    }
}
