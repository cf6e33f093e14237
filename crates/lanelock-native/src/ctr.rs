//! AES-CTR, both directions alike.

#![allow(unsafe_code)] // calls kernels

use lanelock_kernels::Machine;
use lanelock_kernels::aes::EncryptKey;
use lanelock_kernels::aes::ctr::{apply_fed, apply_parts, apply_records};

use crate::burst::Mapped;
use crate::cipher::{Cipher, Message, Messages, Scattered};
use crate::rounds::in_rounds;

pub(crate) struct Ctr {
    machine: Machine,
    key: EncryptKey,
}

impl Ctr {
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let key = EncryptKey::new(machine, key)?;
        Some(Self { machine, key })
    }
}

impl Cipher for Ctr {
    #[inline(always)]
    unsafe fn run<'k>(&self, messages: impl Messages<'k, Self>) {
        messages.in_records(
            |cipher| &cipher.key,
            // SAFETY: the caller's promises are the kernel's; keys of one group have one size, and
            // validation has seen to a whole counter block.
            |records| unsafe { apply_records(self.machine, self.key.size(), records) },
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
        unsafe { apply_fed(self.machine, self.key.size(), messages) };
    }

    fn run_scattered<'k>(&self, messages: impl Iterator<Item = Scattered<'k, Self>>) {
        in_rounds(
            messages,
            |cipher| &cipher.key,
            |parts| {
                // SAFETY: the parts are valid and disjoint; keys of one group have one size.
                unsafe { apply_parts(self.machine, parts) };
            },
        );
    }
}
