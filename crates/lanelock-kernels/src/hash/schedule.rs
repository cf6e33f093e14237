//! Lane scheduling: any number of messages of any lengths through a fixed number of lanes
//! ([`lockstep`]).
//!
//! Where messages of several lengths wait for lanes, long ones begin first.
//! The number of live lanes picks the kernel of the tier. The outer blocks of HMAC wait in a second
//! set of rows until it is full: they run in full registers even if the messages end one by one.
//! Lanes that all have equally much left, as in a burst of one length, run to their ends by one
//! call, in which their chaining values stay in registers.

#![allow(unsafe_code)] // hands rows and pointers to the kernels

use core::mem::MaybeUninit;

use super::job::Job;
use super::lane::{Lane, Run, SCRATCH};
use super::step::Ends;
use super::{Algorithm, Kernels};
use crate::arch::words::{Moves, Pad, Registers, Row, Word};
use crate::lockstep::{self, Board, Waiting};
use crate::wipe::wipe;

/// Lanes of the tier with the most of them.
const LANES: usize = 32;

/// The lanes in flight, the outer blocks that wait, and the messages that do.
///
/// Invariant: the first `active` elements of every lane array are initialised; `at[lane]` is valid
/// for reading `left[lane]` blocks. The first `waiting` elements of `chain`, `inner` and `owner`
/// are initialised. `active` and `waiting` are at most the tier's capacity, which is at most
/// [`Kernels::MOST`] ≤ [`LANES`].
struct Lanes<'k, 'j, 'm, A: Algorithm, P> {
    kernels: &'k Kernels<A>,
    messages: &'j mut [Job<'m, A>],
    /// Their numbers in the order in which they begin; empty if that is their own.
    order: &'j [u8],
    /// Those from this place on have not begun.
    next: usize,
    moves: P,
    rows: Rows<A>,
    at: [*const u8; LANES],
    left: [usize; LANES],
    lane: [MaybeUninit<Lane>; LANES],
    message: [usize; LANES],
    active: usize,
    chain: Rows<A>,
    inner: Rows<A>,
    owner: [MaybeUninit<usize>; LANES],
    waiting: usize,
}

/// Rows on cache-line boundaries.
#[repr(align(64))]
struct Rows<A: Algorithm>([MaybeUninit<Row<A::Word>>; LANES]);

/// The blocks that are not read in place, [`SCRATCH`] bytes or two blocks per lane.
#[repr(align(64))]
struct Scratch([MaybeUninit<u8>; LANES * SCRATCH / 2]);

