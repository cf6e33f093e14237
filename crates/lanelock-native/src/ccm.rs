//! AES-CCM: CBC-MAC with a message in each lane, then counter mode.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;
use std::slice;

use arrayvec::ArrayVec;
use lanelock_core::algorithm::MAX_IV_LEN;
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::ValidOp;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::ccm::{Job, Nonce, decrypt_many, encrypt_many};
use lanelock_kernels::aes::{BLOCK, EncryptKey, Piece, ctr, mac};

use crate::aead::{Aead, Message, Scattered};
use crate::burst::BURST;
use crate::carry::Carry;
use crate::cipher;
use crate::records::TAG;
use crate::rounds::{InRounds, in_rounds, run_in_rounds};

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

    /// The CBC-MAC of what is before the plaintext of a message (SP 800-38C, A.2).
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

    /// Encrypts or decrypts the texts of messages in pieces.
    fn count(&self, messages: &mut [Scattered<'_, '_, '_, Self>]) {
        let texts = messages.iter_mut().map(|Scattered { aead, op, .. }| {
            let first = nonce(op).counter(1);
            cipher::Scattered::new(*aead, &first, op.payload())
        });
        in_rounds(
            texts,
            |ccm| &ccm.key,
            |parts| {
                // SAFETY: the parts are valid and disjoint; keys of one group have one size.
                unsafe { ctr::apply_parts(self.machine, parts) };
            },
        );
    }

    /// Chains the plaintexts of messages in pieces onto what is in their tags.
    fn authenticate_texts<'m>(&self, texts: impl Iterator<Item = Authenticated<'m>>) {
        let mut texts: ArrayVec<_, BURST> =
            texts.filter(|text| text.payload.remaining() > 0).collect();
        run_in_rounds(&mut texts, |jobs| {
            // SAFETY: pieces are valid for reads; keys of one group have one size.
            unsafe { mac::authenticate_many(self.machine, jobs) };
        });
    }

    /// Encrypts the CBC-MACs in the tags of messages.
    fn mask(&self, messages: &mut [Scattered<'_, '_, '_, Self>]) {
        let mut jobs = ArrayVec::<_, BURST>::new();
        for Scattered { aead, op, tag, .. } in messages {
            jobs.push(ctr::Job {
                source: tag.as_ptr(),
                target: tag.as_mut_ptr(),
                len: BLOCK,
                key: &aead.key,
                counter: nonce(op).counter(0),
                used: 0,
            });
        }
        // SAFETY: each tag is a block, in place.
        unsafe { ctr::apply_many(self.machine, &mut jobs) };
    }
}

fn nonce(op: &ValidOp<'_, '_>) -> Nonce {
    Nonce::new(op.iv(&mut [0; MAX_IV_LEN]))
}

/// What is left to authenticate of a text in pieces.
struct Authenticated<'m> {
    key: &'m EncryptKey,
    chain: &'m mut [u8; BLOCK],
    payload: Cursor<'m>,
}

impl<'m> InRounds<'m> for Authenticated<'m> {
    type Part<'p> = mac::Job<'p>;

    const PADDED: bool = true;

    #[inline]
    fn payload(&mut self) -> &mut Cursor<'m> {
        &mut self.payload
    }

    #[inline]
    fn part<'p>(&self, pieces: &'p [Piece]) -> mac::Job<'p>
    where
        'm: 'p,
    {
        mac::Job {
            source: pieces[0].source,
            len: pieces[0].len,
            more: &pieces[1..],
            key: self.key,
            subkeys: None,
            chain: *self.chain,
        }
    }

    #[inline]
    fn after(&mut self, job: &mac::Job<'_>) {
        *self.chain = job.chain;
    }
}

impl Aead for Ccm {
    type Job<'k> = Job<'k>;

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

    fn run_scattered(&self, messages: &mut [Scattered<'_, '_, '_, Self>]) {
        for message in &mut *messages {
            message.tag = message.aead.authenticate(message.op, nonce(message.op));
        }
        if !self.seal {
            self.count(messages);
        }
        self.authenticate_texts(messages.iter_mut().map(|Scattered { aead, op, tag, .. }| {
            let payload = if self.seal {
                op.payload()
            } else {
                op.output_payload()
            };
            Authenticated {
                key: &aead.key,
                chain: tag,
                payload,
            }
        }));
        if self.seal {
            self.count(messages);
        }
        self.mask(messages);
    }
}
