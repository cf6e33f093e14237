//! AES-ECB.

#![allow(unsafe_code)] // calls kernels

use lanelock_kernels::Machine;
use lanelock_kernels::aes::ecb::{Job, decrypt_many, encrypt_many};
use lanelock_kernels::aes::{BLOCK, DecryptKey, EncryptKey};

use crate::burst::{Cipher, Whole};

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
        impl Cipher for $cipher {
            type Job<'k> = Job<'k, $key>;
            const BLOCK: usize = BLOCK;

            #[inline]
            fn job<'k>(&'k self, _: &[u8], payload: Whole) -> Job<'k, $key> {
                Job {
                    source: payload.source,
                    target: payload.target,
                    len: payload.len,
                    key: &self.key,
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
        }
    };
}

ecb!(EcbEncrypt, EncryptKey, encrypt_many);
ecb!(EcbDecrypt, DecryptKey, decrypt_many);
