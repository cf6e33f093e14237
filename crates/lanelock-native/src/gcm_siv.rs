//! AES-GCM-SIV: the keys of the messages of a burst are derived together, and so are their POLYVALs.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;

use lanelock_core::cursor::Cursor;
use lanelock_core::engine::ValidOp;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::gcm::siv::{Job, Stream, decrypt_many, encrypt_many};
use lanelock_kernels::aes::{BLOCK, EncryptKey};

use crate::aead::{Aead, Message, expected_tag, nonce, nonce_of};
use crate::burst::for_each_block_run;
use crate::carry::Carry;
use crate::records::TAG;

pub(crate) struct GcmSiv {
    machine: Machine,
    seal: bool,
    /// The key-generating key.
    key: EncryptKey,
}

impl GcmSiv {
    pub(crate) fn new(machine: Machine, key: &[u8], seal: bool) -> Option<Self> {
        let key = EncryptKey::new(machine, key)?;
        Some(Self { machine, seal, key })
    }
}

impl Aead for GcmSiv {
    type Job<'k> = Job<'k>;

    #[inline(always)]
    fn job<'k>(&'k self, message: Message<'_>, expected: impl FnOnce() -> [u8; TAG]) -> Job<'k> {
        Job {
            source: message.text.source,
            target: message.text.target,
            len: message.text.len,
            aad: message.aad.cast(),
            aad_len: message.aad.len(),
            key: &self.key,
            nonce: nonce(message.iv),
            tag: if self.seal { [0; TAG] } else { expected() },
        }
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

    fn run_pieces(&self, op: &mut ValidOp<'_, '_>) -> [u8; TAG] {
        let mut stream = Stream::new(self.machine, &self.key, nonce_of(op));
        let mut carry = Carry::default();
        let _infallible: Result<(), Infallible> = op.for_each_aad(|piece| {
            carry.push(piece, |blocks| stream.absorb(blocks));
            Ok(())
        });
        stream.absorb(carry.last());
        let (aad_len, len) = (op.aad_len(), op.payload_len());
        if self.seal {
            absorb(&mut stream, op.payload());
            let tag = stream.tag(aad_len, len);
            crypt(&mut stream, &tag, op.payload());
            tag
        } else {
            crypt(&mut stream, &expected_tag(op), op.payload());
            absorb(&mut stream, op.output_payload());
            stream.tag(aad_len, len)
        }
    }
}

fn absorb(stream: &mut Stream, mut plaintext: Cursor<'_>) {
    let mut carry = Carry::default();
    while let Some(run) = plaintext.next_run(usize::MAX) {
        carry.push(run.input_bytes(), |blocks| stream.absorb(blocks));
    }
    stream.absorb(carry.last());
}

fn crypt(stream: &mut Stream, tag: &[u8; BLOCK], text: Cursor<'_>) {
    for_each_block_run(text, BLOCK, |text| {
        // SAFETY: a piece is valid for its length; input and output are alike or disjoint.
        unsafe { stream.crypt(tag, text.source, text.target, text.len) };
    });
}
