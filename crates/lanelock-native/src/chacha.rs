//! ChaCha20 and ChaCha20-Poly1305: blocks of keystream in lanes, of one message or of many.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;
use std::slice;

use arrayvec::ArrayVec;
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::ValidOp;
use lanelock_kernels::chacha::{
    AeadJob, CipherJob, KEY, Kernels, Key, NONCE, TagStream, cipher_many, open_many, seal_many,
};
use lanelock_kernels::taint::declassify;

use crate::aead::{Aead, Message, nonce, nonce_of};
use crate::burst::{BURST, Text, for_each_block_run};
use crate::cipher::{Cipher, Messages};
use crate::records::TAG;

/// Bytes of a block of keystream.
const BLOCK: usize = 64;

pub(crate) struct ChaCha20 {
    kernels: Kernels,
    key: Key,
}

pub(crate) struct ChaCha20Poly1305 {
    cipher: ChaCha20,
    seal: bool,
}

impl ChaCha20 {
    pub(crate) fn new(kernels: Kernels, key: &[u8]) -> Option<Self> {
        let key: &[u8; KEY] = key.try_into().ok()?;
        Some(Self {
            kernels,
            key: Key::new(key),
        })
    }
}

impl ChaCha20Poly1305 {
    pub(crate) fn new(kernels: Kernels, key: &[u8], seal: bool) -> Option<Self> {
        let cipher = ChaCha20::new(kernels, key)?;
        Some(Self { cipher, seal })
    }

    pub(crate) fn keyed(kernels: Kernels, key: Key, seal: bool) -> Self {
        let cipher = ChaCha20 { kernels, key };
        Self { cipher, seal }
    }
}

impl Cipher for ChaCha20 {
    #[inline(always)]
    unsafe fn run<'k>(&self, messages: impl Messages<'k, Self>) {
        let mut jobs = ArrayVec::<_, BURST>::new();
        // SAFETY: the caller's promises are the kernel's; validation has seen to an IV of one block.
        unsafe {
            for message in messages.each() {
                jobs.push(message.cipher.job(&message.iv.read(), message.text));
            }
            self.run_jobs(&mut jobs);
        }
    }

    fn run_pieces(&self, iv: &[u8], payload: Cursor<'_>) {
        let mut job = self.job(iv.try_into().expect("a counter and a nonce"), Text::EMPTY);
        for_each_block_run(payload, BLOCK, |text| {
            let blocks = job.len / BLOCK;
            advance(&mut job, blocks);
            (job.input, job.output, job.len) = (text.source, text.target, text.len);
            // SAFETY: the piece is valid for its length; its input and output are alike or disjoint.
            unsafe { self.run_jobs(slice::from_mut(&mut job)) };
        });
    }
}

