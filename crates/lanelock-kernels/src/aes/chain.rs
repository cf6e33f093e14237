//! Cipher block chaining over many messages: in lanes.
//!
//! A chained message cannot be run in parallel with itself, so each lane carries one message
//! ([`lockstep`]). Lanes that would be empty repeat the first: same loads, same results, same
//! stores. A message that is alone from the start has no lane, but registers of one block; so have short ones of
//! many keys.

mod keys;
mod lone;
mod short;
mod step;
mod written;

use core::mem::MaybeUninit;
use core::ptr;

use super::rounds::{PerRounds, number_of_rounds};
use super::{BLOCK, EncryptKey, KeySize, Piece};
use crate::arch::blocks::Vector;
use crate::lockstep::{self, Board, Waiting};
use crate::machine::Machine;
use keys::LaneKeys;
use step::{Ends, Step};
pub(crate) use written::{Cbc, Cfb, Ofb};

/// A message to chain.
///
/// # Safety
/// The invariant of one that is handed to [`Chains::fill`], until [`Chains::run`] has returned:
/// `source` is valid for reads of `blocks` blocks, but for the bytes that the tail says the last
/// one lacks, if nothing follows; `target` likewise for writes if the mode writes, and it is `source`
/// or disjoint from every message's source and target; so is each piece that follows, and all but
/// the last are of whole blocks; `chaining` is valid for reads, and for writes if the mode
/// [`keeps`](Mode::keeps) the last block there.
pub(crate) struct Link<'k, T> {
    pub source: *const u8,
    /// Where the ciphertext goes, if it goes anywhere.
    pub target: *mut u8,
    pub key: &'k EncryptKey,
    /// The block before the first one.
    pub chaining: *mut u8,
    /// Zero does nothing, and nothing follows.
    pub blocks: usize,
    /// What follows.
    pub more: &'k [Piece],
    pub tail: T,
}

/// How blocks are chained (SP 800-38A, sections 6.2 to 6.4).
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    /// As [`Mode::Cbc`], and nothing is written but the last block.
    Mac,
    /// Each block is added to the ciphertext before it, and encrypted.
    Cbc,
    /// The ciphertext before is encrypted, and added to the block.
    Cfb,
    /// What was added to the block before is encrypted, and added to the block.
    Ofb,
}

impl Mode {
    /// Whether text is written. If so, all blocks are whole and nothing is added to the last.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Mac)
    }

    /// Whether the last block of the chain is kept where the one before the first was: where it
    /// is not the end of what is written.
    pub const fn keeps(self) -> bool {
        matches!(self, Self::Mac | Self::Ofb)
    }
}

/// What becomes of the text, and of the end of a message.
pub(crate) trait Tail: Copy {
    /// How a block is chained to the next.
    const MODE: Mode;

    /// [`run_chains`], compiled once for this tail.
    ///
    /// # Safety
    /// As for [`run_chains`].
    unsafe fn run(machine: Machine, size: KeySize, chains: &mut Chains<Self>);

    /// Bytes that the last block lacks, below a block.
    fn lacks(self) -> usize;

    /// What is added to the last block.
    fn added(self) -> *const [u8; BLOCK];

    /// Pads the last block, which starts at `at` and lacks some bytes.
    ///
    /// # Safety
    /// `line` is valid for writes; the message is that of the tail.
    unsafe fn pad<V: Vector>(self, proof: V::Proof, at: *const u8, line: *mut Line);
}

/// Four blocks.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Line([u8; 4 * BLOCK]);

/// What is added to blocks that no message ends with.
pub(crate) static NOTHING: [u8; BLOCK] = [0; BLOCK];

/// Chains each message from its beginning to its end, as many at once as there are lanes.
///
/// # Safety
/// Every key has `size`; the invariant of [`Link`].
#[inline(always)]
pub(crate) unsafe fn run_each<'k, T: Tail + 'k>(
    machine: Machine,
    size: KeySize,
    mut messages: impl Iterator<Item: Into<Link<'k, T>>>,
) {
    let mut chains = Chains::new();
    // SAFETY: the caller's promises.
    while unsafe {
        let more = chains.fill(&mut messages);
        T::run(machine, size, &mut chains);
        more
    } {}
}

