//! AES-CMAC, a message in each lane.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;
use std::mem::MaybeUninit;
use std::{ptr, slice};

use arrayvec::ArrayVec;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_kernels::Machine;
use lanelock_kernels::aes::mac::{self, Job, Subkeys, authenticate_each, authenticate_many};
use lanelock_kernels::aes::{BLOCK, EncryptKey, Piece};

use crate::burst::{BURST, Mapped};
use crate::carry::{Carry, Stretches};
use crate::mac::{Mac, Message};
use crate::rounds::{PIECES, STRADDLING};

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

    /// Computes the tags of messages in pieces: in each round the next stretch of every message.
    ///
    /// # Safety
    /// The pieces are valid for reads; the keys of the messages have one size.
    #[inline(never)]
    unsafe fn run_in_rounds(
        &self,
        messages: &[InPieces<'_>],
        tags: &mut [MaybeUninit<[u8; BLOCK]>; BURST],
    ) {
        let mut blocks = [[0; BLOCK]; BURST * STRADDLING];
        let mut messages: ArrayVec<_, BURST> = messages.iter().cloned().collect();
        while !messages.is_empty() {
            let mut pieces = ArrayVec::<Piece, { BURST * PIECES }>::new();
            let mut ends = ArrayVec::<(usize, bool), BURST>::new();
            for (message, blocks) in messages.iter_mut().zip(blocks.as_chunks_mut().0) {
                // SAFETY: the caller's promise.
                let last = unsafe { message.take(blocks, &mut pieces) };
                ends.push((pieces.len(), last));
            }
            let mut jobs = ArrayVec::<Job<'_>, BURST>::new();
            let mut start = 0;
            for (message, &(end, last)) in messages.iter().zip(&ends) {
                jobs.push(Job {
                    source: pieces[start].source,
                    len: pieces[start].len,
                    more: &pieces[start + 1..end],
                    key: &message.mac.key,
                    subkeys: last.then_some(&message.mac.subkeys),
                    chain: message.chain,
                });
                start = end;
            }
            // SAFETY: stretches are parts of pieces, or blocks that stay as they are.
            unsafe { authenticate_many(self.machine, &mut jobs) };
            for ((message, job), &(_, last)) in messages.iter_mut().zip(&jobs).zip(&ends) {
                message.chain = job.chain;
                if last {
                    tags[message.tag].write(job.chain);
                }
            }
            let mut ends = ends.iter();
            messages.retain(|_| ends.next().is_some_and(|&(_, last)| !last));
        }
    }

    /// Chains `part` onto `chain`.
    fn part(&self, part: &[u8], subkeys: Option<&Subkeys>, chain: &mut [u8; BLOCK]) {
        let mut job = Job {
            source: part.as_ptr(),
            len: part.len(),
            more: &[],
            key: &self.key,
            subkeys,
            chain: *chain,
        };
        // SAFETY: the part is a slice of that length.
        unsafe { authenticate_many(self.machine, slice::from_mut(&mut job)) };
        *chain = job.chain;
    }
}

/// A message in pieces.
#[derive(Clone)]
struct InPieces<'k> {
    mac: &'k Cmac,
    stretches: Stretches<'k>,
    chain: [u8; BLOCK],
    /// Where its tag goes.
    tag: usize,
}

impl InPieces<'_> {
    /// Appends the next stretches, one at least; whether the last is among them.
    ///
    /// # Safety
    /// The pieces are valid for reads.
    unsafe fn take(
        &mut self,
        blocks: &mut [[u8; BLOCK]; STRADDLING],
        pieces: &mut ArrayVec<Piece, { BURST * PIECES }>,
    ) -> bool {
        let full = pieces.len() + PIECES;
        let mut blocks = blocks.iter_mut();
        let mut block = blocks.next();
        while pieces.len() < full
            && let Some(room) = block.as_deref_mut()
        {
            let here = room.as_ptr();
            // SAFETY: the caller's promise.
            let (stretch, last) = unsafe { self.stretches.next(room) };
            pieces.push(Piece {
                source: stretch.cast(),
                target: ptr::null_mut(),
                len: stretch.len(),
            });
            if last {
                return true;
            }
            if here == stretch.cast() {
                block = blocks.next();
            }
        }
        false
    }
}

impl Mac for Cmac {
    const TAG: usize = BLOCK;
    const TAKES_PIECES: bool = true;

    #[inline(always)]
    unsafe fn run<'k>(&self, messages: impl Iterator<Item = Message<'k, Self>>) {
        // Tags that are shorter than a block are computed beside their places.
        let mut beside = [const { MaybeUninit::<[u8; BLOCK]>::uninit() }; BURST];
        let mut places = ArrayVec::<&mut [u8], BURST>::new();
        let mut in_pieces = ArrayVec::<InPieces<'_>, BURST>::new();
        let messages = Mapped::new(messages, |message| {
            let Message {
                mac,
                text,
                more,
                tag,
                ..
            } = message;
            if !more.is_empty() {
                places.push(tag);
                in_pieces.push(InPieces {
                    mac,
                    stretches: Stretches::new(text, more),
                    chain: [0; BLOCK],
                    tag: places.len() - 1,
                });
                return mac::Message {
                    source: text.cast(),
                    len: 0,
                    key: &mac.key,
                    subkeys: None,
                    chain: beside[places.len() - 1].write([0; BLOCK]),
                };
            }
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
        if !in_pieces.is_empty() {
            // SAFETY: the caller's promise of pieces that are valid.
            unsafe { self.run_in_rounds(&in_pieces, &mut beside) };
        }
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
