//! The message schedule of SHA-512 for two blocks (FIPS 180-4, section 6.4.2, step 1), in steps of one
//! instruction each, so that they can run between those of the rounds.

use core::arch::asm;
use core::arch::x86_64::*;

use super::{CONSTANTS, Sums};

/// The newest sixteen words of both blocks' schedules, in pairs.
pub(super) struct Schedule<const ROTATES: bool> {
    /// Two words of the first block and two of the second each; the oldest pair is replaced by the newest.
    pairs: [__m256i; 8],
    /// Sigma 0 of the oldest pair, and the pair four later: moved by a word, a part of the next pair.
    part: __m256i,
    /// What the steps hand over.
    t: [__m256i; 4],
}

impl<const ROTATES: bool> Schedule<ROTATES> {
    /// The first sixteen words, and in `sums` their sums.
    ///
    /// # Safety
    /// The CPU has the instructions of [`super::with_avx512`] with `ROTATES`, of [`super::with_avx2`] without.
    /// Both blocks are readable, `sums` is valid and a multiple of 32.
    #[inline(always)]
    pub(super) unsafe fn new(blocks: [*const u8; 2], sums: *mut Sums) -> Self {
        // SAFETY: a block is 8 registers of 16 bytes; the caller promises the rest.
        unsafe {
            let swap = _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607);
            let swap = _mm256_broadcastsi128_si256(swap);
            let mut pairs = [swap; 8];
            for (i, pair) in pairs.iter_mut().enumerate() {
                let [low, high] =
                    blocks.map(|block| _mm_loadu_si128(block.cast::<__m128i>().add(i)));
                *pair = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), swap);
                put(sums, 0, i, *pair);
            }
            let mut schedule = Self {
                pairs,
                part: swap,
                t: [swap; 4],
            };
            // What the last pair of sixteen leaves for the first of the next.
            macro_rules! instructions {
                ($($n:expr)*) => { $(schedule.instruction($n, 7);)* };
            }
            instructions!(0 1 2 3 4 5 6 7 PART);
            schedule.part = schedule.t[0];
            schedule
        }
    }

    /// What belongs at one of 192 places between the instructions of sixteen rounds, which replace `PAIRS` pairs
    /// (8, 4 or none) and put their sums, from number `first` of ten, in `to`.
    ///
    /// # Safety
    /// As [`Schedule::new`].
    #[inline(always)]
    pub(super) unsafe fn step<const PAIRS: usize>(
        &mut self,
        place: usize,
        to: *mut Sums,
        first: usize,
    ) {
        if PAIRS == 0 || !(place * PAIRS).is_multiple_of(8) {
            return;
        }
        let n = place * PAIRS / 8;
        let (i, n) = (n / 24, n % 24);
        // SAFETY: the caller's promises, passed on.
        unsafe {
            match n {
                SUM => put(to, first, i, self.pairs[i]),
                _ => self.instruction(n, i),
            }
        }
    }

    /// After four pairs were replaced, the oldest are those behind them.
    #[inline(always)]
    pub(super) fn turn(&mut self) {
        let [a, b, c, d, e, f, g, h] = self.pairs;
        self.pairs = [e, f, g, h, a, b, c, d];
    }

    /// Instruction `n` of those that replace pair `i` by the one sixteen words later; some have none.
    ///
    /// # Safety
    /// The CPU has the instructions.
    #[inline(always)]
    unsafe fn instruction(&mut self, n: usize, i: usize) {
        let [oldest, next, fifth, newest] = [0, 1, 5, 7].map(|n| self.pairs[(i + n) % 8]);
        let [t, u, v, sum] = &mut self.t;
        // SAFETY: the caller's promise.
        unsafe {
            match (n, ROTATES) {
                (0, true) => *t = here(_mm256_ror_epi64::<1>(next)),
                (2, true) => *u = here(_mm256_ror_epi64::<8>(next)),
                (4, true) => *v = here(_mm256_srli_epi64::<7>(next)),
                (6, true) => *t = here(_mm256_ternarylogic_epi64::<0x96>(*t, *u, *v)),

                (0, false) => *u = here(_mm256_srli_epi64::<1>(next)),
                (1, false) => *v = here(_mm256_slli_epi64::<63>(next)),
                (2, false) => *t = here(_mm256_shuffle_epi8(next, right_by_eight())),
                (3, false) => *u = here(_mm256_or_si256(*u, *v)),
                (4, false) => *v = here(_mm256_srli_epi64::<7>(next)),
                (5, false) => *t = here(_mm256_xor_si256(*t, *u)),
                (6, false) => *t = here(_mm256_xor_si256(*t, *v)),

                (PART, _) => *t = here(_mm256_add_epi64(*t, fifth)),
                (10, _) => {
                    *sum = here(_mm256_alignr_epi8::<8>(*t, self.part));
                    self.part = *t;
                }
                (13, _) => *sum = here(_mm256_add_epi64(*sum, oldest)),

                (12, true) => *t = here(_mm256_ror_epi64::<19>(newest)),
                (14, true) => *u = here(_mm256_ror_epi64::<61>(newest)),
                (16, true) => *v = here(_mm256_srli_epi64::<6>(newest)),
                (18, true) => *t = here(_mm256_ternarylogic_epi64::<0x96>(*t, *u, *v)),

                (7, false) => *u = here(_mm256_srli_epi64::<19>(newest)),
                (9, false) => *v = here(_mm256_slli_epi64::<45>(newest)),
                (11, false) => *u = here(_mm256_or_si256(*u, *v)),
                (14, false) => *v = here(_mm256_srli_epi64::<61>(newest)),
                (15, false) => *t = here(_mm256_slli_epi64::<3>(newest)),
                (16, false) => *t = here(_mm256_or_si256(*t, *v)),
                (17, false) => *v = here(_mm256_srli_epi64::<6>(newest)),
                (18, false) => *t = here(_mm256_xor_si256(*t, *u)),
                (19, false) => *t = here(_mm256_xor_si256(*t, *v)),

                (20, _) => self.pairs[i] = here(_mm256_add_epi64(*sum, *t)),
                _ => {}
            }
        }
    }
}

