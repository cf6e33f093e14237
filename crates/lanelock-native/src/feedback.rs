//! AES-CFB and AES-OFB: a message in each lane, but for CFB decryption, which has a message's blocks
//! side by side.

#![allow(unsafe_code)] // calls kernels

use std::marker::PhantomData;

use lanelock_kernels::Machine;
use lanelock_kernels::aes::{EncryptKey, KeySize, Part, Records, cfb, ofb};

use crate::cipher::{Cipher, Messages, Scattered};
use crate::rounds::in_rounds;

/// A feedback mode, in one direction.
pub(crate) trait Mode: Send + Sync + 'static {
    /// Runs whole messages.
    ///
    /// # Safety
    /// That of the kernel.
    unsafe fn run(machine: Machine, size: KeySize, records: &Records<'_, EncryptKey>);

    /// Runs parts of messages.
    ///
    /// # Safety
    /// That of the kernel.
    unsafe fn run_parts(machine: Machine, parts: &mut [Part<'_, EncryptKey>]);
}

pub(crate) struct CfbEncrypt;
pub(crate) struct CfbDecrypt;
pub(crate) struct Ofb;

macro_rules! modes {
    ($($mode:ident: $records:path, $many:path;)*) => {$(
        impl Mode for $mode {
            #[inline]
            unsafe fn run(machine: Machine, size: KeySize, records: &Records<'_, EncryptKey>) {
                // SAFETY: the caller's promise.
                unsafe { $records(machine, size, records) }
            }

            unsafe fn run_parts(machine: Machine, parts: &mut [Part<'_, EncryptKey>]) {
                // SAFETY: the caller's promise.
                unsafe { $many(machine, parts) }
            }
        }
    )*};
}
modes! {
    CfbEncrypt: cfb::encrypt_records, cfb::encrypt_many;
    CfbDecrypt: cfb::decrypt_records, cfb::decrypt_many;
    Ofb: ofb::apply_records, ofb::apply_many;
}

/// A cipher of the mode `M`.
pub(crate) struct Feedback<M> {
    machine: Machine,
    key: EncryptKey,
    mode: PhantomData<M>,
}

impl<M> Feedback<M> {
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let key = EncryptKey::new(machine, key)?;
        Some(Self {
            machine,
            key,
            mode: PhantomData,
        })
    }
}

impl<M: Mode> Cipher for Feedback<M> {
    #[inline(always)]
    unsafe fn run<'k>(&self, messages: impl Messages<'k, Self>) {
        messages.in_records(
            |cipher| &cipher.key,
            // SAFETY: the caller's promises are the kernel's; keys of one group have one size, and
            // validation has seen to an IV of one block.
            |records| unsafe { M::run(self.machine, self.key.size(), records) },
        );
    }

    fn run_scattered<'k>(&self, messages: impl Iterator<Item = Scattered<'k, Self>>) {
        in_rounds(
            messages,
            |cipher| &cipher.key,
            |parts| {
                // SAFETY: the parts are valid and disjoint; keys of one group have one size.
                unsafe { M::run_parts(self.machine, parts) };
            },
        );
    }
}
