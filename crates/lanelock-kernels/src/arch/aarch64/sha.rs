//! SHA-1, SHA-256 and SHA-512 by the SHA extensions, several messages interleaved.

use core::arch::aarch64::*;

pub(crate) use super::detect::{Sha, Sha512};

use crate::arch::interleaved::interleaved;
use crate::arch::words::{Alone, Beside, Compression, Row};
use crate::hash::sha2::{K256, K512};

/// The registers of AES that may run [`Beside`] the rounds.
pub(crate) type Registers = super::blocks::NeonBlock;

/// SHA-1's compression.
pub(crate) const SHA1: Option<Compression<u32>> = Some(sha1);

/// SHA-256's and SHA-224's compression.
pub(crate) const SHA256: Option<Compression<u32>> = Some(sha256);

/// SHA-512's and SHA-384's compression.
pub(crate) const SHA512: Option<Compression<u64>> = Some(sha512);

interleaved!(
    /// SHA-1 of any number of lanes.
    sha1: u32, "neon,aes,sha2", sha1_group, Alone
);

/// As [`sha1`] for one lane, with `beside` between the rounds.
///
/// # Safety
/// `data` is valid for reading 64 · `blocks` bytes; what `beside` demands.
#[inline(always)]
pub(crate) unsafe fn sha1_beside<B: Beside>(
    _: Sha,
    row: &mut Row<u32>,
    data: *const u8,
    blocks: usize,
    beside: B,
) {
    // SAFETY: the token is the proof of the instructions; one row, one pointer.
    unsafe { sha1_group::<1, B>(row, &raw const data, blocks, beside) }
}

interleaved!(
    /// SHA-256 (and SHA-224) of any number of lanes.
    sha256: u32, "neon,aes,sha2", sha256_group, Alone
);

/// As [`sha256`] for one lane, with `beside` between the rounds.
///
/// # Safety
/// `data` is valid for reading 64 · `blocks` bytes; what `beside` demands.
#[inline(always)]
pub(crate) unsafe fn sha256_beside<B: Beside>(
    _: Sha,
    row: &mut Row<u32>,
    data: *const u8,
    blocks: usize,
    beside: B,
) {
    // SAFETY: the token is the proof of the instructions; one row, one pointer.
    unsafe { sha256_group::<1, B>(row, &raw const data, blocks, beside) }
}

interleaved!(
    /// SHA-512 (and SHA-384) of any number of lanes.
    sha512: u64, "neon,sha3", sha512_group
);