/// Runs all messages of `chains` to their ends.
///
/// # Safety
/// Every key has `size`; the invariant of [`Link`].
#[inline(always)]
pub(crate) unsafe fn run_chains<T: Tail>(machine: Machine, size: KeySize, chains: &mut Chains<T>) {
    // SAFETY: the caller's promises.
    unsafe {
        match chains.len {
            // What came before has taken the last message: there is no key to ask.
            0 => {}
            1 => machine.blocks.run_sized(size, Lone(chains)),
            _ => machine
                .blocks
                .run_sized(size, Run(chains, machine.keyed_registers)),
        }
    }
}

/// The only message. Apart from the others, whose lanes take up several pages of stack.
struct Lone<'c, T>(&'c mut Chains<T>);

impl<T: Tail> PerRounds for Lone<'_, T> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        // SAFETY: `run_chains`' contract.
        unsafe { self.0.run_lone::<V, ROUNDS>(proof) }
    }
}

/// The messages, and [`Machine::keyed_registers`].
struct Run<'c, T>(&'c mut Chains<T>, usize);

impl<T: Tail> PerRounds for Run<'_, T> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        // SAFETY: `run_chains`' contract.
        unsafe { self.0.run::<V, ROUNDS>(proof, self.1) }
    }
}

/// Messages that run together.
const CAPACITY: usize = 64;

/// Registers in flight: enough to hide the latency of a round.
const GROUPS: usize = 8;
/// Lanes of the widest tier.
const LANES: usize = 4 * GROUPS;

/// Room for messages, and for lanes that repeat the first one behind the last.
type Column<T> = [MaybeUninit<T>; CAPACITY + LANES];

/// Up to [`CAPACITY`] messages, field by field, so that the lanes' pointers load as they lie.
///
/// From `first` on there is an entry for each live lane; those from `next` on wait.
/// Invariant: all entries below `len` are initialised.
pub(crate) struct Chains<T> {
    source: Column<*const u8>,
    target: Column<*mut u8>,
    chaining: Column<*mut u8>,
    key: Column<*const u8>,
    blocks: Column<usize>,
    tail: Column<T>,
    /// What follows, if [`Chains::in_pieces`]; not initialised otherwise.
    more: Column<Rest>,
    len: usize,
    first: usize,
    next: usize,
    /// Whether all messages have the key of the first.
    one_key: bool,
    /// Whether something follows in any message.
    in_pieces: bool,
    /// The fewest and the most blocks of a message.
    extremes: (usize, usize),
}

/// The pieces that follow, valid until [`Chains::run`] has returned.
type Rest = *const [Piece];

impl<T: Tail> Chains<T> {
    #[inline(always)]
    pub fn new() -> Self {
        Self {
            source: [const { MaybeUninit::uninit() }; _],
            target: [const { MaybeUninit::uninit() }; _],
            chaining: [const { MaybeUninit::uninit() }; _],
            key: [const { MaybeUninit::uninit() }; _],
            blocks: [const { MaybeUninit::uninit() }; _],
            tail: [const { MaybeUninit::uninit() }; _],
            more: [const { MaybeUninit::uninit() }; _],
            len: 0,
            first: 0,
            next: 0,
            one_key: true,
            in_pieces: false,
            extremes: (0, 0),
        }
    }

