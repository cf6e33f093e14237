//! Signing (RFC 8032, sections 5.1.5 and 5.1.6).

#![allow(unsafe_code)] // runs lanes with the instructions of a token

use super::digest::Digest;
use super::{JOBS, KEY_BYTES, SIGNATURE_BYTES};
use crate::arch::digits::{DigitLanes, MAX_LANES};
use crate::arch::on;
use crate::machine::Machine;
use crate::public_key::curve25519::base;
use crate::public_key::curve25519::field::GROUPS;
use crate::public_key::curve25519::scalar::{self, Scalar};
use crate::public_key::curve25519::words::{self, Secret};
use crate::wipe::wipe;

/// A private key, expanded: the secret scalar, the prefix and the public key. Wiped on drop.
pub struct SigningKey {
    /// The scalar times R, as [`Scalar::mul_montgomery`] takes it.
    scalar: [u8; 32],
    prefix: [u8; 32],
    public: [u8; KEY_BYTES],
}

impl SigningKey {
    /// Expands a private key (section 5.1.5). Any 32 bytes are one.
    #[must_use]
    pub fn new(machine: Machine, seed: &[u8; KEY_BYTES]) -> Self {
        let [key] = Self::new_many(machine, &[*seed]);
        key
    }

    /// Expands `N` private keys, at most eight: as many as there are lanes in the time of one.
    #[must_use]
    pub fn new_many<const N: usize>(machine: Machine, seeds: &[[u8; KEY_BYTES]; N]) -> [Self; N] {
        const { assert!(N <= MAX_LANES) };
        let mut digests: [_; N] = core::array::from_fn(|i| Digest::new([&seeds[i], &[], &[]]));
        Digest::compute(machine, &mut digests);
        let mut keys = core::array::from_fn(|i| {
            let (scalar, prefix) = digests[i].bytes().split_at(32);
            let mut key = Self {
                scalar: [0; 32],
                prefix: [0; 32],
                public: [0; KEY_BYTES],
            };
            key.scalar.copy_from_slice(scalar);
            key.prefix.copy_from_slice(prefix);
            scalar::clamp(&mut key.scalar);
            key
        });
        Self::compute_public(machine, &mut keys);
        keys
    }

    /// The public keys of scalars.
    fn compute_public(machine: Machine, keys: &mut [Self]) {
        for keys in keys.chunks_mut(machine.digits.lanes()) {
            on!(
                machine.digits,
                |V, proof, keys: &mut [SigningKey]| expand::<V>(proof, keys)
            );
        }
    }

    /// The public key, encoded.
    #[must_use]
    pub fn public(&self) -> &[u8; KEY_BYTES] {
        &self.public
    }
}

impl Drop for SigningKey {
    fn drop(&mut self) {
        wipe(&mut self.scalar);
        wipe(&mut self.prefix);
    }
}

impl core::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("ed25519::SigningKey")
    }
}

/// A message to sign.
#[derive(Debug)]
pub struct Sign<'j> {
    /// The key.
    pub key: &'j SigningKey,
    /// The message, of any length.
    pub message: &'j [u8],
    /// Receives the signature.
    pub signature: &'j mut [u8; SIGNATURE_BYTES],
}