/// SHA-1's constants (FIPS 180-4, section 4.2.1).
const K1: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// SHA-1 of `N` lanes.
///
/// # Safety
/// As [`sha1`], with `N` for `lanes`, and what `beside` demands.
#[target_feature(enable = "neon,aes,sha2")]
unsafe fn sha1_group<const N: usize, B: Beside>(
    rows: *mut Row<u32>,
    at: *const *const u8,
    blocks: usize,
    mut beside: B,
) {
    let mut abcd = [vdupq_n_u32(0); N];
    let mut e = [0; N];
    let mut data = [core::ptr::null::<u8>(); N];
    for n in 0..N {
        // SAFETY: the caller vouches for `N` rows of 8 words and for `N` pointers.
        unsafe {
            let row = rows.add(n).cast::<u32>();
            abcd[n] = vld1q_u32(row);
            e[n] = row.add(4).read();
            data[n] = at.add(n).read();
        }
    }
    beside.begin();
    for _ in 0..blocks {
        let (abcd_before, e_before) = (abcd, e);
        let mut w = [[vdupq_n_u32(0); 4]; N];
        // Four rounds of every lane.
        macro_rules! four {
            ($t:expr) => {
                let k = vdupq_n_u32(K1[$t / 5]);
                for n in 0..N {
                    if $t < 4 {
                        // SAFETY: this block of lane `n` is 64 readable bytes; `$t` < 4.
                        let bytes = unsafe { vld1q_u8(data[n].add(16 * $t)) };
                        w[n][$t % 4] = vreinterpretq_u32_u8(vrev32q_u8(bytes));
                    } else {
                        let (next, second) = (w[n][($t + 1) % 4], w[n][($t + 2) % 4]);
                        let mixed = vsha1su0q_u32(w[n][$t % 4], next, second);
                        w[n][$t % 4] = vsha1su1q_u32(mixed, w[n][($t + 3) % 4]);
                    }
                    let sum = vaddq_u32(w[n][$t % 4], k);
                    let next = vsha1h_u32(vgetq_lane_u32::<0>(abcd[n]));
                    abcd[n] = match $t / 5 {
                        0 => vsha1cq_u32(abcd[n], e[n], sum),
                        2 => vsha1mq_u32(abcd[n], e[n], sum),
                        _ => vsha1pq_u32(abcd[n], e[n], sum),
                    };
                    e[n] = next;
                }
                // SAFETY: the caller's promise.
                unsafe { beside.behind($t, 20) };
            };
        }
        macro_rules! twenty {
            ($($t:literal)*) => { $(four!($t);)* };
        }
        twenty!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
        for n in 0..N {
            abcd[n] = vaddq_u32(abcd[n], abcd_before[n]);
            e[n] = e[n].wrapping_add(e_before[n]);
            data[n] = data[n].wrapping_add(64);
        }
    }
    for n in 0..N {
        // SAFETY: the caller vouches for `N` rows of 8 words.
        unsafe {
            let row = rows.add(n).cast::<u32>();
            vst1q_u32(row, abcd[n]);
            row.add(4).write(e[n]);
        }
    }
    beside.end();
}

/// SHA-256 of `N` lanes.
///
/// # Safety
/// As [`sha256`], with `N` for `lanes`, and what `beside` demands.
#[target_feature(enable = "neon,aes,sha2")]
unsafe fn sha256_group<const N: usize, B: Beside>(
    rows: *mut Row<u32>,
    at: *const *const u8,
    blocks: usize,
    mut beside: B,
) {
    let mut abcd = [vdupq_n_u32(0); N];
    let mut efgh = [vdupq_n_u32(0); N];
    let mut data = [core::ptr::null::<u8>(); N];
    for n in 0..N {
        // SAFETY: the caller vouches for `N` rows of 8 words and for `N` pointers.
        unsafe {
            let row = rows.add(n).cast::<u32>();
            abcd[n] = vld1q_u32(row);
            efgh[n] = vld1q_u32(row.add(4));
            data[n] = at.add(n).read();
        }
    }
    beside.begin();
    for _ in 0..blocks {
        let (abcd_before, efgh_before) = (abcd, efgh);
        let mut w = [[vdupq_n_u32(0); 4]; N];
        // Four rounds of every lane.
        macro_rules! four {
            ($t:expr) => {
                let k = K256[$t / 4].as_ptr().wrapping_add(4 * ($t % 4));
                // SAFETY: four of the sixteen constants in row `$t` / 4.
                let k = unsafe { vld1q_u32(k) };
                for n in 0..N {
                    if $t < 4 {
                        // SAFETY: this block of lane `n` is 64 readable bytes; `$t` < 4.
                        let bytes = unsafe { vld1q_u8(data[n].add(16 * $t)) };
                        w[n][$t % 4] = vreinterpretq_u32_u8(vrev32q_u8(bytes));
                    } else {
                        let mixed = vsha256su0q_u32(w[n][$t % 4], w[n][($t + 1) % 4]);
                        let (second, last) = (w[n][($t + 2) % 4], w[n][($t + 3) % 4]);
                        w[n][$t % 4] = vsha256su1q_u32(mixed, second, last);
                    }
                    let sum = vaddq_u32(w[n][$t % 4], k);
                    let before = abcd[n];
                    abcd[n] = vsha256hq_u32(before, efgh[n], sum);
                    efgh[n] = vsha256h2q_u32(efgh[n], before, sum);
                }
                // SAFETY: the caller's promise.
                unsafe { beside.behind($t, 16) };
            };
        }
        macro_rules! sixty_four {
            ($($t:literal)*) => { $(four!($t);)* };
        }
        sixty_four!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        for n in 0..N {
            abcd[n] = vaddq_u32(abcd[n], abcd_before[n]);
            efgh[n] = vaddq_u32(efgh[n], efgh_before[n]);
            data[n] = data[n].wrapping_add(64);
        }
    }
    for n in 0..N {
        // SAFETY: the caller vouches for `N` rows of 8 words.
        unsafe {
            let row = rows.add(n).cast::<u32>();
            vst1q_u32(row, abcd[n]);
            vst1q_u32(row.add(4), efgh[n]);
        }
    }
    beside.end();
}

