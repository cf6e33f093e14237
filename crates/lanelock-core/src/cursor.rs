//! A walk through an operation's payload that yields runs contiguous in input and output.

#![allow(unsafe_code)] // reads and writes the caller's memory inside the bounds of its spans

use std::marker::PhantomData;
use std::ptr;

use crate::buffer::{Segment, Span};

/// Largest block that [`Cursor::for_each_block_run`] gathers, in bytes.
pub const MAX_BLOCK: usize = 64;

/// A position in input and output that moves through both in step.
///
/// Each segment is visited once; empty ones are skipped. Borrowed from the operation, so the
/// memory stays put while the cursor lives. Not `Clone`: two cursors over one payload would hand
/// out the same output bytes twice.
#[derive(Debug)]
pub struct Cursor<'o> {
    input: Walk,
    output: Walk,
    remaining: usize,
    operation: PhantomData<&'o mut [u8]>,
}

/// Bytes that are contiguous in input and in output. The two are the same memory or disjoint.
#[derive(Debug)]
pub struct Run<'o> {
    input: *const u8,
    output: *mut u8,
    len: usize,
    operation: PhantomData<&'o mut [u8]>,
}

/// A position in one span. `at` is valid for `left` bytes; the list's rest is `next`.
#[derive(Clone, Copy, Debug)]
struct Walk {
    at: *mut u8,
    left: usize,
    next: *const Segment,
    segments: u32,
}

impl<'o> Cursor<'o> {
    /// Starts at `input_offset` and `output_offset` and covers `len` bytes.
    ///
    /// # Safety
    /// Both spans are valid for `'o` as their invariant says, the output for writes; both hold at
    /// least `offset + len` bytes; and over those bytes the output is the input's own memory at
    /// the same position, or disjoint from it.
    #[inline]
    pub(crate) unsafe fn new(
        input: &Span,
        input_offset: u32,
        output: &Span,
        output_offset: u32,
        len: u32,
    ) -> Self {
        Self {
            input: Walk::new(input, input_offset),
            output: Walk::new(output, output_offset),
            remaining: len as usize,
            operation: PhantomData,
        }
    }

