//! ChaCha20-Poly1305 (RFC 8439, section 2.8).

#![allow(unsafe_code)] // the messages are raw memory

use core::mem::MaybeUninit;

use super::batch::{Batch, Text, counter, run_alone};
use super::block::BLOCK as STREAM_BLOCK;
use super::kernels::ROWS;
use super::lone::{self, Lone};
use super::{Kernels, Key, NONCE};
use crate::bytes::copy_short;
use crate::poly1305::{self, BLOCK, Element, Item, Running, Secret};
use crate::taint::declassify;
use crate::wipe::wipe;

/// Messages of one pass over the lanes, at most.
const CHUNK: usize = 32;

/// Bytes of a pass of more than one message: they stay in the first cache from the cipher to the
/// authenticator.
const CHUNK_BYTES: usize = 24 << 10;

/// Bytes of scratch per message; a message whose authenticated blocks fit is put together there.
const SCRATCH: usize = 256;

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
    // SAFETY: the caller's promise, passed on.
    let Some(most) = (unsafe { one_by_one::<true>(kernels, jobs) }) else {
        return;
    };
    let mut left = jobs;
    while !left.is_empty() {
        let (jobs, others) = left.split_at_mut(chunk(left));
        // SAFETY: the caller's promise, passed on.
        unsafe { seal_chunk(kernels, jobs, most) };
        left = others;
    }
}

