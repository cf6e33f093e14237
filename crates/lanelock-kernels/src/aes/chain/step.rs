//! The inner loop of chaining: every lane advances by the same number of blocks.

use core::mem::MaybeUninit;

use super::keys::kept;
use super::{GROUPS, LANES, Tail};
use crate::aes::BLOCK;
use crate::aes::key::ROUND_KEYS;
use crate::aes::rounds::each_round;
use crate::arch::blocks::{Kernel, Vector};

/// The last block of each lane, if it is not written.
pub(super) struct Ends {
    /// Where it lies; not read unless one is `padded`.
    pub last: [MaybeUninit<*const u8>; LANES],
    /// What is added to it.
    pub added: [MaybeUninit<*const [u8; BLOCK]>; LANES],
    /// Whether a block was padded, and lies elsewhere than behind its source.
    pub padded: bool,
}

impl Ends {
    #[inline(always)]
    pub fn new() -> Self {
        Self {
            last: [const { MaybeUninit::uninit() }; LANES],
            added: [const { MaybeUninit::uninit() }; LANES],
            padded: false,
        }
    }
}

/// One pointer per lane, as many lanes as the registers hold.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub source: *const *const u8,
    /// Initialised if the jobs do not write.
    pub ends: *const Ends,
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
    /// `groups` is 1, 4 or 8; there are that many registers of lanes. Chaining values are valid;
    /// sources and targets are so for `blocks` blocks, and a target is identical with or disjoint
    /// from every source.
    #[inline(always)]
    pub unsafe fn run<V: Vector, T: Tail, const ROUNDS: usize>(
        self,
        proof: V::Proof,
        groups: usize,
        one_key: bool,
    ) {
        // SAFETY: the caller's promises.
        unsafe {
            match (T::WRITES, groups, one_key) {
                (true, 1, true) => V::enter(proof, Shape::<1, ROUNDS, true, true>(self)),
                (true, 1, false) => V::enter(proof, Shape::<1, ROUNDS, false, true>(self)),
                (true, 4, true) => V::enter(proof, Shape::<4, ROUNDS, true, true>(self)),
                (true, 4, false) => V::enter(proof, Shape::<4, ROUNDS, false, true>(self)),
                (true, _, true) => V::enter(proof, Shape::<GROUPS, ROUNDS, true, true>(self)),
                (true, _, false) => V::enter(proof, Shape::<GROUPS, ROUNDS, false, true>(self)),
                (false, 1, true) => V::enter(proof, Shape::<1, ROUNDS, true, false>(self)),
                (false, 1, false) => V::enter(proof, Shape::<1, ROUNDS, false, false>(self)),
                (false, 4, true) => V::enter(proof, Shape::<4, ROUNDS, true, false>(self)),
                (false, 4, false) => V::enter(proof, Shape::<4, ROUNDS, false, false>(self)),
                (false, _, true) => V::enter(proof, Shape::<GROUPS, ROUNDS, true, false>(self)),
                (false, _, false) => V::enter(proof, Shape::<GROUPS, ROUNDS, false, false>(self)),
            }
        }
    }
}

struct Shape<const G: usize, const ROUNDS: usize, const ONE_KEY: bool, const WRITES: bool>(Step);

