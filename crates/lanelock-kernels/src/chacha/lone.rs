//! The keystream of one short message: a register holds a row of the state of several consecutive
//! blocks, so that few blocks need no transposition.

#![allow(unsafe_code)] // raw rows

use core::mem::MaybeUninit;

use super::batch::counter;
use super::block::{BLOCK, COUNTER, block};
use super::kernels::Kernels;
use crate::arch::words::{DoubleRow, Rows};
use crate::bytes::{copy_short, xor_block};
use crate::wipe::wipe;

/// Most blocks of a [`Lone`]: a kilobyte and a one-time key.
pub(super) const MOST: usize = 17;

/// Rows for [`MOST`] blocks, rounded up to what registers of any tier write.
pub(super) const ROOM: usize = 24;

/// Consecutive blocks of keystream. Wiped on drop.
///
/// Invariant: the first `blocks` rows are initialised.
pub(super) struct Lone {
    rows: MaybeUninit<[DoubleRow<u32>; ROOM]>,
    blocks: usize,
}

impl Lone {
    /// No block yet.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            rows: MaybeUninit::uninit(),
            blocks: 0,
        }
    }

    /// Makes it `blocks` blocks from the state's counter on; where it lies, as a copy would take as
    /// long as a block.
    ///
    /// # Panics
    /// If there are more than [`MOST`], or it was filled before.
    #[inline]
    pub(super) fn fill(&mut self, kernels: &Kernels, state: &DoubleRow<u32>, blocks: usize) {
        assert!(self.blocks == 0, "a lone message has one key stream");
        assert!(blocks <= MOST, "a lone message is short");
        // SAFETY: `ROOM` rows, and no more than `MOST` blocks.
        unsafe { kernels.consecutive(state, self.rows.as_mut_ptr().cast(), blocks) };
        self.blocks = blocks;
    }

    /// Block `number`.
    #[inline]
    pub(super) fn block(&self, number: usize) -> &DoubleRow<u32> {
        assert!(number < self.blocks, "a block that was asked for");
        // SAFETY: the invariant.
        unsafe { &*self.rows.as_ptr().cast::<DoubleRow<u32>>().add(number) }
    }

    /// XORs `len` bytes with the blocks from `first` on.
    ///
    /// # Panics
    /// If there are not so many.
    ///
    /// # Safety
    /// `input` is valid for reading and `output` for writing `len` bytes; they are the same
    /// memory or disjoint.
    #[inline]
    pub(super) unsafe fn apply(&self, first: usize, input: *const u8, output: *mut u8, len: usize) {
        for at in (0..len).step_by(BLOCK) {
            let mask = self.block(first + at / BLOCK).as_ptr().cast();
            let (input, output) = (input.wrapping_add(at), output.wrapping_add(at));
            let part = (len - at).min(BLOCK);
            // SAFETY: `part` bytes from `at` on are the caller's.
            unsafe {
                if part == BLOCK {
                    xor_block(mask, input, output);
                    continue;
                }
                let mut block = [0; BLOCK];
                let block = block.as_mut_ptr();
                copy_short(input, block, part);
                xor_block(mask, block, block);
                copy_short(block, output, part);
            }
        }
    }
}

impl Drop for Lone {
    fn drop(&mut self) {
        // SAFETY: the invariant.
        wipe(unsafe {
            core::slice::from_raw_parts_mut(
                self.rows.as_mut_ptr().cast::<DoubleRow<u32>>(),
                self.blocks,
            )
        });
    }
}

/// Replaces `blocks` rows by the blocks from the state's counter on: in groups of one, two, four or
/// five registers for each row of the state, or, where that fills the widest registers best, of one
/// register for each of its words.
///
/// # Safety
/// `rows` is valid for writing [`ROOM`] rows, and `blocks` is at most [`MOST`].
#[inline(always)]
pub(super) unsafe fn consecutive<V: Rows>(
    proof: V::Proof,
    state: &DoubleRow<u32>,
    rows: *mut DoubleRow<u32>,
    blocks: usize,
) {
    let one = V::COUNT / 4;
    let mut done = 0;
    while done < blocks {
        // SAFETY: a group that begins below `blocks`; `MOST` rounded up to any group fits `ROOM`.
        unsafe {
            let rows = rows.add(done);
            let left = blocks - done;
            done += match left {
                _ if left <= one => group::<V, 1>(proof, state, done, rows),
                _ if left <= 2 * one => group::<V, 2>(proof, state, done, rows),
                _ if V::COUNT < 16 => group::<V, 4>(proof, state, done, rows),
                9..=16 => columns::<V>(proof, state, done, rows),
                17.. => group::<V, 5>(proof, state, done, rows),
                _ => group::<V, 4>(proof, state, done, rows),
            };
        }
    }
}

