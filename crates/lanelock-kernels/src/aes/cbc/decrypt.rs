//! CBC decryption: the blocks of a message in parallel.

use core::borrow::BorrowMut;
use core::marker::PhantomData;

use crate::aes::rounds::{OfSize, PerRounds, Rounds};
use crate::aes::sweep::{Transform, sweep};
use crate::aes::vector::Vector;
use crate::aes::{BLOCK, DecryptKey, Isa, KeySize};

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
/// If a key differs in size from the first job's, or a length is not a multiple of 16.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the job's `len` bytes.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other jobs.
pub unsafe fn decrypt_many(isa: Isa, jobs: &mut [DecryptJob<'_>]) {
    let Some(size) = jobs.first().map(|job| job.key.size()) else {
        return;
    };
    let uniform = jobs
        .iter()
        .all(|job| job.key.size() == size && job.len.is_multiple_of(BLOCK));
    assert!(uniform, "CBC takes whole blocks and keys of one size");
    // SAFETY: the caller's contract; sizes and lengths were compared.
    unsafe { decrypt_each(isa, size, jobs.iter_mut()) }
}

/// Decrypts each job as it is yielded.
///
/// # Safety
/// - As for [`decrypt_many`], from when a job is yielded.
/// - Every key has `size`, and every length is a multiple of 16.
#[inline]
pub unsafe fn decrypt_each<'k>(
    isa: Isa,
    size: KeySize,
    jobs: impl Iterator<Item: BorrowMut<DecryptJob<'k>>>,
) {
    // SAFETY: the caller's contract.
    unsafe { isa.run(OfSize(size, DecryptEach(jobs, PhantomData))) }
}

struct DecryptEach<'k, I>(I, PhantomData<DecryptJob<'k>>);

impl<'k, I: Iterator<Item: BorrowMut<DecryptJob<'k>>>> PerRounds for DecryptEach<'k, I> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self) {
        for mut job in self.0 {
            let job = job.borrow_mut();
            if job.len == 0 {
                continue;
            }
            // SAFETY: `decrypt_each`'s contract; there is at least one block. It is read before
            // the sweep may overwrite it.
            unsafe {
                let last: [u8; BLOCK] = job.source.add(job.len - BLOCK).cast::<[u8; 16]>().read();
                let mut unchain = Unchain {
                    rounds: Rounds::<V, ROUNDS>::load(job.key.as_ptr()),
                    before: V::broadcast(job.iv.as_ptr()),
                };
                sweep(&mut unchain, job.source, job.target, job.len);
                job.iv = last;
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
    unsafe fn apply<const G: usize>(&mut self, data: [V; G]) -> [V; G] {
        // SAFETY: runs under `enter`.
        unsafe {
            let mut plain = self.rounds.decrypt(data);
            for (plain, data) in plain.iter_mut().zip(data) {
                *plain = plain.xor(data.shift_in(self.before));
                self.before = data;
            }
            plain
        }
    }
}
