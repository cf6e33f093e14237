//! 512-bit registers: sixteen 32-bit words or eight 64-bit words.
//!
//! A block of SHA-1 or SHA-256 is one cache line, so each lane is read by one load per block and
//! the words are sorted by a transpose in registers: lanes at a power-of-two stride share a cache
//! set, and a line that is read word by word would be evicted between two of its words.

mod shuffles;
mod wide;

use core::arch::x86_64::*;

use crate::arch::register::Register;
use crate::arch::words::{Compression, DoubleRow, LongLanes, Row, Rows, WordLanes};
use crate::arch::x86_64::detect::Avx512;
use crate::arch::x86_64::digits::load_pairs;
use crate::arch::x86_64::sha512;

use shuffles::{
    SWAP_32, SWAP_64, gather_quarters, here, load_swapped, multiply, tie, transpose_eight,
    transpose_quarters, transpose_sixteen,
};

pub use wide::Wide;

/// Sixteen lanes of 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct U32x16<P>(__m512i, P);

/// Eight lanes of 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct U64x8<P>(__m512i, P);

const _: () = assert!(size_of::<U32x16<Avx512>>() == 64 && size_of::<U64x8<Avx512>>() == 64);

impl<P: Wide> Register for U32x16<P> {
    type Proof = P;

    #[inline(always)]
    fn proof(self) -> P {
        self.1
    }
}

impl<P: Wide> Register for U64x8<P> {
    type Proof = P;

    #[inline(always)]
    fn proof(self) -> P {
        self.1
    }
}

/// The functions of [`WordLanes`] that have the same shape for both widths.
macro_rules! arithmetic {
    ($splat:ident($word:ident), $add:ident, $xor:ident, $ternary:ident, $rotate:ident,
     $shift:ident) => {
        #[inline(always)]
        fn splat(proof: P, word: Self::Word) -> Self {
            // SAFETY: the token is the proof of AVX-512 F.
            Self(unsafe { $splat(word.cast_signed()) }, proof)
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: `self.1` is the proof of AVX-512 F.
            Self(unsafe { $add(self.0, other.0) }, self.1)
        }

        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { $xor(self.0, other.0) }, self.1)
        }

        #[inline(always)]
        fn xor3(self, b: Self, c: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { $ternary::<0x96>(self.0, b.0, c.0) }, self.1)
        }

        #[inline(always)]
        fn choose(self, b: Self, c: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { $ternary::<0xca>(self.0, b.0, c.0) }, self.1)
        }

        #[inline(always)]
        fn majority(self, b: Self, c: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { $ternary::<0xe8>(self.0, b.0, c.0) }, self.1)
        }

        #[inline(always)]
        unsafe fn xor_block(_: P, mask: *const u8, input: *const u8, output: *mut u8) {
            // SAFETY: the token is the proof of AVX-512; the caller promises 64 bytes each.
            unsafe {
                for part in 0..1 {
                    let mask = _mm512_loadu_si512(mask.cast::<__m512i>().add(part));
                    let text = _mm512_loadu_si512(input.cast::<__m512i>().add(part));
                    _mm512_storeu_si512(
                        output.cast::<__m512i>().add(part),
                        _mm512_xor_si512(mask, text),
                    );
                }
            }
        }

        #[inline(always)]
        fn tie(self, other: Self) -> (Self, Self) {
            // SAFETY: as above.
            let (a, b) = unsafe { tie(self.0, other.0) };
            (Self(a, self.1), Self(b, self.1))
        }

        #[inline(always)]
        fn here(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { here(self.0) }, self.1)
        }

        #[inline(always)]
        fn rotate<const R: i32, const L: i32>(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { $rotate::<R>(self.0) }, self.1)
        }

        #[inline(always)]
        fn shift<const N: i32>(self) -> Self {
            // SAFETY: as above. The count is a constant, so this is the immediate form.
            Self(unsafe { $shift(self.0, _mm_cvtsi32_si128(N)) }, self.1)
        }
    };
}

