//! Short messages with keys of their own, whose round keys are read where they are: to gather those of lanes takes
//! as long as some blocks.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::{Chains, Line, Mode, Tail};
use crate::aes::BLOCK;
use crate::aes::rounds::{ANY, InMemory, Rounds, each_round};
use crate::arch::blocks::{Kernel, Vector};
use crate::arrays::{each, from_fn, map};
use crate::lockstep::{self, Waiting};

/// Most blocks of such a message.
const SHORT: usize = 4;

/// Messages in flight, each in a register of one block: enough to hide the latency of a round.
const MESSAGES: usize = 8;

impl<T: Tail> Chains<T> {
    /// Runs short messages, none of which goes on, and leaves the others.
    ///
    /// # Safety
    /// As [`Chains::run`].
    #[inline(always)]
    pub(super) unsafe fn run_short<V: Vector>(&mut self, proof: V::Proof) {
        let (least, most) = self.extremes;
        if least > SHORT {
            return;
        }
        let others = match most > SHORT {
            true => self.put_first(0, |blocks| blocks > SHORT),
            false => 0,
        };
        let mut first = others;
        for blocks in least..=most.min(SHORT) {
            let end = match least == most {
                true => self.len,
                false => self.put_first(first, |each| each == blocks),
            };
            let short = Short {
                chains: &*self,
                entries: first..end,
                blocks,
            };
            // SAFETY: the caller's promises; they have so many blocks.
            unsafe { V::enter(proof, short) }
            first = end;
        }
        self.len = others;
        self.extremes = lockstep::extremes_of((0..others).map(|n| self.blocks(n)));
    }

    /// Puts the entries from `first` on that have as many blocks as `fit` before the others: where those begin.
    #[inline(always)]
    fn put_first(&mut self, first: usize, fit: impl Fn(usize) -> bool) -> usize {
        let mut place = first;
        for n in first..self.len {
            if fit(self.blocks(n)) {
                if n != place {
                    self.swap(n, place);
                }
                place += 1;
            }
        }
        place
    }
}

/// Runs messages of as many blocks, none of which goes on, to their ends.
struct Short<'c, T> {
    chains: &'c Chains<T>,
    /// Which entries they are.
    entries: Range<usize>,
    blocks: usize,
}

impl<T: Tail> Kernel for Short<'_, T> {
    type Output = ();

    /// # Safety
    /// The invariant of [`Chains`]; the entries are below its `len`, and have so many blocks.
    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        for first in self.entries.clone().step_by(MESSAGES) {
            let count = (self.entries.end - first).min(MESSAGES);
            // Those behind the last repeat the first: same loads, same results, same stores.
            let numbers: [usize; MESSAGES] = from_fn(|i| first + if i < count { i } else { 0 });
            // SAFETY: the caller's promises.
            unsafe { run_some::<V, T, MESSAGES>(proof, self.chains, numbers, self.blocks) }
        }
    }
}

/// Runs these entries, each of so many blocks.
///
/// # Safety
/// They are initialised; the invariant of [`Link`](super::Link).
#[inline(always)]
unsafe fn run_some<V: Vector, T: Tail, const N: usize>(
    proof: V::Proof,
    chains: &Chains<T>,
    numbers: [usize; N],
    blocks: usize,
) {
    let single = V::single(proof);
    // SAFETY: the caller's promises: a message is valid for its blocks, but for what its tail says the last one
    // lacks.
    unsafe {
        let keys: [Rounds<V::Single, ANY, InMemory<V::Single>>; N] = map(numbers, |n| {
            Rounds::in_memory(single, chains.key[n].assume_init())
        });
        let mut state: [V::Single; N] = map(numbers, |n| {
            V::Single::load(single, chains.chaining[n].assume_init())
        });
        for block in 0..blocks {
            let offset = BLOCK * block;
            let text: [V::Single; N] = map(numbers, |n| {
                let at = chains.source[n].assume_init().add(offset);
                if T::MODE.writes() || block + 1 < blocks {
                    V::Single::load(single, at)
                } else {
                    last::<V, T>(proof, chains.tail[n].assume_init(), at)
                }
            });
            each!(N, |I| {
                state[I] = match T::MODE {
                    Mode::Mac | Mode::Cbc => state[I].xor3(text[I], keys[I].at(0)),
                    Mode::Cfb | Mode::Ofb => state[I].xor(keys[I].at(0)),
                };
            });
            each_round!(keys[0].count(), |r| {
                each!(N, |I| {
                    state[I] = state[I].aes_enc(keys[I].at(r));
                });
                V::Single::pin(&mut state);
            });
            each!(N, |I| {
                state[I] = state[I].aes_enc_last(keys[I].last());
            });
            if T::MODE.writes() {
                let mut out = state;
                each!(N, |I| {
                    match T::MODE {
                        Mode::Mac | Mode::Cbc => {}
                        Mode::Cfb => {
                            state[I] = state[I].xor(text[I]);
                            out[I] = state[I];
                        }
                        Mode::Ofb => out[I] = state[I].xor(text[I]),
                    }
                });
                // All have been read before one is written, which may be there twice.
                V::Single::pin(&mut out);
                each!(N, |I| {
                    out[I].store(chains.target[numbers[I]].assume_init().add(offset));
                });
            }
        }
        if T::MODE.keeps() {
            each!(N, |I| {
                state[I].store(chains.chaining[numbers[I]].assume_init());
            });
        }
    }
}

/// The last block of a message of which nothing is written, with what its tail pads and adds.
///
/// # Safety
/// It begins at `at`; the tail is its own.
#[inline(always)]
unsafe fn last<V: Vector, T: Tail>(proof: V::Proof, tail: T, mut at: *const u8) -> V::Single {
    let single = V::single(proof);
    let mut line = MaybeUninit::<Line>::uninit();
    // SAFETY: the caller's promises.
    unsafe {
        if tail.lacks() > 0 {
            tail.pad::<V>(proof, at, line.as_mut_ptr());
            at = line.as_ptr().cast();
        }
        V::Single::load(single, at).xor(V::Single::load(single, tail.added().cast()))
    }
}
