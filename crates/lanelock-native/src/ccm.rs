//! AES-CCM: CBC-MAC with a message in each lane, then counter mode.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;
use std::slice;

use lanelock_core::algorithm::MAX_IV_LEN;
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::ValidOp;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::ccm::{Job, Nonce, decrypt_many, encrypt_many};
use lanelock_kernels::aes::{BLOCK, EncryptKey, ctr, mac};

use crate::aead::{Aead, Message, TAG};
use crate::carry::Carry;

pub(crate) struct Ccm {
    machine: Machine,
    seal: bool,
    key: EncryptKey,
    tag_len: usize,
}

impl Ccm {
    pub(crate) fn new(machine: Machine, key: &[u8], seal: bool, tag_len: usize) -> Option<Self> {
        Some(Self {
            machine,
            seal,
            key: EncryptKey::new(machine, key)?,
            tag_len,
        })
    }

    /// Chains `part` onto a CBC-MAC; the last block is padded with zeros.
    fn chain(&self, part: &[u8], chain: &mut [u8; BLOCK]) {
        let mut job = mac::Job {
            source: part.as_ptr(),
            len: part.len(),
            more: &[],
            key: &self.key,
            subkeys: None,
            chain: *chain,
        };
        // SAFETY: the part is a slice of that length.
        unsafe { mac::authenticate_many(self.machine, slice::from_mut(&mut job)) };
        *chain = job.chain;
    }

    /// The CBC-MAC of a message (SP 800-38C, A.2) whose plaintext `text` walks over.
    fn authenticate(&self, op: &ValidOp<'_, '_>, nonce: Nonce) -> [u8; BLOCK] {
        let aad_len = op.aad_len();
        let (mut chain, mut carry) = ([0; BLOCK], Carry::default());
        let first = nonce.first_block(aad_len > 0, self.tag_len, op.payload_len());
        self.chain(&first, &mut chain);
        let length = aad_len.to_be_bytes();
        match aad_len {
            0 => {}
            1..0xff00 => carry.push(&length[6..], |_| {}),
            _ => {
                carry.push(&[0xff, 0xfe], |_| {});
                carry.push(&length[4..], |_| {});
            }
        }
        let _infallible: Result<(), Infallible> = op.for_each_aad(|piece| {
            carry.push(piece, |blocks| self.chain(blocks, &mut chain));
            Ok(())
        });
        self.chain(carry.last(), &mut chain);
        chain
    }

    fn authenticate_text(&self, mut text: Cursor<'_>, chain: &mut [u8; BLOCK]) {
        let mut carry = Carry::default();
        while let Some(run) = text.next_run(usize::MAX) {
            carry.push(run.input_bytes(), |blocks| self.chain(blocks, chain));
        }
        self.chain(carry.last(), chain);
    }

    /// Encrypts or decrypts the text, and `tag` with the counter before it.
    fn count(&self, nonce: Nonce, mut text: Cursor<'_>, tag: &mut [u8; BLOCK]) {
        let mut job = ctr::Job {
            source: tag.as_ptr(),
            target: tag.as_mut_ptr(),
            len: BLOCK,
            key: &self.key,
            counter: nonce.counter(0),
            used: 0,
        };
        // SAFETY: the tag is a block, in place.
        unsafe { ctr::apply_many(self.machine, slice::from_mut(&mut job)) };
        while let Some(run) = text.next_run(usize::MAX) {
            (job.source, job.target, job.len) = (run.input(), run.output(), run.len());
            // SAFETY: a run is valid for its length; input and output are alike or disjoint.
            unsafe { ctr::apply_many(self.machine, slice::from_mut(&mut job)) };
        }
    }
}

impl Aead for Ccm {
    type Job<'k> = Job<'k>;
    const PLACES: bool = false;

    #[inline(always)]
    fn job<'k>(&'k self, message: Message<'_>, _: impl FnOnce() -> [u8; TAG]) -> Job<'k> {
        Job {
            source: message.text.source,
            target: message.text.target,
            len: message.text.len,
            aad: message.aad.cast(),
            aad_len: message.aad.len(),
            key: &self.key,
            nonce: Nonce::new(message.iv),
            tag_len: self.tag_len,
            tag: [0; TAG],
        }
    }

    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        // SAFETY: the caller's promises are the kernels'.
        unsafe {
            if self.seal {
                encrypt_many(self.machine, jobs);
            } else {
                decrypt_many(self.machine, jobs);
            }
        }
    }

    #[inline(always)]
    fn tag<'j>(job: &'j Job<'_>) -> Option<&'j [u8; TAG]> {
        Some(&job.tag)
    }

    fn run_pieces(&self, op: &mut ValidOp<'_, '_>) -> [u8; TAG] {
        let nonce = Nonce::new(op.iv(&mut [0; MAX_IV_LEN]));
        let mut mac = self.authenticate(op, nonce);
        if self.seal {
            self.authenticate_text(op.payload(), &mut mac);
            self.count(nonce, op.payload(), &mut mac);
        } else {
            let mut mask = [0; BLOCK];
            self.count(nonce, op.payload(), &mut mask);
            self.authenticate_text(op.output_payload(), &mut mac);
            mac.iter_mut()
                .zip(mask)
                .for_each(|(byte, mask)| *byte ^= mask);
        }
        mac
    }
}
