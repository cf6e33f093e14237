//! XChaCha20-Poly1305: each message is one of ChaCha20-Poly1305 under a key of its own. The keys of
//! the messages of a burst are derived in lanes.

#![allow(unsafe_code)] // calls kernels

use arrayvec::ArrayVec;
use lanelock_core::engine::ValidOp;
use lanelock_kernels::chacha::{
    AeadJob, ExtendedKeys, KEY, Kernels, Key, X_NONCE, extended_nonce, open_many, seal_many,
};

use crate::aead::{Aead, Message, nonce, nonce_of};
use crate::burst::Text;
use crate::chacha::ChaCha20Poly1305;
use crate::records::TAG;

pub(crate) struct XChaCha20Poly1305 {
    kernels: Kernels,
    key: Key,
    seal: bool,
}

/// A message before its key is derived.
pub(crate) struct Job<'k> {
    key: &'k Key,
    nonce: [u8; X_NONCE],
    aad: *const [u8],
    text: Text,
    tag: [u8; TAG],
    verified: bool,
}

impl XChaCha20Poly1305 {
    pub(crate) fn new(kernels: Kernels, key: &[u8], seal: bool) -> Option<Self> {
        let key: &[u8; KEY] = key.try_into().ok()?;
        let key = Key::new(key);
        Some(Self { kernels, key, seal })
    }

    /// Runs up to `N` jobs.
    ///
    /// # Safety
    /// As [`Aead::run`].
    unsafe fn run_some<const N: usize>(&self, jobs: &mut [Job<'_>]) {
        let nonces = jobs.iter().map(|job| (job.key, &job.nonce));
        let keys = ExtendedKeys::<N>::new(&self.kernels, nonces);
        let mut inner: ArrayVec<AeadJob<'_>, N> = jobs
            .iter()
            .zip(keys.iter())
            .map(|(job, key)| AeadJob {
                key,
                nonce: extended_nonce(&job.nonce),
                aad: job.aad,
                input: job.text.source,
                output: job.text.target,
                len: job.text.len,
                tag: job.tag,
                verified: self.seal,
            })
            .collect();
        // SAFETY: the caller's promises are the kernels'.
        unsafe {
            if self.seal {
                seal_many(&self.kernels, &mut inner);
            } else {
                open_many(&self.kernels, &mut inner);
            }
        }
        for (job, inner) in jobs.iter_mut().zip(&inner) {
            (job.tag, job.verified) = (inner.tag, inner.verified);
        }
    }
}

impl Aead for XChaCha20Poly1305 {
    type Job<'k> = Job<'k>;

    #[inline(always)]
    fn job<'k>(&'k self, message: Message<'_>, expected: impl FnOnce() -> [u8; TAG]) -> Job<'k> {
        Job {
            key: &self.key,
            nonce: nonce(message.iv),
            aad: message.aad,
            text: message.text,
            tag: if self.seal { [0; TAG] } else { expected() },
            verified: self.seal,
        }
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            if jobs.len() == 1 {
                return self.run_some::<1>(jobs);
            }
            for jobs in jobs.chunks_mut(TOGETHER) {
                self.run_some::<TOGETHER>(jobs);
            }
        }
    }

    /// The kernel compares, and leaves no plaintext if it finds the tag wrong.
    #[inline(always)]
    fn tag<'j>(job: &'j Job<'_>) -> Option<&'j [u8; TAG]> {
        job.verified.then_some(&job.tag)
    }

    fn run_pieces(&self, op: &mut ValidOp<'_, '_>) -> [u8; TAG] {
        let nonce = nonce_of(op);
        let [key] = ExtendedKeys::new(&self.kernels, [(&self.key, &nonce)].into_iter()).into();
        let inner = ChaCha20Poly1305::keyed(self.kernels, key, self.seal);
        inner.run_under(op, &extended_nonce(&nonce))
    }
}

/// Jobs of one kernel call.
const TOGETHER: usize = 32;
