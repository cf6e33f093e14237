//! CBC encryption: one message per lane.

use crate::aes::chain::{Cbc, run_each};
use crate::aes::message::length;
use crate::aes::{BLOCK, EncryptKey, KeySize, Message};
use crate::machine::Machine;

/// One message to encrypt, or the next part of one.
#[derive(Debug)]
pub struct EncryptJob<'k> {
    /// Plaintext, valid for reads of `len` bytes.
    pub source: *const u8,
    /// Where the ciphertext goes, valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes, a multiple of 16; zero does nothing.
    pub len: usize,
    /// The schedule of this message.
    pub key: &'k EncryptKey,
    /// Before: the IV, or what the previous part left here. After: the last ciphertext block.
    pub iv: [u8; BLOCK],
}

/// Encrypts every job, as many at once as there are lanes.
///
/// All keys are of one size: the engine groups by algorithm.
///
/// # Panics
/// If a key differs in size from the first job's, or a length is not a multiple of 16 below 4 GiB.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the job's `len` bytes.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other jobs.
pub unsafe fn encrypt_many(machine: Machine, jobs: &mut [EncryptJob<'_>]) {
    let Some(size) = jobs.first().map(|job| job.key.size()) else {
        return;
    };
    let uniform = jobs
        .iter()
        .all(|job| job.key.size() == size && job.len.is_multiple_of(BLOCK));
    assert!(uniform, "CBC takes whole blocks and keys of one size");
    let messages = jobs.iter().map(|job| Message {
        source: job.source,
        target: job.target,
        len: length(job.len),
        key: job.key,
        iv: &raw const job.iv,
    });
    // SAFETY: the caller's contract; sizes and lengths were compared. The last block of a message
    // that has any is behind its target.
    unsafe {
        encrypt_each(machine, size, messages);
        for job in jobs.iter_mut().filter(|job| job.len > 0) {
            job.iv = job.target.add(job.len - BLOCK).cast::<[u8; BLOCK]>().read();
        }
    }
}

/// Encrypts each message, as many at once as there are lanes.
///
/// # Safety
/// - As for [`encrypt_many`], and each IV is valid for reads, from when a message is yielded until
///   this returns.
/// - Every key has `size`, and every length is a multiple of 16.
#[inline]
pub unsafe fn encrypt_each<'k>(
    machine: Machine,
    size: KeySize,
    messages: impl Iterator<Item = Message<'k, EncryptKey>>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_each::<Cbc>(machine, size, messages) }
}
