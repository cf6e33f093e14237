//! XChaCha20-Poly1305: each message is one of ChaCha20-Poly1305 under a key of its own. The keys of
//! the messages of a burst are derived in lanes.

#![allow(unsafe_code)] // calls kernels

use arrayvec::ArrayVec;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN};
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_kernels::chacha::{
    AeadJob, ExtendedKeys, KEY, Kernels, Key, TAG, X_NONCE, extended_nonce, open_many, seal_many,
};

use crate::burst::{BURST, Pieces, Tagger, Whole};
use crate::chacha::{ChaCha20Poly1305, tag_before};

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
    text: Whole,
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
    /// As [`Tagger::run`].
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
        // SAFETY: text and additional data were valid for their lengths and still are; the text
        // is rewritten as the caller promises.
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

impl Tagger for XChaCha20Poly1305 {
    type Job<'k> = Job<'k>;

    #[inline]
    fn push<'k>(
        &'k self,
        op: &mut ValidOp<'_, '_>,
        _: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        jobs: &mut ArrayVec<Job<'k>, BURST>,
    ) -> bool {
        let Some(Pieces { text, aad }) = Pieces::of(op) else {
            return false;
        };
        jobs.push(Job {
            key: &self.key,
            nonce: nonce(op, iv),
            aad,
            text,
            tag: tag_before(op, self.seal),
            verified: self.seal,
        });
        true
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

    /// The kernel compares before it decrypts.
    #[inline]
    fn tag<'j>(job: &'j Job<'_>) -> Option<&'j [u8]> {
        job.verified.then_some(&job.tag)
    }

    fn alone(
        &self,
        op: &mut ValidOp<'_, '_>,
        _: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        tag: &mut [u8; MAX_TAG_LEN],
    ) {
        let nonce = nonce(op, iv);
        let [key] = ExtendedKeys::new(&self.kernels, [(&self.key, &nonce)].into_iter()).into();
        let inner = ChaCha20Poly1305::keyed(self.kernels, key, self.seal);
        inner.message(op, &extended_nonce(&nonce), tag);
    }
}

/// Jobs of one kernel call.
const TOGETHER: usize = 32;

#[inline]
fn nonce(op: &ValidOp<'_, '_>, scratch: &mut [u8; MAX_IV_LEN]) -> [u8; X_NONCE] {
    op.iv(scratch).try_into().expect("a nonce of 24 bytes")
}