/// Verifies and decrypts every message; sets `verified`. Of one whose tag is wrong, no plaintext is in the
/// output.
///
/// # Safety
/// As [`seal_many`].
pub unsafe fn open_many(kernels: &Kernels, jobs: &mut [AeadJob<'_>]) {
    // SAFETY: the caller's promise, passed on.
    let Some(most) = (unsafe { one_by_one::<false>(kernels, jobs) }) else {
        return;
    };
    let mut left = jobs;
    while !left.is_empty() {
        let (jobs, others) = left.split_at_mut(chunk(left));
        // SAFETY: the caller's promise, passed on.
        unsafe { open_chunk(kernels, jobs, most) };
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

/// Seals at most [`CHUNK`] messages.
///
/// # Safety
/// As [`seal_many`].
#[inline(never)] // one frame for every chunk
unsafe fn seal_chunk(kernels: &Kernels, jobs: &mut [AeadJob<'_>], most: usize) {
    let mut keys = [[0; 8]; CHUNK];
    let mut batch = Batch::new(kernels, &mut keys);
    for (i, job) in jobs.iter().filter(|job| job.len <= most).enumerate() {
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
            most,
            &mut keys,
            |job| job.output,
            |job, tag| job.tag = tag,
        )
    };
}

/// Opens at most [`CHUNK`] messages.
///
/// # Safety
/// As [`seal_many`].
#[inline(never)] // one frame for every chunk
unsafe fn open_chunk(kernels: &Kernels, jobs: &mut [AeadJob<'_>], most: usize) {
    let mut keys = [[0; 8]; CHUNK];
    let mut batch = Batch::new(kernels, &mut keys);
    let waiting = |job: &&AeadJob<'_>| job.len <= most;
    // Where all blocks that share registers fit the batch, they are made with the keys, and wait.
    let blocks = |job: &AeadJob<'_>| 1 + batch.shared_blocks(job.len);
    let together = jobs.iter().filter(waiting).map(blocks).sum::<usize>() <= ROWS;
    for (i, job) in jobs.iter().filter(waiting).enumerate() {
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
            most,
            batch.keys(),
            |job| job.input,
            |job, tag| job.verified = declassify(equal(&job.tag, &tag)),
        );
    }
    let mut verified = [false; CHUNK];
    for (job, verified) in jobs.iter().filter(waiting).zip(&mut verified) {
        *verified = job.verified;
    }
    batch.apply(|message| verified[message]);
    for (i, job) in jobs.iter().filter(waiting).enumerate() {
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

/// Seals or opens messages that run by themselves: long ones, and all if they are few. Those of at most
/// as many bytes as it returns are left; `None` if there are none.
///
/// # Safety
/// As [`seal_many`].
#[inline]
unsafe fn one_by_one<const SEAL: bool>(
    kernels: &Kernels,
    jobs: &mut [AeadJob<'_>],
) -> Option<usize> {
    let Some(from) = kernels.pass_from(jobs.len()) else {
        let together = match jobs {
            [_] => false,
            [one, other] => one.len.max(other.len) > MOST_OF_TWO,
            _ => true,
        };
        if together {
            return Some(usize::MAX);
        }
        for job in jobs {
            // SAFETY: the caller's promise, passed on.
            unsafe { alone::<SEAL>(kernels, job) };
        }
        return None;
    };
    let mut left = None;
    for job in jobs {
        if job.len < from {
            left = Some(from - 1);
        } else {
            // SAFETY: the caller's promise, passed on.
            unsafe { kernels.pass::<SEAL>(job) };
        }
    }
    left
}

/// Two messages of at most so many bytes do not fill registers of sixteen words together: each is faster
/// by itself.
const MOST_OF_TWO: usize = 15 * STREAM_BLOCK;

/// Seals or opens one message: the first blocks of its keystream are made in one go with its one-time
/// key.
///
/// # Safety
/// As [`seal_many`].
#[inline(never)] // with a small frame of its own
unsafe fn alone<const SEAL: bool>(kernels: &Kernels, job: &mut AeadJob<'_>) {
    let head = lone::head(1 + job.len.div_ceil(STREAM_BLOCK));
    let (begin, rest) = text_of(0, job).split(job.len.min((head - 1) * STREAM_BLOCK));
    let mut stream = Lone::new();
    stream.fill(kernels, &job.key.state(0, &job.nonce), head);
    // SAFETY: the caller's promise, passed on. The ciphertext is in the output once it is sealed,
    // and in the input until it is opened, which waits for the tag.
    unsafe {
        let mut secret = Secret::new(&*stream.block(0).as_ptr().cast());
        if !SEAL {
            let tag = tag(kernels, &secret, job.aad, job.input, job.len);
            job.verified = declassify(equal(&job.tag, &tag));
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
}

/// The tag of one message.
///
/// # Safety
/// `aad` is valid for reading, and `text` for `len` bytes.
#[inline]
unsafe fn tag(
    kernels: &Kernels,
    secret: &Secret,
    aad: *const [u8],
    text: *const u8,
    len: usize,
) -> [u8; TAG] {
    let mut sum = Running::new(secret, Element::default());
    let whole = len / BLOCK;
    // SAFETY: the caller's promise; what is left of the text is less than a block.
    unsafe {
        sum.padded(aad.cast(), aad.len());
        poly1305::absorb_run(kernels.authenticator(), secret, &mut sum, text, whole);
        sum.padded(text.add(whole * BLOCK), len % BLOCK);
        sum.block(lengths(aad.len(), len));
    }
    let tag = sum.tag(secret);
    sum.wipe();
    tag
}

/// The last block that is authenticated.
#[inline(always)]
fn lengths(aad: usize, text: usize) -> [u8; BLOCK] {
    (aad as u128 | (text as u128) << 64).to_le_bytes()
}

/// Whether two tags are equal, in a time that does not depend on where they differ.
#[must_use]
pub fn equal(a: &[u8; TAG], b: &[u8; TAG]) -> bool {
    let difference = u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b);
    core::hint::black_box(difference) == 0
}

/// Computes the tags of messages of at most `most` bytes and hands them to `done`. Wipes the one-time
/// keys.
///
/// # Safety
/// `text` yields memory valid for reading the job's `len` bytes; `aad` is valid.
#[inline(always)]
unsafe fn tags<'k>(
    kernels: &Kernels,
    jobs: &mut [AeadJob<'k>],
    most: usize,
    keys: &mut [[u32; 8]],
    text: impl Fn(&AeadJob<'k>) -> *const u8,
    done: impl Fn(&mut AeadJob<'k>, [u8; TAG]),
) {
    let mut items = [const { MaybeUninit::<Item>::uninit() }; CHUNK];
    let mut scratch = [const { MaybeUninit::<[u8; SCRATCH]>::uninit() }; CHUNK];
    let mut count = 0;
    for job in jobs.iter().filter(|job| job.len <= most) {
        let (i, secret) = (count, Secret::new(&keys[count]));
        // SAFETY: `scratch[i]` is `SCRATCH` writable bytes; the rest is the caller's promise.
        let runs = unsafe { runs(job.aad, text(job), job.len, scratch[i].as_mut_ptr().cast()) };
        items[i].write(Item {
            secret,
            runs,
            sum: Element::default(),
        });
        count += 1;
    }
    // SAFETY: the first `count` items are initialised, and their runs valid.
    let items = unsafe {
        let items = core::slice::from_raw_parts_mut(items.as_mut_ptr().cast::<Item>(), count);
        poly1305::authenticate(kernels.authenticator(), items);
        items
    };
    let jobs = jobs.iter_mut().filter(|job| job.len <= most);
    for (item, job) in items.iter_mut().zip(jobs) {
        done(job, item.secret.tag(item.sum));
        item.secret.wipe();
    }
    wipe(&mut keys[..count]);
}

/// The blocks that are authenticated: associated data, text, both padded with zeros, and lengths.
///
/// # Safety
/// `aad` is valid for reading, `text` for `len` bytes, and `scratch` for writing `SCRATCH` bytes.
#[inline(always)]
unsafe fn runs(
    aad: *const [u8],
    text: *const u8,
    len: usize,
    scratch: *mut u8,
) -> [(*const u8, usize); poly1305::RUNS] {
    let (aad, aad_len) = (aad.cast::<u8>(), aad.len());
    let (aad_rest, rest) = (aad_len % BLOCK, len % BLOCK);
    let lengths = lengths(aad_len, len);
    let none = (scratch.cast_const(), 0);
    let (aad_blocks, blocks) = (aad_len.div_ceil(BLOCK), len.div_ceil(BLOCK));
    if aad_len <= SCRATCH / 2 && len <= SCRATCH / 2 && aad_blocks + blocks < SCRATCH / BLOCK {
        // All in one run: short messages finish together then.
        let text_at = aad_blocks * BLOCK;
        let lengths_at = text_at + blocks * BLOCK;
        // SAFETY: `lengths_at` + a block ≤ `SCRATCH`; the sources are the caller's, of at most
        // 128 bytes each.
        unsafe {
            if aad_rest > 0 {
                scratch
                    .add(text_at - BLOCK)
                    .cast::<[u8; BLOCK]>()
                    .write([0; BLOCK]);
            }
            if rest > 0 {
                scratch
                    .add(lengths_at - BLOCK)
                    .cast::<[u8; BLOCK]>()
                    .write([0; BLOCK]);
            }
            copy_short(aad, scratch, aad_len);
            copy_short(text, scratch.add(text_at), len);
            scratch.add(lengths_at).cast::<[u8; BLOCK]>().write(lengths);
        }
        return [
            (scratch.cast_const(), aad_blocks + blocks + 1),
            none,
            none,
            none,
        ];
    }
    // SAFETY: three blocks of scratch; the tails are inside the sources.
    unsafe {
        scratch.cast::<[u8; 2 * BLOCK]>().write([0; 2 * BLOCK]);
        copy_short(aad.add(aad_len - aad_rest), scratch, aad_rest);
        let tail = scratch.add(BLOCK);
        copy_short(text.add(len - rest), tail, rest);
        let after = if rest > 0 { 1 } else { 0 };
        tail.add(after * BLOCK).cast::<[u8; BLOCK]>().write(lengths);
        [
            (aad, aad_len / BLOCK),
            (scratch.cast_const(), aad_blocks - aad_len / BLOCK),
            (text, len / BLOCK),
            (tail.cast_const(), after + 1),
        ]
    }
}
