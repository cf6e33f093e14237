//! AES-XTS: the blocks of a data unit side by side.

#![allow(unsafe_code)] // calls kernels

use std::slice;

use lanelock_core::cursor::{Cursor, Run};
use lanelock_kernels::Machine;
use lanelock_kernels::aes::xts::{Job, decrypt_many, encrypt_many};
use lanelock_kernels::aes::{BLOCK, DecryptKey, EncryptKey};

use crate::burst::{Cipher, Whole, run_blocks};

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
        impl Cipher for $cipher {
            type Job<'k> = Job<'k, $key>;
            const BLOCK: usize = BLOCK;

            #[inline]
            fn job<'k>(&'k self, iv: &[u8], payload: Whole) -> Job<'k, $key> {
                Job {
                    source: payload.source,
                    target: payload.target,
                    len: payload.len,
                    key: &self.key,
                    tweak_key: &self.tweak_key,
                    tweak: iv.try_into().expect("a tweak of one block"),
                    begun: false,
                }
            }

            #[inline]
            fn go_on(job: &mut Job<'_, $key>, payload: Whole) {
                (job.source, job.target, job.len) = (payload.source, payload.target, payload.len);
            }

            #[inline]
            unsafe fn run(&self, jobs: &mut [Job<'_, $key>]) {
                // SAFETY: the caller's promises are the kernel's.
                unsafe { $run(self.machine, jobs) }
            }

            /// The last block gives a part of itself to the bytes behind it, so both run together.
            fn run_pieces(&self, mut job: Job<'_, $key>, payload: Cursor<'_>) {
                let len = payload.remaining();
                let tail = match len % BLOCK {
                    0 => 0,
                    rest => BLOCK + rest,
                };
                let (blocks, mut end) = payload.split_at(len - tail);
                run_blocks(self, &mut job, blocks);
                if tail > 0 {
                    let mut last = [0; 2 * BLOCK];
                    let last = &mut last[..tail];
                    end.copy_in(last);
                    Self::go_on(&mut job, Whole::of(&Run::in_place(last)));
                    // SAFETY: a slice of our own, in place.
                    unsafe { self.run(slice::from_mut(&mut job)) };
                    end.copy_out(last);
                }
            }
        }
    };
}

xts!(XtsEncrypt, EncryptKey, encrypt_many);
xts!(XtsDecrypt, DecryptKey, decrypt_many);
