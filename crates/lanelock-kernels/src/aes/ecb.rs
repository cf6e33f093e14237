//! ECB (SP 800-38A, section 6.1).

use super::rounds::{PerRounds, Rounds};
use super::sweep::{Transform, sweep};
use super::{BLOCK, DecryptKey, EncryptKey, KeySize};
use crate::arch::blocks::Vector;
use crate::machine::Machine;

/// One message, or a part of one.
#[derive(Debug)]
pub struct Job<'k, Key> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes, a multiple of 16.
    pub len: usize,
    /// The schedule of this message.
    pub key: &'k Key,
}

/// Encrypts every job.
///
/// # Panics
/// If a key differs in size from the first job's, or a length is not a multiple of 16.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the job's `len` bytes.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other jobs.
pub unsafe fn encrypt_many(machine: Machine, jobs: &[Job<'_, EncryptKey>]) {
    let Some(first) = jobs.first() else { return };
    let size = first.key.size();
    assert!(
        jobs.iter().all(|job| fits(job.len, job.key.size(), size)),
        "{MISFIT}"
    );
    // SAFETY: the caller's contract; the sizes were compared.
    unsafe { machine.blocks.run_sized(size, EncryptMany(jobs)) }
}

/// Decrypts every job.
///
/// # Panics
/// As [`encrypt_many`].
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(machine: Machine, jobs: &[Job<'_, DecryptKey>]) {
    let Some(first) = jobs.first() else { return };
    let size = first.key.size();
    assert!(
        jobs.iter().all(|job| fits(job.len, job.key.size(), size)),
        "{MISFIT}"
    );
    // SAFETY: the caller's contract; the sizes were compared.
    unsafe { machine.blocks.run_sized(size, DecryptMany(jobs)) }
}

fn fits(len: usize, size: KeySize, expected: KeySize) -> bool {
    len.is_multiple_of(BLOCK) && size == expected
}

const MISFIT: &str = "whole blocks and keys of one size are required";

struct EncryptMany<'a, 'k>(&'a [Job<'k, EncryptKey>]);
struct DecryptMany<'a, 'k>(&'a [Job<'k, DecryptKey>]);

impl PerRounds for EncryptMany<'_, '_> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        for job in self.0 {
            // SAFETY: `encrypt_many`'s contract.
            unsafe {
                let mut encrypt = Encrypt(Rounds::<V, ROUNDS>::load(proof, job.key.as_ptr()));
                sweep(proof, &mut encrypt, job.source, job.target, job.len);
            }
        }
    }
}

impl PerRounds for DecryptMany<'_, '_> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        for job in self.0 {
            // SAFETY: `decrypt_many`'s contract.
            unsafe {
                let mut decrypt = Decrypt(Rounds::<V, ROUNDS>::load(proof, job.key.as_ptr()));
                sweep(proof, &mut decrypt, job.source, job.target, job.len);
            }
        }
    }
}

struct Encrypt<V, const ROUNDS: usize>(Rounds<V, ROUNDS>);
struct Decrypt<V, const ROUNDS: usize>(Rounds<V, ROUNDS>);

impl<V: Vector, const ROUNDS: usize> Transform<V> for Encrypt<V, ROUNDS> {
    #[inline(always)]
    fn apply<const G: usize>(&mut self, data: [V; G]) -> [V; G] {
        self.0.encrypt(data)
    }
}

impl<V: Vector, const ROUNDS: usize> Transform<V> for Decrypt<V, ROUNDS> {
    #[inline(always)]
    fn apply<const G: usize>(&mut self, data: [V; G]) -> [V; G] {
        self.0.decrypt(data)
    }
}
