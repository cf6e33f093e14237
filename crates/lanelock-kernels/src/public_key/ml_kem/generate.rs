//! Key generation (FIPS 203, algorithms 13 and 16).

use super::BATCH;
use super::code::Encode;
use super::hashes::{hash_each, small};
use super::matrix::{Matrix, Product, multiply};
use super::parameters::{POLY, Parameters};
use super::poly::{self, Ntt, Poly, R_SQUARED, Step, on};
use crate::arch::words::Registers;
use crate::keccak::Function;
use crate::machine::Machine;
use crate::taint::publish;
use crate::wipe::wipe;

/// A key to generate.
#[derive(Debug)]
pub struct Generation<'g> {
    /// The seed `d`, fresh and random.
    pub d: &'g [u8; 32],
    /// The seed `z` of the secrets of invalid ciphertexts, fresh and random.
    pub z: &'g [u8; 32],
    /// Where the decapsulation key is written;
    /// [`Parameters::encapsulation_key_of`] is the other key.
    pub decapsulation_key: &'g mut [u8],
}

/// Generates keys.
///
/// # Panics
/// If a key has another length than [`Parameters::decapsulation_key_len`].
pub fn generate_many(machine: Machine, parameters: Parameters, jobs: &mut [Generation<'_>]) {
    let expected = parameters.decapsulation_key_len();
    for job in &*jobs {
        parameters.expect("a decapsulation key", job.decapsulation_key.len(), expected);
    }
    for jobs in jobs.chunks_mut(BATCH) {
        generate(machine, parameters, jobs);
    }
}

fn generate(machine: Machine, parameters: Parameters, jobs: &mut [Generation<'_>]) {
    let (k, count) = (parameters.k(), jobs.len());
    let mut messages = [[0; 33]; BATCH];
    for (message, job) in messages.iter_mut().zip(&*jobs) {
        message[..32].copy_from_slice(job.d);
        message[32] = k.to_le_bytes()[0];
    }
    let mut hashes = [[0; 64]; BATCH];
    hash_each(
        machine,
        Function::SHA3_512,
        &messages[..count],
        &mut hashes[..count],
    );
    let (mut public, mut secret) = ([[0; 32]; BATCH], [[0; 32]; BATCH]);
    for (i, hash) in hashes.iter().enumerate() {
        let (rho, sigma) = hash.split_at(32);
        public[i].copy_from_slice(rho);
        public[i] = publish(public[i]);
        secret[i].copy_from_slice(sigma);
    }
    let mut products = [Product::ZERO; BATCH];
    let mut errors = [[Poly::ZERO; 4]; BATCH];
    let eta = |_| parameters.eta();
    small(machine, &secret[..count], 2 * k, eta, |i, number, poly| {
        if number < k {
            products[i].vector[number] = poly;
        } else {
            errors[i][number - k] = poly;
        }
    });
    for (product, errors) in products[..count].iter_mut().zip(&mut errors) {
        on(machine, Ntt(&mut product.vector[..k]));
        on(machine, Ntt(&mut errors[..k]));
    }
    multiply(
        machine,
        parameters,
        Matrix::Plain,
        &public[..count],
        &mut products[..count],
    );
    for (i, job) in jobs.iter_mut().enumerate() {
        let key = &mut *job.decapsulation_key;
        let (vector, sum) = (&products[i].vector, &mut products[i].sum);
        for j in 0..k {
            on(
                machine,
                AddScaled {
                    sum: &mut sum[j],
                    error: &errors[i][j],
                },
            );
            let (at, after) = (POLY * j, POLY * (j + 1));
            on(machine, encode(&vector[j], &mut key[at..after]));
            on(machine, encode(&sum[j], &mut key[POLY * k..][at..after]));
        }
        key[2 * POLY * k..][..32].copy_from_slice(&public[i]);
    }
    let keys = jobs
        .iter()
        .map(|job| parameters.encapsulation_key_of(job.decapsulation_key));
    let mut all: [&[u8]; BATCH] = [&[]; BATCH];
    all.iter_mut().zip(keys).for_each(|(to, key)| *to = key);
    let mut digests = [[0; 32]; BATCH];
    hash_each(
        machine,
        Function::SHA3_256,
        &all[..count],
        &mut digests[..count],
    );
    for (job, digest) in jobs.iter_mut().zip(&digests) {
        let end = &mut job.decapsulation_key[2 * POLY * k + 32..];
        end[..32].copy_from_slice(digest);
        end[32..].copy_from_slice(job.z);
    }
    wipe(&mut messages);
    wipe(&mut hashes);
    wipe(&mut secret);
    for product in &mut products[..count] {
        wipe(&mut product.vector);
        wipe(&mut product.sum);
    }
    wipe(&mut errors[..count]);
}

fn encode<'p>(poly: &'p Poly, to: &'p mut [u8]) -> Encode<'p> {
    Encode { poly, to }
}

/// `sum` times R, plus `error`.
struct AddScaled<'p> {
    sum: &'p mut Poly,
    error: &'p Poly,
}

impl Step for AddScaled<'_> {
    #[inline(always)]
    fn run<S: Registers>(self, _: S::Proof) {
        for (sum, error) in self.sum.0.iter_mut().zip(&self.error.0) {
            *sum = poly::multiply(*sum, R_SQUARED).wrapping_add(*error);
        }
    }
}