/// Signs all messages.
pub fn sign(machine: Machine, jobs: &mut [Sign<'_>]) {
    let lanes = machine.digits.lanes();
    for jobs in jobs.chunks_mut(lanes * GROUPS) {
        // The secret scalars of section 5.1.6, step 2, and their points.
        let nonces = &mut Nonces::new();
        {
            let mut digests: [_; JOBS] = core::array::from_fn(|i| {
                Digest::new(match jobs.get(i) {
                    Some(job) => [&job.key.prefix, job.message, &[]],
                    None => [&[]; 3],
                })
            });
            let digests = &mut digests[..jobs.len()];
            Digest::compute(machine, digests);
            on!(
                machine.digits,
                |V, proof, digests: &[Digest<'_>], nonces: &mut Nonces| {
                    commit::<V>(proof, digests, nonces);
                }
            );
        }
        let mut digests: [_; JOBS] = core::array::from_fn(|i| {
            Digest::new(match jobs.get(i) {
                Some(job) => [&nonces.points[i], &job.key.public, job.message],
                None => [&[]; 3],
            })
        });
        let digests = &mut digests[..jobs.len()];
        Digest::compute(machine, digests);
        let responses = &mut Nonces::columns();
        on!(
            machine.digits,
            |V,
             proof,
             digests: &[Digest<'_>],
             jobs: &[Sign<'_>],
             nonces: &Nonces,
             responses: &mut [Secret; GROUPS]| {
                respond::<V>(proof, digests, jobs, &nonces.scalars, responses);
            }
        );
        for (i, job) in jobs.iter_mut().enumerate() {
            job.signature[..32].copy_from_slice(&nonces.points[i]);
            let response = words::get(&responses[i / lanes].0, i % lanes);
            job.signature[32..].copy_from_slice(&response);
        }
    }
}

/// The secret scalars of a batch of signatures, and their points, encoded.
struct Nonces {
    scalars: [Secret; GROUPS],
    points: [[u8; 32]; JOBS],
}

impl Nonces {
    fn new() -> Self {
        Self {
            scalars: Self::columns(),
            points: [[0; 32]; JOBS],
        }
    }

    fn columns() -> [Secret; GROUPS] {
        [const { Secret::new() }; GROUPS]
    }
}

/// Computes the public keys of clamped scalars, one for each lane at most, and brings the scalars in their form.
#[inline(always)]
fn expand<V: DigitLanes>(proof: V::Proof, keys: &mut [SigningKey]) {
    let mut columns = Secret::new();
    for (lane, key) in keys.iter().enumerate() {
        words::put(&mut columns.0, lane, &key.scalar);
    }
    let scalar = Scalar::from_words(words::load::<V, 4>(proof, &columns.0));
    let mut points = [[0; 32]; MAX_LANES];
    base::encode_multiples::<V>(&[scalar], &mut points[..keys.len()]);
    words::store(scalar.to_montgomery().to_words(), &mut columns.0);
    for (lane, key) in keys.iter_mut().enumerate() {
        key.public = points[lane];
        key.scalar = words::get(&columns.0, lane);
    }
}

#[inline(always)]
fn commit<V: DigitLanes>(proof: V::Proof, digests: &[Digest<'_>], nonces: &mut Nonces) {
    let mut scalars = [Scalar::<V>::zero(proof); GROUPS];
    let groups = digests.len().div_ceil(V::LANES);
    for (group, digests) in digests.chunks(V::LANES).enumerate() {
        scalars[group] = Digest::scalars(proof, digests);
        words::store(scalars[group].to_words(), &mut nonces.scalars[group].0);
    }
    base::encode_multiples(&scalars[..groups], &mut nonces.points[..digests.len()]);
    wipe(&mut scalars);
}

/// Section 5.1.6, step 5: the nonce plus the digest times the secret scalar.
#[inline(always)]
fn respond<V: DigitLanes>(
    proof: V::Proof,
    digests: &[Digest<'_>],
    jobs: &[Sign<'_>],
    nonces: &[Secret; GROUPS],
    responses: &mut [Secret; GROUPS],
) {
    let mut keys = Secret::new();
    for (group, jobs) in jobs.chunks(V::LANES).enumerate() {
        let digests = &digests[V::LANES * group..][..jobs.len()];
        for (lane, job) in jobs.iter().enumerate() {
            words::put(&mut keys.0, lane, &job.key.scalar);
        }
        let key = Scalar::from_reduced_words(words::load(proof, &keys.0));
        let nonce = Scalar::from_reduced_words(words::load(proof, &nonces[group].0));
        let response = Digest::scalars::<V>(proof, digests)
            .mul_montgomery(key)
            .add(nonce);
        words::store(response.to_words(), &mut responses[group].0);
    }
}
