//! AES-GCM-SIV: the keys of the messages of a burst are derived together, and so are their POLYVALs.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;

use arrayvec::ArrayVec;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN};
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_kernels::Machine;
use lanelock_kernels::aes::gcm::siv::{Job, NONCE, Stream, decrypt_many, encrypt_many};
use lanelock_kernels::aes::{BLOCK, EncryptKey};

use crate::burst::{BURST, Pieces, Tagger};
use crate::carry::Carry;
use crate::chacha::tag_before;

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

impl Tagger for GcmSiv {
    type Job<'k> = Job<'k>;

    #[inline]
    fn push<'k>(
        &'k self,
        op: &mut ValidOp<'_, '_>,
        _: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        jobs: &mut ArrayVec<Job<'k>, BURST>,
    ) -> bool {
        let Some(Pieces { text, aad }) = Pieces::of(op) else {
            return false;
        };
        jobs.push(Job {
            source: text.source,
            target: text.target,
            len: text.len,
            aad: aad.cast(),
            aad_len: aad.len(),
            key: &self.key,
            nonce: nonce(op, iv),
            tag: tag_before(op, self.seal),
        });
        true
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [Job<'_>]) {
        // SAFETY: keys of one group have one size. Text and additional data were valid for their
        // lengths and still are; the text is rewritten as the caller promises.
        unsafe {
            if self.seal {
                encrypt_many(self.machine, jobs);
            } else {
                decrypt_many(self.machine, jobs);
            }
        }
    }

    #[inline]
    fn tag<'j>(job: &'j Job<'_>) -> Option<&'j [u8]> {
        Some(&job.tag)
    }

    fn alone(
        &self,
        op: &mut ValidOp<'_, '_>,
        _: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        tag: &mut [u8; MAX_TAG_LEN],
    ) {
        let mut stream = Stream::new(self.machine, &self.key, nonce(op, iv));
        let mut carry = Carry::default();
        let _infallible: Result<(), Infallible> = op.for_each_aad(|piece| {
            carry.push(piece, |blocks| stream.absorb(blocks));
            Ok(())
        });
        stream.absorb(carry.last());
        let (aad_len, len) = (op.aad_len(), op.payload_len());
        if self.seal {
            absorb(&mut stream, op.payload());
            let computed = stream.tag(aad_len, len);
            crypt(&mut stream, &computed, op.payload());
            tag[..BLOCK].copy_from_slice(&computed);
        } else {
            let expected = tag_before(op, false);
            crypt(&mut stream, &expected, op.payload());
            absorb(&mut stream, op.output_payload());
            tag[..BLOCK].copy_from_slice(&stream.tag(aad_len, len));
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
    let _infallible: Result<(), Infallible> = text.for_each_block_run(BLOCK, |run| {
        // SAFETY: a run is valid for its length; input and output are alike or disjoint.
        unsafe { stream.crypt(tag, run.input(), run.output(), run.len()) };
        Ok(())
    });
}

#[inline]
fn nonce(op: &ValidOp<'_, '_>, scratch: &mut [u8; MAX_IV_LEN]) -> [u8; NONCE] {
    op.iv(scratch).try_into().expect("a nonce of 12 bytes")
}