/// Runs every message to its digest.
#[inline]
pub(super) fn run<A: Algorithm>(kernels: &Kernels<A>, messages: &mut [Job<'_, A>]) {
    if let [message] = messages {
        return run_one(kernels, message);
    }
    kernels.schedule(messages);
}

/// A lone message, from beginning to end.
#[inline]
fn run_one<A: Algorithm>(kernels: &Kernels<A>, message: &mut Job<'_, A>) {
    let mut scratch = [MaybeUninit::<u8>::uninit(); SCRATCH];
    // SAFETY: the scratch has its size, and no other lane.
    let mut lane = unsafe { Lane::new(message.before(), scratch.as_mut_ptr().cast()) };
    let mut row = message.chain();
    let mut next = Some(lane.first_run(Moves, message));
    while let Some(run) = next {
        // SAFETY: the run is valid for its blocks.
        unsafe { kernels.one(&mut row, run.at, run.blocks) };
        next = lane.next_run(Moves, message);
    }
    if let Some(outer) = message.outer() {
        let mut inner = row;
        row = *outer;
        // SAFETY: the step for one lane takes lanes one by one: one row each.
        unsafe { kernels.step(1).outer(&raw mut row, &raw const inner, 1) };
        wipe(&mut inner);
    }
    finish(message, &row);
    wipe(&mut row);
}

/// Several messages, in code compiled for the registers `S`: moves and shuffles are as wide as they.
#[inline(always)]
pub(super) fn run_many<A: Algorithm, S: Registers>(
    proof: S::Proof,
    kernels: &Kernels<A>,
    messages: &mut [Job<'_, A>],
) {
    let mut scratch = Scratch([MaybeUninit::uninit(); LANES * SCRATCH / 2]);
    let scratch: *mut u8 = scratch.0.as_mut_ptr().cast();
    let count = messages.len().min(kernels.capacity());
    let mut room = MaybeUninit::uninit();
    let order = order(messages, count, &mut room);
    let mut lanes = Lanes::new(kernels, messages, order, S::moves(proof));
    for slot in 0..count {
        // SAFETY: `capacity` ≤ `MOST`, and `MOST` · two blocks are the scratch's size, so each
        // slot is two blocks inside it, and its own lane's only.
        unsafe { lanes.start(slot, scratch.add(slot * 2 * A::BLOCK)) };
    }
    lanes.active = count;
    let extremes = lockstep::extremes(lanes.left());
    // SAFETY: the invariant.
    unsafe { lockstep::run(&mut lanes, extremes) };
    lanes.flush();
    lanes.clear(kernels.step(count).touched(count));
}

impl<'k, 'j, 'm, A: Algorithm, P: Pad> Lanes<'k, 'j, 'm, A, P> {
    #[inline(always)]
    fn new(
        kernels: &'k Kernels<A>,
        messages: &'j mut [Job<'m, A>],
        order: &'j [u8],
        moves: P,
    ) -> Self {
        const { assert!(Kernels::<A>::MOST <= LANES) };
        const { assert!(Kernels::<A>::MOST * 2 * A::BLOCK <= LANES * SCRATCH / 2) };
        Self {
            kernels,
            messages,
            order,
            next: 0,
            moves,
            rows: Rows([MaybeUninit::uninit(); LANES]),
            at: [core::ptr::null(); LANES],
            left: [0; LANES],
            lane: [MaybeUninit::uninit(); LANES],
            message: [0; LANES],
            active: 0,
            chain: Rows([MaybeUninit::uninit(); LANES]),
            inner: Rows([MaybeUninit::uninit(); LANES]),
            owner: [MaybeUninit::uninit(); LANES],
            waiting: 0,
        }
    }

    /// Puts the next message into `slot`.
    ///
    /// # Safety
    /// `scratch` is valid for reads and writes of two blocks while the board is used; no other
    /// lane uses it.
    #[inline(always)]
    unsafe fn start(&mut self, slot: usize, scratch: *mut u8) {
        let index = match self.order {
            [] => self.next,
            order => usize::from(order[self.next]),
        };
        let message = &mut self.messages[index];
        self.rows.0[slot].write(message.chain());
        self.message[slot] = index;
        self.next += 1;
        // Made in place: a copy would wait for the lane's fields to arrive in memory.
        // SAFETY: the caller's promise.
        let lane = self.lane[slot].write(unsafe { Lane::new(message.before(), scratch) });
        let run = lane.first_run(self.moves, message);
        self.put(slot, run);
    }

    #[inline(always)]
    fn put(&mut self, slot: usize, run: Run) {
        self.at[slot] = run.at;
        self.left[slot] = run.blocks;
    }

    /// The lane of a message.
    ///
    /// # Safety
    /// `slot` is below `active`.
    #[inline(always)]
    unsafe fn lane(&mut self, slot: usize) -> &mut Lane {
        // SAFETY: the caller's promise.
        unsafe { self.lane[slot].assume_init_mut() }
    }

    /// Takes the digest out of a lane: to its message, or to the outer blocks that wait.
    #[inline(always)]
    fn complete(&mut self, slot: usize) {
        let message = &mut self.messages[self.message[slot]];
        // SAFETY: `slot` < `active`, so its row is initialised.
        let row = unsafe { self.rows.0[slot].assume_init_ref() };
        let Some(outer) = message.outer() else {
            return finish(message, row);
        };
        self.inner.0[self.waiting].write(*row);
        self.chain.0[self.waiting].write(*outer);
        self.owner[self.waiting].write(self.message[slot]);
        self.waiting += 1;
        if self.waiting == self.kernels.capacity() {
            self.flush();
        }
    }

    /// Runs the outer blocks that wait.
    #[inline(always)]
    fn flush(&mut self) {
        if self.waiting == 0 {
            return;
        }
        let step = self.kernels.step(self.waiting);
        let (chain, inner) = (self.chain.0[0], self.inner.0[0]);
        for lane in self.waiting..step.touched(self.waiting) {
            self.chain.0[lane] = chain;
            self.inner.0[lane] = inner;
        }
        // SAFETY: the rows of all touched lanes are initialised.
        unsafe {
            let chain = self.chain.0.as_mut_ptr().cast();
            step.outer(chain, self.inner.0.as_ptr().cast(), self.waiting);
        }
        for (row, owner) in self.chain.0.iter().zip(&self.owner[..self.waiting]) {
            // SAFETY: the first `waiting` of both are initialised.
            let (row, owner) = unsafe { (row.assume_init_ref(), owner.assume_init()) };
            finish(&mut self.messages[owner], row);
        }
        self.waiting = 0;
    }

    /// Wipes the chaining values of the first `lanes`, which stand for the keys: lanes for nobody
    /// have copies of them.
    #[inline(always)]
    fn clear(&mut self, lanes: usize) {
        for rows in [&mut self.rows, &mut self.chain, &mut self.inner] {
            for row in &mut rows.0[..lanes] {
                row.write([A::Word::default(); 8]);
            }
            core::hint::black_box(rows.0.as_mut_ptr());
        }
    }
}

impl<A: Algorithm, P: Pad> Board for Lanes<'_, '_, '_, A, P> {
    #[inline(always)]
    fn left(&mut self) -> &mut [usize] {
        &mut self.left[..self.active]
    }

    /// If no message and no outer block waits, and all or none have an outer hash.
    #[inline(always)]
    unsafe fn end_together(&mut self, blocks: usize) -> bool {
        let step = self.kernels.step(self.active);
        if self.next < self.messages.len() || self.waiting > 0 {
            return false;
        }
        // SAFETY: lanes below `active`.
        unsafe {
            let (Some(run), Some(ending_blocks)) = (step.ends(), self.lane(0).ending()) else {
                return false;
            };
            if (1..self.active).any(|slot| self.lane(slot).ending() != Some(ending_blocks)) {
                return false;
            }
            let mut ending_at = [core::ptr::null(); LANES];
            let mut keyed = 0;
            for (slot, at) in ending_at[..self.active].iter_mut().enumerate() {
                *at = self.lane(slot).scratch();
                if let Some(outer) = self.messages[self.message[slot]].outer() {
                    self.chain.0[slot].write(*outer);
                    keyed += 1;
                }
            }
            if keyed != 0 && keyed != self.active {
                return false;
            }
            for slot in self.active..step.touched(self.active) {
                // Work for nobody, on memory that is valid.
                self.at[slot] = self.at[0];
                ending_at[slot] = ending_at[0];
                self.rows.0[slot] = self.rows.0[0];
                self.chain.0[slot] = self.chain.0[0];
            }
            // Rows and pointers of all touched lanes are initialised; each has `blocks` blocks
            // left, and behind them as many in its scratch.
            run(&Ends {
                rows: self.rows.0.as_mut_ptr().cast(),
                lanes: self.active,
                at: self.at.as_ptr(),
                blocks,
                ending_at: ending_at.as_ptr(),
                ending_blocks,
                outer: if keyed > 0 {
                    self.chain.0.as_ptr().cast()
                } else {
                    core::ptr::null()
                },
            });
            for (row, &index) in self.rows.0.iter().zip(&self.message[..self.active]) {
                finish(&mut self.messages[index], row.assume_init_ref());
            }
        }
        self.active = 0;
        true
    }

    #[inline(always)]
    unsafe fn step(&mut self, blocks: usize) {
        let step = self.kernels.step(self.active);
        let (first, row) = (self.at[0], self.rows.0[0]);
        for lane in self.active..step.touched(self.active) {
            // Work for nobody, on memory that is valid.
            self.at[lane] = first;
            self.rows.0[lane] = row;
        }
        // SAFETY: all touched rows and pointers are initialised, each valid for `blocks` blocks,
        // as the caller promises of the live ones.
        unsafe {
            let rows = self.rows.0.as_mut_ptr().cast();
            step.blocks(rows, self.at.as_ptr(), self.active, blocks);
        }
    }

    #[inline(always)]
    unsafe fn advance(&mut self, slot: usize, blocks: usize) {
        self.at[slot] = self.at[slot].wrapping_add(blocks * A::BLOCK);
    }

    #[inline(always)]
    unsafe fn refill(&mut self, slot: usize) -> bool {
        let index = self.message[slot];
        // SAFETY: the caller's promise: the lane is initialised. Its last run was compressed, so
        // its scratch is free for the next message.
        unsafe {
            let lane = self.lane[slot].assume_init_mut();
            if let Some(run) = lane.next_run(self.moves, &mut self.messages[index]) {
                self.put(slot, run);
                return true;
            }
            let scratch = lane.scratch();
            self.complete(slot);
            if self.next == self.messages.len() {
                return false;
            }
            self.start(slot, scratch);
        }
        true
    }

    #[inline(always)]
    unsafe fn close(&mut self, slot: usize) {
        self.active -= 1;
        let last = self.active;
        if slot == last {
            return;
        }
        self.rows.0[slot] = self.rows.0[last];
        self.at[slot] = self.at[last];
        self.left[slot] = self.left[last];
        self.lane[slot] = self.lane[last];
        self.message[slot] = self.message[last];
    }
}

