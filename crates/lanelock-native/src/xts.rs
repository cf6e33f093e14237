//! AES-XTS: the blocks of a data unit side by side.

#![allow(unsafe_code)] // calls kernels

use std::slice;

use arrayvec::ArrayVec;
use lanelock_core::cursor::{Cursor, Run};
use lanelock_kernels::Machine;
use lanelock_kernels::aes::xts::{Job, decrypt_many, encrypt_many};
use lanelock_kernels::aes::{BLOCK, DecryptKey, EncryptKey};

use crate::burst::{BURST, Text, for_each_block_run};
use crate::cipher::{Cipher, Messages};

pub(crate) struct XtsEncrypt {
    machine: Machine,
    key: EncryptKey,
    tweak_key: EncryptKey,
}

pub(crate) struct XtsDecrypt {
    machine: Machine,
    key: DecryptKey,
    tweak_key: EncryptKey,
}

impl XtsEncrypt {
    /// `key` is the data's key, then the tweak's.
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let (key, tweak_key) = key.split_at(key.len() / 2);
        Some(Self {
            machine,
            key: EncryptKey::new(machine, key)?,
            tweak_key: EncryptKey::new(machine, tweak_key)?,
        })
    }
}

impl XtsDecrypt {
    /// As [`XtsEncrypt::new`].
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let XtsEncrypt { key, tweak_key, .. } = XtsEncrypt::new(machine, key)?;
        Some(Self {
            machine,
            key: DecryptKey::new(&key),
            tweak_key,
        })
    }
}

macro_rules! xts {
    ($cipher:ty, $key:ty, $run:ident) => {
        impl $cipher {
            #[inline(always)]
            fn job(&self, tweak: [u8; BLOCK], text: Text) -> Job<'_, $key> {
                Job {
                    source: text.source,
                    target: text.target,
                    len: text.len,
                    key: &self.key,
                    tweak_key: &self.tweak_key,
                    tweak,
                    begun: false,
                }
            }
        }

        impl Cipher for $cipher {
            #[inline(always)]
            unsafe fn run<'k>(&self, messages: impl Messages<'k, Self>) {
                let mut jobs = ArrayVec::<_, BURST>::new();
                // SAFETY: the caller's promises are the kernel's; validation has seen to an IV of
                // one block.
                unsafe {
                    for message in messages.each() {
                        jobs.push(message.cipher.job(message.iv.read(), message.text));
                    }
                    $run(self.machine, &mut jobs);
                }
            }

            /// The last block gives a part of itself to the bytes after it, so both run together.
            fn run_pieces(&self, iv: &[u8], payload: Cursor<'_>) {
                let tweak = iv.try_into().expect("a tweak of one block");
                let mut job = self.job(tweak, Text::EMPTY);
                let mut run = |text: Text| {
                    (job.source, job.target, job.len) = (text.source, text.target, text.len);
                    // SAFETY: a piece is valid for its length; its input and output are alike or
                    // disjoint.
                    unsafe { $run(self.machine, slice::from_mut(&mut job)) };
                };
                let len = payload.remaining();
                let tail = match len % BLOCK {
                    0 => 0,
                    rest => BLOCK + rest,
                };
                let (blocks, mut end) = payload.split_at(len - tail);
                for_each_block_run(blocks, BLOCK, &mut run);
                if tail > 0 {
                    let mut last = [0; 2 * BLOCK];
                    let last = &mut last[..tail];
                    end.copy_in(last);
                    run(Run::in_place(last).into());
                    end.copy_out(last);
                }
            }
        }
    };
}

xts!(XtsEncrypt, EncryptKey, encrypt_many);
xts!(XtsDecrypt, DecryptKey, decrypt_many);
