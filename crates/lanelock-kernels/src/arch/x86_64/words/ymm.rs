//! 256-bit registers: eight 32-bit words or four 64-bit words.

mod quarters;
mod shuffles;

use core::arch::x86_64::*;

use crate::arch::register::Register;
use crate::arch::words::{Compression, DoubleRow, LongLanes, Row, Rows, WordLanes};
use crate::arch::x86_64::detect::Avx2;
use crate::arch::x86_64::sha512;
use crate::arrays::map;
use shuffles::{byte_order, shuffle, tie, transpose_eight};

pub(in crate::arch::x86_64) use shuffles::transpose_four;

/// Eight lanes of 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct U32x8(__m256i, Avx2);

/// Four lanes of 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct U64x4(__m256i, Avx2);

const _: () = assert!(size_of::<U32x8>() == 32 && size_of::<U64x4>() == 32);

impl Register for U32x8 {
    type Proof = Avx2;

    #[inline(always)]
    fn proof(self) -> Avx2 {
        self.1
    }
}

impl Register for U64x4 {
    type Proof = Avx2;

    #[inline(always)]
    fn proof(self) -> Avx2 {
        self.1
    }
}

/// The functions of [`WordLanes`] that have the same shape for both widths.
macro_rules! arithmetic {
    ($splat:ident, $add:ident, $left:ident, $right:ident) => {
        #[inline(always)]
        fn splat(proof: Avx2, word: Self::Word) -> Self {
            // SAFETY: the token is the proof of AVX2.
            Self(unsafe { $splat(word.cast_signed()) }, proof)
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: `self.1` is the proof of AVX2.
            Self(unsafe { $add(self.0, other.0) }, self.1)
        }

        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_xor_si256(self.0, other.0) }, self.1)
        }

        #[inline(always)]
        fn xor3(self, b: Self, c: Self) -> Self {
            self.xor(b).xor(c)
        }

        #[inline(always)]
        fn choose(self, b: Self, c: Self) -> Self {
            // SAFETY: as above.
            let result = unsafe {
                _mm256_xor_si256(c.0, _mm256_and_si256(self.0, _mm256_xor_si256(b.0, c.0)))
            };
            Self(result, self.1)
        }

        #[inline(always)]
        fn majority(self, b: Self, c: Self) -> Self {
            // SAFETY: as above.
            let result = unsafe {
                // In SHA-2, the next round's last two are these first two.
                let (first, last) = (_mm256_xor_si256(self.0, b.0), _mm256_xor_si256(b.0, c.0));
                _mm256_xor_si256(b.0, _mm256_and_si256(first, last))
            };
            Self(result, self.1)
        }

        #[inline(always)]
        unsafe fn xor_block(_: Avx2, mask: *const u8, input: *const u8, output: *mut u8) {
            // SAFETY: the token is the proof of AVX2; the caller promises 64 bytes each.
            unsafe {
                for part in 0..2 {
                    let mask = _mm256_loadu_si256(mask.cast::<__m256i>().add(part));
                    let text = _mm256_loadu_si256(input.cast::<__m256i>().add(part));
                    _mm256_storeu_si256(
                        output.cast::<__m256i>().add(part),
                        _mm256_xor_si256(mask, text),
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
        fn rotate<const R: i32, const L: i32>(self) -> Self {
            // SAFETY: as above.
            let result = unsafe {
                match const { byte_order::<Self>(R) } {
                    Some(order) => shuffle(self.0, order),
                    None => _mm256_or_si256($right::<R>(self.0), $left::<L>(self.0)),
                }
            };
            Self(result, self.1)
        }

        #[inline(always)]
        fn shift<const N: i32>(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { $right::<N>(self.0) }, self.1)
        }
    };
}

// SAFETY: the loads and stores are of one register.
unsafe impl Rows for U32x8 {
    #[inline(always)]
    unsafe fn broadcast_row(proof: Avx2, row: *const u32) -> Self {
        // SAFETY: the token is the proof of AVX2; the caller promises four words.
        unsafe {
            Self(
                _mm256_broadcastsi128_si256(_mm_loadu_si128(row.cast())),
                proof,
            )
        }
    }

    #[inline(always)]
    fn turn<const ORDER: i32>(self) -> Self {
        // SAFETY: `self.1` is the proof of AVX2.
        Self(unsafe { _mm256_shuffle_epi32::<ORDER>(self.0) }, self.1)
    }

    #[inline(always)]
    unsafe fn load_of_rows(proof: Avx2, from: *const DoubleRow<u32>) -> [Self; 4] {
        let from = from.cast::<__m256i>();
        // SAFETY: the token is the proof of AVX2; the caller promises two double rows, of four registers.
        unsafe {
            let (ab, cd) = (_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)));
            let (ab_2, cd_2) = (
                _mm256_loadu_si256(from.add(2)),
                _mm256_loadu_si256(from.add(3)),
            );
            [
                Self(_mm256_permute2x128_si256::<0x20>(ab, ab_2), proof),
                Self(_mm256_permute2x128_si256::<0x31>(ab, ab_2), proof),
                Self(_mm256_permute2x128_si256::<0x20>(cd, cd_2), proof),
                Self(_mm256_permute2x128_si256::<0x31>(cd, cd_2), proof),
            ]
        }
    }

    #[inline(always)]
    unsafe fn store_of_rows([a, b, c, d]: [Self; 4], to: *mut DoubleRow<u32>) {
        let to = to.cast::<__m256i>();
        // SAFETY: the registers are the proof of AVX2; the caller promises two double rows.
        unsafe {
            _mm256_storeu_si256(to, _mm256_permute2x128_si256::<0x20>(a.0, b.0));
            _mm256_storeu_si256(to.add(1), _mm256_permute2x128_si256::<0x20>(c.0, d.0));
            _mm256_storeu_si256(to.add(2), _mm256_permute2x128_si256::<0x31>(a.0, b.0));
            _mm256_storeu_si256(to.add(3), _mm256_permute2x128_si256::<0x31>(c.0, d.0));
        }
    }
}

