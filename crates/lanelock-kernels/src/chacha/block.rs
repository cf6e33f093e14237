//! The ChaCha20 block function (RFC 8439, section 2.3) over any lane type, one block per lane.

#![allow(unsafe_code)] // registers, and keystream through raw pointers

use crate::ahead;
use crate::arch::words::{Alone, Beside, DoubleRow, WordLanes};
use crate::bytes::xor_short;

/// "expand 32-byte k"
pub(super) const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// Index of the block counter in the state.
pub(super) const COUNTER: usize = 12;

/// The block function of every lane.
#[inline(always)]
pub(super) fn block<V: WordLanes<Word = u32>>(state: [V; 16]) -> [V; 16] {
    // SAFETY: nothing is beside it.
    unsafe { block_beside(state, &mut Alone) }
}

/// Parts of the rounds that other work runs beside.
pub(super) const PARTS: usize = 20;

/// The block function of every lane, and other work behind each of [`PARTS`] parts of its rounds.
///
/// # Safety
/// The conditions of `beside` hold.
#[inline(always)]
pub(super) unsafe fn block_beside<V: WordLanes<Word = u32>, B: Beside>(
    state: [V; 16],
    beside: &mut B,
) -> [V; 16] {
    let row = |i: usize| [state[i], state[i + 1], state[i + 2], state[i + 3]];
    let mut rows = [row(0), row(4), row(8), row(12)];
    for part in (0..PARTS).step_by(2) {
        rows = V::quarter_rounds(rows);
        // SAFETY: the caller's promise.
        unsafe { beside.behind(part, PARTS) };
        // Diagonals as columns.
        let [a, b, c, d] = rows;
        let [a, b, c, d] =
            V::quarter_rounds([a, turned::<_, 1>(b), turned::<_, 2>(c), turned::<_, 3>(d)]);
        rows = [a, turned::<_, 3>(b), turned::<_, 2>(c), turned::<_, 1>(d)];
        // SAFETY: the caller's promise.
        unsafe { beside.behind(part + 1, PARTS) };
    }
    let mut x = state;
    for i in 0..16 {
        x[i] = rows[i / 4][i % 4].add(state[i]);
    }
    x
}

/// A row from its word number `N` on.
#[inline(always)]
fn turned<T: Copy, const N: usize>(row: [T; 4]) -> [T; 4] {
    [row[N], row[(N + 1) % 4], row[(N + 2) % 4], row[(N + 3) % 4]]
}

/// Replaces each lane's state by its block of keystream, in native words.
///
/// # Safety
/// `rows` is valid for `lanes` rounded up to `V::COUNT`.
#[inline(always)]
pub(super) unsafe fn blocks<V: WordLanes<Word = u32>>(
    proof: V::Proof,
    rows: *mut DoubleRow<u32>,
    lanes: usize,
) {
    for first in (0..lanes).step_by(V::COUNT) {
        // SAFETY: whole groups are inside what the caller vouches for.
        unsafe {
            let rows = rows.add(first);
            V::store_double_rows(block(V::load_double_rows(proof, rows)), rows);
        }
    }
}

/// One message: XORs `blocks` blocks of keystream, a multiple of the lanes, from `first` blocks after the
/// state's counter on.
///
/// # Safety
/// `input` is valid for reading and `output` for writing `blocks` blocks; they are the same memory
/// or disjoint; `scratch` is valid for `V::COUNT` rows.
#[inline(always)]
pub(super) unsafe fn run<V: WordLanes<Word = u32>>(
    proof: V::Proof,
    state: &DoubleRow<u32>,
    first: u32,
    input: *const u8,
    output: *mut u8,
    blocks: usize,
    scratch: *mut DoubleRow<u32>,
) {
    let numbers: [u32; 32] = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
        25, 26, 27, 28, 29, 30, 31,
    ];
    const { assert!(V::COUNT <= 32) };
    let mut x = [V::splat(proof, 0); 16];
    for i in 0..16 {
        x[i] = V::splat(proof, state[i]);
    }
    // SAFETY: `numbers` has `V::COUNT` words at least.
    let numbers_of_lanes = unsafe { V::load(proof, numbers.as_ptr()) };
    x[COUNTER] = x[COUNTER].add(numbers_of_lanes).add(V::splat(proof, first));
    let step = V::splat(proof, numbers[V::COUNT - 1] + 1);
    for done in (0..blocks).step_by(V::COUNT) {
        ahead::ask(input, blocks * BLOCK, done * BLOCK, V::COUNT * BLOCK);
        // SAFETY: `scratch` has `V::COUNT` rows, and so many blocks are left.
        unsafe {
            let (input, output) = (input.add(done * BLOCK), output.add(done * BLOCK));
            V::xor_double_rows(block(x), input, output, scratch);
        }
        x[COUNTER] = x[COUNTER].add(step);
    }
}

/// XORs `len` bytes with blocks of keystream.
///
/// # Safety
/// `input` is valid for reading and `output` for writing `len` bytes; they are the same memory or
/// disjoint. `mask` is valid for reading as many blocks as cover them.
#[inline(always)]
pub(super) unsafe fn xor<V: WordLanes<Word = u32>>(
    proof: V::Proof,
    mask: *const DoubleRow<u32>,
    input: *const u8,
    output: *mut u8,
    len: usize,
) {
    let whole = len / BLOCK;
    // SAFETY: the caller's promises.
    unsafe {
        for block in 0..whole {
            let at = block * BLOCK;
            V::xor_block(proof, mask.add(block).cast(), input.add(at), output.add(at));
        }
        let rest = len % BLOCK;
        if rest > 0 {
            let at = whole * BLOCK;
            xor_short(mask.add(whole).cast(), input.add(at), output.add(at), rest);
        }
    }
}