/// A register for each word of the state; how many blocks.
///
/// # Safety
/// `rows` is valid for writing so many rows.
#[inline(always)]
unsafe fn columns<V: Rows>(
    proof: V::Proof,
    state: &DoubleRow<u32>,
    first: usize,
    rows: *mut DoubleRow<u32>,
) -> usize {
    const NUMBERS: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    // SAFETY: the caller promises the rows; a register has at most sixteen words.
    unsafe {
        let mut x = [V::splat(proof, 0); 16];
        for i in 0..16 {
            x[i] = V::splat(proof, state[i]);
        }
        let numbers = V::load(proof, NUMBERS.as_ptr()).add(V::splat(proof, counter(first)));
        x[COUNTER] = x[COUNTER].add(numbers);
        V::store_double_rows(block(x), rows);
    }
    V::COUNT
}

/// Four additions, exclusive ors and rotations of all four columns, then of all diagonals.
macro_rules! rounds {
    ($a:ident $b:ident $c:ident $d:ident, $n:ident) => {
        rounds!(@ $n $a $b $d 16 16);
        rounds!(@ $n $c $d $b 20 12);
        rounds!(@ $n $a $b $d 24 8);
        rounds!(@ $n $c $d $b 25 7);
    };
    (@ $n:ident $to:ident $from:ident $turned:ident $right:literal $left:literal) => {
        for n in 0..$n {
            $to[n] = $to[n].add($from[n]);
        }
        for n in 0..$n {
            $turned[n] = $turned[n].xor($to[n]).rotate::<$right, $left>();
        }
    };
}

/// `N` registers of each row; how many blocks.
///
/// # Safety
/// `rows` is valid for writing so many rows.
#[inline(always)]
unsafe fn group<V: Rows, const N: usize>(
    proof: V::Proof,
    state: &DoubleRow<u32>,
    first: usize,
    rows: *mut DoubleRow<u32>,
) -> usize {
    const NUMBERS: [u32; 16] = [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0];
    let one = V::COUNT / 4;
    // SAFETY: the caller promises the rows; a register has at most sixteen words.
    unsafe {
        let row = |i: usize| V::broadcast_row(proof, state.as_ptr().add(4 * i));
        let (a0, b0, c0) = (row(0), row(1), row(2));
        let mut d0 = [row(3).add(V::load(proof, NUMBERS.as_ptr())); N];
        for (n, d) in d0.iter_mut().enumerate() {
            let step = [counter(first + n * one), 0, 0, 0];
            *d = d.add(V::broadcast_row(proof, step.as_ptr()));
        }
        let (mut a, mut b, mut c, mut d) = ([a0; N], [b0; N], [c0; N], d0);
        for _ in 0..10 {
            rounds!(a b c d, N);
            for n in 0..N {
                b[n] = b[n].turn::<0x39>();
                c[n] = c[n].turn::<0x4e>();
                d[n] = d[n].turn::<0x93>();
            }
            rounds!(a b c d, N);
            for n in 0..N {
                b[n] = b[n].turn::<0x93>();
                c[n] = c[n].turn::<0x4e>();
                d[n] = d[n].turn::<0x39>();
            }
        }
        let mut words = [[0_u32; 16]; 4];
        for n in 0..N {
            a[n].add(a0).store_row(words[0].as_mut_ptr());
            b[n].add(b0).store_row(words[1].as_mut_ptr());
            c[n].add(c0).store_row(words[2].as_mut_ptr());
            d[n].add(d0[n]).store_row(words[3].as_mut_ptr());
            for block in 0..one {
                let row: *mut [u32; 4] = rows.add(n * one + block).cast();
                for (i, words) in words.iter().enumerate() {
                    let words = words.as_ptr().add(4 * block).cast::<[u32; 4]>();
                    row.add(i).write(words.read());
                }
            }
        }
        wipe(&mut words);
    }
    N * one
}
