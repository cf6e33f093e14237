//! SHA-512 of what a signature hashes, as numbers in lanes.

use crate::arch::digits::{LANES, Lanes, Words};
use crate::arrays::from_fn;
use crate::hash::{Job, Kernels, Sha512, hash_many};
use crate::machine::Machine;
use crate::public_key::curve25519::scalar::Scalar;
use crate::wipe::wipe;

/// Three parts to hash, and their digest; wiped on drop.
#[derive(Debug)]
pub(super) struct Digest<'m> {
    parts: [&'m [u8]; 3],
    bytes: [u8; 64],
}

impl<'m> Digest<'m> {
    pub(super) fn new(parts: [&'m [u8]; 3]) -> Self {
        Self {
            parts,
            bytes: [0; 64],
        }
    }

    /// Hashes all.
    pub(super) fn compute(machine: Machine, digests: &mut [Self]) {
        let kernels = Kernels::<Sha512>::of(machine);
        for digests in digests.chunks_mut(2 * LANES) {
            let count = digests.len();
            let mut digests = digests.iter_mut();
            let mut jobs: [_; 2 * LANES] = from_fn(|_| match digests.next() {
                Some(digest) => Job::of_parts(&digest.parts, None, Some(&mut digest.bytes)),
                None => Job::empty(None, None),
            });
            hash_many(kernels, &mut jobs[..count]);
        }
    }

    pub(super) fn bytes(&self) -> &[u8; 64] {
        &self.bytes
    }

    /// At most eight digests, little-endian, modulo the group order.
    #[inline(always)]
    pub(super) fn scalars<V: Lanes>(proof: V::Proof, digests: &[Self]) -> Scalar<V> {
        let mut columns: [Words; 8] = [[0; LANES]; 8];
        for (lane, digest) in digests.iter().enumerate() {
            for (column, word) in columns.iter_mut().zip(digest.bytes.chunks_exact(8)) {
                for (i, byte) in word.iter().enumerate() {
                    column[lane] |= u64::from(*byte) << (8 * i);
                }
            }
        }
        let mut words = [V::zero(proof); 8];
        for i in 0..8 {
            words[i] = V::load(proof, &columns[i]);
        }
        wipe(&mut columns);
        Scalar::from_wide_words(words)
    }
}

impl Drop for Digest<'_> {
    fn drop(&mut self) {
        wipe(&mut self.bytes);
    }
}
