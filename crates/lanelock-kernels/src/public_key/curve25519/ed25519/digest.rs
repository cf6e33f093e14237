//! SHA-512 of what a signature hashes, as numbers in lanes.

use crate::arch::digits::{DigitLanes, MAX_LANES};
use crate::arrays::from_fn;
use crate::hash::{Job, Kernels, Sha512, hash_many};
use crate::machine::Machine;
use crate::public_key::curve25519::scalar::Scalar;
use crate::public_key::curve25519::words::{self, Secret};
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
        for digests in digests.chunks_mut(2 * MAX_LANES) {
            let count = digests.len();
            let mut digests = digests.iter_mut();
            let mut jobs: [_; 2 * MAX_LANES] = from_fn(|_| match digests.next() {
                Some(digest) => Job::of_parts(&digest.parts, None, Some(&mut digest.bytes)),
                None => Job::new(&[], None),
            });
            hash_many(kernels, &mut jobs[..count]);
        }
    }

    pub(super) fn bytes(&self) -> &[u8; 64] {
        &self.bytes
    }

    /// A digest for each lane at most, little-endian, modulo the group order.
    #[inline(always)]
    pub(super) fn scalars<V: DigitLanes>(proof: V::Proof, digests: &[Self]) -> Scalar<V> {
        let mut columns = Secret::new();
        for (lane, digest) in digests.iter().enumerate() {
            words::put(&mut columns.0, lane, &digest.bytes);
        }
        Scalar::from_wide_words(words::load(proof, &columns.0))
    }
}

impl Drop for Digest<'_> {
    fn drop(&mut self) {
        wipe(&mut self.bytes);
    }
}