// SAFETY: eight pointers or rows are read and written.
unsafe impl WordLanes for U32x8 {
    type Word = u32;
    const COUNT: usize = 8;

    arithmetic!(
        _mm256_set1_epi32,
        _mm256_add_epi32,
        _mm256_slli_epi32,
        _mm256_srli_epi32
    );

    #[inline(always)]
    fn here(self) -> Self {
        #[inline]
        #[target_feature(enable = "avx")]
        fn here(mut register: __m256i) -> __m256i {
            // SAFETY: no instruction is emitted; the register keeps its value.
            unsafe {
                core::arch::asm!(
                    "/* {0} */",
                    inout(ymm_reg) register,
                    options(nostack, preserves_flags, nomem)
                );
            }
            register
        }
        // SAFETY: the token is the proof of AVX2.
        Self(unsafe { here(self.0) }, self.1)
    }

    #[inline(always)]
    fn quarter_rounds(rows: [[Self; 4]; 4]) -> [[Self; 4]; 4] {
        let proof = rows[0][0].1;
        let registers = map(rows, |row| map(row, |word: Self| word.0));
        // SAFETY: the token is the proof of AVX2.
        let registers = unsafe { quarters::quarter_rounds(registers) };
        map(registers, |row| map(row, |word| Self(word, proof)))
    }