    /// Bytes not yet passed.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.remaining
    }

    /// Returns the next run, of at most `limit` bytes, and moves past it; `None` at the end.
    #[inline]
    pub fn next_run(&mut self, limit: usize) -> Option<Run<'o>> {
        let len = self.run_len().min(limit);
        self.step(len)
    }

    /// The next `len` bytes, which are contiguous; `None` of no bytes.
    #[inline]
    fn step(&mut self, len: usize) -> Option<Run<'o>> {
        if len == 0 {
            return None;
        }
        let run = Run {
            input: self.input.at,
            output: self.output.at,
            len,
            operation: PhantomData,
        };
        self.remaining -= len;
        self.input.skip(len);
        self.output.skip(len);
        Some(run)
    }

    /// Everything that remains, if it is one run; otherwise the cursor does not move.
    #[inline]
    pub fn next_if_whole(&mut self) -> Option<Run<'o>> {
        let len = self.run_len();
        if len == self.remaining {
            self.step(len)
        } else {
            None
        }
    }

    /// Two cursors: over the next `len` bytes, and over the rest.
    ///
    /// # Panics
    /// If fewer remain.
    #[must_use]
    #[inline]
    pub fn split_at(mut self, len: usize) -> (Self, Self) {
        (self.take_front(len), self)
    }

    /// A cursor over the next `len` bytes, which this one moves past.
    ///
    /// # Panics
    /// If fewer remain.
    #[inline]
    pub fn take_front(&mut self, len: usize) -> Self {
        let front = Self {
            remaining: len,
            ..*self
        };
        self.advance(len);
        front
    }

    /// Moves past `len` bytes, across segments.
    ///
    /// # Panics
    /// If fewer remain.
    #[inline]
    pub fn advance(&mut self, len: usize) {
        self.remaining = self
            .remaining
            .checked_sub(len)
            .expect("advance stays in the payload");
        self.input.advance(len);
        self.output.advance(len);
    }

    /// Copies the next input bytes into `to`, without moving.
    ///
    /// # Panics
    /// If fewer remain.
    pub fn copy_in(&self, to: &mut [u8]) {
        self.copy_in_at(0, to);
    }

    /// Copies the input bytes from `offset` past the position into `to`, without moving.
    ///
    /// # Panics
    /// If fewer remain.
    pub fn copy_in_at(&self, offset: usize, to: &mut [u8]) {
        let fits = offset
            .checked_add(to.len())
            .is_some_and(|end| end <= self.remaining);
        assert!(fits, "copy_in stays in the payload");
        let mut walk = self.input;
        walk.advance(offset);
        let mut done = 0;
        while done < to.len() {
            walk.settle();
            let n = walk.left.min(to.len() - done);
            // SAFETY: `walk.at` is valid for `left` ≥ n bytes; `to` has n more from `done`.
            unsafe { ptr::copy_nonoverlapping(walk.at, to.as_mut_ptr().add(done), n) };
            walk.skip(n);
            done += n;
        }
    }

    /// Copies `from` to the next output bytes and moves past them.
    ///
    /// # Panics
    /// If fewer remain.
    pub fn copy_out(&mut self, from: &[u8]) {
        let mut rest = from;
        while !rest.is_empty() {
            let run = self
                .next_run(rest.len())
                .expect("copy_out stays in the payload");
            let (now, later) = rest.split_at(run.len);
            // SAFETY: the run's output is valid for `len` bytes, and `now` has as many.
            unsafe { ptr::copy_nonoverlapping(now.as_ptr(), run.output, run.len) };
            rest = later;
        }
    }

    /// Returns the next run of whole blocks of `block` bytes, and moves past it; `None` at the end,
    /// and if the next block straddles a boundary or is not whole.
    ///
    /// # Panics
    /// If `block` is 0.
    #[inline]
    pub fn next_whole_blocks(&mut self, block: usize) -> Option<Run<'o>> {
        let whole = self.run_len() / block * block;
        self.step(whole)
    }

    /// Hands the rest to `f` in runs of whole blocks of `block` bytes; only the last run may end
    /// in a partial block. A block that straddles a boundary is gathered, handed over by itself
    /// in place, and scattered, so that `f` sees each block once and in order. Stops at the first
    /// error.
    ///
    /// # Errors
    /// What `f` returned.
    ///
    /// # Panics
    /// If `block` is 0 or above [`MAX_BLOCK`].
    #[inline]
    pub fn for_each_block_run<E>(
        mut self,
        block: usize,
        mut f: impl FnMut(Run<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        assert!((1..=MAX_BLOCK).contains(&block), "block of {block} bytes");
        while self.remaining > 0 {
            let here = self.run_len();
            let whole = if here == self.remaining {
                here
            } else {
                here / block * block
            };
            if let Some(run) = self.step(whole) {
                f(run)?;
                continue;
            }
            let mut gathered = [0_u8; MAX_BLOCK];
            let gathered = &mut gathered[..block.min(self.remaining)];
            self.copy_in(gathered);
            f(Run::in_place(gathered))?;
            self.copy_out(gathered);
        }
        Ok(())
    }

    /// Length of the next run, 0 at the end.
    #[inline]
    fn run_len(&mut self) -> usize {
        if self.remaining == 0 {
            return 0;
        }
        self.input.settle();
        self.output.settle();
        self.input.left.min(self.output.left).min(self.remaining)
    }
}

impl<'o> Run<'o> {
    /// A run over what two pointers name.
    ///
    /// # Safety
    /// For `'o`, `input` is valid for reads and `output` for reads and writes of `len` bytes; they
    /// are the same memory or disjoint.
    #[inline]
    pub(crate) unsafe fn new(input: *const u8, output: *mut u8, len: usize) -> Self {
        Self {
            input,
            output,
            len,
            operation: PhantomData,
        }
    }

    /// A run over one slice.
    #[must_use]
    pub fn in_place(data: &'o mut [u8]) -> Self {
        let output = data.as_mut_ptr();
        Self {
            input: output,
            output,
            len: data.len(),
            operation: PhantomData,
        }
    }

    /// Length in bytes; never 0 from a cursor.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the output is the input's own memory.
    #[must_use]
    #[inline]
    pub fn is_in_place(&self) -> bool {
        self.input == self.output.cast_const()
    }

