//! SHA-3 and HMAC over it, a message in each lane.

#![allow(unsafe_code)] // names the memory of messages to the kernels

use std::convert::Infallible;

use arrayvec::ArrayVec;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_kernels::Machine;
use lanelock_kernels::keccak::{Function, HmacKey, Job, Stream, hash_many};

use crate::burst::BURST;
use crate::mac::{Mac, Message};

/// SHA-3 with a digest of `DIGEST` bytes, or HMAC over it.
pub(crate) struct Sha3<const DIGEST: usize> {
    machine: Machine,
    key: Option<HmacKey>,
}

impl<const DIGEST: usize> Sha3<DIGEST> {
    const FUNCTION: Function = match DIGEST {
        28 => Function::SHA3_224,
        32 => Function::SHA3_256,
        48 => Function::SHA3_384,
        64 => Function::SHA3_512,
        _ => panic!("SHA-3 has digests of 28, 32, 48 and 64 bytes"),
    };

    pub(crate) fn digest(machine: Machine) -> Self {
        Self { machine, key: None }
    }

    pub(crate) fn hmac(machine: Machine, key: &[u8]) -> Self {
        let key = Some(HmacKey::new(machine, Self::FUNCTION, key));
        Self { machine, key }
    }
}

impl<const DIGEST: usize> Mac for Sha3<DIGEST> {
    const TAG: usize = DIGEST;
    const TAKES_PIECES: bool = true;

    #[inline(always)]
    unsafe fn run<'k>(&self, messages: impl Iterator<Item = Message<'k, Self>>) {
        let mut jobs = ArrayVec::<_, BURST>::new();
        messages.for_each(|message| {
            let Message {
                mac,
                text,
                more,
                tag,
                ..
            } = message;
            // SAFETY: the caller's promise.
            jobs.push(unsafe { Job::of_raw(text, more, mac.key.as_ref(), tag) });
        });
        hash_many(self.machine, Self::FUNCTION, &mut jobs);
    }

    fn run_pieces(&self, op: &ValidOp<'_, '_>, ciphertext: Ciphertext, tag: &mut [u8]) {
        let mut stream = match &self.key {
            Some(key) => Stream::hmac(self.machine, key),
            None => Stream::new(self.machine, Self::FUNCTION),
        };
        let _infallible: Result<(), Infallible> = op.for_each_authenticated(ciphertext, |piece| {
            stream.update(piece);
            Ok(())
        });
        match &self.key {
            Some(key) => stream.finish_hmac(key, tag),
            None => stream.finish(tag),
        }
    }
}
