//! AES-CMAC, a message in each lane.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;
use std::mem::MaybeUninit;
use std::slice;

use arrayvec::ArrayVec;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_kernels::Machine;
use lanelock_kernels::aes::mac::{self, Job, Subkeys, authenticate_each, authenticate_many};
use lanelock_kernels::aes::{BLOCK, EncryptKey};

use crate::burst::{BURST, Mapped};
use crate::carry::Carry;
use crate::mac::{Mac, Message};

pub(crate) struct Cmac {
    machine: Machine,
    key: EncryptKey,
    subkeys: Subkeys,
}

impl Cmac {
    pub(crate) fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let key = EncryptKey::new(machine, key)?;
        let subkeys = Subkeys::new(machine, &key);
        Some(Self {
            machine,
            key,
            subkeys,
        })
    }

    /// Chains `part` onto `chain`.
    fn part(&self, part: &[u8], subkeys: Option<&Subkeys>, chain: &mut [u8; BLOCK]) {
        let mut job = Job {
            source: part.as_ptr(),
            len: part.len(),
            key: &self.key,
            subkeys,
            chain: *chain,
        };
        // SAFETY: the part is a slice of that length.
        unsafe { authenticate_many(self.machine, slice::from_mut(&mut job)) };
        *chain = job.chain;
    }
}

impl Mac for Cmac {
    const TAG: usize = BLOCK;

    #[inline(always)]
    unsafe fn run<'k>(&self, messages: impl Iterator<Item = Message<'k, Self>>) {
        // Tags that are shorter than a block are computed beside their places.
        let mut beside = [const { MaybeUninit::<[u8; BLOCK]>::uninit() }; BURST];
        let mut places = ArrayVec::<&mut [u8], BURST>::new();
        let messages = Mapped::new(messages, |Message { mac, text, tag, .. }| {
            let chain: *mut _ = match <&mut [u8; BLOCK]>::try_from(&mut *tag) {
                Ok(tag) => {
                    *tag = [0; BLOCK];
                    tag
                }
                Err(_) => {
                    places.push(tag);
                    beside[places.len() - 1].write([0; BLOCK])
                }
            };
            mac::Message {
                source: text.cast(),
                len: text.len(),
                key: &mac.key,
                subkeys: Some(&mac.subkeys),
                chain,
            }
        });
        // SAFETY: each source is valid for the message's length, as the caller promises, and each
        // chaining value a block of its own, borrowed until the call returns; keys of one group have
        // one size, and the caller promises one.
        unsafe { authenticate_each(self.machine, self.key.size(), messages) };
        for (tag, whole) in places.iter_mut().zip(&beside) {
            // SAFETY: written when its place was pushed.
            let whole = unsafe { whole.assume_init_ref() };
            let len = tag.len();
            tag.copy_from_slice(&whole[..len]);
        }
    }

    fn run_pieces(&self, op: &ValidOp<'_, '_>, ciphertext: Ciphertext, tag: &mut [u8]) {
        let (mut chain, mut carry) = ([0; BLOCK], Carry::default());
        let _infallible: Result<(), Infallible> = op.for_each_authenticated(ciphertext, |piece| {
            carry.push(piece, |blocks| self.part(blocks, None, &mut chain));
            Ok(())
        });
        self.part(carry.last(), Some(&self.subkeys), &mut chain);
        tag.copy_from_slice(&chain);
    }
}
