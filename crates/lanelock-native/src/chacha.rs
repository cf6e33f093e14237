//! ChaCha20 and ChaCha20-Poly1305: blocks of keystream in lanes, of one message or of many.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;

use arrayvec::ArrayVec;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN};
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_kernels::chacha::{
    AeadJob, CipherJob, KEY, Kernels, Key, NONCE, TAG, TagStream, cipher_many, open_many, seal_many,
};
use lanelock_kernels::taint::declassify;

use crate::burst::{BURST, Cipher, Pieces, Tagger, Whole, run_blocks};

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
    type Job<'k> = CipherJob<'k>;
    const BLOCK: usize = BLOCK;

    #[inline]
    fn job<'k>(&'k self, iv: &[u8], payload: Whole) -> CipherJob<'k> {
        let (counter, nonce) = iv.split_first_chunk().expect("a counter and a nonce");
        CipherJob {
            key: &self.key,
            nonce: nonce.try_into().expect("a counter and a nonce"),
            counter: u32::from_le_bytes(*counter),
            input: payload.source,
            output: payload.target,
            len: payload.len,
        }
    }

    #[inline]
    fn go_on(job: &mut CipherJob<'_>, payload: Whole) {
        advance(job, job.len / BLOCK);
        (job.input, job.output, job.len) = (payload.source, payload.target, payload.len);
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [CipherJob<'_>]) {
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
}

impl ChaCha20 {
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
            // SAFETY: two parts of the job, one behind the other.
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

impl Tagger for ChaCha20Poly1305 {
    type Job<'k> = AeadJob<'k>;

    #[inline]
    fn push<'k>(
        &'k self,
        op: &mut ValidOp<'_, '_>,
        _: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        jobs: &mut ArrayVec<AeadJob<'k>, BURST>,
    ) -> bool {
        let Some(Pieces { text, aad }) = Pieces::of(op) else {
            return false;
        };
        jobs.push(AeadJob {
            key: &self.cipher.key,
            nonce: nonce(op, iv),
            aad,
            input: text.source,
            output: text.target,
            len: text.len,
            tag: tag_before(op, self.seal),
            verified: self.seal,
        });
        true
    }

    #[inline]
    unsafe fn run(&self, jobs: &mut [AeadJob<'_>]) {
        // SAFETY: text and additional data were valid for their lengths and still are; the text
        // is rewritten as the caller promises.
        unsafe {
            if self.seal {
                seal_many(&self.cipher.kernels, jobs);
            } else {
                open_many(&self.cipher.kernels, jobs);
            }
        }
    }

    /// The kernel compares before it decrypts.
    #[inline]
    fn tag<'j>(job: &'j AeadJob<'_>) -> Option<&'j [u8]> {
        job.verified.then_some(&job.tag)
    }

    fn alone(
        &self,
        op: &mut ValidOp<'_, '_>,
        _: Ciphertext,
        iv: &mut [u8; MAX_IV_LEN],
        tag: &mut [u8; MAX_TAG_LEN],
    ) {
        let nonce = nonce(op, iv);
        self.message(op, &nonce, tag);
    }
}

impl ChaCha20Poly1305 {
    /// Runs a message by itself and leaves its tag in the first bytes of `tag`.
    pub(crate) fn message(
        &self,
        op: &mut ValidOp<'_, '_>,
        nonce: &[u8; NONCE],
        tag: &mut [u8; MAX_TAG_LEN],
    ) {
        let mut stream = TagStream::new(&self.cipher.kernels, &self.cipher.key, nonce);
        let _infallible: Result<(), Infallible> = op.for_each_aad(|piece| {
            stream.aad(piece);
            Ok(())
        });
        if self.seal {
            self.apply(nonce, op.payload());
            absorb(&mut stream, op.output_payload());
            tag[..TAG].copy_from_slice(&stream.finish());
            return;
        }
        absorb(&mut stream, op.payload());
        tag[..TAG].copy_from_slice(&stream.finish());
        if declassify(op.tag_matches(tag)) {
            self.apply(nonce, op.payload());
        }
    }

    /// Encrypts or decrypts from block 1 on.
    fn apply(&self, nonce: &[u8; NONCE], payload: Cursor<'_>) {
        let mut iv = [0; 16];
        iv[0] = 1;
        iv[4..].copy_from_slice(nonce);
        let mut job = self.cipher.job(&iv, Whole::EMPTY);
        run_blocks(&self.cipher, &mut job, payload);
    }
}

/// The tag that a kernel is given: the one to compare, unless it computes it.
#[inline]
pub(crate) fn tag_before(op: &ValidOp<'_, '_>, seal: bool) -> [u8; TAG] {
    let mut tag = [0; TAG];
    if !seal {
        tag.copy_from_slice(op.expected_tag(&mut [0; MAX_TAG_LEN]));
    }
    tag
}

fn absorb(stream: &mut TagStream, mut ciphertext: Cursor<'_>) {
    while let Some(run) = ciphertext.next_run(usize::MAX) {
        stream.text(run.input_bytes());
    }
}

#[inline]
fn nonce(op: &ValidOp<'_, '_>, scratch: &mut [u8; MAX_IV_LEN]) -> [u8; NONCE] {
    op.iv(scratch).try_into().expect("a nonce of 12 bytes")
}
