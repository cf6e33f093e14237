//! One message hashed as its parts arrive.

#![allow(unsafe_code)] // hands pointers to the kernels

use super::{Algorithm, HmacKey, Kernels};
use crate::arch::words::{Row, Word};
use crate::wipe::wipe;

/// A hash in progress: its state is kept between partial updates. Wiped on drop.
pub struct Stream<A: Algorithm> {
    kernels: &'static Kernels<A>,
    chain: Row<A::Word>,
    /// Bytes that do not fill a block yet; invariant: `filled` < one block.
    buffer: [u8; 128],
    filled: usize,
    total: u64,
}

impl<A: Algorithm> Stream<A> {
    /// A hash of nothing so far.
    #[must_use]
    pub fn new(kernels: &'static Kernels<A>) -> Self {
        Self {
            kernels,
            chain: A::INITIAL,
            buffer: [0; 128],
            filled: 0,
            total: 0,
        }
    }

    /// The inner hash of an HMAC under `key`; ends with [`Self::finish_hmac`].
    #[must_use]
    pub fn hmac(kernels: &'static Kernels<A>, key: &HmacKey<A>) -> Self {
        let total = A::BLOCK as u64;
        Self {
            kernels,
            chain: *key.inner(),
            buffer: [0; 128],
            filled: 0,
            total,
        }
    }

    /// Appends `part`.
    pub fn update(&mut self, mut part: &[u8]) {
        self.total += part.len() as u64;
        if self.filled > 0 {
            let count = part.len().min(A::BLOCK - self.filled);
            let (now, later) = part.split_at(count);
            self.buffer[self.filled..self.filled + count].copy_from_slice(now);
            self.filled += count;
            part = later;
            if self.filled < A::BLOCK {
                return;
            }
            self.compress_buffer();
        }
        let blocks = part.len() / A::BLOCK;
        if blocks > 0 {
            // SAFETY: `blocks` whole blocks are inside `part`.
            unsafe { self.kernels.one(&mut self.chain, part.as_ptr(), blocks) };
        }
        let tail = &part[blocks * A::BLOCK..];
        self.buffer[..tail.len()].copy_from_slice(tail);
        self.filled = tail.len();
    }

    /// Ends the message and writes the digest.
    ///
    /// # Panics
    /// If `digest` is not [`Algorithm::DIGEST`] bytes long.
    pub fn finish(mut self, digest: &mut [u8]) {
        assert!(
            digest.len() == A::DIGEST,
            "the digest has {} bytes",
            A::DIGEST
        );
        let length_field = A::BLOCK / 8;
        let bits = (u128::from(self.total) << 3).to_be_bytes();
        self.buffer[self.filled] = 0x80;
        self.buffer[self.filled + 1..].fill(0);
        if self.filled + 1 + length_field > A::BLOCK {
            self.compress_buffer();
            self.buffer.fill(0);
        }
        let field = A::BLOCK - length_field..A::BLOCK;
        self.buffer[field].copy_from_slice(&bits[16 - length_field..]);
        self.compress_buffer();
        for (word, to) in self
            .chain
            .iter()
            .zip(digest.chunks_exact_mut(A::Word::BYTES))
        {
            word.write_be(to);
        }
    }

    /// Ends the message of [`Self::hmac`] and writes the tag; `key` is the same one.
    ///
    /// # Panics
    /// If `tag` is not [`Algorithm::DIGEST`] bytes long.
    pub fn finish_hmac(self, key: &HmacKey<A>, tag: &mut [u8]) {
        let mut outer = Self::hmac(self.kernels, key);
        outer.chain = *key.outer();
        self.finish(tag);
        outer.update(tag);
        outer.finish(tag);
    }

    /// The chaining value; the bytes of an unfilled block are not in it.
    pub(super) fn chain(&self) -> Row<A::Word> {
        self.chain
    }

    fn compress_buffer(&mut self) {
        // SAFETY: the buffer holds one block.
        unsafe { self.kernels.one(&mut self.chain, self.buffer.as_ptr(), 1) };
        self.filled = 0;
    }
}

impl<A: Algorithm> Drop for Stream<A> {
    fn drop(&mut self) {
        wipe(&mut self.chain);
        wipe(&mut self.buffer);
    }
}

impl<A: Algorithm> core::fmt::Debug for Stream<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Stream<{}> after {} bytes", A::NAME, self.total)
    }
}
