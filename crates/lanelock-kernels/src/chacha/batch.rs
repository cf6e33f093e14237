//! Blocks of many messages that share the lanes.

#![allow(unsafe_code)] // writes the messages by pointer

use super::block::{BLOCK, COUNTER};
use super::kernels::{Kernels, ROWS};
use crate::arch::words::DoubleRow;
use crate::bytes::{copy_short, xor_block};
use crate::wipe::wipe;

/// States that wait for a full register, and what their keystream is for. Wiped on drop.
///
/// Invariant: the first `count` of `target` are set, and their pointers valid.
pub(super) struct Batch<'t> {
    kernels: &'t Kernels,
    rows: [DoubleRow<u32>; ROWS],
    target: [Target; ROWS],
    count: usize,
    /// Where one-time keys go.
    keys: &'t mut [[u32; 8]],
}

/// What a block of keystream is for.
#[derive(Clone, Copy)]
enum Target {
    /// The one-time key of a message.
    Key(usize),
    /// At most a block of a message.
    Text {
        input: *const u8,
        output: *mut u8,
        len: usize,
    },
}

impl<'t> Batch<'t> {
    #[inline]
    pub(super) fn new(kernels: &'t Kernels, keys: &'t mut [[u32; 8]]) -> Self {
        Self {
            kernels,
            rows: [[0; 16]; ROWS],
            target: [Target::Key(0); ROWS],
            count: 0,
            keys,
        }
    }

    /// The one-time key of message `index`: the first half of the block.
    #[inline(always)]
    pub(super) fn key(&mut self, state: DoubleRow<u32>, index: usize) {
        self.push(&state, 0, Target::Key(index));
    }

    /// XORs `len` bytes with the keystream from the state's counter on, now or by
    /// [`Self::flush`].
    ///
    /// # Safety
    /// `input` is valid for reading and `output` for writing `len` bytes until the flush; they
    /// are the same memory or disjoint, and no other text of this batch overlaps them.
    #[inline(always)]
    pub(super) unsafe fn text(
        &mut self,
        state: DoubleRow<u32>,
        mut input: *const u8,
        mut output: *mut u8,
        mut len: usize,
    ) {
        let mut number = state[COUNTER];
        if len >= self.kernels.wide() * BLOCK {
            // SAFETY: the caller's promise.
            let wide = unsafe { run_wide(self.kernels, &state, input, output, len) };
            number = number.wrapping_add(counter(wide));
            input = input.wrapping_add(wide * BLOCK);
            output = output.wrapping_add(wide * BLOCK);
            len -= wide * BLOCK;
        }
        while len > 0 {
            let part = len.min(BLOCK);
            self.push(
                &state,
                number,
                Target::Text {
                    input,
                    output,
                    len: part,
                },
            );
            number = number.wrapping_add(1);
            input = input.wrapping_add(part);
            output = output.wrapping_add(part);
            len -= part;
        }
    }

    /// Adds block `number` of the message with this state.
    #[inline(always)]
    fn push(&mut self, state: &DoubleRow<u32>, number: u32, target: Target) {
        // The number goes into the copy: a copy of a changed state would wait for the change to
        // arrive in memory.
        let row = &mut self.rows[self.count];
        *row = *state;
        row[COUNTER] = number;
        self.target[self.count] = target;
        self.count += 1;
        if self.count == ROWS {
            self.flush();
        }
    }

    /// Runs the blocks that wait.
    #[inline]
    pub(super) fn flush(&mut self) {
        self.kernels.blocks(&mut self.rows, self.count);
        for (row, target) in self.rows.iter().zip(&self.target[..self.count]) {
            match *target {
                Target::Key(index) => self.keys[index].copy_from_slice(&row[..8]),
                Target::Text { input, output, len } if len == BLOCK => {
                    // SAFETY: the text is valid, as the caller of `text` promised.
                    unsafe { xor_block(row.as_ptr().cast(), input, output) };
                }
                Target::Text { input, output, len } => {
                    let mut block = [0; BLOCK];
                    // SAFETY: `len` < one block; the text is valid for `len` bytes.
                    unsafe {
                        copy_short(input, block.as_mut_ptr(), len);
                        let at = block.as_mut_ptr();
                        xor_block(row.as_ptr().cast(), at.cast_const(), at);
                        copy_short(block.as_ptr(), output, len);
                    }
                }
            }
        }
        self.count = 0;
    }
}

/// Runs as many blocks of a text as fill the widest registers; returns how many.
///
/// # Safety
/// As for [`Batch::text`].
#[inline(never)]
unsafe fn run_wide(
    kernels: &Kernels,
    state: &DoubleRow<u32>,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> usize {
    let wide = len / BLOCK / kernels.wide() * kernels.wide();
    let mut scratch = [[0; 16]; ROWS];
    // SAFETY: `wide` blocks are in `len` bytes.
    unsafe { kernels.run(state, input, output, wide, &mut scratch) };
    wipe(&mut scratch);
    wide
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        wipe(&mut self.rows);
    }
}

/// Blocks as a counter, which wraps as the specification's does.
#[allow(clippy::cast_possible_truncation)] // modulo 2³², as the counter
pub(super) fn counter(blocks: usize) -> u32 {
    blocks as u32
}
