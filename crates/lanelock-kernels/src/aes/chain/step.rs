//! The inner loop of chaining: every lane advances by the same number of blocks.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr;

use super::keys::MOST;
use super::{GROUPS, LANES, Mode, Tail};
use crate::aes::BLOCK;
use crate::aes::key::ROUND_KEYS;
use crate::aes::rounds::each_round;
use crate::arch::blocks::{Kernel, Vector};
use crate::arch::prefetch;
use crate::arrays::from_fn;

/// The last block of each lane, if no text is written.
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
    /// Initialised if no text is written.
    pub ends: *const Ends,
    pub target: *const *mut u8,
    /// A block per lane; replaced by the last one if the mode [`keeps`](Mode::keeps) it.
    pub chaining: *const *mut u8,
    /// One schedule for all lanes, or [`MOST`] registers per register of lanes.
    pub keys: *const u8,
    /// Of every schedule.
    pub rounds: usize,
    /// At least one.
    pub blocks: usize,
}

impl Step {
    /// # Safety
    /// `groups` is 1, 4 or 8; there are that many registers of lanes. Chaining values are valid;
    /// sources and targets are so for `blocks` blocks, and a target is identical with or disjoint
    /// from every source.
    #[inline(always)]
    pub unsafe fn run<V: Vector, T: Tail>(self, proof: V::Proof, groups: usize, one_key: bool) {
        // SAFETY: the caller's promises.
        unsafe {
            if const { !V::SIDE_BY_SIDE } {
                return self.enter::<V, T, 1>(proof, one_key);
            }
            match groups {
                1 => self.enter::<V, T, 1>(proof, one_key),
                4 => self.enter::<V, T, 4>(proof, one_key),
                _ => self.enter::<V, T, GROUPS>(proof, one_key),
            }
        }
    }

    /// # Safety
    /// As [`Step::run`].
    #[inline(always)]
    unsafe fn enter<V: Vector, T: Tail, const G: usize>(self, proof: V::Proof, one_key: bool) {
        // SAFETY: the caller's promises.
        unsafe {
            if one_key {
                V::enter(proof, Shape::<T, G, true>(self, PhantomData));
            } else {
                V::enter(proof, Shape::<T, G, false>(self, PhantomData));
            }
        }
    }
}

/// Bytes of a line of the cache: four blocks.
const LINE: usize = 64;

/// How far ahead, in bytes, registers of two blocks ask for lines of messages with keys of their own, if each has
/// [`LONG`] bytes in whole lines. Sixteen messages at a time are more than some CPUs (Zen 3) look ahead in, and
/// the many messages of as many keys are not in the cache. Shorter ones end before that pays.
const AHEAD: usize = 4 * LINE;

/// See [`AHEAD`].
const LONG: usize = 12 * LINE;

/// Whatever the number of rounds: to know it would spare two branches for each block, which none
/// of the rounds waits for, and take three times as much code.
struct Shape<T, const G: usize, const ONE_KEY: bool>(Step, PhantomData<T>);

impl<T: Tail, const G: usize, const ONE_KEY: bool> Shape<T, G, ONE_KEY> {
    /// Registers of lanes whose keys before the first round and of the last are held. Of 32 registers, those that
    /// hold no round keys of all lanes hold both, and the text: a load for each round and block is more than the
    /// CPU does while it runs the round. Of 16, the few that are left hold last ones.
    const fn held<V: Vector>() -> (usize, usize) {
        match (ONE_KEY, V::BLOCKS, G) {
            (false, 4, 4) => (G, G),
            (false, 1, GROUPS) => (0, G - 1),
            (false, 2, GROUPS) => (0, G - 2),
            _ => (0, 0),
        }
    }
}

