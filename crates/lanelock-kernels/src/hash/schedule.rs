//! Lane scheduling: any number of messages of any lengths through a fixed number of lanes.
//!
//! All lanes in flight advance together by the shortest run among them. A lane whose message ends
//! takes the next message; when none is left, the last lane moves into the gap, so the lanes in
//! flight are always the first ones and the tier picks the kernel by their number. The outer
//! blocks of HMAC wait in a second set of rows until it is full: they run in full registers even
//! if the messages end one by one. Lanes that all have equally much left, as in a burst of one
//! length, run to their ends by one call, in which their chaining values stay in registers.

#![allow(unsafe_code)] // hands rows and pointers to the kernels

use core::mem::MaybeUninit;

use super::job::Job;
use super::lane::{Lane, SCRATCH};
use super::step::Ends;
use super::{Algorithm, Kernels};
use crate::arch::words::{Moves, Pad, Registers, Row, Word};
use crate::wipe::wipe;

/// Lanes of the tier with the most of them.
const LANES: usize = 32;

/// The lanes in flight and the outer blocks that wait.
///
/// Invariant: the first `active` elements of every lane array are initialised; `at[lane]` is valid
/// for reading `left[lane]` blocks. The first `waiting` elements of `chain`, `inner` and `owner`
/// are initialised. `active` and `waiting` are at most the tier's capacity, which is at most
/// [`Kernels::MOST`] ≤ [`LANES`].
struct Board<A: Algorithm> {
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
    let mut board = Board::<A>::new();
    let moves = S::moves(proof);
    let lanes = messages.len().min(kernels.capacity());
    let mut next = 0;
    while next < lanes {
        // SAFETY: `capacity` ≤ `MOST`, and `MOST` · two blocks are the scratch's size, so each
        // slot is two blocks inside it, and its own lane's only.
        let lane = unsafe { Lane::new(messages[next].before(), scratch.add(next * 2 * A::BLOCK)) };
        board.start(moves, next, lane, next, messages);
        next += 1;
    }
    board.active = lanes;
    while board.active > 0 {
        if next == messages.len() && board.end_together(kernels, messages) {
            break;
        }
        board.advance(kernels);
        // From the last lane down: the one that fills a gap has been looked at, and those that
        // end together leave none.
        for lane in (0..board.active).rev() {
            if board.left[lane] == 0 && !board.resume(moves, lane, messages) {
                board.complete(kernels, lane, messages);
                if next < messages.len() {
                    board.restart(moves, lane, next, messages);
                    next += 1;
                } else {
                    board.remove(lane);
                }
            }
        }
    }
    board.flush(kernels, messages);
    board.clear(kernels.step(lanes).touched(lanes));
}

