//! HMAC (RFC 2104) with the states behind both padded keys saved.

use super::message::Message;
use super::schedule::{self, Mode};
use super::{Algorithm, Kernels, Stream};
use crate::lanes::Row;
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
            let mut padded = block.map(|b| b ^ byte);
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

/// A message with its key.
pub trait Keyed<A: Algorithm>: Message {
    /// The key; the same one for as long as the message is being hashed.
    fn key(&self) -> &HmacKey<A>;
}

/// Computes the HMAC of every message, each under its own key.
#[inline]
pub fn hmac_many<A: Algorithm, M: Keyed<A>>(kernels: &'static Kernels<A>, messages: &mut [M]) {
    schedule::run::<A, M, Hmac>(kernels, messages);
}

/// Hashes every message.
#[inline]
pub fn hash_many<A: Algorithm, M: Message>(kernels: &'static Kernels<A>, messages: &mut [M]) {
    schedule::run::<A, M, Plain>(kernels, messages);
}

struct Hmac;

impl<A: Algorithm, M: Keyed<A>> Mode<A, M> for Hmac {
    const BEFORE: u64 = A::BLOCK as u64;

    #[inline(always)]
    fn chain(message: &M) -> Row<A::Word> {
        *message.key().inner()
    }

    #[inline(always)]
    fn outer(message: &M) -> Option<&Row<A::Word>> {
        Some(message.key().outer())
    }
}

struct Plain;

impl<A: Algorithm, M: Message> Mode<A, M> for Plain {
    const BEFORE: u64 = 0;

    #[inline(always)]
    fn chain(_: &M) -> Row<A::Word> {
        A::INITIAL
    }

    #[inline(always)]
    fn outer(_: &M) -> Option<&Row<A::Word>> {
        None
    }
}
