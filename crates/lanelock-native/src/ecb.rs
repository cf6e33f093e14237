//! AES-ECB.

#![allow(unsafe_code)] // calls kernels

use lanelock_core::cursor::Cursor;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::ecb::{
    decrypt_fed, decrypt_many, decrypt_records, encrypt_fed, encrypt_many, encrypt_records,
};
use lanelock_kernels::aes::{self, BLOCK, DecryptKey, EncryptKey};

use crate::burst::{Mapped, Text, for_each_block_run};
use crate::cipher::{Cipher, Message, Messages};

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
    ($cipher:ty, $run:ident, $run_records:ident, $run_fed:ident) => {
        impl Cipher for $cipher {
            #[inline(always)]
            unsafe fn run<'k>(&self, messages: impl Messages<'k, Self>) {
                messages.in_records(
                    |cipher| &cipher.key,
                    // SAFETY: the caller's promises are the kernel's; keys of one group have one size,
                    // and validation has seen to whole blocks.
                    |records| unsafe { $run_records(self.machine, self.key.size(), records) },
                );
            }

            fn is_fed(&self) -> bool {
                self.machine.is_fed()
            }

            #[inline(always)]
            unsafe fn run_fed<'k>(&self, messages: impl Iterator<Item = Message<'k, Self>>) {
                let messages = Mapped::new(messages, |message| {
                    message.keyed(|cipher: &Self| &cipher.key)
                });
                // SAFETY: as in `run`.
                unsafe { $run_fed(self.machine, self.key.size(), messages) };
            }

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

ecb!(EcbEncrypt, encrypt_many, encrypt_records, encrypt_fed);
ecb!(EcbDecrypt, decrypt_many, decrypt_records, decrypt_fed);