impl<const G: usize, const ROUNDS: usize, const ONE_KEY: bool, const WRITES: bool> Kernel
    for Shape<G, ROUNDS, ONE_KEY, WRITES>
{
    type Output = ();

    /// Lines of four blocks are transposed while others run: between the blocks of one line, the
    /// line before it is written and the one behind it is read. Each line of a message is touched
    /// once, however the messages collide in the cache, and lanes may repeat each other: no line
    /// is read after it may have been written.
    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        let step = self.0;
        // SAFETY: `Step::run`'s contract: G registers of lanes, valid for `blocks` blocks, which
        // `full` lines and `rest` blocks are.
        unsafe {
            let mut common = [V::zero(proof); ROUND_KEYS];
            if ONE_KEY {
                common[0] = V::broadcast(proof, step.keys);
                each_round!(ROUNDS, |r| {
                    common[r] = V::broadcast(proof, step.keys.add(16 * r))
                });
                common[ROUNDS] = V::broadcast(proof, step.keys.add(16 * ROUNDS));
            }
            let key = |group: usize, r: usize| {
                if ONE_KEY {
                    common[r]
                } else {
                    V::load(proof, step.keys.add(V::BYTES * (kept(ROUNDS) * group + r)))
                }
            };
            let mut state = [V::zero(proof); G];
            for g in 0..G {
                state[g] = V::gather(proof, step.chaining.add(V::BLOCKS * g));
            }
            // Block `j` of each lane.
            macro_rules! chain {
                ($lines:expr, $j:expr) => {
                    for g in 0..G {
                        state[g] = state[g].xor3((*$lines.add(g))[$j], key(g, 0));
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
                            (*$lines.add(g))[$j] = state[g];
                        }
                    }
                };
            }
            // By move: a proof that is captured by reference takes up the place of an address.
            let source = &step.source;
            let load = move |g: usize, offset: usize, blocks: usize| {
                V::load_lines(proof, source.add(V::BLOCKS * g), offset, blocks)
            };
            let store = |lines: [V; 4], g: usize, offset: usize, blocks: usize| {
                V::store_lines(lines, step.target.add(V::BLOCKS * g), offset, blocks);
            };
            let mut lines = [const { MaybeUninit::<[[V; 4]; G]>::uninit() }; 2];
            let [here, other] = &mut lines;
            let mut here: *mut [V; 4] = here.as_mut_ptr().cast();
            let mut other: *mut [V; 4] = other.as_mut_ptr().cast();
            // What is not written has its last line, which may be padded, for a rest.
            let full = if WRITES { step.blocks } else { step.blocks - 1 } / 4;
            let (end, rest) = (64 * full, step.blocks - 4 * full);
            if full > 0 {
                for g in 0..G {
                    *here.add(g) = load(g, 0, 4);
                }
                for offset in (0..end).step_by(64) {
                    // Unrolled: a lane's loads are of one instruction, which prefetchers follow.
                    macro_rules! quarter {
                        ($j:literal) => {
                            chain!(here, $j);
                            for g in ($j * G).div_ceil(4)..($j * G + G).div_ceil(4) {
                                if WRITES && offset > 0 {
                                    store(*other.add(g), g, offset - 64, 4);
                                }
                                if offset + 64 < end {
                                    *other.add(g) = load(g, offset + 64, 4);
                                }
                            }
                        };
                    }
                    quarter!(0);
                    quarter!(1);
                    quarter!(2);
                    quarter!(3);
                    (here, other) = (other, here);
                }
                if WRITES {
                    for g in 0..G {
                        store(*other.add(g), g, end - 64, 4);
                    }
                }
            }
            let padded = !WRITES && (*step.ends).padded;
            let readable = rest - usize::from(padded);
            if readable == 4 {
                for g in 0..G {
                    *here.add(g) = load(g, end, 4);
                }
            } else if readable > 0 {
                for g in 0..G {
                    *here.add(g) = load(g, end, readable);
                }
            }
            if !WRITES {
                let (last, added) = ((*step.ends).last.as_ptr(), (*step.ends).added.as_ptr());
                for g in 0..G {
                    let block = here.add(g).cast::<V>().add(rest - 1);
                    if padded {
                        block.write(V::gather(proof, last.add(V::BLOCKS * g).cast()));
                    }
                    let added = V::gather(proof, added.add(V::BLOCKS * g).cast());
                    block.write(block.read().xor(added));
                }
            }
            for j in 0..rest {
                chain!(here, j);
            }
            if WRITES && rest > 0 {
                for g in 0..G {
                    store(*here.add(g), g, end, rest);
                }
            }
            if !WRITES {
                for g in 0..G {
                    state[g].scatter(step.chaining.add(V::BLOCKS * g));
                }
            }
        }
    }
}