    /// Takes messages, but for those without a block, until there is room for no more; whether
    /// some may be left.
    ///
    /// # Safety
    /// The invariant of [`Link`].
    #[inline(always)]
    pub unsafe fn fill<'k>(&mut self, messages: &mut impl Iterator<Item: Into<Link<'k, T>>>) -> bool
    where
        T: 'k,
    {
        // What the loop carries from message to message stays in registers.
        let mut len = 0;
        let (mut least, mut most) = (usize::MAX, 0);
        let (mut first_key, mut one_key) = (ptr::null(), true);
        // For callers whose messages are whole it is known to stay so, and nothing is written.
        let mut in_pieces = false;
        while len < CAPACITY {
            let Some(message) = messages.next() else {
                break;
            };
            let message: Link<'k, T> = message.into();
            if message.blocks == 0 {
                continue;
            }
            let key = message.key.as_ptr();
            if len == 0 {
                first_key = key;
            }
            one_key &= key == first_key;
            least = least.min(message.blocks);
            most = most.max(message.blocks);
            self.source[len].write(message.source);
            self.target[len].write(message.target);
            self.chaining[len].write(message.chaining);
            self.key[len].write(key);
            self.blocks[len].write(message.blocks);
            self.tail[len].write(message.tail);
            if !message.more.is_empty() && !in_pieces {
                in_pieces = true;
                self.more[..len].fill(MaybeUninit::new(&[]));
            }
            if in_pieces {
                self.more[len].write(message.more);
            }
            len += 1;
        }
        (self.len, self.first, self.next) = (len, 0, 0);
        (self.one_key, self.in_pieces) = (one_key, in_pieces);
        self.extremes = (least, most);
        len == CAPACITY
    }

    /// Runs several messages to their ends, in `keyed` registers at a time if they have many keys.
    ///
    /// # Safety
    /// Every key has `ROUNDS` rounds.
    #[inline(always)]
    pub unsafe fn run<V: Vector, const ROUNDS: usize>(&mut self, proof: V::Proof, keyed: usize) {
        // SAFETY: the caller's promise, and the invariant: lanes are entries below `len`.
        unsafe {
            if const { V::BLOCKS == 2 } && !self.one_key && !self.in_pieces {
                self.run_short::<V>(proof);
                if self.len == 0 {
                    return;
                }
            }
            let rounds = number_of_rounds::<ROUNDS>(self.key[0].assume_init());
            let width = match self.collide() {
                _ if const { !V::SIDE_BY_SIDE } => 1,
                true => GROUPS / 2 * V::BLOCKS,
                false if self.one_key => GROUPS * V::BLOCKS,
                false => keyed * V::BLOCKS,
            };
            if const { V::SIDE_BY_SIDE } && self.len > 2 * width && !self.in_pieces {
                lockstep::put_long_first(self, self.len, self.extremes);
            }
            let mut lanes = Lanes::<V, T> {
                proof,
                rounds,
                chains: self,
                live: 0,
                stepped: 0,
                keys: LaneKeys::new(rounds),
                lines: [const { MaybeUninit::uninit() }; LANES],
            };
            while lanes.chains.next < lanes.chains.len {
                lanes.start(width);
            }
            lanes.keys.wipe::<V>(proof);
        }
    }

    /// # Safety
    /// Entry `from` is initialised.
    #[inline(always)]
    unsafe fn copy(&mut self, from: usize, to: usize, stale: &mut u32) {
        let lane = 1 << (to - self.first);
        // SAFETY: the caller's promise; a lane whose bit is not set has had its key gathered.
        unsafe {
            if *stale & lane == 0 && self.key[to].assume_init() != self.key[from].assume_init() {
                *stale |= lane;
            }
        }
        self.source[to] = self.source[from];
        self.target[to] = self.target[from];
        self.chaining[to] = self.chaining[from];
        self.key[to] = self.key[from];
        self.blocks[to] = self.blocks[from];
        self.tail[to] = self.tail[from];
        if self.in_pieces {
            self.more[to] = self.more[from];
        }
    }

    /// Whether something follows what entry `n` is at.
    ///
    /// # Safety
    /// Entry `n` is initialised.
    #[inline(always)]
    unsafe fn goes_on(&self, n: usize) -> bool {
        // SAFETY: the caller's promise.
        self.in_pieces && unsafe { !self.more[n].assume_init().is_empty() }
    }

    /// Moves entry `n`, which is `blocks` blocks before the end of its piece, to the next one;
    /// `false` if there is none.
    ///
    /// # Safety
    /// Entry `n` is initialised; these blocks have run.
    #[inline(always)]
    unsafe fn go_on(&mut self, n: usize, blocks: usize) -> bool {
        // SAFETY: the caller's promise; pieces are valid, as `Link` has them.
        unsafe {
            if !self.goes_on(n) {
                return false;
            }
            let more = self.more[n].assume_init();
            let piece: *const Piece = more.cast();
            self.more[n].write(ptr::slice_from_raw_parts(piece.add(1), more.len() - 1));
            let Piece {
                source,
                target,
                len,
            } = piece.read();
            if !T::MODE.keeps() {
                let last = self.target[n].assume_init();
                self.chaining[n].write(last.wrapping_add(BLOCK * (blocks - 1)));
            }
            self.source[n].write(source);
            self.target[n].write(target);
            self.blocks[n].write(len.div_ceil(BLOCK));
            true
        }
    }

    /// Whether so many messages lie at the same place within their page that their lines would
    /// evict each other from the first-level cache before the next step finds them there: half as
    /// many lanes are then faster.
    ///
    /// # Safety
    /// As [`Chains::run`].
    #[inline(always)]
    unsafe fn collide(&self) -> bool {
        if !T::MODE.writes() || self.len <= 16 {
            return false;
        }
        // SAFETY: entries below `len`.
        unsafe {
            if self.blocks[0].assume_init() <= 8 {
                return false;
            }
            let set = |n: usize| self.source[n].assume_init().addr() / 64 % 64;
            let same = (0..self.len.min(LANES)).filter(|&n| set(n) == set(0));
            same.count() > LANES / 3
        }
    }
}