// SAFETY: the loads and stores are of one register.
unsafe impl<P: Wide> Rows for U32x16<P> {
    #[inline(always)]
    unsafe fn broadcast_row(proof: P, row: *const u32) -> Self {
        // SAFETY: the token is the proof of AVX-512; the caller promises four words.
        unsafe { Self(_mm512_broadcast_i32x4(_mm_loadu_si128(row.cast())), proof) }
    }

    #[inline(always)]
    fn turn<const ORDER: i32>(self) -> Self {
        // SAFETY: `self.1` is the proof of AVX-512.
        Self(unsafe { _mm512_shuffle_epi32::<ORDER>(self.0) }, self.1)
    }

    #[inline(always)]
    unsafe fn load_of_rows(proof: P, from: *const DoubleRow<u32>) -> [Self; 4] {
        // SAFETY: the token is the proof of AVX-512; the caller promises four double rows.
        unsafe {
            let mut lines = [_mm512_setzero_si512(); 4];
            for i in 0..4 {
                lines[i] = _mm512_loadu_si512(from.add(i).cast());
            }
            let [a, b, c, d] = gather_quarters(proof, lines);
            [
                Self(a, proof),
                Self(b, proof),
                Self(c, proof),
                Self(d, proof),
            ]
        }
    }

    #[inline(always)]
    unsafe fn store_of_rows([a, b, c, d]: [Self; 4], to: *mut DoubleRow<u32>) {
        let blocks = gather_quarters(a.1, [a.0, b.0, c.0, d.0]);
        for i in 0..4 {
            // SAFETY: the registers are the proof of AVX-512; the caller promises four double rows.
            unsafe { _mm512_storeu_si512(to.add(i).cast(), blocks[i]) };
        }
    }
}

// SAFETY: sixteen pointers or rows are read and written.
unsafe impl<P: Wide> WordLanes for U32x16<P> {
    type Word = u32;
    const COUNT: usize = 16;
    const HOLDS_BLOCKS: bool = true;

    arithmetic!(
        _mm512_set1_epi32(u32),
        _mm512_add_epi32,
        _mm512_xor_si512,
        _mm512_ternarylogic_epi32,
        _mm512_ror_epi32,
        _mm512_srl_epi32
    );

    #[inline(always)]
    unsafe fn load_block(proof: P, at: *const *const u8, offset: usize) -> [Self; 16] {
        // SAFETY: the token is the proof of AVX-512; the caller promises 16 pointers, and 64 bytes behind each.
        unsafe {
            let mut lines = [_mm512_setzero_si512(); 16];
            for lane in 0..16 {
                lines[lane] = load_swapped(proof, SWAP_32, at.add(lane), offset);
            }
            columns(proof, transpose_sixteen(proof, lines))
        }
    }

