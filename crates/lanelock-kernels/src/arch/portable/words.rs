//! One lane in a plain integer, and a row of four words in an array of them.

use crate::arch::register::Register;
use crate::arch::words::{DoubleRow, LongLanes, Row, Rows, WordLanes};

macro_rules! portable {
    ($word:ident) => {
        impl Register for $word {
            type Proof = ();

            #[inline(always)]
            fn proof(self) {}
        }

        // SAFETY: one lane is read and written.
        unsafe impl WordLanes for $word {
            type Word = $word;
            const COUNT: usize = 1;

            #[inline(always)]
            fn splat((): (), word: $word) -> Self {
                word
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn xor3(self, b: Self, c: Self) -> Self {
                self ^ b ^ c
            }

            #[inline(always)]
            fn choose(self, b: Self, c: Self) -> Self {
                c ^ (self & (b ^ c))
            }

            #[inline(always)]
            fn majority(self, b: Self, c: Self) -> Self {
                (self & b) | (c & (self | b))
            }

            #[inline(always)]
            fn rotate<const R: i32, const L: i32>(self) -> Self {
                const { assert!((R + L).unsigned_abs() == $word::BITS) };
                self.rotate_right(R.unsigned_abs())
            }

            #[inline(always)]
            fn shift<const N: i32>(self) -> Self {
                self >> N
            }

            #[inline(always)]
            unsafe fn load_block((): (), at: *const *const u8, offset: usize) -> [Self; 16] {
                // SAFETY: the one pointer is valid for 16 words from `offset`.
                let block = unsafe { at.read().add(offset) };
                // SAFETY: as above; no alignment is needed.
                let words = unsafe { block.cast::<[$word; 16]>().read_unaligned() };
                words.map($word::from_be)
            }

            #[inline(always)]
            unsafe fn load((): (), words: *const $word) -> Self {
                // SAFETY: the caller's `words` is valid for one.
                unsafe { words.read() }
            }

            #[inline(always)]
            unsafe fn load_double_rows((): (), rows: *const DoubleRow<$word>) -> [Self; 16] {
                // SAFETY: the caller's `rows` is valid for one.
                unsafe { rows.read() }
            }

            #[inline(always)]
            unsafe fn store_double_rows(columns: [Self; 16], rows: *mut DoubleRow<$word>) {
                // SAFETY: the caller's `rows` is valid for one.
                unsafe { rows.write(columns) }
            }

            #[inline(always)]
            unsafe fn xor_block((): (), mask: *const u8, input: *const u8, output: *mut u8) {
                // SAFETY: the caller's promise, passed on.
                unsafe { crate::bytes::xor_block(mask, input, output) }
            }

            #[inline(always)]
            unsafe fn load_rows((): (), rows: *const Row<$word>) -> [Self; 8] {
                // SAFETY: the caller's `rows` is valid for one row.
                unsafe { rows.read() }
            }

            #[inline(always)]
            unsafe fn store_rows(columns: [Self; 8], rows: *mut Row<$word>) {
                // SAFETY: the caller's `rows` is valid for one row.
                unsafe { rows.write(columns) }
            }
        }
    };
}

portable!(u32);
portable!(u64);

// SAFETY: one pointer is read, one word written.
unsafe impl LongLanes for u64 {
    #[inline(always)]
    fn xor_and_not(self, b: Self, c: Self) -> Self {
        self ^ (!b & c)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }

    #[inline(always)]
    fn shift_left<const N: i32>(self) -> Self {
        self << N
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        let low = u64::from(u32::MAX);
        (self & low) * (other & low)
    }

    #[inline(always)]
    unsafe fn load_pairs((): (), at: *const *const u8, offset: usize) -> (Self, Self) {
        // SAFETY: the one pointer is valid for 16 bytes from `offset`; no alignment is needed.
        let [low, high] = unsafe { at.read().add(offset).cast::<[u64; 2]>().read_unaligned() };
        (u64::from_le(low), u64::from_le(high))
    }

    #[inline(always)]
    unsafe fn load_words((): (), at: *const *const u8, offset: usize) -> [Self; 8] {
        // SAFETY: the one pointer is valid for 64 bytes from `offset`; no alignment is needed.
        let words = unsafe { at.read().add(offset).cast::<[u64; 8]>().read_unaligned() };
        crate::arrays::map(words, u64::from_le)
    }

    #[inline(always)]
    unsafe fn store(self, words: *mut u64) {
        // SAFETY: the caller's `words` is valid for one.
        unsafe { words.write(self) }
    }
}

/// A row of four words.
#[derive(Clone, Copy)]
pub struct Quad([u32; 4]);

impl Quad {
    /// Word by word, from those of two rows.
    fn each(self, other: Self, word: impl Fn(u32, u32) -> u32) -> Self {
        Self(crate::arrays::from_fn(|i| word(self.0[i], other.0[i])))
    }
}

impl Register for Quad {
    type Proof = ();

    fn proof(self) {}
}

// SAFETY: four lanes are read and written.
unsafe impl WordLanes for Quad {
    type Word = u32;
    const COUNT: usize = 4;

    fn splat((): (), word: u32) -> Self {
        Self([word; 4])
    }

    fn add(self, other: Self) -> Self {
        self.each(other, u32::wrapping_add)
    }

    fn xor(self, other: Self) -> Self {
        self.each(other, |a, b| a ^ b)
    }

    fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }

    fn choose(self, b: Self, c: Self) -> Self {
        c.xor(self.each(b.xor(c), |a, b| a & b))
    }

    fn majority(self, b: Self, c: Self) -> Self {
        // Where the first two differ, the third decides.
        self.xor(b).choose(c, self)
    }

    fn rotate<const R: i32, const L: i32>(self) -> Self {
        self.each(self, |word, _| WordLanes::rotate::<R, L>(word))
    }

    fn shift<const N: i32>(self) -> Self {
        self.each(self, |word, _| word >> N)
    }

    unsafe fn load_block((): (), at: *const *const u8, offset: usize) -> [Self; 16] {
        // SAFETY: the caller's four pointers, each valid for 16 words from `offset`.
        let blocks = [0, 1, 2, 3].map(|lane| unsafe { u32::load_block((), at.add(lane), offset) });
        columns(&blocks)
    }

    unsafe fn load((): (), words: *const u32) -> Self {
        // SAFETY: the caller's `words` is valid for four.
        Self(unsafe { words.cast::<[u32; 4]>().read() })
    }

    unsafe fn load_double_rows((): (), rows: *const DoubleRow<u32>) -> [Self; 16] {
        // SAFETY: the caller's `rows` is valid for four.
        columns(unsafe { &*rows.cast::<[DoubleRow<u32>; 4]>() })
    }

    unsafe fn store_double_rows(columns: [Self; 16], rows: *mut DoubleRow<u32>) {
        for lane in 0..4 {
            // SAFETY: the caller's `rows` is valid for four.
            unsafe { rows.add(lane).write(columns.map(|column| column.0[lane])) };
        }
    }

    unsafe fn xor_block((): (), mask: *const u8, input: *const u8, output: *mut u8) {
        // SAFETY: the caller's promise, passed on.
        unsafe { crate::bytes::xor_block(mask, input, output) }
    }

    unsafe fn load_rows((): (), rows: *const Row<u32>) -> [Self; 8] {
        // SAFETY: the caller's `rows` is valid for four.
        columns(unsafe { &*rows.cast::<[Row<u32>; 4]>() })
    }

    unsafe fn store_rows(columns: [Self; 8], rows: *mut Row<u32>) {
        for lane in 0..4 {
            // SAFETY: the caller's `rows` is valid for four.
            unsafe { rows.add(lane).write(columns.map(|column| column.0[lane])) };
        }
    }
}

/// Rows as columns.
fn columns<const N: usize>(rows: &[[u32; N]; 4]) -> [Quad; N] {
    crate::arrays::from_fn(|word| Quad([0, 1, 2, 3].map(|lane| rows[lane][word])))
}

// SAFETY: one row is read and written.
unsafe impl Rows for Quad {
    unsafe fn broadcast_row((): (), row: *const u32) -> Self {
        // SAFETY: the caller's `row` is valid for four words.
        unsafe { Self::load((), row) }
    }

    fn turn<const ORDER: i32>(self) -> Self {
        Self([0, 2, 4, 6].map(|shift| self.0[(ORDER >> shift & 3).unsigned_abs() as usize]))
    }

    unsafe fn load_of_rows((): (), from: *const DoubleRow<u32>) -> [Self; 4] {
        // SAFETY: the caller's `from` is valid for one.
        unsafe { from.cast::<[[u32; 4]; 4]>().read() }.map(Self)
    }

    unsafe fn store_of_rows(rows: [Self; 4], to: *mut DoubleRow<u32>) {
        // SAFETY: the caller's `to` is valid for one.
        unsafe { to.cast::<[[u32; 4]; 4]>().write(rows.map(|row| row.0)) }
    }
}
