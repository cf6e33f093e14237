//! AES-CTR, both directions alike.

#![allow(unsafe_code)] // calls kernels

use arrayvec::ArrayVec;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::EncryptKey;
use lanelock_kernels::aes::ctr::{Job, apply_each, apply_many, apply_records};

use crate::burst::{Cipher, Mapped, Message, Plain, Whole};

pub(crate) struct Ctr {
    machine: Machine,
    key: EncryptKey,
}

impl Ctr {
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let key = EncryptKey::new(machine, key)?;
        Some(Self { machine, key })
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
        unsafe { apply_many(self.machine, jobs) }
    }

    #[inline]
    unsafe fn run_whole<'k>(&self, messages: impl Iterator<Item = Message<'k, Self>>) {
        let messages = Mapped::new(messages, |message| message.keyed(|cipher| &cipher.key));
        // SAFETY: the caller's promises are the kernel's; keys of one group have one size, and
        // validation has seen to a whole counter block.
        unsafe { apply_each(self.machine, self.key.size(), messages) }
    }

    #[inline]
    unsafe fn run_plain<'k>(&self, messages: Plain<'_, 'k, Self>) {
        let mut keys = ArrayVec::new();
        let records = messages.keyed(&mut keys, |cipher| &cipher.key);
        // SAFETY: as in `run_whole`.
        unsafe { apply_records(self.machine, self.key.size(), &records) }
    }
}
