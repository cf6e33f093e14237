//! CTR (SP 800-38A, section 6.5): the counter is the whole block, big-endian.

mod counters;

use super::fed::{run_fed, run_lone};
use super::message::{in_pieces, in_records, length};
use super::rounds::{Keys, Rounds};
use super::sweep::{FEW_BYTES, Mode, run_records};
use super::{BLOCK, EncryptKey, KeySize, Message, Part, Piece, Records};
use crate::arch::blocks::Vector;
use crate::machine::Machine;
use counters::{KeyStream, NUMBERS};

/// One message to encrypt or decrypt, or the next part of one.
#[derive(Debug)]
pub struct Job<'k> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes, any number.
    pub len: usize,
    /// The schedule of this message.
    pub key: &'k EncryptKey,
    /// Before: the counter block to start from, or what the previous part left here. After: the
    /// counter block that comes next.
    pub counter: [u8; BLOCK],
    /// Bytes of this counter's key stream that the previous part has used, below 16; zero for a
    /// new message. Kept up to date like `counter`.
    pub used: usize,
}

/// Encrypts or decrypts every job.
///
/// # Panics
/// If a key differs in size from the first job's, `used` is not below 16, or a length not below
/// 4 GiB.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the job's `len` bytes.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other jobs.
pub unsafe fn apply_many(machine: Machine, jobs: &mut [Job<'_>]) {
    let Some(size) = jobs.first().map(|job| job.key.size()) else {
        return;
    };
    let uniform = jobs
        .iter()
        .all(|job| job.used < BLOCK && job.key.size() == size);
    assert!(uniform, "keys of one size and partial blocks are required");
    // SAFETY: the caller's contract; the sizes were compared. What a job has left is within its
    // text, and its counter stays as it is until the messages have run.
    unsafe {
        for job in jobs.iter_mut().filter(|job| job.used > 0) {
            finish_block(machine, job);
        }
        let messages = jobs.iter().map(|job| Message {
            source: job.source,
            target: job.target,
            len: length(job.len),
            key: job.key,
            iv: &raw const job.counter,
        });
        apply_each(machine, size, messages);
    }
    for job in jobs.iter_mut().filter(|job| job.len > 0) {
        job.counter = counter_after(job.counter, job.len);
        job.used = job.len % BLOCK;
    }
}

/// Encrypts or decrypts every part; the IV is the counter block to start from.
///
/// # Panics
/// If a key differs in size from the first part's, a length is not below 4 GiB, or a part in several
/// pieces is not in whole blocks.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the `len` bytes of the part or
///   piece.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other parts.
pub unsafe fn apply_parts(machine: Machine, parts: &mut [Part<'_, EncryptKey>]) {
    let Some(size) = Part::key_size(parts) else {
        return;
    };
    let count = |iv: &mut [u8; BLOCK], piece: &Piece| *iv = counter_after(*iv, piece.len);
    in_pieces(parts, count, |records| {
        // SAFETY: the caller's contract; the sizes were compared.
        unsafe { apply_records(machine, size, records) }
    });
}

/// The counter block that comes next after so many bytes.
#[inline(always)]
fn counter_after(counter: [u8; BLOCK], bytes: usize) -> [u8; BLOCK] {
    let next = u128::from_be_bytes(counter).wrapping_add((bytes / BLOCK) as u128);
    next.to_be_bytes()
}

/// Encrypts or decrypts each message as it is yielded; its IV is the counter block to start from.
///
/// # Safety
/// - As for [`apply_many`], and each counter block is valid for reads, from when a message is
///   yielded until this returns.
/// - Every key has `size`.
#[inline]
pub unsafe fn apply_each<'k>(
    machine: Machine,
    size: KeySize,
    messages: impl Iterator<Item = Message<'k, EncryptKey>>,
) {
    in_records(messages, |records| {
        // SAFETY: the caller's contract.
        unsafe { apply_records(machine, size, records) }
    });
}

/// As [`apply_each`], for messages that are in memory.
///
/// # Safety
/// As for [`apply_each`], until this returns; the records are valid for reads, and do not change.
#[inline(never)]
pub unsafe fn apply_records(machine: Machine, size: KeySize, records: &Records<'_, EncryptKey>) {
    // SAFETY: the caller's contract.
    unsafe { run_records::<Count>(machine, size, records) }
}

/// As [`apply_records`], for messages that come one by one, each when it is yielded. The first is expected to have
/// `len` bytes, the others as many or more. Best where the machine [is fed](Machine::is_fed), or
/// [is fed a few](Machine::is_fed_few).
///
/// # Safety
/// As for [`apply_records`], from when a message is yielded until this returns.
#[inline]
pub unsafe fn apply_fed<'k>(
    machine: Machine,
    size: KeySize,
    len: u32,
    messages: impl Iterator<Item = Message<'k, EncryptKey>>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_fed::<Count>(machine, size, len, messages) }
}