/// SHA-512 of `N` lanes.
///
/// # Safety
/// As [`sha512`], with `N` for `lanes`.
#[target_feature(enable = "neon,sha3")]
unsafe fn sha512_group<const N: usize>(rows: *mut Row<u64>, at: *const *const u8, blocks: usize) {
    /// Pairs of rounds: each takes one register of words, and turns the registers of the state.
    const PAIRS: usize = 40;
    // Words a and b of the state, c and d, e and f, g and h.
    let mut state = [[vdupq_n_u64(0); 4]; N];
    let mut data = [core::ptr::null::<u8>(); N];
    for n in 0..N {
        // SAFETY: the caller vouches for `N` rows of 8 words and for `N` pointers.
        unsafe {
            for i in 0..4 {
                state[n][i] = vld1q_u64(rows.add(n).cast::<u64>().add(2 * i));
            }
            data[n] = at.add(n).read();
        }
    }
    for _ in 0..blocks {
        let before = state;
        let mut w = [[vdupq_n_u64(0); 8]; N];
        for n in 0..N {
            for i in 0..8 {
                // SAFETY: this block of lane `n` is 128 readable bytes.
                let bytes = unsafe { vld1q_u8(data[n].add(16 * i)) };
                w[n][i] = vreinterpretq_u64_u8(vrev64q_u8(bytes));
            }
        }
        for first in (0..PAIRS).step_by(8) {
            for i in 0..8 {
                // SAFETY: two of the sixteen constants of a row.
                let k = unsafe { vld1q_u64(K512[first / 8].as_ptr().add(2 * i)) };
                for n in 0..N {
                    if first > 0 {
                        let mixed = vsha512su0q_u64(w[n][i], w[n][(i + 1) % 8]);
                        let later = vextq_u64::<1>(w[n][(i + 4) % 8], w[n][(i + 5) % 8]);
                        w[n][i] = vsha512su1q_u64(mixed, w[n][(i + 7) % 8], later);
                    }
                    let [ab, cd, ef, gh] = state[n];
                    let sum = vaddq_u64(w[n][i], k);
                    let sum = vaddq_u64(vextq_u64::<1>(sum, sum), gh);
                    let (fg, de) = (vextq_u64::<1>(ef, gh), vextq_u64::<1>(cd, ef));
                    let half = vsha512hq_u64(sum, fg, de);
                    state[n] = [vsha512h2q_u64(half, cd, ab), ab, vaddq_u64(cd, half), ef];
                }
            }
        }
        for n in 0..N {
            for i in 0..4 {
                state[n][i] = vaddq_u64(state[n][i], before[n][i]);
            }
            data[n] = data[n].wrapping_add(128);
        }
    }
    for n in 0..N {
        for i in 0..4 {
            // SAFETY: the caller vouches for `N` rows of 8 words.
            unsafe { vst1q_u64(rows.add(n).cast::<u64>().add(2 * i), state[n][i]) };
        }
    }
}
