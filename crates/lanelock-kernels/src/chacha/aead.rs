//! ChaCha20-Poly1305 (RFC 8439, section 2.8).

#![allow(unsafe_code)] // the messages are raw memory

use super::batch::{Batch, Room, Text, counter, run_alone};
use super::block::BLOCK as STREAM_BLOCK;
use super::kernels::ROWS;
use super::lone::{self, Lone};
use super::tags::{is_right, tag, tags};
use super::{Kernels, Key, NONCE};
use crate::poly1305::Secret;
use crate::wipe::wipe;

/// Messages of one pass over the lanes, at most.
pub(super) const CHUNK: usize = 32;

/// Bytes of a pass of more than one message: they stay in the first cache from the cipher to the
/// authenticator.
const CHUNK_BYTES: usize = 24 << 10;

/// Bytes of a tag.
pub const TAG: usize = 16;

/// One message to seal or to open.
#[derive(Debug)]
pub struct AeadJob<'k> {
    /// The key.
    pub key: &'k Key,
    /// Must not repeat under a key.
    pub nonce: [u8; NONCE],
    /// The associated data.
    pub aad: *const [u8],
    /// Read from here.
    pub input: *const u8,
    /// Written here: the same memory as the input, or disjoint from it.
    pub output: *mut u8,
    /// Bytes of the text, without the tag.
    pub len: usize,
    /// Sealing writes it, opening compares with it.
    pub tag: [u8; TAG],
    /// Set by opening: whether the tag is right. If not, the output is untouched or zeros.
    pub verified: bool,
}

