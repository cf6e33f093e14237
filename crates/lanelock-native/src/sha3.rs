//! SHA-3, HMAC over it and KMAC, a message in each lane.

#![allow(unsafe_code)] // names the memory of messages to the kernels

use std::convert::Infallible;

use arrayvec::ArrayVec;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_kernels::Machine;
use lanelock_kernels::keccak::{Function, Job, Key, Stream, hash_many};

use crate::burst::BURST;
use crate::mac::{Mac, Message};

/// A hash or MAC over Keccak with tags of at most `TAG` bytes.
pub(crate) struct Keccak<const TAG: usize> {
    machine: Machine,
    function: Function,
    key: Option<Key>,
}

impl<const TAG: usize> Keccak<TAG> {
    pub(crate) fn digest(machine: Machine, function: Function) -> Self {
        debug_assert_eq!(function.digest(), Some(TAG));
        Self {
            machine,
            function,
            key: None,
        }
    }

    pub(crate) fn keyed(machine: Machine, key: Key) -> Self {
        Self {
            machine,
            function: key.function(),
            key: Some(key),
        }
    }
}

impl<const TAG: usize> Mac for Keccak<TAG> {
    const TAG: usize = TAG;
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
        hash_many(self.machine, self.function, &mut jobs);
    }

    fn run_pieces(&self, op: &ValidOp<'_, '_>, ciphertext: Ciphertext, tag: &mut [u8]) {
        let mut stream = match &self.key {
            Some(key) => Stream::keyed(self.machine, key),
            None => Stream::new(self.machine, self.function),
        };
        let _infallible: Result<(), Infallible> = op.for_each_authenticated(ciphertext, |piece| {
            stream.update(piece);
            Ok(())
        });
        match &self.key {
            Some(key) => stream.finish_keyed(key, tag),
            None => stream.finish(tag),
        }
    }
}
