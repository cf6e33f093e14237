//! ChaCha20 alone.

#![allow(unsafe_code)] // the messages are raw memory

use core::ptr;

use super::batch::{Batch, Room, Text, run_alone};
use super::block::BLOCK;
use super::lone::{self, Lone};
use super::{Kernels, Key, NONCE};
use crate::ahead;

/// One message to encrypt or decrypt.
#[derive(Debug)]
pub struct CipherJob<'k> {
    /// The key.
    pub key: &'k Key,
    /// Must not repeat under a key.
    pub nonce: [u8; NONCE],
    /// Number of the first block.
    pub counter: u32,
    /// Read from here.
    pub input: *const u8,
    /// Written here: the same memory as the input, or disjoint from it.
    pub output: *mut u8,
    /// Bytes.
    pub len: usize,
}

/// XORs every message with its keystream.
///
/// # Safety
/// For every job `input` is valid for reading and `output` for writing `len` bytes, and they are
/// the same memory or disjoint; no output overlaps any part of another job. `len` is at most
/// [`super::MAX_MESSAGE`].
pub unsafe fn cipher_many(kernels: &Kernels, jobs: &[CipherJob<'_>]) {
    if let [job] = jobs {
        if kernels.fills(job.len) {
            // SAFETY: the caller's promise, passed on.
            return unsafe { run_alone(kernels, job.key, &job.nonce, job.counter, text_of(job)) };
        }
        if job.len <= lone::MOST * BLOCK {
            let state = job.key.state(job.counter, &job.nonce);
            let mut room = lone::Room::new();
            let mut stream = Lone::new(&mut room);
            stream.fill(kernels, &state, job.len.div_ceil(BLOCK));
            // SAFETY: the caller's promise, passed on.
            return unsafe { stream.apply(kernels, 0, job.input, job.output, job.len) };
        }
    }
    let mut room = Room::new();
    let mut batch = Batch::new(kernels, &mut room, &mut []);
    let asks =
        kernels.is_narrow() && matches!(jobs, [one, other, ..] if !ptr::eq(one.key, other.key));
    for (n, job) in jobs.iter().enumerate() {
        if asks && let Some(next) = jobs.get(n + 1) {
            ahead::ask_next(next.input, next.len);
        }
        // SAFETY: the caller's promise, passed on.
        unsafe { batch.text(job.key, &job.nonce, job.counter, text_of(job)) };
    }
    batch.flush();
}

#[inline(always)]
fn text_of(job: &CipherJob<'_>) -> Text {
    Text {
        message: 0,
        input: job.input,
        output: job.output,
        len: job.len,
    }
}
