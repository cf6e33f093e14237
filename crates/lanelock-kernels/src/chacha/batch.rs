//! Blocks of many messages that share the lanes.

#![allow(unsafe_code)] // writes the messages by pointer

use core::mem::MaybeUninit;

use super::block::{BLOCK, COUNTER};
use super::kernels::{Kernels, ROWS, rounded};
use super::key::nonce_words;
use super::lone::{self, Lone, apply};
use super::{Key, NONCE};
use crate::arch::words::DoubleRow;
use crate::wipe::wipe;

/// States that wait for a full register, and what their keystream is for. Wiped on drop.
///
/// Invariants: the first `filled` rows are initialised, at least `count`. The first `targets` targets
/// are set, at most one for each row; their rows are below `count`, and their pointers valid.
pub(super) struct Batch<'t> {
    kernels: &'t Kernels,
    room: &'t mut Room,
    filled: usize,
    count: usize,
    targets: usize,
    /// Where one-time keys go.
    keys: &'t mut [[u32; 8]],
}

/// Memory of a [`Batch`]. Apart from its numbers, or the compiler would initialise all of it with them.
pub(super) struct Room {
    rows: MaybeUninit<[DoubleRow<u32>; ROWS]>,
    targets: MaybeUninit<[Target; ROWS]>,
}

impl Room {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            rows: MaybeUninit::uninit(),
            targets: MaybeUninit::uninit(),
        }
    }
}

/// What keystream from a row on is for.
#[derive(Clone, Copy)]
enum Target {
    /// The one-time key of a message.
    Key { row: usize, index: usize },
    /// A part of a message.
    Text { row: usize, text: Text },
}

/// A part of a message.
#[derive(Clone, Copy)]
pub(super) struct Text {
    /// Which message.
    pub message: usize,
    pub input: *const u8,
    pub output: *mut u8,
    pub len: usize,
}

impl Text {
    /// The first `len` bytes and the others.
    #[inline(always)]
    pub(super) fn split(self, len: usize) -> (Self, Self) {
        let others = Self {
            input: self.input.wrapping_add(len),
            output: self.output.wrapping_add(len),
            len: self.len - len,
            ..self
        };
        (Self { len, ..self }, others)
    }
}

impl<'t> Batch<'t> {
    #[inline]
    pub(super) fn new(kernels: &'t Kernels, room: &'t mut Room, keys: &'t mut [[u32; 8]]) -> Self {
        Self {
            kernels,
            room,
            filled: 0,
            count: 0,
            targets: 0,
            keys,
        }
    }

    /// The one-time keys that have been made.
    pub(super) fn keys(&mut self) -> &mut [[u32; 8]] {
        self.keys
    }

    /// The one-time key of message `index`: the first half of its block 0.
    #[inline(always)]
    pub(super) fn key(&mut self, key: &Key, nonce: &[u8; NONCE], index: usize) {
        let row = self.push(key, nonce, 0, 1).0;
        self.target(Target::Key { row, index });
    }

    /// Blocks of a text of so many bytes that share registers with others.
    #[inline(always)]
    pub(super) fn shared_blocks(&self, len: usize) -> usize {
        (len - self.kernels.alone(len)).div_ceil(BLOCK)
    }

    /// XORs a text with the keystream from block `number` on, now or by [`Self::flush`].
    ///
    /// # Safety
    /// Its input is valid for reading and its output for writing until the flush; they are the same
    /// memory or disjoint, and no other text of this batch overlaps them.
    #[inline(always)]
    pub(super) unsafe fn text(&mut self, key: &Key, nonce: &[u8; NONCE], number: u32, text: Text) {
        // SAFETY: the caller's promise, passed on.
        unsafe {
            self.alone(key, nonce, number, text);
            self.shared(key, nonce, number, text);
        }
    }

    /// The part of [`Self::text`] that is done now: blocks that fill registers, or nearly so.
    ///
    /// # Safety
    /// As [`Self::text`].
    #[inline(always)]
    pub(super) unsafe fn alone(&self, key: &Key, nonce: &[u8; NONCE], number: u32, text: Text) {
        let (text, _) = text.split(self.kernels.alone(text.len));
        if text.len > 0 {
            // SAFETY: the caller's promise.
            unsafe { run_alone(self.kernels, key, nonce, number, text) };
        }
    }

    /// The other part of [`Self::text`], which shares registers with others.
    ///
    /// # Safety
    /// As [`Self::text`].
    #[inline(always)]
    pub(super) unsafe fn shared(
        &mut self,
        key: &Key,
        nonce: &[u8; NONCE],
        number: u32,
        text: Text,
    ) {
        let (before, mut text) = text.split(self.kernels.alone(text.len));
        let mut number = number.wrapping_add(counter(before.len / BLOCK));
        while text.len > 0 {
            let (row, blocks) = self.push(key, nonce, number, text.len.div_ceil(BLOCK));
            let (part, others) = text.split(text.len.min(blocks * BLOCK));
            self.target(Target::Text { row, text: part });
            number = number.wrapping_add(counter(blocks));
            text = others;
        }
    }

