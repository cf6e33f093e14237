//! AES-CBC: encryption with a message in each lane, decryption with a message's blocks side by
//! side.

#![allow(unsafe_code)] // calls kernels

use arrayvec::ArrayVec;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::cbc::{
    DecryptJob, EncryptJob, decrypt_each, decrypt_many, decrypt_records, encrypt_each, encrypt_many,
};
use lanelock_kernels::aes::interleave::CbcKey;
use lanelock_kernels::aes::{BLOCK, DecryptKey, EncryptKey};

use crate::burst::{Cipher, Mapped, Message, Plain, Whole};

pub(crate) struct CbcEncrypt {
    machine: Machine,
    key: EncryptKey,
}

pub(crate) struct CbcDecrypt {
    machine: Machine,
    key: DecryptKey,
}

impl CbcEncrypt {
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let key = EncryptKey::new(machine, key)?;
        Some(Self { machine, key })
    }
}

impl CbcDecrypt {
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let key = DecryptKey::new(&EncryptKey::new(machine, key)?);
        Some(Self { machine, key })
    }
}

macro_rules! cbc {
    ($cipher:ty, $job:ident, $run:ident, $each:ident, $key:ident $(, $records:ident)?) => {
        impl Cipher for $cipher {
            type Job<'k> = $job<'k>;
            const BLOCK: usize = BLOCK;

            #[inline]
            fn job<'k>(&'k self, iv: &[u8], payload: Whole) -> $job<'k> {
                $job {
                    source: payload.source,
                    target: payload.target,
                    len: payload.len,
                    key: &self.key,
                    iv: iv.try_into().expect("an IV of one block"),
                }
            }

            /// The kernel has left the last ciphertext block where it found the IV.
            #[inline]
            fn go_on(job: &mut $job<'_>, payload: Whole) {
                (job.source, job.target, job.len) = (payload.source, payload.target, payload.len);
            }

            fn cbc(&self) -> Option<CbcKey<'_>> {
                Some(CbcKey::$key(&self.key))
            }

            #[inline]
            unsafe fn run(&self, jobs: &mut [$job<'_>]) {
                // SAFETY: the caller's promises are the kernel's.
                unsafe { $run(self.machine, jobs) }
            }

            #[inline]
            unsafe fn run_whole<'k>(&self, messages: impl Iterator<Item = Message<'k, Self>>) {
                let messages = Mapped::new(messages, |message| message.keyed(|cipher| &cipher.key));
                // SAFETY: the caller's promises are the kernel's; keys of one group have one
                // size, and validation has seen to whole blocks and an IV of one.
                unsafe { $each(self.machine, self.key.size(), messages) }
            }
            $(
                #[inline]
                unsafe fn run_plain<'k>(&self, messages: Plain<'_, 'k, Self>) {
                    let mut keys = ArrayVec::new();
                    let records = messages.keyed(&mut keys, |cipher| &cipher.key);
                    // SAFETY: as in `run_whole`.
                    unsafe { $records(self.machine, self.key.size(), &records) }
                }
            )?
        }
    };
}

cbc!(CbcEncrypt, EncryptJob, encrypt_many, encrypt_each, Encrypt);
cbc!(
    CbcDecrypt,
    DecryptJob,
    decrypt_many,
    decrypt_each,
    Decrypt,
    decrypt_records
);
