//! The inner loop of chaining: every lane advances by the same number of blocks.

use core::mem::MaybeUninit;

use super::keys::kept;
use super::{GROUPS, Tail};
use crate::aes::key::ROUND_KEYS;
use crate::aes::rounds::each_round;
use crate::aes::vector::{Kernel, Vector};

/// One pointer per lane, as many lanes as the registers hold.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub source: *const *const u8,
    /// Used instead of `source` for the last cache line, if the jobs do not write.
    pub last: *const *const u8,
    pub target: *const *mut u8,
    /// A block per lane; replaced by the last ciphertext block if that is not written.
    pub chaining: *const *mut u8,
    /// One schedule for all lanes, or per register of lanes as many registers as are [`kept`].
    pub keys: *const u8,
    /// At least one.
    pub blocks: usize,
}

impl Step {
    /// # Safety
    /// Runs under [`Vector::enter`]. `groups` is 1, 4 or 8; there are that many registers of
    /// lanes. Chaining values are valid; sources and targets are so for `blocks` blocks, and a target is identical with
    /// or disjoint from every source.
    #[inline(always)]
    pub unsafe fn run<V: Vector, T: Tail, const ROUNDS: usize>(self, groups: usize, one_key: bool) {
        // SAFETY: the caller's promises.
        unsafe {
            match (T::WRITES, groups, one_key) {
                (true, 1, true) => V::enter(Shape::<1, ROUNDS, true, true>(self)),
                (true, 1, false) => V::enter(Shape::<1, ROUNDS, false, true>(self)),
                (true, 4, true) => V::enter(Shape::<4, ROUNDS, true, true>(self)),
                (true, 4, false) => V::enter(Shape::<4, ROUNDS, false, true>(self)),
                (true, _, true) => V::enter(Shape::<GROUPS, ROUNDS, true, true>(self)),
                (true, _, false) => V::enter(Shape::<GROUPS, ROUNDS, false, true>(self)),
                (false, 1, true) => V::enter(Shape::<1, ROUNDS, true, false>(self)),
                (false, 1, false) => V::enter(Shape::<1, ROUNDS, false, false>(self)),
                (false, 4, true) => V::enter(Shape::<4, ROUNDS, true, false>(self)),
                (false, 4, false) => V::enter(Shape::<4, ROUNDS, false, false>(self)),
                (false, _, true) => V::enter(Shape::<GROUPS, ROUNDS, true, false>(self)),
                (false, _, false) => V::enter(Shape::<GROUPS, ROUNDS, false, false>(self)),
            }
        }
    }
}

struct Shape<const G: usize, const ROUNDS: usize, const ONE_KEY: bool, const WRITES: bool>(Step);

impl<const G: usize, const ROUNDS: usize, const ONE_KEY: bool, const WRITES: bool> Kernel
    for Shape<G, ROUNDS, ONE_KEY, WRITES>
{
    type Output = ();

    /// A cache line of every lane is read and transposed before any is written: each line is
    /// touched once, however the messages collide in the cache, and lanes may repeat each other.
    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let step = self.0;
        // SAFETY: `Step::run`'s contract: G registers of lanes, valid for `blocks` blocks;
        // `offset + 16 * n` never exceeds `16 * blocks`.
        unsafe {
            let mut common = [V::zero(); ROUND_KEYS];
            if ONE_KEY {
                common[0] = V::broadcast(step.keys);
                each_round!(ROUNDS, |r| {
                    common[r] = V::broadcast(step.keys.add(16 * r))
                });
                common[ROUNDS] = V::broadcast(step.keys.add(16 * ROUNDS));
            }
            let key = |group: usize, r: usize| {
                if ONE_KEY {
                    common[r]
                } else {
                    V::load(step.keys.add(V::BYTES * (kept(ROUNDS) * group + r)))
                }
            };
            let mut state = [V::zero(); G];
            for g in 0..G {
                state[g] = V::gather(step.chaining.add(V::BLOCKS * g));
            }
            let mut lines = [const { MaybeUninit::<[V; 4]>::uninit() }; G];
            let lines = lines.as_mut_ptr().cast::<[V; 4]>();
            let mut done = 0;
            while done < step.blocks {
                let n = (step.blocks - done).min(4);
                let offset = 16 * done;
                let is_last = done + n == step.blocks;
                let (from, from_offset) = if !WRITES && is_last {
                    (step.last, 0)
                } else {
                    (step.source, offset)
                };
                for g in 0..G {
                    let lane = from.add(V::BLOCKS * g);
                    *lines.add(g) = if n == 4 {
                        V::load_lines(lane, from_offset, 4)
                    } else {
                        V::load_lines(lane, from_offset, n)
                    };
                }
                for j in 0..n {
                    for g in 0..G {
                        state[g] = state[g].xor3((*lines.add(g))[j], key(g, 0));
                    }
                    each_round!(ROUNDS, |r| {
                        for g in 0..G {
                            state[g] = state[g].aes_enc(key(g, r));
                        }
                        V::pin(&mut state);
                    });
                    for g in 0..G {
                        state[g] = state[g].aes_enc_last(key(g, ROUNDS));
                        if WRITES {
                            (*lines.add(g))[j] = state[g];
                        }
                    }
                }
                if WRITES {
                    for g in 0..G {
                        let lane = step.target.add(V::BLOCKS * g);
                        if n == 4 {
                            V::store_lines(*lines.add(g), lane, offset, 4);
                        } else {
                            V::store_lines(*lines.add(g), lane, offset, n);
                        }
                    }
                }
                done += n;
            }
            if !WRITES {
                for g in 0..G {
                    state[g].scatter(step.chaining.add(V::BLOCKS * g));
                }
            }
        }
    }
}
