//! Messages without a text, as GMAC's are. Their additional data is hashed one after the other; what
//! each has one block of shares a register with the others' of its lot, and so does all of it where it
//! is no more.

use super::Job;
use super::abreast::{Ends, hash};
use super::ghash::Ghash;
use super::products::{POWERS, Sum};
use super::together::{Lot, finish, lot};
use crate::aes::rounds::{ANY, InMemory, Rounds, each_round};
use crate::arch::blocks::{Kernel, Vector};
use crate::arrays::map;

/// The jobs that `list` names, at least one, without a text. `ONE_KEY`: all have the same.
///
/// # Safety
/// As for [`InTurn`](super::in_turn::InTurn).
pub(super) struct Authenticate<'l, 'k, const ONE_KEY: bool> {
    pub jobs: *mut Job<'k>,
    pub list: &'l [u8],
    /// Whether all have as much additional data, at most a block.
    pub abreast: bool,
}

impl<const ONE_KEY: bool> Kernel for Authenticate<'_, '_, ONE_KEY> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        let Self { jobs, list, .. } = self;
        // SAFETY: the creator's promises; those behind the last message repeat it.
        unsafe {
            let ends = Ends::<V, ONE_KEY>::of(proof, jobs.add(list[0].into()));
            for list in list.chunks(V::BLOCKS) {
                let last = jobs.add(list[list.len() - 1].into());
                let lot: Lot<'_> = lot(jobs, list, last);
                let mut masks = [masks::<V, ONE_KEY>(proof, lot)];
                // Else their rounds would move to where they are used, and wait there.
                V::pin(&mut masks);
                let [masks] = masks;
                if self.abreast {
                    hash::<V, ONE_KEY, 0>(lot, ends.sum(lot), [], masks);
                    continue;
                }
                let mut rows = [Sum::zero(proof); 4];
                // As straight code: rows in a loop would be in memory.
                macro_rules! row {
                    ($($i:literal)*) => {$(
                        if $i < V::BLOCKS {
                            rows[$i] = if $i < list.len() {
                                let job = &*lot[$i];
                                let mut hash = Ghash::<V>::start(proof, job.key.powers());
                                hash.absorb_open::<false>(job.aad, job.aad_len, 1);
                                hash.sum()
                            } else {
                                rows[$i - usize::from($i > 0)]
                            };
                        }
                    )*};
                }
                row!(0 1 2 3);
                finish::<V, ONE_KEY, false>(lot, rows, masks);
            }
        }
    }
}

/// The masks of a lot's tags.
///
/// # Safety
/// The jobs are valid.
#[inline(always)]
unsafe fn masks<V: Vector, const ONE_KEY: bool>(proof: V::Proof, jobs: Lot<'_>) -> V {
    let single = V::single(proof);
    // SAFETY: the caller's promise.
    unsafe {
        let mut blocks = map(jobs, |job| V::Single::splat(single, (*job).j0()));
        let schedule = |m: usize| (*jobs[m]).key.cipher().as_ptr();
        if ONE_KEY {
            let rounds = Rounds::<V, ANY, _>::in_memory(proof, schedule(0));
            let [masks] = rounds.encrypt([V::from_singles(proof, blocks)]);
            return masks;
        }
        let keys: [Rounds<V::Single, ANY, InMemory<V::Single>>; 4] =
            map([0, 1, 2, 3], |m| Rounds::in_memory(single, schedule(m)));
        for m in 0..V::BLOCKS {
            blocks[m] = blocks[m].xor(keys[m].at(0));
        }
        each_round!(keys[0].count(), |r| {
            for m in 0..V::BLOCKS {
                blocks[m] = blocks[m].aes_enc(keys[m].at(r));
            }
        });
        for m in 0..V::BLOCKS {
            blocks[m] = blocks[m].aes_enc_last(keys[m].last());
        }
        V::from_singles(proof, blocks)
    }
}

// A register of what chunks have become, eight of four blocks, and the lengths.
const _: () = assert!(4 * 9 < POWERS);
