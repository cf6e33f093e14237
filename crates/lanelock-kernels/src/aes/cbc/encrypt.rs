//! CBC encryption: one message per lane.

use core::borrow::Borrow;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::aes::chain::{CAPACITY, Chains, Line, Message, Tail};
use crate::aes::rounds::{OfSize, PerRounds};
use crate::aes::vector::Vector;
use crate::aes::{BLOCK, EncryptKey, Isa, KeySize};

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
/// If a key differs in size from the first job's, or a length is not a multiple of 16.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the job's `len` bytes.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other jobs.
pub unsafe fn encrypt_many(isa: Isa, jobs: &mut [EncryptJob<'_>]) {
    let Some(size) = jobs.first().map(|job| job.key.size()) else {
        return;
    };
    let uniform = jobs
        .iter()
        .all(|job| job.key.size() == size && job.len.is_multiple_of(BLOCK));
    assert!(uniform, "CBC takes whole blocks and keys of one size");
    // SAFETY: the caller's contract; sizes and lengths were compared. The last block of a message
    // that has any is behind its target.
    unsafe {
        isa.run(OfSize(size, EncryptEach(jobs.iter(), PhantomData)));
        for job in jobs.iter_mut().filter(|job| job.len > 0) {
            job.iv = job.target.add(job.len - BLOCK).cast::<[u8; BLOCK]>().read();
        }
    }
}

/// Encrypts each job, as many at once as there are lanes.
///
/// # Safety
/// - As for [`encrypt_many`], from when a job is yielded until this returns.
/// - Every key has `size`, and every length is a multiple of 16.
#[inline]
pub unsafe fn encrypt_each<'k>(
    isa: Isa,
    size: KeySize,
    jobs: impl Iterator<Item: Borrow<EncryptJob<'k>>>,
) {
    // SAFETY: the caller's contract.
    unsafe { isa.run(OfSize(size, EncryptEach(jobs, PhantomData))) }
}

struct EncryptEach<'k, I>(I, PhantomData<EncryptJob<'k>>);

impl<'k, I: Iterator<Item: Borrow<EncryptJob<'k>>>> PerRounds for EncryptEach<'k, I> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self) {
        let mut ivs = [const { MaybeUninit::<[u8; BLOCK]>::uninit() }; CAPACITY];
        let mut chains = Chains::new();
        for job in self.0 {
            let job = job.borrow();
            let chaining = ivs[chains.len()].write(job.iv).as_mut_ptr();
            // SAFETY: `encrypt_each`'s contract; the IV stays where it is until the chains have
            // run.
            unsafe {
                chains.push(Message {
                    source: job.source,
                    target: job.target,
                    key: job.key,
                    chaining,
                    blocks: job.len / BLOCK,
                    tail: Written,
                });
                if chains.is_full() {
                    chains.run::<V, ROUNDS>();
                }
            }
        }
        // SAFETY: as above.
        unsafe { chains.run::<V, ROUNDS>() }
    }
}

/// Ciphertext that is written to the end.
#[derive(Clone, Copy)]
struct Written;

impl Tail for Written {
    const WRITES: bool = true;

    #[inline(always)]
    unsafe fn last_line<V: Vector>(self, _: *const u8, _: usize, _: *mut Line) {}
}
