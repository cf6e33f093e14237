//! CBC encryption: one message per lane.

use crate::aes::chain::{ChainMany, Chained, Line};
use crate::aes::vector::Vector;
use crate::aes::{BLOCK, EncryptKey, Isa};

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
    // SAFETY: the caller's contract is that of `Chained`; the sizes were compared.
    unsafe { isa.run(ChainMany { jobs, size }) }
}

// SAFETY: `encrypt_many` asks its caller for pointers valid for `len` bytes.
unsafe impl Chained for EncryptJob<'_> {
    const WRITES: bool = true;

    #[inline(always)]
    fn source(&self) -> *const u8 {
        self.source
    }

    #[inline(always)]
    fn target(&self) -> *mut u8 {
        self.target
    }

    #[inline(always)]
    fn blocks(&self) -> usize {
        self.len / BLOCK
    }

    #[inline(always)]
    fn key(&self) -> &EncryptKey {
        self.key
    }

    #[inline(always)]
    fn chaining(&mut self) -> &mut [u8; BLOCK] {
        &mut self.iv
    }

    #[inline(always)]
    unsafe fn final_line<V: Vector>(&self, _: usize, _: usize, _: *mut Line) {}
}
