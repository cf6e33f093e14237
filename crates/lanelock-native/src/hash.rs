//! SHA-1, SHA-2 and HMAC over them, a message in each lane.

#![allow(unsafe_code)] // names the memory of messages to the kernels

use std::convert::Infallible;
use std::slice;

use arrayvec::ArrayVec;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_kernels::hash::{Algorithm, HmacKey, Job, Kernels, Stream, hash_many};

use crate::burst::LONG_BURST;
use crate::mac::{Mac, Message};

/// A hash: what computes it, and the key of its HMAC if it is one.
pub(crate) struct Hasher<A: Algorithm, K> {
    kernels: &'static Kernels<A>,
    key: K,
}

pub(crate) type Digest<A> = Hasher<A, NoKey>;

pub(crate) type Hmac<A> = Hasher<A, HmacKey<A>>;

/// Known from the type, not from a value, so that no message pays for the question.
pub(crate) trait MaybeKey<A: Algorithm>: Send + Sync + 'static {
    fn key(&self) -> Option<&HmacKey<A>>;
}

/// The key of a plain hash.
pub(crate) struct NoKey;

impl<A: Algorithm> MaybeKey<A> for NoKey {
    #[inline(always)]
    fn key(&self) -> Option<&HmacKey<A>> {
        None
    }
}

impl<A: Algorithm> MaybeKey<A> for HmacKey<A> {
    #[inline(always)]
    fn key(&self) -> Option<&Self> {
        Some(self)
    }
}

impl<A: Algorithm> Digest<A> {
    pub(crate) fn new(kernels: &'static Kernels<A>) -> Self {
        let key = NoKey;
        Self { kernels, key }
    }
}

impl<A: Algorithm> Hmac<A> {
    pub(crate) fn new(kernels: &'static Kernels<A>, key: &[u8]) -> Self {
        let key = HmacKey::new(kernels, key);
        Self { kernels, key }
    }

    #[inline]
    pub(crate) fn key(&self) -> &HmacKey<A> {
        &self.key
    }
}

/// # Safety
/// The pieces of the message are valid and stay as they are until the job has run.
#[inline(always)]
unsafe fn job<'k, A: Algorithm, K: MaybeKey<A>>(message: Message<'k, Hasher<A, K>>) -> Job<'k, A> {
    let Message {
        mac,
        text,
        more,
        tag,
        ..
    } = message;
    // SAFETY: the caller's promise.
    unsafe { Job::of_raw(text, more, mac.key.key(), Some(tag)) }
}

impl<A: Algorithm, K: MaybeKey<A>> Mac for Hasher<A, K> {
    const TAG: usize = A::DIGEST;
    const TAKES_PIECES: bool = true;
    const AT_A_TIME: usize = LONG_BURST;

    #[inline(always)]
    unsafe fn run<'k>(&self, messages: impl Iterator<Item = Message<'k, Self>>) {
        let mut jobs = ArrayVec::<_, LONG_BURST>::new();
        // SAFETY: the caller's promise.
        messages.for_each(|message| jobs.push(unsafe { job(message) }));
        hash_many(self.kernels, &mut jobs);
    }

    #[inline(always)]
    unsafe fn run_lone<'k>(&self, message: Message<'k, Self>) {
        // SAFETY: the caller's promise.
        let mut job = unsafe { job(message) };
        hash_many(self.kernels, slice::from_mut(&mut job));
    }

    fn run_pieces(&self, op: &ValidOp<'_, '_>, ciphertext: Ciphertext, tag: &mut [u8]) {
        let key = self.key.key();
        let mut stream = match key {
            Some(key) => Stream::hmac(self.kernels, key),
            None => Stream::new(self.kernels),
        };
        let _infallible: Result<(), Infallible> = op.for_each_authenticated(ciphertext, |piece| {
            stream.update(piece);
            Ok(())
        });
        match key {
            Some(key) => stream.finish_hmac(key, tag),
            None => stream.finish(tag),
        }
    }
}
