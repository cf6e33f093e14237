//! GCM and GMAC (SP 800-38D), one pass over each message.

mod abreast;
mod ghash;
mod in_turn;
mod job;
mod key;
mod lone;
mod mac;
mod parts;
mod products;
pub mod siv;
mod staggered;
mod text;
mod together;

pub use job::{J0, Job, Known};
pub use key::Key;
pub use lone::{decrypt_lone, encrypt_lone};
pub use mac::{MacJob, MacKey, authenticate_lone, authenticate_many};
pub use parts::{Part, decrypt_parts, encrypt_parts};

use super::BLOCK;
use super::rounds::{ANY, PerRounds, WithRounds};
use crate::arch::blocks::Vector;
use crate::arrays::from_fn;
use crate::machine::Machine;
use abreast::Abreast;
use in_turn::InTurn;
use job::{aad_of, iv, place_of};
use staggered::{REGISTERS, Staggered};
use together::Together;

/// Encrypts every job and computes its tag.
///
/// # Safety
/// - Every key has the size of the first job's.
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
    if jobs.len() == 1 {
        let (jobs, list) = (jobs.as_mut_ptr(), &IN_ORDER[..1]);
        // SAFETY: the caller's contract.
        return unsafe {
            machine
                .blocks
                .run_sized_products(size, InTurn::<ENCRYPT> { jobs, list })
        };
    }
    if known.ivs && jobs.len() <= few::<ENCRYPT>(machine, first, known.one_length) {
        // SAFETY: the caller's contract; every IV has twelve bytes.
        return unsafe { lone::process::<ENCRYPT, false>(machine, jobs) };
    }
    let many = Many::<ENCRYPT> { jobs, known };
    // SAFETY: the caller's contract.
    unsafe { machine.blocks.run_sized_products(size, many) }
}

/// Up to how many messages are faster one by one: short ones of one length than in registers that they
/// fill in part, those of several lengths than sorted by them. Registers of one block are always full, and
/// nothing is sorted for them; those of four are so many bytes that sorting for them never pays. What is
/// decrypted is hashed first: messages one after the other overlap more.
#[inline(always)]
fn few<const ENCRYPT: bool>(machine: &Machine, first: &Job<'_>, one_length: bool) -> usize {
    let width = machine.blocks.count();
    match (one_length, ENCRYPT) {
        (true, _) if !lone::is_short(width, first) => 0,
        (true, _) if width < 4 || first.len <= BLOCK * width => 3,
        (true, true) if first.len > 8 * BLOCK * width => 3,
        (true, _) => 15,
        (false, _) if width == 1 => 0,
        (false, true) if width < 4 => 8,
        (false, _) => usize::MAX,
    }
}

struct Many<'a, 'k, const ENCRYPT: bool> {
    jobs: &'a mut [Job<'k>],
    known: Known,
}

impl<const ENCRYPT: bool> PerRounds for Many<'_, '_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        let Self { jobs, known } = self;
        let Known {
            one_key,
            one_length: alike,
            ..
        } = known;
        for jobs in jobs.chunks_mut(SORTED) {
            if const { V::BLOCKS == 1 } {
                // Nothing shares a register, and the code that would need not be compiled.
                let (jobs, list) = (jobs.as_mut_ptr(), &IN_ORDER[..jobs.len()]);
                // SAFETY: `encrypt_many`'s contract.
                unsafe {
                    V::enter(
                        proof,
                        (InTurn::<ENCRYPT> { jobs, list }, WithRounds::<ROUNDS>),
                    )
                }
                continue;
            }
            let (few, class) = (jobs.len() < V::BLOCKS, class::<V>(&jobs[0]));
            if alike && !few && class < abreast_below::<V>() {
                let list = &IN_ORDER[..jobs.len()];
                // SAFETY: `encrypt_many`'s contract.
                unsafe { abreast::<V, ROUNDS, ENCRYPT>(proof, known, jobs.as_mut_ptr(), list) };
                continue;
            }
            // SAFETY: `encrypt_many`'s contract; every job is in one list, once.
            unsafe {
                if few || alike && class == REGISTERS {
                    let list = &IN_ORDER[..jobs.len()];
                    let jobs = jobs.as_mut_ptr();
                    V::enter(
                        proof,
                        (InTurn::<ENCRYPT> { jobs, list }, WithRounds::<ROUNDS>),
                    );
                } else if alike {
                    let list = &IN_ORDER[..jobs.len()];
                    let (lots, rest) = list.split_at(in_lots::<V>(class, list.len()));
                    let jobs = jobs.as_mut_ptr();
                    together::<V, ROUNDS, ENCRYPT>(proof, class, one_key, jobs, lots);
                    if !rest.is_empty() {
                        V::enter(
                            proof,
                            (InTurn::<ENCRYPT> { jobs, list: rest }, WithRounds::<ROUNDS>),
                        );
                    }
                } else {
                    sorted::<V, ROUNDS, ENCRYPT>(proof, jobs, known);
                }
            }
        }
    }
}

