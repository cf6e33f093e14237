//! CFB with segments of a block (SP 800-38A, section 6.3), the last of which may be shorter:
//! encryption with a message in each lane, decryption with a message's blocks side by side.

use super::chain::{Cfb, run_each};
use super::feedback::{Job, TOGETHER, key_size, run_ends};
use super::message::{in_records, length};
use super::rounds::{PerRounds, Rounds};
use super::sweep::{Transform, sweep};
use super::{BLOCK, EncryptKey, KeySize, Message, Records};
use crate::arch::blocks::Vector;
use crate::machine::Machine;

/// Encrypts every job.
///
/// # Panics
/// If a key differs in size from the first job's, or a length is not below 4 GiB.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the job's `len` bytes.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other jobs.
pub unsafe fn encrypt_many(machine: Machine, jobs: &mut [Job<'_>]) {
    let Some(size) = key_size(jobs) else { return };
    in_records(jobs.iter().map(message), |records| {
        // SAFETY: the caller's contract; the sizes were compared.
        unsafe { encrypt_records(machine, size, records) }
    });
    for job in jobs.iter_mut().filter(|job| job.len >= BLOCK) {
        let last = job.len / BLOCK * BLOCK - BLOCK;
        // SAFETY: the last whole block that was written.
        job.iv = unsafe { job.target.add(last).cast::<[u8; BLOCK]>().read() };
    }
}

/// Decrypts every job.
///
/// # Panics
/// As [`encrypt_many`].
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(machine: Machine, jobs: &mut [Job<'_>]) {
    let Some(size) = key_size(jobs) else { return };
    for job in jobs {
        let last = (job.len / BLOCK * BLOCK).checked_sub(BLOCK).map(|last| {
            // SAFETY: the last whole block, read before it may be overwritten.
            unsafe { job.source.add(last).cast::<[u8; BLOCK]>().read() }
        });
        in_records(core::iter::once(message(job)), |records| {
            // SAFETY: the caller's contract; the sizes were compared.
            unsafe { decrypt_records(machine, size, records) }
        });
        job.iv = last.unwrap_or(job.iv);
    }
}

fn message<'k>(job: &Job<'k>) -> Message<'k, EncryptKey> {
    Message {
        source: job.source,
        target: job.target,
        len: length(job.len),
        key: job.key,
        iv: &raw const job.iv,
    }
}

/// Encrypts whole messages that are in memory.
///
/// # Safety
/// - As for [`encrypt_many`], and each IV is valid for reads, until this returns; the records are
///   valid for reads, and do not change.
/// - Every key has `size`.
pub unsafe fn encrypt_records(machine: Machine, size: KeySize, records: &Records<'_, EncryptKey>) {
    for first in (0..records.count).step_by(TOGETHER) {
        // SAFETY: the caller's contract. Behind a chain's last whole block is the end.
        unsafe {
            let part = records.part(first, TOGETHER);
            run_each::<Cfb>(machine, size, (0..part.count).map(|i| part.get(i)));
            run_ends(machine, &part, |_, message| {
                match (message.len as usize / BLOCK * BLOCK).checked_sub(BLOCK) {
                    Some(last) => message.target.add(last).cast_const().cast(),
                    None => message.iv,
                }
            });
        }
    }
}

/// Decrypts whole messages that are in memory.
///
/// # Safety
/// As for [`encrypt_records`].
#[inline(never)]
pub unsafe fn decrypt_records(machine: Machine, size: KeySize, records: &Records<'_, EncryptKey>) {
    // SAFETY: the caller's contract.
    unsafe { machine.blocks.run_sized(size, Decrypt(records)) }
}

struct Decrypt<'m, 'k>(&'m Records<'k, EncryptKey>);

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
        let mut before = data;
        for (before, data) in before.iter_mut().zip(data) {
            *before = data.shift_in(self.before);
            self.before = data;
        }
        let mut plain = self.rounds.encrypt(before);
        for (plain, data) in plain.iter_mut().zip(data) {
            *plain = plain.xor(data);
        }
        plain
    }
}

#[cfg(test)]
mod tests;