    /// Adds the next of `blocks` blocks of a message for which there is room; returns the row of the first,
    /// and how many. A target is to follow.
    #[inline(always)]
    fn push(
        &mut self,
        key: &Key,
        nonce: &[u8; NONCE],
        number: u32,
        blocks: usize,
    ) -> (usize, usize) {
        if self.count == ROWS {
            self.flush();
        }
        let (row, blocks) = (self.count, blocks.min(ROWS - self.count));
        let nonce = nonce_words(nonce);
        let mut number = number;
        for i in row..row + blocks {
            // SAFETY: a row of the array, and plain data.
            unsafe {
                let rows = self.room.rows.as_mut_ptr().cast::<DoubleRow<u32>>();
                key.write_state(&mut *rows.add(i), number, nonce);
            }
            number = number.wrapping_add(1);
        }
        self.count += blocks;
        self.filled = self.filled.max(self.count);
        (row, blocks)
    }

    /// Adds what rows that were pushed are for.
    #[inline(always)]
    fn target(&mut self, target: Target) {
        debug_assert!(self.targets < ROWS, "at most one for each row");
        // SAFETY: there are as many places as rows, and a row for each target.
        unsafe {
            let targets = self.room.targets.as_mut_ptr().cast::<Target>();
            targets.add(self.targets).write(target);
        }
        self.targets += 1;
    }

    /// Runs the blocks that wait.
    #[inline]
    pub(super) fn flush(&mut self) {
        self.make();
        self.apply(|_| true);
    }

    /// Makes the keystream of the blocks that wait, and hands out keys. [`Self::apply`] is to follow.
    #[inline]
    pub(super) fn make(&mut self) {
        let (count, rounded) = (self.count, rounded(self.count));
        // SAFETY: at most `ROWS` rows, of which the first `filled` are initialised, and now the others
        // that count are.
        let rows = unsafe {
            let rows = self.room.rows.as_mut_ptr().cast::<DoubleRow<u32>>();
            while self.filled < rounded {
                rows.add(self.filled).write([0; 16]);
                self.filled += 1;
            }
            core::slice::from_raw_parts_mut(rows, rounded)
        };
        self.kernels.blocks(rows, count);
        for i in 0..self.targets {
            // SAFETY: so many are set.
            let target = unsafe { *self.room.targets.as_ptr().cast::<Target>().add(i) };
            if let Target::Key { row, index } = target {
                // SAFETY: a row below `count`.
                let row = unsafe { &*self.room.rows.as_ptr().cast::<DoubleRow<u32>>().add(row) };
                self.keys[index].copy_from_slice(&row[..8]);
            }
        }
    }

    /// XORs the texts of these messages with the keystream that was made. No block waits any more.
    #[inline]
    pub(super) fn apply(&mut self, of: impl Fn(usize) -> bool) {
        for i in 0..self.targets {
            // SAFETY: so many are set.
            let target = unsafe { *self.room.targets.as_ptr().cast::<Target>().add(i) };
            let Target::Text { row, text } = target else {
                continue;
            };
            if of(text.message) {
                let rows = self.room.rows.as_ptr().cast::<DoubleRow<u32>>();
                // SAFETY: the text is valid, as the caller of `text` promised, and of no more blocks than
                // were pushed for it.
                unsafe {
                    let rows = rows.add(row);
                    apply(self.kernels, rows, text.input, text.output, text.len);
                }
            }
        }
        (self.count, self.targets) = (0, 0);
    }
}

/// Runs a text by itself, of as many bytes as [`Kernels::alone`] says, or which [fills](Kernels::fills)
/// registers.
///
/// # Safety
/// As for [`Batch::text`].
#[inline(never)]
pub(super) unsafe fn run_alone(
    kernels: &Kernels,
    key: &Key,
    nonce: &[u8; NONCE],
    number: u32,
    text: Text,
) {
    let mut state = key.state(number, nonce);
    let wide = text.len / BLOCK / kernels.wide() * kernels.wide();
    let (whole, rest) = text.split(wide * BLOCK);
    // SAFETY: the caller's promise; `wide` blocks are the first part.
    unsafe {
        if wide > 0 {
            kernels.run(&state, whole.input, whole.output, wide);
        }
        if rest.len > 0 {
            state[COUNTER] = state[COUNTER].wrapping_add(counter(wide));
            let mut room = lone::Room::new();
            let mut stream = Lone::new(&mut room);
            stream.fill(kernels, &state, rest.len.div_ceil(BLOCK));
            stream.apply(kernels, 0, rest.input, rest.output, rest.len);
        }
    }
    wipe(&mut state);
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // SAFETY: so many rows are initialised.
        wipe(unsafe {
            let rows = self.room.rows.as_mut_ptr().cast::<DoubleRow<u32>>();
            core::slice::from_raw_parts_mut(rows, self.filled)
        });
    }
}

/// Blocks as a counter, which wraps as the specification's does.
#[allow(clippy::cast_possible_truncation)] // modulo 2³², as the counter
pub(super) fn counter(blocks: usize) -> u32 {
    blocks as u32
}
