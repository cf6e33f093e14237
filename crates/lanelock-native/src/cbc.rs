//! AES-CBC: encryption with a message in each lane, decryption with a message's blocks side by
//! side.

#![allow(unsafe_code)] // calls kernels

use lanelock_kernels::Machine;
use lanelock_kernels::aes::cbc::{
    decrypt_fed, decrypt_lone, decrypt_many, decrypt_records, encrypt_each, encrypt_many,
};
use lanelock_kernels::aes::interleave::CbcKey;
use lanelock_kernels::aes::{DecryptKey, EncryptKey};

use crate::burst::Mapped;
use crate::cipher::{Cipher, Messages, Scattered, independent};
use crate::rounds::in_rounds;

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

/// A cipher of CBC, as the kernel that interleaves it with a MAC takes it.
pub(crate) trait Cbc: Cipher {
    fn key(&self) -> CbcKey<'_>;
}

impl Cbc for CbcEncrypt {
    #[inline]
    fn key(&self) -> CbcKey<'_> {
        CbcKey::Encrypt(&self.key)
    }
}

impl Cbc for CbcDecrypt {
    #[inline]
    fn key(&self) -> CbcKey<'_> {
        CbcKey::Decrypt(&self.key)
    }
}

impl Cipher for CbcEncrypt {
    #[inline(always)]
    unsafe fn run<'k>(&self, messages: impl Messages<'k, Self>) {
        let messages = Mapped::new(messages.each(), |message| {
            message.keyed(|cipher: &Self| &cipher.key)
        });
        // SAFETY: the caller's promises are the kernel's; keys of one group have one size, and
        // validation has seen to whole blocks and an IV of one.
        unsafe { encrypt_each(self.machine, self.key.size(), messages) }
    }

    fn run_scattered<'k>(&self, messages: impl Iterator<Item = Scattered<'k, Self>>) {
        in_rounds(
            messages,
            |cipher| &cipher.key,
            |parts| {
                // SAFETY: the parts are valid and disjoint; keys of one group have one size, and validation
                // has seen to whole blocks.
                unsafe { encrypt_many(self.machine, parts) };
            },
        );
    }
}

impl Cipher for CbcDecrypt {
    independent!(decrypt_records, decrypt_fed, decrypt_lone);

    fn run_scattered<'k>(&self, messages: impl Iterator<Item = Scattered<'k, Self>>) {
        in_rounds(
            messages,
            |cipher| &cipher.key,
            |parts| {
                // SAFETY: as for encryption.
                unsafe { decrypt_many(self.machine, parts) };
            },
        );
    }
}
