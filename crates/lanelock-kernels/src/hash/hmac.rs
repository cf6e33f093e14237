//! HMAC (RFC 2104) with the states behind both padded keys saved.

use super::{Algorithm, Kernels, Stream};
use crate::arch::words::Row;
use crate::wipe::wipe;

/// An HMAC key as the two chaining values that follow its padded blocks; wiped on drop.
#[repr(align(64))]
pub struct HmacKey<A: Algorithm> {
    inner: Row<A::Word>,
    outer: Row<A::Word>,
}

impl<A: Algorithm> Clone for HmacKey<A> {
    fn clone(&self) -> Self {
        let Self { inner, outer } = self;
        Self {
            inner: *inner,
            outer: *outer,
        }
    }
}

impl<A: Algorithm> HmacKey<A> {
    /// Prepares `key`, of any length; one longer than a block is hashed first.
    #[must_use]
    pub fn new(kernels: &'static Kernels<A>, key: &[u8]) -> Self {
        let mut block = [0; 128];
        if key.len() > A::BLOCK {
            let mut stream = Stream::new(kernels);
            stream.update(key);
            stream.finish(&mut block[..A::DIGEST]);
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let after = |byte: u8| {
            // Not by `map`, which would leave a copy of the block on the stack.
            let mut padded = [byte; 128];
            for (padded, key) in padded.iter_mut().zip(&block) {
                *padded ^= key;
            }
            let mut stream = Stream::new(kernels);
            stream.update(&padded[..A::BLOCK]);
            wipe(&mut padded);
            stream.chain()
        };
        let prepared = Self {
            inner: after(0x36),
            outer: after(0x5c),
        };
        wipe(&mut block);
        prepared
    }

    /// The chaining value behind the inner padded key: where every message starts.
    pub(crate) fn inner(&self) -> &Row<A::Word> {
        &self.inner
    }

    /// The chaining value behind the outer padded key.
    pub(crate) fn outer(&self) -> &Row<A::Word> {
        &self.outer
    }
}

impl<A: Algorithm> Drop for HmacKey<A> {
    fn drop(&mut self) {
        wipe(&mut self.inner);
        wipe(&mut self.outer);
    }
}

impl<A: Algorithm> core::fmt::Debug for HmacKey<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "HmacKey<{}>", A::NAME)
    }
}
