//! Two registers as one of twice the lanes.

use crate::arch::register::Register;

use super::{DoubleRow, Row, WordLanes};

/// Lanes of `.0`, then lanes of `.1`.
#[derive(Clone, Copy)]
pub(crate) struct Pair<V>(V, V);

impl<V: WordLanes> Register for Pair<V> {
    type Proof = V::Proof;

    #[inline(always)]
    fn proof(self) -> V::Proof {
        self.0.proof()
    }
}

// SAFETY: both halves read and write their own `V::COUNT` lanes.
unsafe impl<V: WordLanes> WordLanes for Pair<V> {
    type Word = V::Word;
    const COUNT: usize = 2 * V::COUNT;
    const HOLDS_BLOCKS: bool = V::HOLDS_BLOCKS;

    #[inline(always)]
    fn splat(proof: V::Proof, word: Self::Word) -> Self {
        let half = V::splat(proof, word);
        Self(half, half)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), self.1.add(other.1))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0.xor(other.0), self.1.xor(other.1))
    }

    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        Self(self.0.xor3(b.0, c.0), self.1.xor3(b.1, c.1))
    }

    #[inline(always)]
    fn choose(self, b: Self, c: Self) -> Self {
        Self(self.0.choose(b.0, c.0), self.1.choose(b.1, c.1))
    }

    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        Self(self.0.majority(b.0, c.0), self.1.majority(b.1, c.1))
    }

    #[inline(always)]
    fn rotate<const R: i32, const L: i32>(self) -> Self {
        Self(self.0.rotate::<R, L>(), self.1.rotate::<R, L>())
    }

    #[inline(always)]
    fn shift<const N: i32>(self) -> Self {
        Self(self.0.shift::<N>(), self.1.shift::<N>())
    }

    #[inline(always)]
    fn in_step(self) -> Self {
        let (low, high) = self.0.tie(self.1);
        Self(low, high)
    }

    #[inline(always)]
    fn here(self) -> Self {
        let (low, high) = self.0.tie(self.1);
        Self(low.here(), high.here())
    }

    #[inline(always)]
    unsafe fn load_block(proof: V::Proof, at: *const *const u8, offset: usize) -> [Self; 16] {
        // SAFETY: the caller's `at` holds 2 · `V::COUNT` pointers, one half for each call.
        let (low, high) = unsafe {
            (
                V::load_block(proof, at, offset),
                V::load_block(proof, at.add(V::COUNT), offset),
            )
        };
        join(low, high)
    }

    #[inline(always)]
    unsafe fn load(proof: V::Proof, words: *const Self::Word) -> Self {
        // SAFETY: the caller's `words` holds 2 · `V::COUNT`, one half for each call.
        unsafe { Self(V::load(proof, words), V::load(proof, words.add(V::COUNT))) }
    }

    #[inline(always)]
    unsafe fn load_double_rows(proof: V::Proof, rows: *const DoubleRow<Self::Word>) -> [Self; 16] {
        // SAFETY: the caller's `rows` holds 2 · `V::COUNT`, one half for each call.
        let (low, high) = unsafe {
            (
                V::load_double_rows(proof, rows),
                V::load_double_rows(proof, rows.add(V::COUNT)),
            )
        };
        join(low, high)
    }

    #[inline(always)]
    unsafe fn store_double_rows(columns: [Self; 16], rows: *mut DoubleRow<Self::Word>) {
        let (low, high) = split(columns);
        // SAFETY: the caller's `rows` holds 2 · `V::COUNT`, one half for each call.
        unsafe {
            V::store_double_rows(low, rows);
            V::store_double_rows(high, rows.add(V::COUNT));
        }
    }

    #[inline(always)]
    unsafe fn xor_double_rows(
        columns: [Self; 16],
        input: *const u8,
        output: *mut u8,
        scratch: *mut DoubleRow<Self::Word>,
    ) {
        let (low, high) = split(columns);
        let half = V::COUNT * size_of::<DoubleRow<Self::Word>>();
        // SAFETY: the caller's memory is of 2 · `V::COUNT` double rows, one half for each call.
        unsafe {
            V::xor_double_rows(low, input, output, scratch);
            V::xor_double_rows(high, input.add(half), output.add(half), scratch);
        }
    }

    #[inline(always)]
    unsafe fn xor_block(proof: V::Proof, mask: *const u8, input: *const u8, output: *mut u8) {
        // SAFETY: the caller's promise, passed on.
        unsafe { V::xor_block(proof, mask, input, output) }
    }

    #[inline(always)]
    unsafe fn load_rows(proof: V::Proof, rows: *const Row<Self::Word>) -> [Self; 8] {
        // SAFETY: the caller's `rows` holds 2 · `V::COUNT` rows, one half for each call.
        let (low, high) = unsafe {
            (
                V::load_rows(proof, rows),
                V::load_rows(proof, rows.add(V::COUNT)),
            )
        };
        join(low, high)
    }

    #[inline(always)]
    unsafe fn store_rows(columns: [Self; 8], rows: *mut Row<Self::Word>) {
        let (low, high) = split(columns);
        // SAFETY: the caller's `rows` holds 2 · `V::COUNT` rows, one half for each call.
        unsafe {
            V::store_rows(low, rows);
            V::store_rows(high, rows.add(V::COUNT));
        }
    }
}

/// Two arrays of registers as one of pairs. Loops, as everywhere on the way of a register:
/// closures and array adaptors are not compiled with the instructions of the caller.
#[inline(always)]
fn join<V: WordLanes, const N: usize>(low: [V; N], high: [V; N]) -> [Pair<V>; N] {
    let mut pairs = [Pair(low[0], high[0]); N];
    for i in 1..N {
        pairs[i] = Pair(low[i], high[i]);
    }
    pairs
}

/// The inverse of [`join`].
#[inline(always)]
fn split<V: WordLanes, const N: usize>(pairs: [Pair<V>; N]) -> ([V; N], [V; N]) {
    let (mut low, mut high) = ([pairs[0].0; N], [pairs[0].1; N]);
    for i in 1..N {
        low[i] = pairs[i].0;
        high[i] = pairs[i].1;
    }
    (low, high)
}