    /// Four times quarters of four lanes, then four times the words of four quarters.
    #[inline(always)]
    unsafe fn load_eighth(
        proof: P,
        at: *const *const u8,
        offset: usize,
        eighth: usize,
        to: *mut Self,
    ) {
        // SAFETY: the token is the proof of AVX-512; the caller promises 16 pointers, 64 bytes behind each, and
        // 16 registers.
        unsafe {
            let mut lines = [_mm512_setzero_si512(); 4];
            if eighth < 4 {
                for i in 0..4 {
                    let at = at.add(eighth + 4 * i);
                    lines[i] = load_swapped(proof, SWAP_32, at, offset);
                }
                let words = gather_quarters(proof, lines);
                for i in 0..4 {
                    to.add(eighth + 4 * i).write(Self(words[i], proof));
                }
            } else {
                let to = to.add(4 * (eighth - 4));
                for i in 0..4 {
                    lines[i] = to.add(i).read().0;
                }
                let words = transpose_quarters(proof, lines);
                for i in 0..4 {
                    to.add(i).write(Self(words[i], proof));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn load(proof: P, words: *const u32) -> Self {
        // SAFETY: the token is the proof of AVX-512; the caller promises 16 words, one register.
        Self(unsafe { _mm512_loadu_si512(words.cast()) }, proof)
    }

    #[inline(always)]
    unsafe fn load_double_rows(proof: P, rows: *const DoubleRow<u32>) -> [Self; 16] {
        // SAFETY: the token is the proof of AVX-512; the caller promises 16 double rows of 64 bytes.
        unsafe {
            let mut lines = [_mm512_setzero_si512(); 16];
            for lane in 0..16 {
                lines[lane] = _mm512_loadu_si512(rows.add(lane).cast());
            }
            columns(proof, transpose_sixteen(proof, lines))
        }
    }

    #[inline(always)]
    unsafe fn store_double_rows(columns: [Self; 16], rows: *mut DoubleRow<u32>) {
        let mut words = [columns[0].0; 16];
        for i in 1..16 {
            words[i] = columns[i].0;
        }
        // SAFETY: `columns` are the proof of AVX-512; the caller promises 16 double rows.
        unsafe {
            let lines = transpose_sixteen(columns[0].1, words);
            for lane in 0..16 {
                _mm512_storeu_si512(rows.add(lane).cast(), lines[lane]);
            }
        }
    }

    #[inline(always)]
    unsafe fn xor_double_rows(
        columns: [Self; 16],
        input: *const u8,
        output: *mut u8,
        _: *mut DoubleRow<u32>,
    ) {
        let mut words = [columns[0].0; 16];
        for i in 1..16 {
            words[i] = columns[i].0;
        }
        // SAFETY: `columns` are the proof of AVX-512; the caller promises 16 double rows each.
        unsafe {
            let lines = transpose_sixteen(columns[0].1, words);
            for lane in 0..16 {
                let text = _mm512_loadu_si512(input.cast::<__m512i>().add(lane));
                let line = _mm512_xor_si512(lines[lane], text);
                _mm512_storeu_si512(output.cast::<__m512i>().add(lane), line);
            }
        }
    }

    #[inline(always)]
    unsafe fn load_rows(proof: P, rows: *const Row<u32>) -> [Self; 8] {
        // SAFETY: the token is the proof of AVX-512; the caller promises 16 rows of 32 bytes, 8 registers.
        unsafe {
            let mut pairs = [_mm512_setzero_si512(); 8];
            for i in 0..8 {
                pairs[i] = _mm512_loadu_si512(rows.add(2 * i).cast());
            }
            let mut halves = [[_mm512_setzero_si512(); 4]; 2];
            for j in 0..2 {
                let (a, b, c, d) = (pairs[j], pairs[j + 2], pairs[j + 4], pairs[j + 6]);
                // Both halves of lanes 2j, 2j+4, 2j+8, 2j+12, then of their odd neighbours.
                let words = gather_quarters(proof, [a, b, c, d]);
                halves[0][2 * j] = words[0];
                halves[1][2 * j] = words[1];
                halves[0][2 * j + 1] = words[2];
                halves[1][2 * j + 1] = words[3];
            }
            let low = transpose_quarters(proof, halves[0]);
            let high = transpose_quarters(proof, halves[1]);
            let mut columns = [Self(low[0], proof); 8];
            for i in 0..4 {
                columns[i] = Self(low[i], proof);
                columns[4 + i] = Self(high[i], proof);
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn store_rows(columns: [Self; 8], rows: *mut Row<u32>) {
        let [a, b, c, d, e, f, g, h] = columns;
        // SAFETY: `columns` are the proof of AVX-512; the caller promises 16 rows of 32 bytes.
        unsafe {
            let low = transpose_quarters(columns[0].1, [a.0, b.0, c.0, d.0]);
            let high = transpose_quarters(columns[0].1, [e.0, f.0, g.0, h.0]);
            // Quarter q of low[j] and of high[j] are the halves of row 4q + j.
            for j in 0..2 {
                let (even, odd) = (2 * j, 2 * j + 1);
                let even_01 = _mm512_shuffle_i32x4::<0b01_00_01_00>(low[even], high[even]);
                let even_23 = _mm512_shuffle_i32x4::<0b11_10_11_10>(low[even], high[even]);
                let odd_01 = _mm512_shuffle_i32x4::<0b01_00_01_00>(low[odd], high[odd]);
                let odd_23 = _mm512_shuffle_i32x4::<0b11_10_11_10>(low[odd], high[odd]);
                let pairs = [
                    _mm512_shuffle_i32x4::<0b10_00_10_00>(even_01, odd_01),
                    _mm512_shuffle_i32x4::<0b11_01_11_01>(even_01, odd_01),
                    _mm512_shuffle_i32x4::<0b10_00_10_00>(even_23, odd_23),
                    _mm512_shuffle_i32x4::<0b11_01_11_01>(even_23, odd_23),
                ];
                for q in 0..4 {
                    _mm512_storeu_si512(rows.add(4 * q + even).cast(), pairs[q]);
                }
            }
        }
    }
}

/// Registers with their proof.
#[inline(always)]
fn columns<P: Wide>(proof: P, words: [__m512i; 16]) -> [U32x16<P>; 16] {
    let mut columns = [U32x16(words[0], proof); 16];
    for i in 1..16 {
        columns[i] = U32x16(words[i], proof);
    }
    columns
}

// SAFETY: eight pointers or rows are read and written.
unsafe impl<P: Wide> WordLanes for U64x8<P> {
    type Word = u64;
    const COUNT: usize = 8;
    const HOLDS_BLOCKS: bool = true;
    const SHA2: Option<Compression<u64>> = Some(sha512::with_avx512);

    arithmetic!(
        _mm512_set1_epi64(u64),
        _mm512_add_epi64,
        _mm512_xor_si512,
        _mm512_ternarylogic_epi64,
        _mm512_ror_epi64,
        _mm512_srl_epi64
    );

    #[inline(always)]
    unsafe fn load_block(proof: P, at: *const *const u8, offset: usize) -> [Self; 16] {
        // SAFETY: the token is the proof of AVX-512; the caller promises 8 pointers, and 128 bytes behind each.
        unsafe {
            let mut columns = [Self(_mm512_setzero_si512(), proof); 16];
            for half in 0..2 {
                let mut lines = [_mm512_setzero_si512(); 8];
                for lane in 0..8 {
                    lines[lane] = load_swapped(proof, SWAP_64, at.add(lane), offset + 64 * half);
                }
                let words = transpose_eight(proof, lines);
                for i in 0..8 {
                    columns[8 * half + i] = Self(words[i], proof);
                }
            }
            columns
        }
    }

    /// Twice two pairs of lanes for each half of the block, then quarters of four pairs.
    #[inline(always)]
    unsafe fn load_eighth(
        proof: P,
        at: *const *const u8,
        offset: usize,
        eighth: usize,
        to: *mut Self,
    ) {
        let (half, second) = (eighth % 4 / 2, eighth % 2);
        // SAFETY: the token is the proof of AVX-512; the caller promises 8 pointers, 128 bytes behind each, and
        // 16 registers.
        unsafe {
            let to = to.add(8 * half);
            if eighth < 4 {
                for pair in 2 * second..2 * second + 2 {
                    let (at, offset) = (at.add(2 * pair), offset + 64 * half);
                    let a = load_swapped(proof, SWAP_64, at, offset);
                    let b = load_swapped(proof, SWAP_64, at.add(1), offset);
                    let to = to.add(2 * pair);
                    to.write(Self(_mm512_unpacklo_epi64(a, b), proof));
                    to.add(1).write(Self(_mm512_unpackhi_epi64(a, b), proof));
                }
            } else {
                let mut pairs = [_mm512_setzero_si512(); 4];
                for i in 0..4 {
                    pairs[i] = to.add(2 * i + second).read().0;
                }
                let words = gather_quarters(proof, pairs);
                for i in 0..4 {
                    to.add(2 * i + second).write(Self(words[i], proof));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn load(proof: P, words: *const u64) -> Self {
        // SAFETY: the token is the proof of AVX-512; the caller promises 8 words, one register.
        Self(unsafe { _mm512_loadu_si512(words.cast()) }, proof)
    }

    #[inline(always)]
    unsafe fn load_double_rows(proof: P, rows: *const DoubleRow<u64>) -> [Self; 16] {
        // SAFETY: the token is the proof of AVX-512; the caller promises 8 double rows of 128 bytes, two lines each.
        unsafe {
            let mut columns = [Self(_mm512_setzero_si512(), proof); 16];
            for half in 0..2 {
                let mut lines = [_mm512_setzero_si512(); 8];
                for lane in 0..8 {
                    let row = rows.add(lane).cast::<__m512i>();
                    lines[lane] = _mm512_loadu_si512(row.add(half));
                }
                let words = transpose_eight(proof, lines);
                for i in 0..8 {
                    columns[8 * half + i] = Self(words[i], proof);
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn store_double_rows(columns: [Self; 16], rows: *mut DoubleRow<u64>) {
        for half in 0..2 {
            let mut words = [columns[8 * half].0; 8];
            for i in 1..8 {
                words[i] = columns[8 * half + i].0;
            }
            // SAFETY: `columns` are the proof of AVX-512; the caller promises 8 double rows.
            unsafe {
                let lines = transpose_eight(columns[0].1, words);
                for lane in 0..8 {
                    let row = rows.add(lane).cast::<__m512i>();
                    _mm512_storeu_si512(row.add(half), lines[lane]);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn load_rows(proof: P, rows: *const Row<u64>) -> [Self; 8] {
        // SAFETY: the token is the proof of AVX-512; the caller promises 8 rows of 64 bytes.
        unsafe {
            let mut lines = [_mm512_setzero_si512(); 8];
            for lane in 0..8 {
                lines[lane] = _mm512_loadu_si512(rows.add(lane).cast());
            }
            let words = transpose_eight(proof, lines);
            let mut columns = [Self(words[0], proof); 8];
            for i in 1..8 {
                columns[i] = Self(words[i], proof);
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn store_rows(columns: [Self; 8], rows: *mut Row<u64>) {
        // SAFETY: `columns` are the proof of AVX-512; the caller promises 8 rows of 64 bytes.
        unsafe {
            let mut words = [columns[0].0; 8];
            for i in 1..8 {
                words[i] = columns[i].0;
            }
            let lines = transpose_eight(columns[0].1, words);
            for lane in 0..8 {
                _mm512_storeu_si512(rows.add(lane).cast(), lines[lane]);
            }
        }
    }
}

// SAFETY: eight pointers are read, eight words written.
unsafe impl<P: Wide> LongLanes for U64x8<P> {
    #[inline(always)]
    fn xor_and_not(self, b: Self, c: Self) -> Self {
        // SAFETY: `self.1` is the proof of AVX-512 F.
        let result = unsafe { _mm512_ternarylogic_epi64::<0xd2>(self.0, b.0, c.0) };
        Self(result, self.1)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: `self.1` is the proof of AVX-512 F.
        Self(unsafe { _mm512_and_si512(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    fn shift_left<const N: i32>(self) -> Self {
        // SAFETY: as above. The count is a constant, so this is the immediate form.
        Self(
            unsafe { _mm512_sll_epi64(self.0, _mm_cvtsi32_si128(N)) },
            self.1,
        )
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        // SAFETY: `self.1` is the proof of AVX-512 F.
        Self(unsafe { multiply(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    unsafe fn load_pairs(proof: P, at: *const *const u8, offset: usize) -> (Self, Self) {
        // SAFETY: the token is the proof of AVX-512; the caller promises 8 pointers, and 16 bytes behind each.
        let (low, high) = unsafe { load_pairs(at, offset) };
        (Self(low, proof), Self(high, proof))
    }

    #[inline(always)]
    unsafe fn load_words(proof: P, at: *const *const u8, offset: usize) -> [Self; 8] {
        // SAFETY: the token is the proof of AVX-512; the caller promises 8 pointers, and 64 bytes behind each.
        unsafe {
            let mut lines = [_mm512_setzero_si512(); 8];
            for lane in 0..8 {
                lines[lane] = _mm512_loadu_si512(at.add(lane).read().add(offset).cast());
            }
            let words = transpose_eight(proof, lines);
            let mut columns = [Self(words[0], proof); 8];
            for i in 1..8 {
                columns[i] = Self(words[i], proof);
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn store(self, words: *mut u64) {
        // SAFETY: the caller promises room for one register.
        unsafe { _mm512_storeu_si512(words.cast(), self.0) }
    }
}