/// As [`apply_fed`], for a message that is alone, which `message` makes, each time that it is asked to.
///
/// # Safety
/// As for [`apply_fed`].
#[inline]
pub unsafe fn apply_lone<'k>(
    machine: Machine,
    size: KeySize,
    message: impl FnMut() -> Message<'k, EncryptKey>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_lone::<Count>(machine, size, message) }
}

/// Encrypts or decrypts.
struct Count;

impl Mode for Count {
    type Key = EncryptKey;
    type Transform<V: Vector, const ROUNDS: usize, K: Keys<V>> = KeyStream<V, ROUNDS, K>;

    #[inline(always)]
    unsafe fn start<V: Vector, const ROUNDS: usize, K: Keys<V>>(
        rounds: Rounds<V, ROUNDS, K>,
        iv: *const [u8; BLOCK],
    ) -> KeyStream<V, ROUNDS, K> {
        // SAFETY: the caller's block. Else its last byte would be taken out of the register that holds it, which takes
        // longer than to load it.
        unsafe { KeyStream::start(rounds, iv, *V::in_place(iv.cast()).add(BLOCK - 1)) }
    }

    #[inline(always)]
    unsafe fn start_few<V: Vector, const ROUNDS: usize, K: Keys<V>>(
        rounds: Rounds<V, ROUNDS, K>,
        iv: *const [u8; BLOCK],
    ) -> KeyStream<V, ROUNDS, K> {
        // SAFETY: the caller's block.
        unsafe { KeyStream::start(rounds, iv, (*iv)[BLOCK - 1]) }
    }

    #[inline(always)]
    fn ahead_of_blocks<V: Vector>(ivs: V, data: V) -> (V, V) {
        (ivs, data)
    }

    #[inline(always)]
    unsafe fn few_suffice(iv: *const [u8; BLOCK]) -> bool {
        // SAFETY: the caller's block.
        let last = unsafe { (*iv)[BLOCK - 1] };
        usize::from(last) <= NUMBERS - FEW_BYTES / BLOCK
    }
}

/// Uses up the key stream of a block that the previous part began, and takes those bytes off the
/// job.
///
/// # Safety
/// The contract of [`apply_many`].
unsafe fn finish_block(machine: Machine, job: &mut Job<'_>) {
    let len = job.len.min(BLOCK - job.used);
    let mut stream = [0; BLOCK];
    let (source, target) = (stream.as_ptr(), stream.as_mut_ptr());
    let whole = Message {
        source,
        target,
        len: length(BLOCK),
        key: job.key,
        iv: &raw const job.counter,
    };
    // SAFETY: the stream is a block, in place; `len` bytes lie within the job's text.
    unsafe {
        apply_each(machine, job.key.size(), core::iter::once(whole));
        for (i, byte) in stream[job.used..][..len].iter().enumerate() {
            job.target.add(i).write(job.source.add(i).read() ^ byte);
        }
        (job.source, job.target) = (job.source.add(len), job.target.add(len));
    }
    (job.len, job.used) = (job.len - len, (job.used + len) % BLOCK);
    if job.used == 0 {
        job.counter = u128::from_be_bytes(job.counter)
            .wrapping_add(1)
            .to_be_bytes();
    }
}
