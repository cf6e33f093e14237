//! CBC decryption: the blocks of a message in parallel.

use crate::aes::message::{in_records, length};
use crate::aes::rounds::{PerRounds, Rounds};
use crate::aes::sweep::{Transform, sweep};
use crate::aes::{BLOCK, DecryptKey, KeySize, Message, Records};
use crate::arch::blocks::Vector;
use crate::machine::Machine;

/// One message to decrypt, or the next part of one.
#[derive(Debug)]
pub struct DecryptJob<'k> {
    /// Ciphertext, valid for reads of `len` bytes.
    pub source: *const u8,
    /// Where the plaintext goes, valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes, a multiple of 16; zero does nothing.
    pub len: usize,
    /// The schedule of this message.
    pub key: &'k DecryptKey,
    /// Before: the IV, or what the previous part left here. After: the last ciphertext block.
    pub iv: [u8; BLOCK],
}

/// Decrypts every job.
///
/// # Panics
/// If a key differs in size from the first job's, or a length is not a multiple of 16 below 4 GiB.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the job's `len` bytes.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other jobs.
pub unsafe fn decrypt_many(machine: Machine, jobs: &mut [DecryptJob<'_>]) {
    let Some(size) = jobs.first().map(|job| job.key.size()) else {
        return;
    };
    let uniform = jobs
        .iter()
        .all(|job| job.key.size() == size && job.len.is_multiple_of(BLOCK));
    assert!(uniform, "CBC takes whole blocks and keys of one size");
    // SAFETY: the caller's contract; sizes and lengths were compared. A message's last block is
    // read before it may be overwritten; the IV may be, once its message has run.
    unsafe {
        for job in jobs {
            let last =
                (job.len > 0).then(|| job.source.add(job.len - BLOCK).cast::<[u8; BLOCK]>().read());
            let message = Message {
                source: job.source,
                target: job.target,
                len: length(job.len),
                key: job.key,
                iv: &raw const job.iv,
            };
            decrypt_each(machine, size, core::iter::once(message));
            job.iv = last.unwrap_or(job.iv);
        }
    }
}

/// Decrypts each message as it is yielded.
///
/// # Safety
/// - As for [`decrypt_many`], and each IV is valid for reads, from when a message is yielded until
///   this returns.
/// - Every key has `size`, and every length is a multiple of 16.
#[inline]
pub unsafe fn decrypt_each<'k>(
    machine: Machine,
    size: KeySize,
    messages: impl Iterator<Item = Message<'k, DecryptKey>>,
) {
    in_records(messages, |records| {
        // SAFETY: the caller's contract.
        unsafe { decrypt_records(machine, size, records) }
    });
}

/// As [`decrypt_each`], for messages that are in memory.
///
/// # Safety
/// As for [`decrypt_each`], until this returns; the records are valid for reads, and do not change.
#[inline(never)]
pub unsafe fn decrypt_records(machine: Machine, size: KeySize, records: &Records<'_, DecryptKey>) {
    // SAFETY: the caller's contract.
    unsafe { machine.blocks.run_sized(size, Decrypt(records)) }
}

struct Decrypt<'m, 'k>(&'m Records<'k, DecryptKey>);

impl PerRounds for Decrypt<'_, '_> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        for i in 0..self.0.count {
            // SAFETY: `decrypt_records`' contract.
            unsafe {
                let message = self.0.get(i);
                let mut unchain = Unchain {
                    rounds: Rounds::<V, ROUNDS>::load(proof, message.key.as_ptr()),
                    before: V::broadcast(proof, message.iv.cast()),
                };
                let len = message.len as usize;
                sweep(proof, &mut unchain, message.source, message.target, len);
            }
        }
    }
}

struct Unchain<V, const ROUNDS: usize> {
    rounds: Rounds<V, ROUNDS>,
    /// Its last block precedes the next register.
    before: V,
}

impl<V: Vector, const ROUNDS: usize> Transform<V> for Unchain<V, ROUNDS> {
    #[inline(always)]
    fn apply<const G: usize>(&mut self, data: [V; G]) -> [V; G] {
        let mut plain = self.rounds.decrypt(data);
        for (plain, data) in plain.iter_mut().zip(data) {
            *plain = plain.xor(data.shift_in(self.before));
            self.before = data;
        }
        plain
    }
}