impl<A: Algorithm> Board<A> {
    #[inline(always)]
    fn new() -> Self {
        const { assert!(Kernels::<A>::MOST <= LANES) };
        const { assert!(Kernels::<A>::MOST * 2 * A::BLOCK <= LANES * SCRATCH / 2) };
        Self {
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

    /// Puts message `index` into `slot`.
    #[inline(always)]
    fn start(
        &mut self,
        moves: impl Pad,
        slot: usize,
        lane: Lane,
        index: usize,
        messages: &mut [Job<'_, A>],
    ) {
        let message = &mut messages[index];
        self.rows.0[slot].write(message.chain());
        self.message[slot] = index;
        // Made in place: a copy would wait for the lane's fields to arrive in memory.
        let run = self.lane[slot].write(lane).first_run(moves, message);
        self.at[slot] = run.at;
        self.left[slot] = run.blocks;
    }

    /// Puts message `index` into the lane of one that ended.
    #[inline(always)]
    fn restart(&mut self, moves: impl Pad, slot: usize, index: usize, messages: &mut [Job<'_, A>]) {
        // SAFETY: `slot` < `active`, so its lane is initialised; its last run was compressed, so
        // its scratch is free.
        let lane = unsafe {
            Lane::new(
                messages[index].before(),
                self.lane[slot].assume_init().scratch(),
            )
        };
        self.start(moves, slot, lane, index, messages);
    }

    /// Compresses the shortest run of all lanes.
    #[inline(always)]
    fn advance(&mut self, kernels: &Kernels<A>) {
        let step = kernels.step(self.active);
        let touched = step.touched(self.active);
        let (first, row) = (self.at[0], self.rows.0[0]);
        for lane in self.active..touched {
            // Work for nobody, on memory that is valid.
            self.at[lane] = first;
            self.rows.0[lane] = row;
        }
        let left = &mut self.left[..self.active];
        let blocks = left.iter().copied().min().unwrap_or(0);
        // SAFETY: `touched` rows and pointers are initialised, each valid for `blocks` blocks:
        // the smallest of what is left, and at least that in the first lane.
        unsafe {
            step.blocks(
                self.rows.0.as_mut_ptr().cast(),
                self.at.as_ptr(),
                self.active,
                blocks,
            );
        }
        for (at, left) in self.at.iter_mut().zip(left) {
            *at = at.wrapping_add(blocks * A::BLOCK);
            *left -= blocks;
        }
    }

    /// Runs all lanes to their ends by one call, if they have equally much left, all or none have
    /// an outer hash, and no outer block waits; `false` if not: then nothing was done.
    #[inline(always)]
    fn end_together(&mut self, kernels: &Kernels<A>, messages: &mut [Job<'_, A>]) -> bool {
        let (blocks, left) = (self.left[0], &self.left[..self.active]);
        if self.waiting > 0 || left.iter().any(|&left| left != blocks) {
            return false;
        }
        let step = kernels.step(self.active);
        let (Some(run), Some(ending_blocks)) = (step.ends(), self.ending(0)) else {
            return false;
        };
        if (1..self.active).any(|slot| self.ending(slot) != Some(ending_blocks)) {
            return false;
        }
        let mut ending_at = [core::ptr::null(); LANES];
        let mut keyed = 0;
        for slot in 0..self.active {
            // SAFETY: `slot` < `active`, so its lane is initialised.
            ending_at[slot] = unsafe { self.lane[slot].assume_init_ref() }.scratch();
            if let Some(outer) = messages[self.message[slot]].outer() {
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
        let ends = Ends {
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
        };
        // SAFETY: rows and pointers of all touched lanes are initialised; each has `blocks` blocks
        // left, and behind them as many in its scratch. The tier's constructor took the token.
        unsafe { run(&ends) };
        for (row, &index) in self.rows.0.iter().zip(&self.message[..self.active]) {
            // SAFETY: the first `active` rows are initialised.
            finish(&mut messages[index], unsafe { row.assume_init_ref() });
        }
        self.active = 0;
        true
    }

    /// Blocks that come behind a lane's run, as [`Lane::ending`] has it.
    #[inline(always)]
    fn ending(&self, slot: usize) -> Option<usize> {
        // SAFETY: `slot` < `active`, so its lane is initialised.
        unsafe { self.lane[slot].assume_init_ref() }.ending()
    }

    /// The next run of a lane that has nothing left; `false` if its message ended.
    #[inline(always)]
    fn resume(&mut self, moves: impl Pad, slot: usize, messages: &mut [Job<'_, A>]) -> bool {
        // SAFETY: `slot` < `active`, so its lane is initialised.
        let lane = unsafe { self.lane[slot].assume_init_mut() };
        match lane.next_run(moves, &mut messages[self.message[slot]]) {
            Some(run) => {
                self.at[slot] = run.at;
                self.left[slot] = run.blocks;
                true
            }
            None => false,
        }
    }

    /// Takes the digest out of a lane: to its message, or to the outer blocks that wait.
    #[inline(always)]
    fn complete(&mut self, kernels: &Kernels<A>, slot: usize, messages: &mut [Job<'_, A>]) {
        let index = self.message[slot];
        // SAFETY: `slot` < `active`, so its row is initialised.
        let row = unsafe { self.rows.0[slot].assume_init_ref() };
        let Some(outer) = messages[index].outer() else {
            return finish(&mut messages[index], row);
        };
        self.inner.0[self.waiting].write(*row);
        self.chain.0[self.waiting].write(*outer);
        self.owner[self.waiting].write(index);
        self.waiting += 1;
        if self.waiting == kernels.capacity() {
            self.flush(kernels, messages);
        }
    }

    /// Runs the outer blocks that wait.
    #[inline(always)]
    fn flush(&mut self, kernels: &Kernels<A>, messages: &mut [Job<'_, A>]) {
        if self.waiting == 0 {
            return;
        }
        let step = kernels.step(self.waiting);
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
            finish(&mut messages[owner], row);
        }
        self.waiting = 0;
    }

    /// Closes the gap that a finished lane leaves.
    #[inline(always)]
    fn remove(&mut self, slot: usize) {
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
