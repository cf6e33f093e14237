//! GCM and GMAC (SP 800-38D), one pass over each message.

mod ghash;
mod in_turn;
mod key;
mod stream;
mod text;
mod together;

pub use key::Key;
pub use stream::Stream;

use super::rounds::{OfSize, PerRounds};
use super::vector::{Kernel, Vector};
use super::{BLOCK, Isa};
use in_turn::InTurn;
use together::{REGISTERS, Together};

/// Which way the text is turned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// Plaintext in, ciphertext out.
    Encrypt,
    /// Ciphertext in, plaintext out.
    Decrypt,
}

/// One whole message. GMAC is a message of additional data only.
#[derive(Debug)]
#[repr(C)] // the two lengths are loaded as one block
pub struct Job<'k> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Additional data, valid for reads of `aad_len` bytes.
    pub aad: *const u8,
    /// Bytes of the text, any number.
    pub len: usize,
    /// Bytes of the additional data, any number.
    pub aad_len: usize,
    /// Schedule and powers of H of this message.
    pub key: &'k Key,
    /// The block before the first counter: [`j0_of_iv12`] or [`Key::j0`].
    pub j0: [u8; BLOCK],
    /// After: the whole tag. When decrypting the caller compares it, and wipes the target if it
    /// is not the one expected.
    pub tag: [u8; BLOCK],
}

/// The block before the first counter, from an IV of twelve bytes.
#[inline]
pub fn j0_of_iv12(iv: &[u8; 12]) -> [u8; BLOCK] {
    // In one number: a block that is stored in parts and loaded as one costs more than its rounds.
    let (mut low, mut high) = ([0; 8], [0; 4]);
    low.copy_from_slice(&iv[..8]);
    high.copy_from_slice(&iv[8..]);
    let high = u64::from(u32::from_le_bytes(high)) | 1 << 56;
    (u128::from(u64::from_le_bytes(low)) | u128::from(high) << 64).to_le_bytes()
}

/// Encrypts every job and computes its tag.
///
/// # Panics
/// If a key differs in size from the first job's.
///
/// # Safety
/// - Each `source` and `aad` is valid for reads and each `target` for writes of its length.
/// - A target is identical to its own source or disjoint from it, and disjoint from its own
///   additional data and from the sources, targets and additional data of all other jobs.
pub unsafe fn encrypt_many(isa: Isa, jobs: &mut [Job<'_>]) {
    // SAFETY: the caller's contract.
    unsafe { process_many::<true>(isa, jobs) }
}

/// Decrypts every job and computes the tag its ciphertext should have.
///
/// # Panics
/// As [`encrypt_many`].
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(isa: Isa, jobs: &mut [Job<'_>]) {
    // SAFETY: the caller's contract.
    unsafe { process_many::<false>(isa, jobs) }
}

/// # Safety
/// As for [`encrypt_many`].
unsafe fn process_many<const ENCRYPT: bool>(isa: Isa, jobs: &mut [Job<'_>]) {
    let Some(first) = jobs.first().map(|job| job.key) else {
        return;
    };
    let size = first.cipher().size();
    let uniform = jobs
        .iter()
        .all(|job| core::ptr::eq(job.key, first) || job.key.cipher().size() == size);
    assert!(uniform, "keys of one size are required");
    // SAFETY: the caller's contract; the sizes were compared.
    unsafe { isa.run(OfSize(size, Many::<ENCRYPT>(jobs))) }
}

struct Many<'a, 'k, const ENCRYPT: bool>(&'a mut [Job<'k>]);

impl<const ENCRYPT: bool> PerRounds for Many<'_, '_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self) {
        // SAFETY: `encrypt_many`'s contract.
        unsafe {
            for jobs in self.0.chunks_mut(SORTED) {
                if V::BLOCKS == 1 || jobs.len() < V::BLOCKS {
                    let list = &IN_ORDER[..jobs.len()];
                    let jobs = jobs.as_mut_ptr();
                    V::enter(InTurn::<ROUNDS, ENCRYPT> { jobs, list });
                } else {
                    V::enter(Sorted::<ROUNDS, ENCRYPT>(jobs));
                }
            }
        }
    }
}

/// Jobs that are sorted by length at a time.
const SORTED: usize = 64;

const IN_ORDER: [u8; SORTED] = {
    let mut numbers = [0; SORTED];
    let mut i = 0;
    while i < SORTED {
        numbers[i] = i.to_le_bytes()[0];
        i += 1;
    }
    numbers
};

/// Up to [`SORTED`] jobs: those of a few registers by their number of registers, so that they
/// run side by side and no branch depends on the mix of lengths, then the others.
struct Sorted<'a, 'k, const ROUNDS: usize, const ENCRYPT: bool>(&'a mut [Job<'k>]);

impl<const ROUNDS: usize, const ENCRYPT: bool> Kernel for Sorted<'_, '_, ROUNDS, ENCRYPT> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let jobs = self.0;
        let class = |job: &Job<'_>| {
            let registers = job.len.div_ceil(V::BYTES).min(REGISTERS + 1);
            if job.aad_len > BLOCK {
                REGISTERS
            } else {
                registers.saturating_sub(1)
            }
        };
        let (first, key) = (class(&jobs[0]), core::ptr::from_ref(jobs[0].key));
        let (mut uniform, mut one_key) = (true, true);
        for job in &*jobs {
            uniform &= class(job) == first;
            one_key &= core::ptr::eq(job.key, key);
        }
        let mut lists = [[0; SORTED]; REGISTERS + 1];
        let mut counts = [0; REGISTERS + 1];
        if uniform {
            lists[first] = IN_ORDER;
            counts[first] = jobs.len();
        } else {
            for (number, job) in (0..).zip(&*jobs) {
                let class = class(job);
                lists[class][counts[class]] = number;
                counts[class] += 1;
            }
        }
        let jobs = jobs.as_mut_ptr();
        macro_rules! class {
            ($g:literal) => {
                let count = counts[$g - 1];
                let whole = count - count % V::BLOCKS;
                let list = &lists[$g - 1][..whole];
                // SAFETY: every number is in one list, once.
                unsafe {
                    if whole > 0 && one_key {
                        V::enter(Together::<ROUNDS, ENCRYPT, $g, true> { jobs, list });
                    } else if whole > 0 {
                        V::enter(Together::<ROUNDS, ENCRYPT, $g, false> { jobs, list });
                    }
                }
                // What does not fill a register runs with the others.
                for n in whole..count {
                    lists[REGISTERS][counts[REGISTERS]] = lists[$g - 1][n];
                    counts[REGISTERS] += 1;
                }
            };
        }
        class!(1);
        class!(2);
        class!(3);
        let list = &lists[REGISTERS][..counts[REGISTERS]];
        // SAFETY: as above.
        unsafe { V::enter(InTurn::<ROUNDS, ENCRYPT> { jobs, list }) }
    }
}

#[cfg(test)]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tests;
