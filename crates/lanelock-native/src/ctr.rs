//! AES-CTR, both directions alike.

#![allow(unsafe_code)] // calls kernels

use arrayvec::ArrayVec;
use lanelock_kernels::aes::ctr::{Job, apply_many, apply_whole};
use lanelock_kernels::aes::{BLOCK, EncryptKey, Isa};

use crate::burst::{BURST, Cipher, Message, Whole};

pub(crate) struct Ctr {
    isa: Isa,
    key: EncryptKey,
}

impl Ctr {
    pub(crate) fn new(isa: Isa, key: &[u8]) -> Option<Self> {
        let key = EncryptKey::new(isa, key)?;
        Some(Self { isa, key })
    }
}

impl Cipher for Ctr {
    type Job<'k> = Job<'k>;
    /// The kernel remembers how much of a key stream block it has used.
    const BLOCK: usize = 1;

    #[inline]
    fn job<'k>(&'k self, iv: &[u8], payload: Whole) -> Job<'k> {
        Job {
            source: payload.source,
            target: payload.target,
            len: payload.len,
            key: &self.key,
            counter: iv.try_into().expect("a whole counter block"),
            used: 0,
        }
    }

    #[inline]
    fn go_on(job: &mut Job<'_>, payload: Whole) {
        (job.source, job.target, job.len) = (payload.source, payload.target, payload.len);
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        // SAFETY: the caller's promises are the kernel's.
        unsafe { apply_many(self.isa, jobs) }
    }

    #[inline]
    unsafe fn run_whole<'k>(&self, messages: impl Iterator<Item = Message<'k, Self>>) {
        let mut jobs = ArrayVec::<_, BURST>::new();
        for message in messages {
            jobs.push(Job {
                source: message.payload.source,
                target: message.payload.target,
                len: message.payload.len,
                key: &message.cipher.key,
                // SAFETY: the caller's promise; validation has seen to a whole counter block.
                counter: unsafe { message.iv.cast::<[u8; BLOCK]>().read() },
                used: 0,
            });
        }
        // SAFETY: the caller's promises are the kernel's.
        unsafe { apply_whole(self.isa, &mut jobs) }
    }
}