/// Of messages none of which goes on.
impl<T: Copy> Waiting for Chains<T> {
    #[inline(always)]
    fn blocks(&self, n: usize) -> usize {
        // SAFETY: the invariant: `n` is below `len`.
        unsafe { self.blocks[n].assume_init() }
    }

    #[inline(always)]
    fn swap(&mut self, a: usize, b: usize) {
        self.source.swap(a, b);
        self.target.swap(a, b);
        self.chaining.swap(a, b);
        self.key.swap(a, b);
        self.blocks.swap(a, b);
        self.tail.swap(a, b);
    }
}

/// The lanes of some messages. Each is an entry of [`Chains`], from `first` on.
struct Lanes<'c, V: Vector, T> {
    proof: V::Proof,
    /// Of every key.
    rounds: usize,
    chains: &'c mut Chains<T>,
    live: usize,
    /// Blocks of the last step.
    stepped: usize,
    keys: LaneKeys,
    /// Padded ends of messages.
    lines: [MaybeUninit<Line>; LANES],
}

impl<V: Vector, T: Tail> Lanes<'_, V, T> {
    /// Runs the next messages, `width` at most, and those that take over their lanes, until no
    /// lane is left or all end at once.
    ///
    /// # Safety
    /// As [`Chains::run`]; messages wait.
    #[inline(always)]
    unsafe fn start(&mut self, width: usize) {
        let chains = &mut *self.chains;
        chains.first = chains.next;
        self.live = (chains.len - chains.first).min(width);
        chains.next += self.live;
        self.keys.stale = u32::MAX;
        let extremes = if self.live == chains.len {
            chains.extremes
        } else {
            lockstep::extremes(self.left())
        };
        // SAFETY: the invariant of `Chains`.
        unsafe { lockstep::run(self, extremes) };
    }

    /// The last block of each lane in a step of `blocks` blocks, as many as `lanes` repeat it.
    ///
    /// # Safety
    /// As [`Board::step`].
    #[inline(always)]
    unsafe fn ends(&mut self, lanes: usize, blocks: usize, ends: &mut Ends) {
        for lane in 0..self.live {
            let n = self.chains.first + lane;
            // SAFETY: `n` is a live lane, which has at least `blocks` blocks left.
            unsafe {
                let at = self.chains.source[n].assume_init();
                let mut last = at.wrapping_add(BLOCK * (blocks - 1));
                let mut added: *const _ = &NOTHING;
                if self.chains.blocks[n].assume_init() == blocks && !self.chains.goes_on(n) {
                    let tail = self.chains.tail[n].assume_init();
                    added = tail.added();
                    if tail.lacks() > 0 {
                        let line = self.lines[lane].as_mut_ptr();
                        tail.pad::<V>(self.proof, last, line);
                        last = line.cast_const().cast();
                        ends.padded = true;
                    }
                }
                ends.last[lane].write(last);
                ends.added[lane].write(added);
            }
        }
        for lane in self.live..lanes {
            ends.last[lane] = ends.last[0];
            ends.added[lane] = ends.added[0];
        }
    }
}