/// Jobs that are sorted by length at a time.
const SORTED: usize = 64;

/// Bits of a number up to [`SORTED`].
const COUNT: usize = 7;
const _: () = assert!(SORTED < 1 << COUNT && COUNT * REGISTERS < 64);

/// How many of `class`, below the last, `packed` has counted.
#[inline(always)]
fn counted(packed: u64, class: usize) -> usize {
    usize::from((packed >> (COUNT * class)).to_le_bytes()[0]) % (1 << COUNT)
}

const IN_ORDER: [u8; SORTED] = {
    let mut numbers = [0; SORTED];
    let mut i = 0;
    while i < SORTED {
        numbers[i] = i.to_le_bytes()[0];
        i += 1;
    }
    numbers
};

/// Registers that a text has beside its first, if the message may run in a lot; else
/// [`REGISTERS`]. One without a text may not: it would be stored to an address that need not be one.
#[inline(always)]
fn class<V: Vector>(job: &Job<'_>) -> usize {
    if job.aad_len > BLOCK {
        REGISTERS
    } else {
        (job.len.wrapping_sub(1) / V::BYTES).min(REGISTERS)
    }
}

/// How many of `count` messages run in lots: all of them, or those that fill one. A last lot that
/// is not full is faster than its messages one after the other if it is half full, for those of one
/// register, and for those of more if they follow others.
#[inline(always)]
fn in_lots<V: Vector>(class: usize, count: usize) -> usize {
    let beyond = count % V::BLOCKS;
    let all = if class == 0 {
        V::BLOCKS > 2 && 2 * beyond >= V::BLOCKS
    } else {
        count >= V::BLOCKS
    };
    if all { count } else { count - beyond }
}

/// The class below which messages that are alike have their blocks abreast: texts of up to four.
const fn abreast_below<V: Vector>() -> usize {
    4 / V::BLOCKS
}

