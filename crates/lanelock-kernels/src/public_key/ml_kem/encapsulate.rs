//! Encapsulation (FIPS 203, algorithms 17 and 20), with the check of the key (section 7.2).

use super::BATCH;
use super::code::decode;
use super::encrypt::{Encryption, encrypt};
use super::hashes::hash_each;
use super::parameters::{POLY, Parameters};
use super::poly::Poly;
use crate::keccak::Function;
use crate::machine::Machine;
use crate::wipe::wipe;

/// A secret to share with whoever has a decapsulation key.
#[derive(Debug)]
pub struct Encapsulation<'e> {
    /// The encapsulation key; it need not be valid.
    pub key: &'e [u8],
    /// The randomness `m`, fresh.
    pub randomness: &'e [u8; 32],
    /// Where the ciphertext is written.
    pub ciphertext: &'e mut [u8],
    /// Where the shared secret is written.
    pub secret: &'e mut [u8; 32],
    /// Whether the key is valid; set by [`encapsulate_many`]. For one that is not, ciphertext and
    /// secret are zeros.
    pub is_valid: bool,
}

/// Whether a key of the right length is valid: its coefficients are below q.
///
/// # Panics
/// If it has another length than [`Parameters::encapsulation_key_len`].
#[must_use]
pub fn is_encapsulation_key(parameters: Parameters, key: &[u8]) -> bool {
    parameters.expect(
        "an encapsulation key",
        key.len(),
        parameters.encapsulation_key_len(),
    );
    let mut poly = Poly::ZERO;
    (0..parameters.k()).all(|j| decode(&key[POLY * j..], &mut poly))
}

/// Makes shared secrets; sets `is_valid` of every job.
///
/// # Panics
/// If a key has another length than [`Parameters::encapsulation_key_len`], or a ciphertext than
/// [`Parameters::ciphertext_len`].
pub fn encapsulate_many(machine: Machine, parameters: Parameters, jobs: &mut [Encapsulation<'_>]) {
    let (key_len, len) = (
        parameters.encapsulation_key_len(),
        parameters.ciphertext_len(),
    );
    for job in &*jobs {
        parameters.expect("an encapsulation key", job.key.len(), key_len);
        parameters.expect("a ciphertext", job.ciphertext.len(), len);
    }
    for jobs in jobs.chunks_mut(BATCH) {
        encapsulate(machine, parameters, jobs);
    }
}

fn encapsulate(machine: Machine, parameters: Parameters, jobs: &mut [Encapsulation<'_>]) {
    let count = jobs.len();
    let mut keys: [&[u8]; BATCH] = [&[]; BATCH];
    keys.iter_mut()
        .zip(&*jobs)
        .for_each(|(to, job)| *to = job.key);
    let mut digests = [[0; 32]; BATCH];
    let (keys, digests) = (&keys[..count], &mut digests[..count]);
    hash_each(machine, Function::SHA3_256, keys, digests);
    let mut seeds = [[0; 64]; BATCH];
    for (i, job) in jobs.iter().enumerate() {
        seeds[i][..32].copy_from_slice(job.randomness);
        seeds[i][32..].copy_from_slice(&digests[i]);
    }
    let mut hashes = [[0; 64]; BATCH];
    hash_each(
        machine,
        Function::SHA3_512,
        &seeds[..count],
        &mut hashes[..count],
    );
    let mut each = jobs.iter_mut().zip(&hashes);
    let mut encryptions: [Encryption<'_>; BATCH] = core::array::from_fn(|_| match each.next() {
        Some((job, hash)) => {
            let (secret, coins) = hash.split_at(32);
            job.secret.copy_from_slice(secret);
            Encryption {
                key: job.key,
                message: *job.randomness,
                coins: coins.try_into().expect("half of 64 bytes"),
                ciphertext: job.ciphertext,
                is_valid: false,
            }
        }
        None => Encryption::none(),
    });
    encrypt(machine, parameters, &mut encryptions[..count]);
    let are_valid = encryptions.map(|encryption| encryption.is_valid);
    for (job, is_valid) in jobs.iter_mut().zip(are_valid) {
        job.is_valid = is_valid;
        if !is_valid {
            wipe(job.secret);
            job.ciphertext.fill(0);
        }
    }
    wipe(&mut seeds);
    wipe(&mut hashes);
}
