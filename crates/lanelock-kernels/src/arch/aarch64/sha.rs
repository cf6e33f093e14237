//! SHA-1 and SHA-256 by the SHA extensions, several messages interleaved.

use core::arch::aarch64::*;

pub(crate) use super::detect::Sha;

use crate::arch::interleaved::interleaved;
use crate::arch::words::{Beside, Compression, Row};
use crate::hash::sha2::K256;

/// The registers of AES that may run [`Beside`] the rounds.
pub(crate) type Registers = super::blocks::NeonBlock;

/// SHA-1's compression.
pub(crate) const SHA1: Option<Compression<u32>> = Some(sha1);

/// SHA-256's and SHA-224's compression.
pub(crate) const SHA256: Option<Compression<u32>> = Some(sha256);

interleaved!(
    /// SHA-1 of any number of lanes.
    "neon,aes,sha2",
    sha1,
    sha1_beside,
    sha1_group
);
interleaved!(
    /// SHA-256 (and SHA-224) of any number of lanes.
    "neon,aes,sha2",
    sha256,
    sha256_beside,
    sha256_group
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
                let k = K256[$t / 2].as_ptr().wrapping_add(4 * ($t % 2));
                // SAFETY: four of the eight constants in row `$t` / 2, the first or the last.
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