impl<T: Tail, const G: usize, const ONE_KEY: bool> Kernel for Shape<T, G, ONE_KEY> {
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
            let rounds = step.rounds;
            let mut common = [V::zero(proof); ROUND_KEYS];
            let mut last = V::zero(proof);
            if ONE_KEY {
                for r in 0..14 {
                    common[r] = V::broadcast(proof, step.keys.add(16 * r));
                }
                last = V::broadcast(proof, step.keys.add(16 * rounds));
            }
            let loaded = |group: usize, r: usize| {
                V::load(proof, step.keys.add(V::BYTES * (MOST * group + r)))
            };
            let (firsts, lasts) = const { Self::held::<V>() };
            let (mut held_first, mut held_last) = ([V::zero(proof); G], [V::zero(proof); G]);
            for g in 0..firsts {
                held_first[g] = loaded(g, 0);
            }
            for g in 0..lasts {
                held_last[g] = loaded(g, rounds);
            }
            let key = |group: usize, r: usize| {
                if ONE_KEY {
                    common[r]
                } else if r == 0 && group < firsts {
                    held_first[group]
                } else {
                    loaded(group, r)
                }
            };
            let last_key = |group: usize| {
                if ONE_KEY {
                    last
                } else if group < lasts {
                    held_last[group]
                } else {
                    loaded(group, rounds)
                }
            };
            let mut state = [V::zero(proof); G];
            for g in 0..G {
                state[g] = V::gather(proof, step.chaining.add(V::BLOCKS * g));
            }
            macro_rules! rounds_but_last {
                () => {
                    each_round!(rounds, |r| {
                        for g in 0..G {
                            state[g] = state[g].aes_enc(key(g, r));
                        }
                        V::pin(&mut state);
                    });
                };
            }
            // Block `j` of each lane: `text` is that of a register.
            macro_rules! chain {
                (|$g:ident| $text:expr) => {
                    for $g in 0..G {
                        state[$g] = match T::MODE {
                            Mode::Mac | Mode::Cbc => state[$g].xor3($text, key($g, 0)),
                            Mode::Cfb | Mode::Ofb => state[$g].xor(key($g, 0)),
                        };
                    }
                    rounds_but_last!();
                    for $g in 0..G {
                        state[$g] = state[$g].aes_enc_last(last_key($g));
                        let text = &mut $text;
                        match T::MODE {
                            Mode::Mac => {}
                            Mode::Cbc => *text = state[$g],
                            Mode::Cfb => {
                                state[$g] = state[$g].xor(*text);
                                *text = state[$g];
                            }
                            Mode::Ofb => *text = text.xor(state[$g]),
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
            // What is not written has its last line, which may be padded, for a rest. Nothing is transposed in
            // registers of one lane.
            let each = const { if V::BLOCKS == 1 { 1 } else { 4 } };
            let full = if T::MODE.writes() {
                step.blocks
            } else {
                step.blocks - 1
            } / each;
            let (end, rest) = (BLOCK * each * full, step.blocks - each * full);
            // Lines before this are asked for when the one `AHEAD` before them is read.
            let asked = if const { !ONE_KEY && V::BLOCKS == 2 } && end >= LONG {
                end
            } else {
                0
            };
            if const { V::BLOCKS == 1 } {
                let sources: [*const u8; G] = from_fn(|g| *source.add(g));
                if T::MODE.writes() {
                    let targets: [*mut u8; G] = from_fn(|g| *step.target.add(g));
                    // All lanes have read their blocks before one is written, which may be there twice.
                    macro_rules! chain_each_to {
                        ($targets:expr) => {
                            for offset in (0..end).step_by(BLOCK) {
                                let mut text = [V::zero(proof); G];
                                for g in 0..G {
                                    text[g] = V::load(proof, sources[g].add(offset));
                                }
                                chain!(|g| text[g]);
                                for g in 0..G {
                                    text[g].store($targets[g].add(offset));
                                }
                            }
                        };
                    }
                    let mut in_place = true;
                    for g in 0..G {
                        in_place &= ptr::eq(sources[g], targets[g]);
                    }
                    // Addresses have registers, then: to load each one for each block takes as long as a tenth of
                    // the rounds.
                    if in_place {
                        chain_each_to!(sources.map(<*const u8>::cast_mut));
                    } else {
                        chain_each_to!(targets);
                    }
                } else if end > 0 {
                    // The last round key and the first of the next block go in with that block, as in a lone chain.
                    let mut seam = [V::zero(proof); G];
                    for g in 0..G {
                        seam[g] = last_key(g).xor(key(g, 0));
                        state[g] = state[g].xor3(V::load(proof, sources[g]), key(g, 0));
                    }
                    for offset in (BLOCK..end).step_by(BLOCK) {
                        rounds_but_last!();
                        for g in 0..G {
                            let text = V::load(proof, sources[g].add(offset));
                            state[g] = state[g].aes_enc_last(text.xor(seam[g]));
                        }
                    }
                    rounds_but_last!();
                    for g in 0..G {
                        state[g] = state[g].aes_enc_last(last_key(g));
                    }
                }
            } else if const { Self::held::<V>().0 == G } {
                // In memory it would cost more than it looks: stores and so many loads of keys get in
                // each other's way.
                for offset in (0..end).step_by(LINE) {
                    let mut text = [[V::zero(proof); 4]; G];
                    for g in 0..G {
                        text[g] = load(g, offset, 4);
                    }
                    chain!(|g| text[g][0]);
                    chain!(|g| text[g][1]);
                    chain!(|g| text[g][2]);
                    chain!(|g| text[g][3]);
                    if T::MODE.writes() {
                        for g in 0..G {
                            store(text[g], g, offset, 4);
                        }
                    }
                }
            } else if full > 0 {
                for g in 0..G {
                    *here.add(g) = load(g, 0, 4);
                }
                for offset in (0..end).step_by(LINE) {
                    // Unrolled: a lane's loads are of one instruction, which prefetchers follow.
                    macro_rules! quarter {
                        ($j:literal) => {
                            chain!(|g| (*here.add(g))[$j]);
                            for g in ($j * G).div_ceil(4)..($j * G + G).div_ceil(4) {
                                if T::MODE.writes() && offset > 0 {
                                    store(*other.add(g), g, offset - LINE, 4);
                                }
                                let next = offset + LINE;
                                if next + AHEAD < asked {
                                    for lane in V::BLOCKS * g..V::BLOCKS * (g + 1) {
                                        prefetch((*source.add(lane)).wrapping_add(next + AHEAD));
                                    }
                                }
                                if next < end {
                                    *other.add(g) = load(g, next, 4);
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
                if T::MODE.writes() {
                    for g in 0..G {
                        store(*other.add(g), g, end - LINE, 4);
                    }
                }
            }
            let padded = !T::MODE.writes() && (*step.ends).padded;
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
            if !T::MODE.writes() {
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
                chain!(|g| (*here.add(g))[j]);
            }
            if T::MODE.writes() && rest > 0 {
                for g in 0..G {
                    store(*here.add(g), g, end, rest);
                }
            }
            if T::MODE.keeps() {
                for g in 0..G {
                    state[g].scatter(step.chaining.add(V::BLOCKS * g));
                }
            }
        }
    }
}
