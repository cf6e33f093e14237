//! Encryption (FIPS 203, algorithm 14), of an encapsulation and of the check of a decapsulation.

use super::BATCH;
use super::code::{add_message, decode, write_compressed};
use super::hashes::small;
use super::matrix::{Matrix, Product, multiply};
use super::parameters::{MAX_K, POLY, Parameters};
use super::poly::{Inverse, Ntt, Poly, Step, multiply_add, on};
use crate::arch::words::Registers;
use crate::machine::Machine;
use crate::taint::publish;
use crate::wipe::wipe;

/// A message to encrypt.
pub(super) struct Encryption<'e> {
    /// An encapsulation key.
    pub(super) key: &'e [u8],
    pub(super) message: [u8; 32],
    pub(super) coins: [u8; 32],
    pub(super) ciphertext: &'e mut [u8],
    /// Whether the coefficients of the key are below q (section 7.2); set by [`encrypt`].
    pub(super) is_valid: bool,
}

impl Encryption<'_> {
    /// One that fills an array, and is not run.
    pub(super) fn none() -> Self {
        Self {
            key: &[],
            message: [0; 32],
            coins: [0; 32],
            ciphertext: &mut [],
            is_valid: false,
        }
    }
}

/// Encrypts at most [`BATCH`] messages, and wipes what they were made of.
pub(super) fn encrypt(machine: Machine, parameters: Parameters, jobs: &mut [Encryption<'_>]) {
    let (k, count) = (parameters.k(), jobs.len());
    let (mut public, mut coins) = ([[0; 32]; BATCH], [[0; 32]; BATCH]);
    for (i, job) in jobs.iter().enumerate() {
        public[i].copy_from_slice(&job.key[POLY * k..]);
        public[i] = publish(public[i]);
        coins[i] = job.coins;
    }
    let mut products = [Product::ZERO; BATCH];
    let mut errors = [[Poly::ZERO; MAX_K + 1]; BATCH];
    let eta = |number| if number < k { parameters.eta() } else { 2 };
    small(
        machine,
        &coins[..count],
        2 * k + 1,
        eta,
        |i, number, poly| {
            if number < k {
                products[i].vector[number] = poly;
            } else {
                errors[i][number - k] = poly;
            }
        },
    );
    for product in &mut products[..count] {
        on(machine, Ntt(&mut product.vector[..k]));
    }
    multiply(
        machine,
        parameters,
        Matrix::Transposed,
        &public[..count],
        &mut products[..count],
    );
    for (i, job) in jobs.iter_mut().enumerate() {
        on(
            machine,
            Finish {
                parameters,
                product: &mut products[i],
                errors: &errors[i],
                job,
            },
        );
        wipe(&mut job.message);
        wipe(&mut job.coins);
    }
    wipe(&mut coins);
    for product in &mut products[..count] {
        wipe(&mut product.vector);
        wipe(&mut product.sum);
    }
    wipe(&mut errors[..count]);
}

/// From the products with the matrix to the ciphertext.
struct Finish<'p, 'e> {
    parameters: Parameters,
    product: &'p mut Product,
    errors: &'p [Poly; MAX_K + 1],
    job: &'p mut Encryption<'e>,
}

impl Step for Finish<'_, '_> {
    #[inline(always)]
    fn run<S: Registers>(self, proof: S::Proof) {
        let Self {
            parameters,
            product: Product { vector, sum },
            errors,
            job,
        } = self;
        let (k, du) = (parameters.k(), parameters.du());
        let mut last = [Poly::ZERO];
        job.is_valid = true;
        for (j, factor) in vector[..k].iter().enumerate() {
            let mut key = Poly::ZERO;
            job.is_valid &= decode(&job.key[POLY * j..], &mut key);
            multiply_add(&mut last[0], &key, factor);
        }
        Inverse(&mut sum[..k]).run::<S>(proof);
        Inverse(&mut last).run::<S>(proof);
        for j in 0..k {
            add(&mut sum[j], &errors[j]);
            let place = &mut job.ciphertext[32 * du * j..][..32 * du];
            write_compressed(du, &sum[j], place);
        }
        add(&mut last[0], &errors[k]);
        add_message(&mut last[0], &job.message);
        let place = &mut job.ciphertext[32 * du * k..];
        write_compressed(parameters.dv(), &last[0], place);
        wipe(&mut last);
    }
}

#[inline(always)]
fn add(to: &mut Poly, other: &Poly) {
    for (to, other) in to.0.iter_mut().zip(&other.0) {
        *to = to.wrapping_add(*other);
    }
}
