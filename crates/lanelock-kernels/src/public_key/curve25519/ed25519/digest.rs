//! SHA-512 of what a signature hashes, as numbers in lanes.

#![allow(unsafe_code)] // hands borrowed parts to the hash as it takes them

use crate::hash::{Kernels, Message, Sha512, hash_many};
use crate::public_key::curve25519::Kernel;
use crate::public_key::curve25519::scalar::Scalar;
use crate::public_key::lanes::{LANES, Lanes, Words};
use crate::wipe::wipe;

/// Three parts to hash, and their digest; wiped on drop.
#[derive(Debug)]
pub(super) struct Digest<'m> {
    parts: [&'m [u8]; 3],
    read: usize,
    bytes: [u8; 64],
}

impl<'m> Digest<'m> {
    pub(super) fn new(parts: [&'m [u8]; 3]) -> Self {
        Self {
            parts,
            read: 0,
            bytes: [0; 64],
        }
    }

    /// Hashes all.
    pub(super) fn compute(kernel: Kernel, digests: &mut [Self]) {
        let kernels = match kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Ifma(token) => Kernels::<Sha512>::avx512(token.avx512(), None),
            Kernel::Portable => Kernels::<Sha512>::portable(),
        };
        hash_many(kernels, digests);
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

// SAFETY: the parts are borrowed for longer than `self` lives.
unsafe impl Message for Digest<'_> {
    #[inline]
    fn next_part(&mut self) -> Option<*const [u8]> {
        let part = *self.parts.get(self.read)?;
        self.read += 1;
        Some(core::ptr::from_ref(part))
    }

    #[inline]
    fn is_read(&self) -> bool {
        self.read == self.parts.len()
    }

    #[inline]
    fn finish(&mut self, digest: &[u8]) {
        self.bytes.copy_from_slice(digest);
    }
}
