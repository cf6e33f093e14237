//! SHA-1 and SHA-256 by the SHA extensions, several messages interleaved.

use core::arch::x86_64::*;

pub(crate) use super::detect::ShaNi as Sha;

use crate::arch::interleaved::interleaved;
use crate::arch::words::{Alone, Beside, Compression, Row};
use crate::hash::sha2::K256;

/// The registers of AES that may run [`Beside`] the rounds.
pub(crate) type Registers = super::blocks::Xmm;

/// SHA-1's compression.
pub(crate) const SHA1: Option<Compression<u32>> = Some(sha1);

/// SHA-256's and SHA-224's compression.
pub(crate) const SHA256: Option<Compression<u32>> = Some(sha256);

/// SHA-512's and SHA-384's compression: none for now.
pub(crate) const SHA512: Option<Compression<u64>> = None;

/// The proof of instructions for SHA-512, which nothing makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sha512(());

interleaved!(
    /// SHA-1 of any number of lanes.
    sha1: u32, "sha,aes,sse4.1,ssse3", sha1_group, Alone
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
    sha256: u32, "sha,aes,sse4.1,ssse3", sha256_group, Alone
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

/// SHA-1 of `N` lanes.
///
/// # Safety
/// As [`sha1`], with `N` for `lanes`, and what `beside` demands.
#[target_feature(enable = "sha,aes,sse4.1,ssse3")]
unsafe fn sha1_group<const N: usize, B: Beside>(
    rows: *mut Row<u32>,
    at: *const *const u8,
    blocks: usize,
    mut beside: B,
) {
    let swap = _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f);
    let mut abcd = [_mm_setzero_si128(); N];
    let mut e = [_mm_setzero_si128(); N];
    let mut data = [core::ptr::null::<__m128i>(); N];
    for n in 0..N {
        // SAFETY: the caller vouches for `N` rows of 8 words and for `N` pointers.
        unsafe {
            let row = rows.add(n).cast::<__m128i>();
            abcd[n] = _mm_shuffle_epi32::<0x1b>(_mm_loadu_si128(row));
            e[n] = _mm_slli_si128::<12>(_mm_loadu_si128(row.add(1)));
            data[n] = at.add(n).read().cast();
        }
    }
    beside.begin();
    for _ in 0..blocks {
        let (abcd_before, e_before) = (abcd, e);
        let mut w = [[_mm_setzero_si128(); 4]; N];
        // Four rounds of every lane; `e` holds the previous `abcd`, whose top word is the next E.
        macro_rules! four {
            ($t:expr) => {
                for n in 0..N {
                    if $t < 4 {
                        // SAFETY: this block of lane `n` is 64 readable bytes; `$t` < 4.
                        let bytes = unsafe { _mm_loadu_si128(data[n].add($t)) };
                        w[n][$t % 4] = _mm_shuffle_epi8(bytes, swap);
                    } else {
                        let mixed = _mm_sha1msg1_epu32(w[n][$t % 4], w[n][($t + 1) % 4]);
                        let mixed = _mm_xor_si128(mixed, w[n][($t + 2) % 4]);
                        w[n][$t % 4] = _mm_sha1msg2_epu32(mixed, w[n][($t + 3) % 4]);
                    }
                    let sum = if $t == 0 {
                        _mm_add_epi32(e[n], w[n][0])
                    } else {
                        _mm_sha1nexte_epu32(e[n], w[n][$t % 4])
                    };
                    e[n] = abcd[n];
                    abcd[n] = _mm_sha1rnds4_epu32::<{ $t / 5 }>(abcd[n], sum);
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
            abcd[n] = _mm_add_epi32(abcd[n], abcd_before[n]);
            e[n] = _mm_sha1nexte_epu32(e[n], e_before[n]);
            data[n] = data[n].wrapping_add(4);
        }
    }
    for n in 0..N {
        // SAFETY: the caller vouches for `N` rows of 8 words.
        unsafe {
            let row = rows.add(n).cast::<__m128i>();
            _mm_storeu_si128(row, _mm_shuffle_epi32::<0x1b>(abcd[n]));
            _mm_storeu_si128(row.add(1), _mm_srli_si128::<12>(e[n]));
        }
    }
    beside.end();
}

/// SHA-256 of `N` lanes.
///
/// # Safety
/// As [`sha256`], with `N` for `lanes`, and what `beside` demands.
#[target_feature(enable = "sha,aes,sse4.1,ssse3")]
unsafe fn sha256_group<const N: usize, B: Beside>(
    rows: *mut Row<u32>,
    at: *const *const u8,
    blocks: usize,
    mut beside: B,
) {
    let swap = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
    let mut abef = [_mm_setzero_si128(); N];
    let mut cdgh = [_mm_setzero_si128(); N];
    let mut data = [core::ptr::null::<__m128i>(); N];
    for n in 0..N {
        // SAFETY: the caller vouches for `N` rows of 8 words and for `N` pointers.
        unsafe {
            let row = rows.add(n).cast::<__m128i>();
            let cdab = _mm_shuffle_epi32::<0xb1>(_mm_loadu_si128(row));
            let efgh = _mm_shuffle_epi32::<0x1b>(_mm_loadu_si128(row.add(1)));
            abef[n] = _mm_alignr_epi8::<8>(cdab, efgh);
            cdgh[n] = _mm_blend_epi16::<0xf0>(efgh, cdab);
            data[n] = at.add(n).read().cast();
        }
    }
    beside.begin();
    for _ in 0..blocks {
        let (abef_before, cdgh_before) = (abef, cdgh);
        let mut w = [[_mm_setzero_si128(); 4]; N];
        // Four rounds of every lane.
        macro_rules! four {
            ($t:expr) => {
                let k = K256[$t / 4].as_ptr().wrapping_add(4 * ($t % 4)).cast();
                // SAFETY: four of the sixteen constants in row `$t` / 4.
                let k = unsafe { _mm_loadu_si128(k) };
                for n in 0..N {
                    if $t < 4 {
                        // SAFETY: this block of lane `n` is 64 readable bytes; `$t` < 4.
                        let bytes = unsafe { _mm_loadu_si128(data[n].add($t)) };
                        w[n][$t % 4] = _mm_shuffle_epi8(bytes, swap);
                    } else {
                        let (next, last) = (w[n][($t + 1) % 4], w[n][($t + 3) % 4]);
                        let mixed = _mm_sha256msg1_epu32(w[n][$t % 4], next);
                        let middle = _mm_alignr_epi8::<4>(last, w[n][($t + 2) % 4]);
                        w[n][$t % 4] = _mm_sha256msg2_epu32(_mm_add_epi32(mixed, middle), last);
                    }
                    let sum = _mm_add_epi32(w[n][$t % 4], k);
                    cdgh[n] = _mm_sha256rnds2_epu32(cdgh[n], abef[n], sum);
                    let sum = _mm_shuffle_epi32::<0x0e>(sum);
                    abef[n] = _mm_sha256rnds2_epu32(abef[n], cdgh[n], sum);
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
            abef[n] = _mm_add_epi32(abef[n], abef_before[n]);
            cdgh[n] = _mm_add_epi32(cdgh[n], cdgh_before[n]);
            data[n] = data[n].wrapping_add(4);
        }
    }
    for n in 0..N {
        // SAFETY: the caller vouches for `N` rows of 8 words.
        unsafe {
            let row = rows.add(n).cast::<__m128i>();
            let feba = _mm_shuffle_epi32::<0x1b>(abef[n]);
            let dchg = _mm_shuffle_epi32::<0xb1>(cdgh[n]);
            _mm_storeu_si128(row, _mm_blend_epi16::<0xf0>(feba, dchg));
            _mm_storeu_si128(row.add(1), _mm_alignr_epi8::<8>(dchg, feba));
        }
    }
    beside.end();
}