/// Runs the jobs that `list` names, at least one, which are alike and of a class below
/// [`abreast_below`].
///
/// # Safety
/// The contract of [`Abreast`].
#[inline(always)]
unsafe fn abreast<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    known: Known,
    jobs: *mut Job<'_>,
    list: &[u8],
) {
    // SAFETY: the caller's promise.
    let blocks = unsafe { (*jobs.add(list[0].into())).len.div_ceil(BLOCK) };
    let ivs = known.ivs;
    macro_rules! of {
        ($n:literal) => {
            // SAFETY: the caller's promise.
            unsafe {
                if known.one_key {
                    V::enter(
                        proof,
                        Abreast::<ROUNDS, ENCRYPT, true, $n> { jobs, list, ivs },
                    )
                } else {
                    V::enter(
                        proof,
                        Abreast::<ROUNDS, ENCRYPT, false, $n> { jobs, list, ivs },
                    )
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

/// Runs jobs of one class that is below [`REGISTERS`].
///
/// # Safety
/// The contract of [`Together`] and [`Staggered`].
#[inline(always)]
unsafe fn together<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    class: usize,
    one_key: bool,
    jobs: *mut Job<'_>,
    list: &[u8],
) {
    macro_rules! of {
        ($kernel:ident, $($parameter:tt),*) => {
            // SAFETY: the caller's promise.
            unsafe {
                if one_key {
                    V::enter(proof, $kernel::<$($parameter,)* true> { jobs, list })
                } else {
                    V::enter(proof, $kernel::<$($parameter,)* false> { jobs, list })
                }
            }
        };
    }
    // Registers of two blocks run the most rounds a byte: a branch on how many there are costs up to
    // a quarter, in others at most a tenth, for half of the code.
    macro_rules! staggered {
        ($g:literal) => {
            if const { V::BLOCKS == 2 } {
                of!(Staggered, ROUNDS, ENCRYPT, $g)
            } else {
                of!(Staggered, ANY, ENCRYPT, $g)
            }
        };
    }
    match class {
        0 => of!(Together, ROUNDS, ENCRYPT, 1),
        1 => staggered!(2),
        2 => staggered!(3),
        3 => staggered!(4),
        4 => staggered!(5),
        5 => staggered!(6),
        6 => staggered!(7),
        7 => staggered!(8),
        _ => staggered!(9),
    }
}

/// Whether the jobs that `list` names, at least one, have as much text and as much additional data.
///
/// # Safety
/// The numbers are below the number of jobs at `jobs`.
#[inline(always)]
unsafe fn are_alike(jobs: *const Job<'_>, list: &[u8]) -> bool {
    // SAFETY: the caller's promise.
    let lengths = |number: u8| unsafe {
        let job = &*jobs.add(number.into());
        (job.len, job.aad_len)
    };
    let first = lengths(list[0]);
    list.iter().all(|&number| lengths(number) == first)
}

/// Up to [`SORTED`] jobs: those of a few registers by their number of registers, so that they
/// run side by side and no branch depends on the mix of lengths, then the others.
///
/// # Safety
/// The contract of [`encrypt_many`]; the keys have `ROUNDS` rounds.
#[inline(always)]
unsafe fn sorted<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    jobs: &mut [Job<'_>],
    known: Known,
) {
    let one_key = known.one_key;
    let mut lists = [[0; SORTED]; REGISTERS + 1];
    // The counts of all classes but the last in one word: had each a place in memory, a job would
    // wait for the one before to leave the store queue.
    let (mut packed, mut others) = (0_u64, 0);
    for (number, job) in (0..).zip(&*jobs) {
        let class = class::<V>(job);
        let last = usize::from(class == REGISTERS);
        let at = if last == 1 {
            others
        } else {
            counted(packed, class)
        };
        lists[class][at % SORTED] = number;
        others += last;
        packed = packed.wrapping_add(1 << (COUNT * class)); // the last class counts into the top bit alone
    }
    let mut counts: [_; REGISTERS + 1] = from_fn(|class| counted(packed, class));
    counts[REGISTERS] = others;
    let jobs = jobs.as_mut_ptr();
    for class in 0..REGISTERS {
        let count = counts[class];
        let lots = in_lots::<V>(class, count);
        if lots > 0 {
            let list = &lists[class][..lots];
            // SAFETY: every number is in one list, once, and that of a job.
            unsafe {
                if class < abreast_below::<V>() && are_alike(jobs, list) {
                    abreast::<V, ROUNDS, ENCRYPT>(proof, known, jobs, list);
                } else {
                    together::<V, ROUNDS, ENCRYPT>(proof, class, one_key, jobs, list);
                }
            }
        }
        // What does not fill a register runs with the others.
        for n in lots..count {
            lists[REGISTERS][counts[REGISTERS]] = lists[class][n];
            counts[REGISTERS] += 1;
        }
    }
    let list = &lists[REGISTERS][..counts[REGISTERS]];
    // SAFETY: as above.
    unsafe {
        V::enter(
            proof,
            (InTurn::<ENCRYPT> { jobs, list }, WithRounds::<ROUNDS>),
        )
    }
}
