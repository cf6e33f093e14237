//! AES-ECB.

#![allow(unsafe_code)] // calls kernels

use lanelock_core::cursor::Cursor;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::ecb::{
    decrypt_fed, decrypt_lone, decrypt_many, decrypt_records, encrypt_fed, encrypt_lone,
    encrypt_many, encrypt_records,
};
use lanelock_kernels::aes::{self, BLOCK, DecryptKey, EncryptKey};

use crate::burst::{Text, for_each_block_run};
use crate::cipher::{Cipher, independent};

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
    ($cipher:ty, $run:ident, $run_records:ident, $run_fed:ident, $run_lone:ident) => {
        impl Cipher for $cipher {
            independent!($run_records, $run_fed, $run_lone);

            fn run_pieces(&self, _: &[u8], payload: Cursor<'_>) {
                for_each_block_run(payload, BLOCK, |text| {
                    let Text {
                        source,
                        target,
                        len,
                    } = text;
                    let message = aes::Message::without_iv(source, target, len, &self.key);
                    // SAFETY: the piece is valid for its length; its input and output are alike or
                    // disjoint.
                    unsafe { $run(self.machine, &[message]) };
                });
            }
        }
    };
}

ecb!(
    EcbEncrypt,
    encrypt_many,
    encrypt_records,
    encrypt_fed,
    encrypt_lone
);
ecb!(
    EcbDecrypt,
    decrypt_many,
    decrypt_records,
    decrypt_fed,
    decrypt_lone
);
