//! AES-ECB.

#![allow(unsafe_code)] // calls kernels

use arrayvec::ArrayVec;
use lanelock_core::cursor::Cursor;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::ecb::{Job, decrypt_many, encrypt_many};
use lanelock_kernels::aes::{BLOCK, DecryptKey, EncryptKey};

use crate::burst::{BURST, Text, for_each_block_run};
use crate::cipher::{Cipher, Messages};

pub(crate) struct EcbEncrypt {
    machine: Machine,
    key: EncryptKey,
}

pub(crate) struct EcbDecrypt {
    machine: Machine,
    key: DecryptKey,
}

impl EcbEncrypt {
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let key = EncryptKey::new(machine, key)?;
        Some(Self { machine, key })
    }
}

impl EcbDecrypt {
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let key = DecryptKey::new(&EncryptKey::new(machine, key)?);
        Some(Self { machine, key })
    }
}

macro_rules! ecb {
    ($cipher:ty, $key:ty, $run:ident) => {
        impl $cipher {
            #[inline(always)]
            fn job(&self, text: Text) -> Job<'_, $key> {
                Job {
                    source: text.source,
                    target: text.target,
                    len: text.len,
                    key: &self.key,
                }
            }
        }

        impl Cipher for $cipher {
            #[inline(always)]
            unsafe fn run<'k>(&self, messages: impl Messages<'k, Self>) {
                let mut jobs = ArrayVec::<_, BURST>::new();
                for message in messages.each() {
                    jobs.push(message.cipher.job(message.text));
                }
                // SAFETY: the caller's promises are the kernel's.
                unsafe { $run(self.machine, &mut jobs) }
            }

            fn run_pieces(&self, _: &[u8], payload: Cursor<'_>) {
                for_each_block_run(payload, BLOCK, |text| {
                    // SAFETY: the piece is valid for its length; its input and output are alike or
                    // disjoint.
                    unsafe { $run(self.machine, &mut [self.job(text)]) };
                });
            }
        }
    };
}

ecb!(EcbEncrypt, EncryptKey, encrypt_many);
ecb!(EcbDecrypt, DecryptKey, decrypt_many);
