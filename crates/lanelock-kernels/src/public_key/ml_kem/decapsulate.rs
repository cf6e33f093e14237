//! Decapsulation (FIPS 203, algorithms 15, 18 and 21), with the check of the key (section 7.3).

use core::hint::black_box;

use super::BATCH;
use super::code::{decode, message, read_compressed};
use super::encrypt::{Encryption, encrypt};
use super::hashes::hash_each;
use super::parameters::{MAX_CIPHERTEXT, POLY, Parameters};
use super::poly::{Inverse, Ntt, Poly, Step, multiply_add, on};
use crate::arch::words::Registers;
use crate::keccak::{Function, Stream};
use crate::machine::Machine;
use crate::taint::declassify;
use crate::wipe::wipe;

/// A shared secret to find.
#[derive(Debug)]
pub struct Decapsulation<'d> {
    /// The decapsulation key, one that [`is_decapsulation_key`] or was generated here.
    pub key: &'d [u8],
    /// Any ciphertext; of one that was not made with the key the secret is as good as random.
    pub ciphertext: &'d [u8],
    /// Where the shared secret is written.
    pub secret: &'d mut [u8; 32],
}

/// Whether a key of the right length is valid: it holds the hash of the encapsulation key that it
/// contains.
///
/// # Panics
/// If it has another length than [`Parameters::decapsulation_key_len`].
#[must_use]
pub fn is_decapsulation_key(machine: Machine, parameters: Parameters, key: &[u8]) -> bool {
    parameters.expect(
        "a decapsulation key",
        key.len(),
        parameters.decapsulation_key_len(),
    );
    let mut stream = Stream::new(machine, Function::SHA3_256);
    stream.update(parameters.encapsulation_key_of(key));
    let mut digest = [0; 32];
    stream.finish(&mut digest);
    let stored = &key[2 * POLY * parameters.k() + 32..][..32];
    declassify(difference(&digest, stored) == 0)
}

/// Finds shared secrets, in the same time whether ciphertexts are valid or not.
///
/// # Panics
/// If a key has another length than [`Parameters::decapsulation_key_len`], or a ciphertext than
/// [`Parameters::ciphertext_len`].
pub fn decapsulate_many(machine: Machine, parameters: Parameters, jobs: &mut [Decapsulation<'_>]) {
    let (key_len, len) = (
        parameters.decapsulation_key_len(),
        parameters.ciphertext_len(),
    );
    for job in &*jobs {
        parameters.expect("a decapsulation key", job.key.len(), key_len);
        parameters.expect("a ciphertext", job.ciphertext.len(), len);
    }
    for jobs in jobs.chunks_mut(BATCH) {
        decapsulate(machine, parameters, jobs);
    }
}

fn decapsulate(machine: Machine, parameters: Parameters, jobs: &mut [Decapsulation<'_>]) {
    let (k, count, len) = (parameters.k(), jobs.len(), parameters.ciphertext_len());
    let mut seeds = [[0; 64]; BATCH];
    let mut rejected = [[0; 32 + MAX_CIPHERTEXT]; BATCH];
    for (i, job) in jobs.iter().enumerate() {
        let (message, digest) = seeds[i].split_at_mut(32);
        on(
            machine,
            Decrypt {
                parameters,
                job,
                message: message.try_into().expect("half of 64 bytes"),
            },
        );
        let end = &job.key[2 * POLY * k + 32..];
        digest.copy_from_slice(&end[..32]);
        rejected[i][..32].copy_from_slice(&end[32..]);
        rejected[i][32..][..len].copy_from_slice(job.ciphertext);
    }
    let mut hashes = [[0; 64]; BATCH];
    hash_each(
        machine,
        Function::SHA3_512,
        &seeds[..count],
        &mut hashes[..count],
    );
    let mut secrets = [[0; 32]; BATCH];
    let inputs: [&[u8]; BATCH] = core::array::from_fn(|i| &rejected[i][..32 + len]);
    hash_each(
        machine,
        Function::SHAKE256,
        &inputs[..count],
        &mut secrets[..count],
    );
    let mut ciphertexts = [[0; MAX_CIPHERTEXT]; BATCH];
    let mut each = ciphertexts.iter_mut().zip(&*jobs).zip(&hashes).zip(&seeds);
    let mut encryptions: [Encryption<'_>; BATCH] = core::array::from_fn(|_| match each.next() {
        Some((((ciphertext, job), hash), seed)) => Encryption {
            key: parameters.encapsulation_key_of(job.key),
            message: seed[..32].try_into().expect("half of 64 bytes"),
            coins: hash[32..].try_into().expect("half of 64 bytes"),
            ciphertext: &mut ciphertext[..len],
            is_valid: false,
        },
        None => Encryption::none(),
    });
    encrypt(machine, parameters, &mut encryptions[..count]);
    for (i, job) in jobs.iter_mut().enumerate() {
        let differs = difference(&ciphertexts[i][..len], job.ciphertext);
        // All ones if they are alike. The compiler must not find out that there are two cases.
        let keep = black_box((u32::from(differs).wrapping_sub(1) >> 8).to_le_bytes()[0]);
        for (j, byte) in job.secret.iter_mut().enumerate() {
            let (right, other) = (hashes[i][j], secrets[i][j]);
            *byte = other ^ ((right ^ other) & keep);
        }
    }
    wipe(&mut seeds);
    wipe(&mut rejected);
    wipe(&mut hashes);
    wipe(&mut secrets);
    wipe(&mut ciphertexts);
}

/// Zero if two slices of one length are equal.
fn difference(a: &[u8], b: &[u8]) -> u8 {
    black_box(a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b)))
}

/// Decrypts a ciphertext (algorithm 15).
struct Decrypt<'p, 'd> {
    parameters: Parameters,
    job: &'p Decapsulation<'d>,
    message: &'p mut [u8; 32],
}

impl Step for Decrypt<'_, '_> {
    #[inline(always)]
    fn run<S: Registers>(self, proof: S::Proof) {
        let Self {
            parameters, job, ..
        } = self;
        let (k, du) = (parameters.k(), parameters.du());
        let (mut product, mut all) = ([Poly::ZERO], [Poly::ZERO; 2]);
        for j in 0..k {
            let [vector, key] = &mut all;
            read_compressed(du, &job.ciphertext[32 * du * j..][..32 * du], vector);
            Ntt(core::slice::from_mut(vector)).run::<S>(proof);
            decode(&job.key[POLY * j..], key);
            multiply_add(&mut product[0], key, vector);
        }
        Inverse(&mut product).run::<S>(proof);
        let [last, _] = &mut all;
        read_compressed(parameters.dv(), &job.ciphertext[32 * du * k..], last);
        for (last, product) in last.0.iter_mut().zip(&product[0].0) {
            *last = last.wrapping_sub(*product);
        }
        *self.message = message(last);
        wipe(&mut product);
        wipe(&mut all);
    }
}
