//! Consecutive blocks of one key stream. Where they are few, a register holds a row of the state of
//! several, so that they need no transposition.

#![allow(unsafe_code)] // raw rows
#![allow(clippy::needless_range_loop)] // an index names the register in every array

use super::batch::counter;
use super::block::{COUNTER, PARTS, block_beside};
use crate::arch::words::{Alone, Beside, DoubleRow, Rows};

/// Replaces `blocks` rows by the blocks from the state's counter on.
///
/// # Safety
/// `rows` is valid for writing [`lone::ROOM`](super::lone::ROOM) rows, and `blocks` is at most
/// [`lone::MOST`](super::lone::MOST).
#[inline(always)]
pub(super) unsafe fn consecutive<V: Rows>(
    proof: V::Proof,
    state: &DoubleRow<u32>,
    rows: *mut DoubleRow<u32>,
    blocks: usize,
) {
    let mut done = 0;
    while done < blocks {
        // SAFETY: a group that begins below `blocks`; `MOST` rounded up to any group fits `ROOM`.
        unsafe {
            let rows = rows.add(done);
            let left = blocks - done;
            done += match left {
                17.. if V::COUNT == 16 => group::<V, 5, _>(proof, state, done, rows, &mut Alone),
                _ => some::<V, _>(proof, state, done, rows, left, &mut Alone),
            };
        }
    }
}

/// Makes the blocks from number `first` on that are `left`, or as many as there are lanes, with other
/// work beside; returns how many. One or two registers, or three of 512 bits, have a row of each of a few
/// blocks; else a register has a word of each.
///
/// # Safety
/// `rows` is valid for writing as many rows as there are lanes. The conditions of `beside` hold.
#[inline(always)]
pub(super) unsafe fn some<V: Rows, B: Beside>(
    proof: V::Proof,
    state: &DoubleRow<u32>,
    first: usize,
    rows: *mut DoubleRow<u32>,
    left: usize,
    beside: &mut B,
) -> usize {
    let one = V::COUNT / 4;
    // SAFETY: the caller's promises: so many times `one` rows are as many quarters of those for all lanes.
    unsafe {
        if left <= one {
            group::<V, 1, B>(proof, state, first, rows, beside)
        } else if left <= 2 * one {
            group::<V, 2, B>(proof, state, first, rows, beside)
        } else if V::COUNT == 16 && left <= 3 * one {
            group::<V, 3, B>(proof, state, first, rows, beside)
        } else {
            columns::<V, B>(proof, state, first, rows, beside)
        }
    }
}

/// A register for each word of the state; how many blocks.
///
/// # Safety
/// `rows` is valid for writing so many rows. The conditions of `beside` hold.
#[inline(always)]
unsafe fn columns<V: Rows, B: Beside>(
    proof: V::Proof,
    state: &DoubleRow<u32>,
    first: usize,
    rows: *mut DoubleRow<u32>,
    beside: &mut B,
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
        V::store_double_rows(block_beside(x, beside), rows);
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
/// `rows` is valid for writing so many rows. The conditions of `beside` hold.
#[inline(always)]
unsafe fn group<V: Rows, const N: usize, B: Beside>(
    proof: V::Proof,
    state: &DoubleRow<u32>,
    first: usize,
    rows: *mut DoubleRow<u32>,
    beside: &mut B,
) -> usize {
    const NUMBERS: [u32; 16] = [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0];
    let one = V::COUNT / 4;
    // SAFETY: the caller promises the rows; a register has at most sixteen words.
    unsafe {
        let row = |i: usize| V::broadcast_row(proof, state.as_ptr().add(4 * i));
        let (a0, b0, c0) = (row(0), row(1), row(2));
        // The last row has been written in parts, for which a load of the whole would wait until all of
        // them are in memory. The compiler would join these loads.
        let mut last = [0; 4];
        for (i, word) in last.iter_mut().enumerate() {
            *word = state.as_ptr().add(COUNTER + i).read_volatile();
        }
        let last = V::broadcast_row(proof, last.as_ptr());
        let mut d0 = [last.add(V::load(proof, NUMBERS.as_ptr())); N];
        for (n, d) in d0.iter_mut().enumerate() {
            let step = [counter(first + n * one), 0, 0, 0];
            *d = d.add(V::broadcast_row(proof, step.as_ptr()));
        }
        let state = [[a0; N], [b0; N], [c0; N], d0];
        let blocks = block_of_rows::<V, N, B>(state, beside);
        for n in 0..N {
            V::store_of_rows(blocks[n], rows.add(n * one));
        }
    }
    N * one
}

/// Replaces the states of a quarter of `N` registers of words by their blocks of keystream.
///
/// # Safety
/// `rows` is valid for reading and writing so many rows.
#[inline(always)]
pub(super) unsafe fn scattered<V: Rows, const N: usize>(
    proof: V::Proof,
    rows: *mut DoubleRow<u32>,
) {
    let one = V::COUNT / 4;
    // SAFETY: the caller promises the rows; nothing is beside the rounds.
    unsafe {
        let zero = V::splat(proof, 0);
        let mut state = [[zero; N]; 4];
        for n in 0..N {
            let rows = V::load_of_rows(proof, rows.add(n * one));
            for i in 0..4 {
                state[i][n] = rows[i];
            }
        }
        let blocks = block_of_rows::<V, N, _>(state, &mut Alone);
        for n in 0..N {
            V::store_of_rows(blocks[n], rows.add(n * one));
        }
    }
}

/// The block function of `N` registers of each row, with other work beside. Results are register by
/// register.
///
/// # Safety
/// The conditions of `beside` hold.
#[inline(always)]
unsafe fn block_of_rows<V: Rows, const N: usize, B: Beside>(
    state: [[V; N]; 4],
    beside: &mut B,
) -> [[V; 4]; N] {
    let [mut a, mut b, mut c, mut d] = state;
    for part in (0..PARTS).step_by(2) {
        rounds!(a b c d, N);
        // Diagonals as columns: the other rows turn against the second, which is the last to be ready.
        for n in 0..N {
            a[n] = a[n].turn::<0x93>();
            d[n] = d[n].turn::<0x4e>();
            c[n] = c[n].turn::<0x39>();
        }
        // SAFETY: the caller's promise.
        unsafe { beside.behind(part, PARTS) };
        rounds!(a b c d, N);
        for n in 0..N {
            a[n] = a[n].turn::<0x39>();
            d[n] = d[n].turn::<0x4e>();
            c[n] = c[n].turn::<0x93>();
        }
        // SAFETY: the caller's promise.
        unsafe { beside.behind(part + 1, PARTS) };
    }
    let mut blocks = [[a[0]; 4]; N];
    for n in 0..N {
        blocks[n] = [
            a[n].add(state[0][n]),
            b[n].add(state[1][n]),
            c[n].add(state[2][n]),
            d[n].add(state[3][n]),
        ];
    }
    blocks
}