/// Most messages that are put in order: as many as a byte can tell apart.
const ORDERED: usize = 256;

/// The order in which messages begin, if they do not all begin at once: long ones first, or empty for their own.
#[inline(never)]
fn order<'o, A: Algorithm>(
    messages: &[Job<'_, A>],
    lanes: usize,
    room: &'o mut MaybeUninit<[u8; ORDERED]>,
) -> &'o [u8] {
    if messages.len() <= lanes || messages.len() > ORDERED {
        return &[];
    }
    let all = messages.iter().map(Job::blocks);
    let (least, most) = lockstep::extremes_of(all.clone());
    if least == most {
        return &[];
    }
    let mut blocks = [0; ORDERED];
    blocks
        .iter_mut()
        .zip(all)
        .for_each(|(to, blocks)| *to = blocks);
    #[allow(clippy::cast_possible_truncation)] // below `ORDERED`
    let numbers = room.write(core::array::from_fn(|n| n as u8));
    let mut waiting = Numbered { blocks, numbers };
    lockstep::put_long_first(&mut waiting, messages.len(), (least, most));
    numbers
}

/// The blocks and the number of each message.
struct Numbered<'o> {
    blocks: [usize; ORDERED],
    numbers: &'o mut [u8; ORDERED],
}

impl Waiting for Numbered<'_> {
    #[inline(always)]
    fn blocks(&self, n: usize) -> usize {
        self.blocks[n]
    }

    #[inline(always)]
    fn swap(&mut self, a: usize, b: usize) {
        self.blocks.swap(a, b);
        self.numbers.swap(a, b);
    }
}

/// Hands the digest over in bytes.
#[inline(always)]
fn finish<A: Algorithm>(message: &mut Job<'_, A>, row: &Row<A::Word>) {
    let mut words = *row;
    for word in &mut words {
        *word = word.to_be();
    }
    // All words at once, so that the message's copy finds them in one piece.
    // SAFETY: no digest is longer than the eight words of its row.
    unsafe { message.finish(words.as_ptr().cast()) }
}
