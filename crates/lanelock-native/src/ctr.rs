//! AES-CTR, both directions alike.

#![allow(unsafe_code)] // calls kernels

use std::slice;

use lanelock_core::cursor::Cursor;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::EncryptKey;
use lanelock_kernels::aes::ctr::{Job, apply_many, apply_records};

use crate::burst::{Text, for_each_block_run};
use crate::cipher::{Cipher, Messages};

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
    #[inline(always)]
    unsafe fn run<'k>(&self, messages: impl Messages<'k, Self>) {
        messages.in_records(
            |cipher| &cipher.key,
            // SAFETY: the caller's promises are the kernel's; keys of one group have one size, and
            // validation has seen to a whole counter block.
            |records| unsafe { apply_records(self.machine, self.key.size(), records) },
        );
    }

    fn run_pieces(&self, iv: &[u8], payload: Cursor<'_>) {
        let Text {
            source,
            target,
            len,
        } = Text::EMPTY;
        let mut job = Job {
            source,
            target,
            len,
            key: &self.key,
            counter: iv.try_into().expect("a whole counter block"),
            used: 0,
        };
        // The kernel remembers how much of a block of key stream it has used: any length will do.
        for_each_block_run(payload, 1, |text| {
            (job.source, job.target, job.len) = (text.source, text.target, text.len);
            // SAFETY: the piece is valid for its length; its input and output are alike or disjoint.
            unsafe { apply_many(self.machine, slice::from_mut(&mut job)) };
        });
    }
}
