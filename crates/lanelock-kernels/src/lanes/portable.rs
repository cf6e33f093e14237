//! One lane in a plain integer: the portable tier.

use super::{DoubleRow, Lanes, Row};

macro_rules! portable {
    ($word:ident) => {
        // SAFETY: one lane is read and written.
        unsafe impl Lanes for $word {
            type Word = $word;
            const COUNT: usize = 1;

            #[inline(always)]
            unsafe fn splat(word: $word) -> Self {
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
            unsafe fn load_block(at: *const *const u8, offset: usize) -> [Self; 16] {
                // SAFETY: the one pointer is valid for 16 words from `offset`.
                let block = unsafe { at.read().add(offset) };
                // SAFETY: as above; no alignment is needed.
                let words = unsafe { block.cast::<[$word; 16]>().read_unaligned() };
                words.map($word::from_be)
            }

            #[inline(always)]
            unsafe fn load(words: *const $word) -> Self {
                // SAFETY: the caller's `words` is valid for one.
                unsafe { words.read() }
            }

            #[inline(always)]
            unsafe fn load_double_rows(rows: *const DoubleRow<$word>) -> [Self; 16] {
                // SAFETY: the caller's `rows` is valid for one.
                unsafe { rows.read() }
            }

            #[inline(always)]
            unsafe fn store_double_rows(columns: [Self; 16], rows: *mut DoubleRow<$word>) {
                // SAFETY: the caller's `rows` is valid for one.
                unsafe { rows.write(columns) }
            }

            #[inline(always)]
            unsafe fn xor_block(mask: *const u8, input: *const u8, output: *mut u8) {
                // SAFETY: the caller's promise, passed on.
                unsafe { crate::bytes::xor_block(mask, input, output) }
            }

            #[inline(always)]
            unsafe fn load_rows(rows: *const Row<$word>) -> [Self; 8] {
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
