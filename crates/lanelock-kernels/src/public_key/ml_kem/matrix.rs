//! The matrix that a seed expands to (FIPS 203, algorithm 7), multiplied with a vector as it is made.

use super::hashes::{CHUNK, hash_each};
use super::parameters::{MAX_K, Parameters};
use super::poly::{Poly, Step, multiply_add, on};
use super::sample::Uniform;
use crate::arch::words::Registers;
use crate::keccak::{Function, Stream};
use crate::machine::Machine;

/// Bytes that are enough for an entry, 99 times out of a hundred: three blocks.
const ENTRY: usize = 504;

/// Bytes of what is sampled from, the rest of which is ones: no coefficient is that large.
pub(super) const PADDED: usize = 528;

/// A block of SHAKE128.
const BLOCK: usize = 168;

/// A vector, and what the matrix times the vector is added to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    /// Transformed.
    pub(super) vector: [Poly; MAX_K],
    /// Divided by R.
    pub(super) sum: [Poly; MAX_K],
}

impl Product {
    pub(super) const ZERO: Self = Self {
        vector: [Poly::ZERO; MAX_K],
        sum: [Poly::ZERO; MAX_K],
    };
}

/// Which way the matrix is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Matrix {
    /// As it is.
    Plain,
    /// Rows for columns.
    Transposed,
}

/// Multiplies the matrix of each public seed with a vector.
pub(super) fn multiply(
    machine: Machine,
    parameters: Parameters,
    matrix: Matrix,
    seeds: &[[u8; 32]],
    products: &mut [Product],
) {
    let k = parameters.k();
    let mut messages = [[0; 34]; CHUNK];
    let mut bytes = [[0xff; PADDED]; CHUNK];
    let mut entry = Uniform::new();
    let all = seeds.len() * k * k;
    for first in (0..all).step_by(CHUNK) {
        let count = CHUNK.min(all - first);
        let place = |i: usize| {
            let (entry, operation) = ((first + i) / seeds.len(), (first + i) % seeds.len());
            (operation, entry / k, entry % k)
        };
        for (i, message) in messages[..count].iter_mut().enumerate() {
            let (operation, row, column) = place(i);
            let (x, y) = match matrix {
                Matrix::Plain => (column, row),
                Matrix::Transposed => (row, column),
            };
            message[..32].copy_from_slice(&seeds[operation]);
            message[32] = x.to_le_bytes()[0];
            message[33] = y.to_le_bytes()[0];
        }
        let mut places = bytes.each_mut().map(|bytes| &mut bytes[..ENTRY]);
        hash_each(
            machine,
            Function::SHAKE128,
            &messages[..count],
            &mut places[..count],
        );
        for i in 0..count {
            let (operation, row, column) = place(i);
            let Product { vector, sum } = &mut products[operation];
            on(
                machine,
                Entry {
                    bytes: &bytes[i],
                    entry: &mut entry,
                    factor: &vector[column],
                    sum: &mut sum[row],
                },
            );
            if !entry.is_full() {
                complete(machine, &messages[i], &mut entry);
                multiply_add(&mut sum[row], &entry.poly(), &vector[column]);
            }
        }
    }
}

/// Takes as many more blocks as an entry needs.
#[cold]
fn complete(machine: Machine, message: &[u8], entry: &mut Uniform) {
    let mut stream = Stream::new(machine, Function::SHAKE128);
    stream.update(message);
    let mut output = stream.output();
    output.fill(&mut [0; ENTRY]);
    while !entry.is_full() {
        let mut block = [0; BLOCK];
        output.fill(&mut block);
        entry.take(&block);
    }
}

/// Samples an entry and adds its product with `factor` to `sum`, if the bytes are enough.
struct Entry<'p> {
    bytes: &'p [u8; PADDED],
    entry: &'p mut Uniform,
    factor: &'p Poly,
    sum: &'p mut Poly,
}

impl Step for Entry<'_> {
    #[inline(always)]
    fn run<S: Registers>(self, proof: S::Proof) {
        self.entry.begin::<S>(proof, self.bytes);
        if self.entry.is_full() {
            multiply_add(self.sum, &self.entry.poly(), self.factor);
        }
    }
}
