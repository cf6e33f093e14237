//! AES-CTR, both directions alike.

#![allow(unsafe_code)] // calls kernels

use lanelock_kernels::Machine;
use lanelock_kernels::aes::EncryptKey;
use lanelock_kernels::aes::ctr::{apply_fed, apply_lone, apply_parts, apply_records};

use crate::cipher::{Cipher, Scattered, independent};
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
    independent!(apply_records, apply_fed, apply_lone);

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