    #[inline(always)]
    unsafe fn load_block(proof: Avx2, at: *const *const u8, offset: usize) -> [Self; 16] {
        // SAFETY: the token is the proof of AVX2; the caller promises 8 pointers, and 64 bytes behind each.
        unsafe {
            let swap = _mm256_broadcastsi128_si256(_mm_set_epi64x(
                0x0c0d_0e0f_0809_0a0b,
                0x0405_0607_0001_0203,
            ));
            let mut columns = [Self(swap, proof); 16];
            for half in 0..2 {
                let mut lines = [swap; 8];
                for lane in 0..8 {
                    let words = at.add(lane).read().add(offset + 32 * half).cast();
                    lines[lane] = _mm256_shuffle_epi8(_mm256_loadu_si256(words), swap);
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
    unsafe fn load(proof: Avx2, words: *const u32) -> Self {
        // SAFETY: the token is the proof of AVX2; the caller promises 8 words, one register.
        Self(unsafe { _mm256_loadu_si256(words.cast()) }, proof)
    }

    #[inline(always)]
    unsafe fn load_double_rows(proof: Avx2, rows: *const DoubleRow<u32>) -> [Self; 16] {
        // SAFETY: the token is the proof of AVX2; the caller promises 8 double rows of 2 registers.
        unsafe {
            let mut columns = [Self(_mm256_setzero_si256(), proof); 16];
            for part in 0..2 {
                let mut lines = [_mm256_setzero_si256(); 8];
                for lane in 0..8 {
                    let row = rows.add(lane).cast::<__m256i>();
                    lines[lane] = _mm256_loadu_si256(row.add(part));
                }
                let words = transpose_eight(proof, lines);
                for i in 0..8 {
                    columns[8 * part + i] = Self(words[i], proof);
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn store_double_rows(columns: [Self; 16], rows: *mut DoubleRow<u32>) {
        let rows: *mut __m256i = rows.cast();
        for half in 0..2 {
            let lines = half_rows(columns, half);
            for lane in 0..8 {
                // SAFETY: `columns` are the proof of AVX2; the caller promises 8 double rows.
                unsafe { _mm256_storeu_si256(rows.add(2 * lane + half), lines[lane]) };
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
        let (input, output): (*const __m256i, *mut __m256i) = (input.cast(), output.cast());
        for half in 0..2 {
            let lines = half_rows(columns, half);
            for lane in 0..8 {
                let at = 2 * lane + half;
                // SAFETY: `columns` are the proof of AVX2; the caller promises 8 double rows each.
                unsafe {
                    let text = _mm256_loadu_si256(input.add(at));
                    _mm256_storeu_si256(output.add(at), _mm256_xor_si256(lines[lane], text));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn load_rows(proof: Avx2, rows: *const Row<u32>) -> [Self; 8] {
        // SAFETY: the token is the proof of AVX2; the caller promises 8 rows of 32 bytes.
        unsafe {
            let mut lines = [_mm256_setzero_si256(); 8];
            for lane in 0..8 {
                lines[lane] = _mm256_loadu_si256(rows.add(lane).cast());
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
    unsafe fn store_rows(columns: [Self; 8], rows: *mut Row<u32>) {
        // SAFETY: `columns` are the proof of AVX2; the caller promises 8 rows of 32 bytes.
        unsafe {
            let mut words = [columns[0].0; 8];
            for i in 1..8 {
                words[i] = columns[i].0;
            }
            let lines = transpose_eight(columns[0].1, words);
            for lane in 0..8 {
                _mm256_storeu_si256(rows.add(lane).cast(), lines[lane]);
            }
        }
    }
}

/// The first or the second half of each lane's double row.
#[inline(always)]
fn half_rows(columns: [U32x8; 16], half: usize) -> [__m256i; 8] {
    let mut words = [columns[8 * half].0; 8];
    for i in 1..8 {
        words[i] = columns[8 * half + i].0;
    }
    transpose_eight(columns[0].1, words)
}

// SAFETY: four pointers or rows are read and written.
unsafe impl WordLanes for U64x4 {
    type Word = u64;
    const COUNT: usize = 4;
    const SHA2: Option<Compression<u64>> = Some(sha512::with_avx2);

    arithmetic!(
        _mm256_set1_epi64x,
        _mm256_add_epi64,
        _mm256_slli_epi64,
        _mm256_srli_epi64
    );

    #[inline(always)]
    unsafe fn load_block(proof: Avx2, at: *const *const u8, offset: usize) -> [Self; 16] {
        // SAFETY: the token is the proof of AVX2; the caller promises 4 pointers, and 128 bytes behind each.
        unsafe {
            let swap = _mm256_broadcastsi128_si256(_mm_set_epi64x(
                0x0809_0a0b_0c0d_0e0f,
                0x0001_0203_0405_0607,
            ));
            let mut columns = [Self(swap, proof); 16];
            for quarter in 0..4 {
                let mut lines = [swap; 4];
                for lane in 0..4 {
                    let words = at.add(lane).read().add(offset + 32 * quarter).cast();
                    lines[lane] = _mm256_shuffle_epi8(_mm256_loadu_si256(words), swap);
                }
                let words = transpose_four(proof, lines);
                for i in 0..4 {
                    columns[4 * quarter + i] = Self(words[i], proof);
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn load(proof: Avx2, words: *const u64) -> Self {
        // SAFETY: the token is the proof of AVX2; the caller promises 4 words, one register.
        Self(unsafe { _mm256_loadu_si256(words.cast()) }, proof)
    }

    #[inline(always)]
    unsafe fn load_double_rows(proof: Avx2, rows: *const DoubleRow<u64>) -> [Self; 16] {
        // SAFETY: the token is the proof of AVX2; the caller promises 4 double rows of 4 registers.
        unsafe {
            let mut columns = [Self(_mm256_setzero_si256(), proof); 16];
            for part in 0..4 {
                let mut lines = [_mm256_setzero_si256(); 4];
                for lane in 0..4 {
                    let row = rows.add(lane).cast::<__m256i>();
                    lines[lane] = _mm256_loadu_si256(row.add(part));
                }
                let words = transpose_four(proof, lines);
                for i in 0..4 {
                    columns[4 * part + i] = Self(words[i], proof);
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn store_double_rows(columns: [Self; 16], rows: *mut DoubleRow<u64>) {
        for part in 0..4 {
            let mut words = [columns[4 * part].0; 4];
            for i in 1..4 {
                words[i] = columns[4 * part + i].0;
            }
            // SAFETY: `columns` are the proof of AVX2; the caller promises 4 double rows.
            unsafe {
                let lines = transpose_four(columns[0].1, words);
                for lane in 0..4 {
                    let row = rows.add(lane).cast::<__m256i>();
                    _mm256_storeu_si256(row.add(part), lines[lane]);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn load_rows(proof: Avx2, rows: *const Row<u64>) -> [Self; 8] {
        // SAFETY: the token is the proof of AVX2; the caller promises 4 rows of 64 bytes, two halves each.
        unsafe {
            let mut columns = [Self(_mm256_setzero_si256(), proof); 8];
            for half in 0..2 {
                let mut lines = [_mm256_setzero_si256(); 4];
                for lane in 0..4 {
                    let row = rows.add(lane).cast::<__m256i>();
                    lines[lane] = _mm256_loadu_si256(row.add(half));
                }
                let words = transpose_four(proof, lines);
                for i in 0..4 {
                    columns[4 * half + i] = Self(words[i], proof);
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn store_rows(columns: [Self; 8], rows: *mut Row<u64>) {
        let [a, b, c, d, e, f, g, h] = columns;
        // SAFETY: `columns` are the proof of AVX2; the caller promises 4 rows of 64 bytes.
        unsafe {
            let (low, high) = (
                transpose_four(columns[0].1, [a.0, b.0, c.0, d.0]),
                transpose_four(columns[0].1, [e.0, f.0, g.0, h.0]),
            );
            for lane in 0..4 {
                let row = rows.add(lane).cast::<__m256i>();
                _mm256_storeu_si256(row, low[lane]);
                _mm256_storeu_si256(row.add(1), high[lane]);
            }
        }
    }
}

// SAFETY: four pointers are read, four words written.
unsafe impl LongLanes for U64x4 {
    #[inline(always)]
    fn xor_and_not(self, b: Self, c: Self) -> Self {
        // SAFETY: `self.1` is the proof of AVX2.
        let result = unsafe { _mm256_xor_si256(self.0, _mm256_andnot_si256(b.0, c.0)) };
        Self(result, self.1)
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: `self.1` is the proof of AVX2.
        Self(unsafe { _mm256_and_si256(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    fn shift_left<const N: i32>(self) -> Self {
        // SAFETY: `self.1` is the proof of AVX2.
        Self(unsafe { _mm256_slli_epi64::<N>(self.0) }, self.1)
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        // SAFETY: `self.1` is the proof of AVX2.
        Self(unsafe { _mm256_mul_epu32(self.0, other.0) }, self.1)
    }

    #[inline(always)]
    unsafe fn load_pairs(proof: Avx2, at: *const *const u8, offset: usize) -> (Self, Self) {
        // SAFETY: the token is the proof of AVX2; the caller promises 4 pointers, and 16 bytes behind each.
        unsafe {
            let pair = |lane: usize| _mm_loadu_si128(at.add(lane).read().add(offset).cast());
            let even = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(pair(0)), pair(2));
            let odd = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(pair(1)), pair(3));
            (
                Self(_mm256_unpacklo_epi64(even, odd), proof),
                Self(_mm256_unpackhi_epi64(even, odd), proof),
            )
        }
    }

    #[inline(always)]
    unsafe fn load_words(proof: Avx2, at: *const *const u8, offset: usize) -> [Self; 8] {
        // SAFETY: the token is the proof of AVX2; the caller promises 4 pointers, and 64 bytes behind each.
        unsafe {
            let mut columns = [Self(_mm256_setzero_si256(), proof); 8];
            for half in 0..2 {
                let mut lines = [_mm256_setzero_si256(); 4];
                for lane in 0..4 {
                    let words = at.add(lane).read().add(offset + 32 * half).cast();
                    lines[lane] = _mm256_loadu_si256(words);
                }
                let words = transpose_four(proof, lines);
                for i in 0..4 {
                    columns[4 * half + i] = Self(words[i], proof);
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn store(self, words: *mut u64) {
        // SAFETY: the caller promises room for one register.
        unsafe { _mm256_storeu_si256(words.cast(), self.0) }
    }
}

/// Unpacks 32 numbers of twelve bits and writes those below `bound` one after the other, and anything
/// behind them; returns how many there are. Numbers and bound are public: the order of those that
/// are chosen comes from a table.
///
/// # Safety
/// `from` is readable for 48 bytes, `to` writable for 32 numbers.
#[inline(always)]
pub(super) unsafe fn sieve(_: Avx2, from: *const u8, to: *mut i16, bound: i16) -> usize {
    /// Where the bytes of the chosen of eight numbers are, by a bit for each; behind them those of
    /// any other.
    static ORDER: [[u8; 16]; 256] = {
        let mut order = [[0; 16]; 256];
        let mut chosen = 0;
        while chosen < 256 {
            let (mut number, mut at) = (0, 0);
            while number < 8 {
                if chosen >> number & 1 == 1 {
                    (order[chosen][at], order[chosen][at + 1]) = (2 * number, 2 * number + 1);
                    at += 2;
                }
                number += 1;
            }
            chosen += 1;
        }
        order
    };
    let mut count = 0;
    // SAFETY: the token is the proof of AVX2. Sixteen numbers are 24 bytes, of which the first and the
    // last 16 are read: up to byte 48. Eight numbers are written behind at most as many as were looked
    // at before: up to number 32.
    unsafe {
        // The two bytes of each number: the first and the second, or the second and the third of
        // three. Those of the upper half begin four bytes later.
        let pairs = _mm256_setr_epi8(
            0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11, //
            4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11, 12, 13, 14, 14, 15,
        );
        let bound = _mm256_set1_epi16(bound);
        for half in 0..2 {
            let low = _mm_loadu_si128(from.add(24 * half).cast());
            let high = _mm_loadu_si128(from.add(24 * half + 8).cast());
            let packed = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
            let packed = _mm256_shuffle_epi8(packed, pairs);
            // Twelve bits of the first are below, of the second above.
            let first = _mm256_and_si256(packed, _mm256_set1_epi16(0xfff));
            let numbers = _mm256_blend_epi16::<0xaa>(first, _mm256_srli_epi16::<4>(packed));
            let below = _mm256_cmpgt_epi16(bound, numbers);
            let bits = _mm256_movemask_epi8(_mm256_packs_epi16(below, below)).to_le_bytes();
            for (numbers, chosen) in [
                (_mm256_castsi256_si128(numbers), bits[0]),
                (_mm256_extracti128_si256::<1>(numbers), bits[2]),
            ] {
                let order = ORDER[usize::from(chosen)].as_ptr();
                let chosen_first = _mm_shuffle_epi8(numbers, _mm_loadu_si128(order.cast()));
                _mm_storeu_si128(to.add(count).cast(), chosen_first);
                count += chosen.count_ones() as usize;
            }
        }
    }
    count
}