impl ChaCha20 {
    /// `iv` is the counter, then the nonce.
    #[inline(always)]
    fn job(&self, iv: &[u8; 16], text: Text) -> CipherJob<'_> {
        let (counter, nonce) = iv.split_first_chunk().expect("a counter and a nonce");
        CipherJob {
            key: &self.key,
            nonce: nonce.try_into().expect("a counter and a nonce"),
            counter: u32::from_le_bytes(*counter),
            input: text.source,
            output: text.target,
            len: text.len,
        }
    }

    /// # Safety
    /// As [`Cipher::run`].
    #[inline]
    unsafe fn run_jobs(&self, jobs: &mut [CipherJob<'_>]) {
        // SAFETY: the caller's promises are the kernel's.
        unsafe {
            if jobs
                .iter()
                .any(|job| blocks_to_carry(job) < job.len.div_ceil(BLOCK))
            {
                return self.run_carrying(jobs);
            }
            cipher_many(&self.kernels, jobs);
        }
    }

    /// Runs jobs of which some pass the end of the 32-bit counter: it carries into the nonce, as
    /// OpenSSL has it.
    ///
    /// # Safety
    /// As [`Cipher::run`].
    #[cold]
    unsafe fn run_carrying(&self, jobs: &mut [CipherJob<'_>]) {
        for job in jobs {
            let before = job.len.min(blocks_to_carry(job).saturating_mul(BLOCK));
            let first = CipherJob {
                len: before,
                ..*job
            };
            let mut second = CipherJob {
                input: job.input.wrapping_add(before),
                output: job.output.wrapping_add(before),
                len: job.len - before,
                ..*job
            };
            advance(&mut second, before / BLOCK);
            // SAFETY: two parts of the job, one after the other.
            unsafe { cipher_many(&self.kernels, &[first, second]) };
        }
    }
}

/// Blocks until the counter is zero again.
fn blocks_to_carry(job: &CipherJob<'_>) -> usize {
    usize::try_from((1_u64 << 32) - u64::from(job.counter)).unwrap_or(usize::MAX)
}

/// Steps over `blocks` blocks; the counter carries into the nonce.
fn advance(job: &mut CipherJob<'_>, blocks: usize) {
    let sum = u64::from(job.counter) + blocks as u64;
    let bytes = sum.to_le_bytes();
    let (low, high) = bytes.split_at(4);
    job.counter = u32::from_le_bytes(low.try_into().expect("half"));
    let carry = u32::from_le_bytes(high.try_into().expect("half"));
    if carry > 0 {
        let word = job.nonce.first_chunk_mut().expect("three words");
        *word = u32::from_le_bytes(*word).wrapping_add(carry).to_le_bytes();
    }
}

impl Aead for ChaCha20Poly1305 {
    type Job<'k> = AeadJob<'k>;

    #[inline(always)]
    fn job<'k>(
        &'k self,
        message: Message<'_>,
        expected: impl FnOnce() -> [u8; TAG],
    ) -> AeadJob<'k> {
        AeadJob {
            key: &self.cipher.key,
            nonce: nonce(message.iv),
            aad: message.aad,
            input: message.text.source,
            output: message.text.target,
            len: message.text.len,
            tag: if self.seal { [0; TAG] } else { expected() },
            verified: self.seal,
        }
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [AeadJob<'_>]) {
        // SAFETY: the caller's promises are the kernels'.
        unsafe {
            if self.seal {
                seal_many(&self.cipher.kernels, jobs);
            } else {
                open_many(&self.cipher.kernels, jobs);
            }
        }
    }

    /// The kernel compares, and leaves no plaintext if it finds the tag wrong.
    #[inline(always)]
    fn tag<'j>(job: &'j AeadJob<'_>) -> Option<&'j [u8; TAG]> {
        job.verified.then_some(&job.tag)
    }

    fn run_pieces(&self, op: &mut ValidOp<'_, '_>) -> [u8; TAG] {
        let nonce = nonce_of(op);
        self.run_under(op, &nonce)
    }
}

impl ChaCha20Poly1305 {
    /// Runs a message in pieces by itself under `nonce`; returns its tag.
    pub(crate) fn run_under(&self, op: &mut ValidOp<'_, '_>, nonce: &[u8; NONCE]) -> [u8; TAG] {
        let mut stream = TagStream::new(&self.cipher.kernels, &self.cipher.key, nonce);
        let _infallible: Result<(), Infallible> = op.for_each_aad(|piece| {
            stream.aad(piece);
            Ok(())
        });
        // From block 1 on.
        let mut iv = [0; 16];
        iv[0] = 1;
        iv[4..].copy_from_slice(nonce);
        if self.seal {
            self.cipher.run_pieces(&iv, op.payload());
            absorb(&mut stream, op.output_payload());
            return stream.finish();
        }
        absorb(&mut stream, op.payload());
        let tag = stream.finish();
        if declassify(op.tag_matches(&tag)) {
            self.cipher.run_pieces(&iv, op.payload());
        }
        tag
    }
}

fn absorb(stream: &mut TagStream, mut ciphertext: Cursor<'_>) {
    while let Some(run) = ciphertext.next_run(usize::MAX) {
        stream.text(run.input_bytes());
    }
}