/// The instruction that completes [`Schedule::part`] of the pair after the next.
const PART: usize = 8;

/// The one behind them, which puts the sums of the pair.
const SUM: usize = 22;

/// The order of bytes that turns words right by eight bits.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
unsafe fn right_by_eight() -> __m256i {
    let [first, second] = [0x0007_0605_0403_0201, 0x080f_0e0d_0c0b_0a09];
    // SAFETY: the caller's promise.
    unsafe { _mm256_set_epi64x(second, first, second, first) }
}

/// The vector as it is, made before what follows in the program.
#[inline]
#[target_feature(enable = "avx2")]
fn here(mut vector: __m256i) -> __m256i {
    // SAFETY: no instructions.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) vector, options(nomem, nostack, preserves_flags));
    }
    vector
}

/// The sums of pair `i` behind those of number `first`, in `to`.
///
/// # Safety
/// The CPU has AVX2; `to` is valid for the pair and a multiple of 32; `first` and the pair are below ten sums.
#[inline(always)]
unsafe fn put(to: *mut Sums, first: usize, i: usize, pair: __m256i) {
    // SAFETY: four words inside both arrays, as the caller promises; those of `to` are aligned.
    unsafe {
        let constants = CONSTANTS.as_ptr().add(first).cast::<__m256i>().add(i);
        let sum = _mm256_add_epi64(pair, _mm256_loadu_si256(constants));
        _mm256_store_si256(to.cast::<__m256i>().add(i), sum);
        // Whoever else has the sums may have changed them.
        asm!("", options(nostack, preserves_flags));
    }
}