impl<V: Vector, T: Tail> Board for Lanes<'_, V, T> {
    #[inline(always)]
    fn left(&mut self) -> &mut [usize] {
        let lanes = &mut self.chains.blocks[self.chains.first..][..self.live];
        // SAFETY: the entries of live lanes are initialised.
        unsafe { core::slice::from_raw_parts_mut(lanes.as_mut_ptr().cast(), lanes.len()) }
    }

    /// What waits begins anew, in lanes that need not be filled one by one.
    #[inline(always)]
    unsafe fn end_together(&mut self, blocks: usize) -> bool {
        let chains = &self.chains;
        let mut lanes = chains.first..chains.first + self.live;
        // SAFETY: lanes below `live`, and the caller's promise.
        unsafe {
            if chains.in_pieces && lanes.any(|n| chains.goes_on(n)) {
                return false;
            }
            self.step(blocks);
        }
        true
    }

    #[inline(always)]
    unsafe fn step(&mut self, blocks: usize) {
        let groups = match self.live.div_ceil(V::BLOCKS) {
            1 => 1,
            2..=4 => 4,
            _ => GROUPS,
        };
        // SAFETY: `Chains::run`'s contract. Lanes below `live`, and those that are copies of the
        // first, are initialised; the step is no longer than what any of them has left.
        unsafe {
            let mut ends = Ends::new();
            if !T::MODE.writes() {
                self.ends(groups * V::BLOCKS, blocks, &mut ends);
            }
            let chains = &mut *self.chains;
            for lane in self.live..groups * V::BLOCKS {
                chains.copy(chains.first, chains.first + lane, &mut self.keys.stale);
            }
            let key = chains.key.as_ptr().add(chains.first).cast();
            let step = Step {
                source: chains.source.as_ptr().add(chains.first).cast(),
                ends: &raw const ends,
                target: chains.target.as_ptr().add(chains.first).cast(),
                chaining: chains.chaining.as_ptr().add(chains.first).cast(),
                keys: if chains.one_key {
                    *key
                } else {
                    self.keys.gather::<V>(self.proof, key, groups)
                },
                rounds: self.rounds,
                blocks,
            };
            step.run::<V, T>(self.proof, groups, chains.one_key);
        }
        self.stepped = blocks;
    }

    #[inline(always)]
    unsafe fn advance(&mut self, lane: usize, blocks: usize) {
        let (chains, bytes) = (&mut *self.chains, BLOCK * blocks);
        let n = chains.first + lane;
        // SAFETY: `n` is a live lane.
        unsafe {
            let source = chains.source[n].assume_init();
            let target = chains.target[n].assume_init();
            chains.source[n].write(source.wrapping_add(bytes));
            chains.target[n].write(target.wrapping_add(bytes));
            if !T::MODE.keeps() {
                chains.chaining[n].write(target.wrapping_add(bytes - BLOCK));
            }
        }
    }

    #[inline(always)]
    unsafe fn refill(&mut self, lane: usize) -> bool {
        let chains = &mut *self.chains;
        let next = chains.next;
        // SAFETY: the last step ended the piece of a live lane; entries from `next` to `len` wait.
        unsafe {
            if chains.go_on(chains.first + lane, self.stepped) {
                return true;
            }
            if next == chains.len {
                return false;
            }
            chains.next += 1;
            chains.copy(next, chains.first + lane, &mut self.keys.stale);
        }
        true
    }

    #[inline(always)]
    unsafe fn close(&mut self, lane: usize) {
        self.live -= 1;
        if lane < self.live {
            let first = self.chains.first;
            // SAFETY: the last lane is a live one.
            unsafe {
                self.chains
                    .copy(first + self.live, first + lane, &mut self.keys.stale);
            }
        }
    }
}
