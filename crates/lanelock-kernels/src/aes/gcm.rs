//! GCM and GMAC (SP 800-38D), one pass over each message.

mod abreast;
mod ghash;
mod in_turn;
mod job;
mod key;
mod lone;
mod lot;
mod mac;
mod parts;
mod products;
pub mod siv;
mod staggered;
mod table;
mod text;

pub use job::{J0, Job, Known};
pub use key::Key;
pub use lone::{LoneKernel, decrypt_fed, encrypt_fed};
pub use mac::{MacJob, MacKey, authenticate_fed, authenticate_lone, authenticate_many};
pub use parts::{Part, decrypt_parts, encrypt_parts};

use super::BLOCK;
use super::rounds::{ANY, PerRounds, WithRounds};
use crate::arch::blocks::Vector;
use crate::machine::Machine;
use abreast::Abreast;
use in_turn::InTurn;
use job::{aad_of, iv, place_of};
use lone::OneByOne;
use staggered::{REGISTERS, Staggered};

/// Encrypts every job and computes its tag.
///
/// # Safety
/// - Every key has the size of the first job's, and was made with `machine`: else the tags are wrong.
/// - Each `source` and `aad` is valid for reads and each `target` for writes of its length.
/// - A target is identical to its own source or disjoint from it, and disjoint from its own
///   additional data and from the sources, targets and additional data of all other jobs.
/// - Each `place` is null or valid for writes, and nothing else that the jobs name.
/// - What is said to be known is true.
pub unsafe fn encrypt_many(machine: &Machine, jobs: &mut [Job<'_>], known: Known) {
    // SAFETY: the caller's contract.
    unsafe { process_many::<true>(machine, jobs, known) }
}

/// Decrypts every job and computes the tag its ciphertext should have.
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(machine: &Machine, jobs: &mut [Job<'_>], known: Known) {
    // SAFETY: the caller's contract.
    unsafe { process_many::<false>(machine, jobs, known) }
}

/// # Safety
/// As for [`encrypt_many`].
unsafe fn process_many<const ENCRYPT: bool>(machine: &Machine, jobs: &mut [Job<'_>], known: Known) {
    let Some(first) = jobs.first() else {
        return;
    };
    let size = first.key.cipher().size();
    debug_assert!(jobs.iter().all(|job| job.key.cipher().size() == size));
    // SAFETY: the caller's contract; there is a job.
    unsafe {
        machine
            .blocks
            .run_sized_products(size, Many::<ENCRYPT> { jobs, known });
    }
}

/// At least one message, and the way that is fastest for them.
struct Many<'j, 'k, const ENCRYPT: bool> {
    jobs: &'j mut [Job<'k>],
    known: Known,
}

impl<const ENCRYPT: bool> PerRounds for Many<'_, '_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        let Self { jobs, known } = self;
        let (one_by_one, class) = if known.one_length {
            (are_few::<V, ENCRYPT>(jobs), class::<V>(&jobs[0]))
        } else {
            (V::BLOCKS > 1, REGISTERS)
        };
        // SAFETY: `encrypt_many`'s contract; every IV that a message alone needs has twelve bytes. The class is
        // the jobs'.
        unsafe {
            if known.ivs && one_by_one {
                V::enter(proof, (OneByOne::<ENCRYPT>(jobs), WithRounds::<ROUNDS>));
            } else if const { V::BLOCKS == 1 } || jobs.len() < V::BLOCKS || class == REGISTERS {
                // Nothing shares a register of one block, and the code that would need not be compiled.
                V::enter(proof, (InTurn::<ENCRYPT>(jobs), WithRounds::<ROUNDS>));
            } else if class < abreast_below::<V>() {
                abreast::<V, ROUNDS, ENCRYPT>(proof, known, jobs);
            } else {
                staggered::<V, ROUNDS, ENCRYPT>(proof, class, known.one_key, jobs);
            }
        }
    }
}

/// Whether messages of one length, short ones, are so few that they are faster one by one than in registers
/// that they fill in part; any number is, where none shares one.
#[inline(always)]
fn are_few<V: Vector, const ENCRYPT: bool>(jobs: &[Job<'_>]) -> bool {
    let (count, len) = (jobs.len(), jobs[0].len);
    // Of two registers and more, where their products do not take turns with their rounds; so many that there
    // are products beside all rounds are turned in step.
    let some = V::BLOCKS == 4
        && V::PRODUCTS == 4
        && count <= 7
        && len > V::BYTES
        && (!ENCRYPT || len <= 8 * V::BYTES);
    let alone = const { V::BLOCKS == 1 && V::FED };
    (alone || count <= 3 || some) && lone::is_short(V::BLOCKS, &jobs[0])
}

/// Registers that a text has beside its first, if messages like this one may share some; else
/// [`REGISTERS`]. One without a text may not: it would be stored to an address that need not be one.
#[inline(always)]
fn class<V: Vector>(job: &Job<'_>) -> usize {
    if job.aad_len > BLOCK {
        REGISTERS
    } else {
        (job.len.wrapping_sub(1) / V::BYTES).min(REGISTERS)
    }
}

/// The class below which messages have their blocks abreast: texts of up to four.
const fn abreast_below<V: Vector>() -> usize {
    4 / V::BLOCKS
}

/// Runs jobs of a class below [`abreast_below`].
///
/// # Safety
/// The contract of [`Abreast`].
#[inline(always)]
unsafe fn abreast<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    known: Known,
    jobs: &mut [Job<'_>],
) {
    let (blocks, ivs) = (jobs[0].len.div_ceil(BLOCK), known.ivs);
    macro_rules! of {
        ($n:literal) => {
            // SAFETY: the caller's promise.
            unsafe {
                if known.one_key {
                    V::enter(proof, Abreast::<ROUNDS, ENCRYPT, true, $n> { jobs, ivs })
                } else {
                    V::enter(proof, Abreast::<ROUNDS, ENCRYPT, false, $n> { jobs, ivs })
                }
            }
        };
    }
    match blocks {
        1 => of!(1),
        2 => of!(2),
        3 => of!(3),
        _ => of!(4),
    }
}

/// Runs jobs of a class below [`REGISTERS`], and not below [`abreast_below`].
///
/// # Safety
/// The contract of [`Staggered`].
#[inline(always)]
unsafe fn staggered<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    class: usize,
    one_key: bool,
    jobs: &mut [Job<'_>],
) {
    macro_rules! with {
        ($rounds:ident, $g:literal) => {
            // SAFETY: the caller's promise.
            unsafe {
                if one_key {
                    V::enter(proof, Staggered::<$rounds, ENCRYPT, $g, true> { jobs })
                } else {
                    V::enter(proof, Staggered::<$rounds, ENCRYPT, $g, false> { jobs })
                }
            }
        };
    }
    // Registers of two blocks run the most rounds a byte: a branch on how many there are costs up to
    // a quarter, in others at most a tenth, for half of the code.
    macro_rules! of {
        ($g:literal) => {
            if const { V::BLOCKS == 2 } {
                with!(ROUNDS, $g)
            } else {
                with!(ANY, $g)
            }
        };
    }
    match class {
        1 => of!(2),
        2 => of!(3),
        3 => of!(4),
        4 => of!(5),
        5 => of!(6),
        6 => of!(7),
        7 => of!(8),
        _ => of!(9),
    }
}