/// Encrypts every message and computes its tag.
///
/// # Safety
/// For every job: `aad` and `input` are valid for reading, `output` for writing `len` bytes;
/// input and output are the same memory or disjoint; no output overlaps any other memory of the
/// jobs. `len` is at most [`super::MAX_MESSAGE`].
pub unsafe fn seal_many(kernels: &Kernels, jobs: &mut [AeadJob<'_>]) {
    let count = jobs.len();
    // SAFETY: the caller's promise, passed on.
    if !unsafe { one_by_one::<true>(kernels, jobs) } {
        return;
    }
    let mut left = jobs;
    while !left.is_empty() {
        let (jobs, others) = left.split_at_mut(chunk(left));
        // SAFETY: the caller's promise, passed on.
        unsafe { seal_chunk(kernels, jobs, count) };
        left = others;
    }
}

/// Verifies and decrypts every message; sets `verified`. Of one whose tag is wrong, no plaintext is in the
/// output.
///
/// # Safety
/// As [`seal_many`].
pub unsafe fn open_many(kernels: &Kernels, jobs: &mut [AeadJob<'_>]) {
    let count = jobs.len();
    // SAFETY: the caller's promise, passed on.
    if !unsafe { one_by_one::<false>(kernels, jobs) } {
        return;
    }
    let mut left = jobs;
    while !left.is_empty() {
        let (jobs, others) = left.split_at_mut(chunk(left));
        // SAFETY: the caller's promise, passed on.
        unsafe { open_chunk(kernels, jobs, count) };
        left = others;
    }
}

/// How many of the jobs are next: as many as fit the cache while they pass through it twice, and fill
/// lanes.
fn chunk(jobs: &[AeadJob<'_>]) -> usize {
    let mut bytes = 0;
    let fits = |job: &&AeadJob<'_>| {
        bytes += job.len;
        bytes <= CHUNK_BYTES
    };
    let fitting = jobs.iter().take(CHUNK).take_while(fits).count();
    match fitting {
        0 => 1,
        _ if fitting == jobs.len() || fitting < CHUNK / 2 => fitting,
        _ => fitting / (CHUNK / 2) * (CHUNK / 2),
    }
}

/// Seals those of at most [`CHUNK`] messages, of a burst of `count`, that share registers.
///
/// # Safety
/// As [`seal_many`].
#[inline(never)] // one frame for every chunk
unsafe fn seal_chunk(kernels: &Kernels, jobs: &mut [AeadJob<'_>], count: usize) {
    let shares = |job: &AeadJob<'_>| kernels.shares(count, job.len);
    let mut keys = [[0; 8]; CHUNK];
    let mut room = Room::new();
    let mut batch = Batch::new(kernels, &mut room, &mut keys);
    for (i, job) in jobs.iter().filter(|job| shares(job)).enumerate() {
        batch.key(job.key, &job.nonce, i);
        // SAFETY: the caller's promise, passed on; the batch is flushed below.
        unsafe { batch.text(job.key, &job.nonce, 1, text_of(i, job)) };
    }
    batch.flush();
    drop(batch);
    // SAFETY: the output is valid, and holds the ciphertext now.
    unsafe {
        tags(
            kernels,
            jobs,
            shares,
            &mut keys,
            |job| job.output,
            |job, tag| job.tag = tag,
        )
    };
}

/// Opens those of at most [`CHUNK`] messages, of a burst of `count`, that share registers.
///
/// # Safety
/// As [`seal_many`].
#[inline(never)] // one frame for every chunk
unsafe fn open_chunk(kernels: &Kernels, jobs: &mut [AeadJob<'_>], count: usize) {
    let shares = |job: &AeadJob<'_>| kernels.shares(count, job.len);
    let mut keys = [[0; 8]; CHUNK];
    let mut room = Room::new();
    let mut batch = Batch::new(kernels, &mut room, &mut keys);
    // Where all blocks that share registers fit the batch, they are made with the keys, and wait.
    let blocks = |job: &AeadJob<'_>| 1 + batch.shared_blocks(job.len);
    let together = jobs
        .iter()
        .filter(|job| shares(job))
        .map(blocks)
        .sum::<usize>()
        <= ROWS;
    for (i, job) in jobs.iter().filter(|job| shares(job)).enumerate() {
        batch.key(job.key, &job.nonce, i);
        if together {
            // SAFETY: the caller's promise, passed on; it is applied below, or never.
            unsafe { batch.shared(job.key, &job.nonce, 1, text_of(i, job)) };
        }
    }
    batch.make();
    // SAFETY: the input is the ciphertext.
    unsafe {
        tags(
            kernels,
            jobs,
            shares,
            batch.keys(),
            |job| job.input,
            |job, tag| job.verified = is_right(&job.tag, &tag),
        );
    }
    let mut verified = [false; CHUNK];
    for (job, verified) in jobs.iter().filter(|job| shares(job)).zip(&mut verified) {
        *verified = job.verified;
    }
    batch.apply(|message| verified[message]);
    for (i, job) in jobs.iter().filter(|job| shares(job)).enumerate() {
        if !job.verified {
            continue;
        }
        // SAFETY: the caller's promise, passed on; the batch is flushed below.
        unsafe {
            if together {
                batch.alone(job.key, &job.nonce, 1, text_of(i, job));
            } else {
                batch.text(job.key, &job.nonce, 1, text_of(i, job));
            }
        }
    }
    batch.flush();
}

/// The text of message number `message`.
#[inline(always)]
fn text_of(message: usize, job: &AeadJob<'_>) -> Text {
    Text {
        message,
        input: job.input,
        output: job.output,
        len: job.len,
    }
}

/// Seals or opens messages that run by themselves; returns whether any are left, which share registers.
///
/// # Safety
/// As [`seal_many`].
#[inline]
unsafe fn one_by_one<const SEAL: bool>(kernels: &Kernels, jobs: &mut [AeadJob<'_>]) -> bool {
    let count = jobs.len();
    let mut are_left = false;
    for job in jobs {
        if kernels.shares(count, job.len) {
            are_left = true;
            continue;
        }
        // SAFETY: the caller's promise, passed on.
        unsafe {
            if kernels.has_passes(job.len) {
                kernels.pass::<SEAL>(job);
            } else {
                alone::<SEAL>(kernels, job);
            }
        }
    }
    are_left
}

/// Seals or opens one message: the first blocks of its keystream are made in one go with its one-time
/// key.
///
/// # Safety
/// As [`seal_many`].
#[inline(never)] // with a small frame of its own
unsafe fn alone<const SEAL: bool>(kernels: &Kernels, job: &mut AeadJob<'_>) {
    let head = lone::head(1 + job.len.div_ceil(STREAM_BLOCK));
    let (begin, rest) = text_of(0, job).split(job.len.min((head - 1) * STREAM_BLOCK));
    let mut room = lone::Room::new();
    let mut stream = Lone::new(&mut room);
    let mut state = job.key.state(0, &job.nonce);
    stream.fill(kernels, &state, head);
    // SAFETY: the caller's promise, passed on. The ciphertext is in the output once it is sealed,
    // and in the input until it is opened, which waits for the tag.
    unsafe {
        let mut secret = Secret::new(&*stream.block(0).as_ptr().cast());
        if !SEAL {
            let tag = tag(kernels, &secret, job.aad, job.input, job.len);
            job.verified = is_right(&job.tag, &tag);
        }
        if SEAL || job.verified {
            stream.apply(kernels, 1, begin.input, begin.output, begin.len);
            if rest.len > 0 {
                run_alone(kernels, job.key, &job.nonce, counter(head), rest);
            }
        }
        if SEAL {
            job.tag = tag(kernels, &secret, job.aad, job.output, job.len);
        }
        secret.wipe();
    }
    wipe(&mut state);
}