    /// Two runs: the first `len` bytes, and the rest.
    ///
    /// # Panics
    /// If the run is shorter.
    #[must_use]
    #[inline]
    pub fn split_at(self, len: usize) -> (Self, Self) {
        let rest = self.len.checked_sub(len).expect("split inside the run");
        let tail = Self {
            input: self.input.wrapping_add(len),
            output: self.output.wrapping_add(len),
            len: rest,
            ..self
        };
        (Self { len, ..self }, tail)
    }

    /// First input byte; valid for [`Run::len`] bytes while the run lives.
    #[must_use]
    #[inline]
    pub fn input(&self) -> *const u8 {
        self.input
    }

    /// First output byte; valid for reads and writes of [`Run::len`] bytes while the run lives.
    #[must_use]
    #[inline]
    pub fn output(&self) -> *mut u8 {
        self.output
    }

    /// The input as a slice.
    #[must_use]
    pub fn input_bytes(&self) -> &[u8] {
        // SAFETY: valid for `len` bytes, and nothing writes them while this borrow lives: the
        // output is only reachable through `&mut self` or the raw pointer.
        unsafe { std::slice::from_raw_parts(self.input, self.len) }
    }

    /// The output as a slice. In place it still holds the input.
    #[must_use]
    pub fn output_bytes(&mut self) -> &mut [u8] {
        // SAFETY: valid for `len` bytes of writes, exclusively borrowed with the run.
        unsafe { std::slice::from_raw_parts_mut(self.output, self.len) }
    }

    /// Copies input to output, after which the run is in place.
    pub fn copy_through(&mut self) {
        if self.is_in_place() {
            return;
        }
        // SAFETY: both are valid for `len` bytes, and not being the same memory, disjoint.
        unsafe { ptr::copy_nonoverlapping(self.input, self.output, self.len) };
        self.input = self.output;
    }

    /// Writes input XOR `keystream` to the output.
    ///
    /// # Panics
    /// If `keystream` is shorter than the run.
    pub fn xor_through(&mut self, keystream: &[u8]) {
        self.copy_through();
        let len = self.len;
        for (byte, key) in self.output_bytes().iter_mut().zip(&keystream[..len]) {
            *byte ^= key;
        }
    }
}

impl Walk {
    #[inline]
    fn new(span: &Span, offset: u32) -> Self {
        let mut walk = if span.segments() == 0 {
            Self {
                at: span.base,
                left: span.len() as usize,
                next: ptr::null(),
                segments: 0,
            }
        } else {
            Self {
                at: ptr::null_mut(),
                left: 0,
                next: span.base.cast::<Segment>().cast_const(),
                segments: span.segments(),
            }
        };
        walk.advance(offset as usize);
        walk
    }

    /// Steps over `len` bytes, which the list holds.
    #[inline]
    fn advance(&mut self, len: usize) {
        let mut len = len;
        while len > self.left && self.segments > 0 {
            len -= self.left;
            self.open_next();
        }
        self.skip(len);
    }

    /// Steps over `len` bytes of the current segment.
    #[inline]
    fn skip(&mut self, len: usize) {
        debug_assert!(len <= self.left);
        self.at = self.at.wrapping_add(len);
        self.left -= len;
    }

    /// Moves to the next segment that has bytes, if this one is used up.
    #[inline]
    fn settle(&mut self) {
        while self.left == 0 && self.segments > 0 {
            self.open_next();
        }
    }

    fn open_next(&mut self) {
        // SAFETY: `next` points at `segments` ≥ 1 more entries of the list: both callers check.
        let segment = unsafe { self.next.read() };
        self.at = segment.base;
        self.left = segment.len;
        self.next = self.next.wrapping_add(1);
        self.segments -= 1;
    }
}

/// Calls `f` with each contiguous piece of `offset..offset + len`, in order.
///
/// # Safety
/// The span is valid as its invariant says while `f` runs, holds `offset + len` bytes, and nothing
/// writes them meanwhile.
#[inline]
pub(crate) unsafe fn for_each_piece<E>(
    span: &Span,
    offset: u32,
    len: u32,
    mut f: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut walk = Walk::new(span, offset);
    let mut left = len as usize;
    while left > 0 {
        walk.settle();
        let n = walk.left.min(left);
        if n == 0 {
            break; // a span shorter than its caller promised
        }
        // SAFETY: `walk.at` is valid for `left` ≥ n bytes, unwritten while `f` runs.
        f(unsafe { std::slice::from_raw_parts(walk.at, n) })?;
        walk.skip(n);
        left -= n;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
