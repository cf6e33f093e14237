//! AES-SIV: the CMACs of a burst's messages in lanes, their texts side by side.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;
use std::slice;

use lanelock_core::algorithm::MAX_IV_LEN;
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::ValidOp;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::siv::{Job, Key, Stream, decrypt_many, encrypt_many};
use lanelock_kernels::aes::{BLOCK, ctr};

use crate::aead::{Aead, Message, Scattered, expected_tag};
use crate::burst::for_each_block_run;
use crate::carry::Carry;
use crate::gathered;
use crate::records::TAG;

pub(crate) struct Siv {
    machine: Machine,
    seal: bool,
    key: Key,
    /// Whether messages have a nonce.
    nonce: bool,
}

impl Siv {
    pub(crate) fn new(machine: Machine, key: &[u8], seal: bool, nonce: bool) -> Option<Self> {
        let key = Key::new(machine, key)?;
        Some(Self {
            machine,
            seal,
            key,
            nonce,
        })
    }

    /// What stands in front of the text.
    fn header(&self, op: &ValidOp<'_, '_>) -> Stream<'_> {
        let mut stream = self.key.stream(self.machine);
        let mut carry = Carry::default();
        let _infallible: Result<(), Infallible> = op.for_each_aad(|piece| {
            carry.push(piece, |blocks| stream.absorb(blocks));
            Ok(())
        });
        stream.end_aad(carry.last());
        if self.nonce {
            let mut carry = Carry::default();
            carry.push(op.iv(&mut [0; MAX_IV_LEN]), |blocks| stream.absorb(blocks));
            stream.end_nonce(carry.last());
        }
        stream
    }

    fn crypt(&self, tag: &[u8; TAG], text: Cursor<'_>) {
        let mut job = ctr::Job {
            source: std::ptr::null(),
            target: std::ptr::null_mut(),
            len: 0,
            key: self.key.text(),
            counter: self.key.counter(tag),
            used: 0,
        };
        for_each_block_run(text, 1, |text| {
            (job.source, job.target, job.len) = (text.source, text.target, text.len);
            // SAFETY: a piece is valid for its length; input and output are alike or disjoint.
            unsafe { ctr::apply_many(self.machine, slice::from_mut(&mut job)) };
        });
    }
}

impl Aead for Siv {
    type Job<'k> = Job<'k>;

    #[inline(always)]
    fn job<'k>(&'k self, message: Message<'_>, expected: impl FnOnce() -> [u8; TAG]) -> Job<'k> {
        let nonce = self.nonce.then_some(message.iv);
        let tag = if self.seal { [0; TAG] } else { expected() };
        let mut job = Job::new(&self.key, message.aad, nonce, tag);
        job.source = message.text.source;
        job.target = message.text.target;
        job.len = message.text.len;
        job
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        // SAFETY: the caller's promises are the kernels'; keys of one group have one size.
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
        match messages {
            // Its chain waits for itself wherever it lies.
            [message] => message.tag = message.aead.run_pieces(message.op),
            _ => gathered::run(self, messages),
        }
    }

    fn run_pieces(&self, op: &mut ValidOp<'_, '_>) -> [u8; TAG] {
        let header = self.header(op);
        if self.seal {
            let tag = synthesise(header, op.payload());
            self.crypt(&tag, op.payload());
            tag
        } else {
            self.crypt(&expected_tag(op), op.payload());
            synthesise(header, op.output_payload())
        }
    }
}

/// Absorbs a text to its end.
fn synthesise(mut stream: Stream<'_>, mut text: Cursor<'_>) -> [u8; TAG] {
    let len = text.remaining();
    let mut before = len.saturating_sub(BLOCK) / BLOCK * BLOCK;
    let mut end = [0; 2 * BLOCK];
    let end = &mut end[..len - before];
    text.copy_in_at(before, end);
    let mut carry = Carry::default();
    while before > 0
        && let Some(run) = text.next_run(before)
    {
        carry.push(run.input_bytes(), |blocks| stream.absorb(blocks));
        before -= run.len();
    }
    stream.absorb(carry.last());
    let tag = stream.end_text(end);
    zeroize::Zeroize::zeroize(end);
    tag
}
