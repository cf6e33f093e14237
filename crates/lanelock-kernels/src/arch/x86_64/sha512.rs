//! SHA-512 of one message after the other (FIPS 180-4, section 6.4.2): the schedule in vectors, two
//! words of two blocks at a time, and the rounds in integers.
//!
//! Schedule and rounds of a first block run at the same time, since they use different parts of the
//! core. The rounds of the second block find their schedule made. The integer units bound both, so a
//! round has as few operations as it can.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::arch::words::Row;
use crate::hash::sha2::K512;

/// SHA-512 (and SHA-384) of any number of lanes, with rotations of AVX-512.
///
/// # Safety
/// The CPU has the instructions. `rows` is valid for `lanes` rows, `at` for `lanes` pointers, each
/// valid for reading 128 · `blocks` bytes.
#[target_feature(enable = "avx512f,avx512vl,bmi1,bmi2")]
pub(super) unsafe fn with_avx512(
    rows: *mut Row<u64>,
    at: *const *const u8,
    lanes: usize,
    blocks: usize,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe { each_lane::<true>(rows, at, lanes, blocks) }
}

/// As [`with_avx512`], with shifts for rotations.
///
/// # Safety
/// As there.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) unsafe fn with_avx2(
    rows: *mut Row<u64>,
    at: *const *const u8,
    lanes: usize,
    blocks: usize,
) {
    // SAFETY: the caller's promise, passed on.
    unsafe { each_lane::<false>(rows, at, lanes, blocks) }
}

/// # Safety
/// As [`with_avx512`] with `ROTATES`, as [`with_avx2`] without.
#[inline(always)]
unsafe fn each_lane<const ROTATES: bool>(
    rows: *mut Row<u64>,
    at: *const *const u8,
    lanes: usize,
    blocks: usize,
) {
    let mut sums = Sums([[[0; 4]; 8]; 5]);
    // SAFETY: no instructions. From here on the compiler does not know who else has the sums, so
    // additions read them from memory. Taken out of vectors, each would cost two instructions more.
    unsafe { asm!("/* {0} */", in(reg) &raw mut sums, options(nostack, preserves_flags)) };
    for lane in 0..lanes {
        // SAFETY: `lane` is one of the caller's; its blocks are readable.
        unsafe {
            let (row, data) = (&mut *rows.add(lane), at.add(lane).read());
            for block in (0..blocks).step_by(2) {
                let second = (block + 1).min(blocks - 1);
                let both = [data.add(128 * block), data.add(128 * second)];
                first_of_two::<ROTATES>(row, &mut sums, both);
                if second > block {
                    second_of_two::<ROTATES>(row, &mut sums);
                }
            }
        }
    }
}

/// For each pair of words of two blocks, both of the first block and then both of the second, each with
/// the constant of its round added; eight pairs for sixteen rounds.
#[repr(align(32))]
struct Sums([[[u64; 4]; 8]; 5]);

/// The constants, arranged as in [`Sums`].
static CONSTANTS: [[[u64; 4]; 8]; 5] = {
    let mut pairs = [[[0; 4]; 8]; 5];
    let mut i = 0;
    while i < 40 {
        let (k, l) = (K512[i / 8][i % 8 * 2], K512[i / 8][i % 8 * 2 + 1]);
        pairs[i / 8][i % 8] = [k, l, k, l];
        i += 1;
    }
    pairs
};

/// The schedule of both blocks, and the rounds of the first.
///
/// # Safety
/// As [`each_lane`], with both blocks readable.
#[inline(always)]
unsafe fn first_of_two<const ROTATES: bool>(
    row: &mut Row<u64>,
    sums: &mut Sums,
    blocks: [*const u8; 2],
) {
    // SAFETY: a block is 8 registers of 16 bytes; the caller promises the instructions.
    unsafe {
        let swap = _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607);
        let swap = _mm256_broadcastsi128_si256(swap);
        let mut w = [swap; 8];
        for i in 0..8 {
            let [low, high] = blocks.map(|block| _mm_loadu_si128(block.cast::<__m128i>().add(i)));
            w[i] = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), swap);
            sums.put(0, i, w[i]);
        }
        let mut s = *row;
        for at in 0..4 {
            s = sixteen::<ROTATES, false, true>(s, &mut w, sums, at);
        }
        s = sixteen::<ROTATES, false, false>(s, &mut w, sums, 4);
        add(row, &s);
    }
}

/// The rounds of the second block.
///
/// # Safety
/// As [`each_lane`].
#[inline(always)]
unsafe fn second_of_two<const ROTATES: bool>(row: &mut Row<u64>, sums: &mut Sums) {
    let mut s = *row;
    for at in 0..5 {
        // SAFETY: the caller promises the instructions; no words are extended.
        unsafe {
            let mut none = [_mm256_setzero_si256(); 8];
            s = sixteen::<ROTATES, true, false>(s, &mut none, sums, at);
        }
    }
    add(row, &s);
}

#[inline(always)]
fn add(row: &mut Row<u64>, s: &Row<u64>) {
    for i in 0..8 {
        row[i] = row[i].wrapping_add(s[i]);
    }
}

impl Sums {
    /// Pair `i` of the sixteen rounds number `at`.
    ///
    /// # Safety
    /// The CPU has the instructions.
    #[inline(always)]
    unsafe fn put(&mut self, at: usize, i: usize, words: __m256i) {
        // SAFETY: four aligned words inside both arrays.
        unsafe {
            let k = _mm256_loadu_si256(CONSTANTS[at][i].as_ptr().cast());
            let to = self.0[at][i].as_mut_ptr().cast();
            _mm256_store_si256(to, _mm256_add_epi64(words, k));
            // Whoever else has the sums may have changed them.
            asm!("", options(nostack, preserves_flags));
        }
    }
}

/// The sum as it is: the compiler would order its terms by its own ranks.
#[inline(always)]
fn pin(mut sum: u64) -> u64 {
    // SAFETY: no instructions.
    unsafe { asm!("/* {0} */", inout(reg) sum, options(pure, nomem, nostack, preserves_flags)) };
    sum
}

/// The sixteen rounds number `at`, of the first block or the second; with `EXTEND`, also the sums of
/// the next sixteen of both.
///
/// # Safety
/// As [`each_lane`].
#[inline(always)]
unsafe fn sixteen<const ROTATES: bool, const SECOND: bool, const EXTEND: bool>(
    state: Row<u64>,
    w: &mut [__m256i; 8],
    sums: &mut Sums,
    at: usize,
) -> Row<u64> {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    // One round's `a` and `b` are the next one's `b` and `c`.
    let mut b_or_c = b ^ c;
    macro_rules! round {
        ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $i:expr, $t:expr) => {
            let rest = pin($h.wrapping_add(sums.0[at][$i][2 * usize::from(SECOND) + $t]));
            let choice = $g ^ ($e & ($f ^ $g));
            let sigma = pin($e.rotate_right(14) ^ $e.rotate_right(18) ^ $e.rotate_right(41));
            let first = pin(pin(rest.wrapping_add(choice)).wrapping_add(sigma));
            $d = $d.wrapping_add(first);
            let a_or_b = $a ^ $b;
            let majority = (a_or_b & b_or_c) ^ $b;
            b_or_c = a_or_b;
            let first = pin(first.wrapping_add(majority));
            let sigma = $a.rotate_right(28) ^ $a.rotate_right(34) ^ $a.rotate_right(39);
            $h = sigma.wrapping_add(first);
        };
    }
    macro_rules! two {
        ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $i:expr) => {
            round!($a $b $c $d $e $f $g $h, $i, 0);
            round!($h $a $b $c $d $e $f $g, $i, 1);
            if EXTEND {
                // SAFETY: the caller promises the instructions.
                unsafe {
                    w[$i] = extend::<ROTATES>(w, $i);
                    sums.put(at + 1, $i, w[$i]);
                }
            }
        };
    }
    two!(a b c d e f g h, 0);
    two!(g h a b c d e f, 1);
    two!(e f g h a b c d, 2);
    two!(c d e f g h a b, 3);
    two!(a b c d e f g h, 4);
    two!(g h a b c d e f, 5);
    two!(e f g h a b c d, 6);
    two!(c d e f g h a b, 7);
    let _ = b_or_c;
    [a, b, c, d, e, f, g, h]
}

/// The two words of each block 16 after pair `i`; `w[i]` is the oldest pair, the others follow it cyclically.
///
/// # Safety
/// As [`each_lane`].
#[inline(always)]
unsafe fn extend<const ROTATES: bool>(w: &[__m256i; 8], i: usize) -> __m256i {
    let pair = |n: usize| w[(i + n) % 8];
    // SAFETY: the caller promises the instructions.
    unsafe {
        let near = mix::<ROTATES, 1, 63, 8, 56, 7>(_mm256_alignr_epi8::<8>(pair(1), pair(0)));
        let far = mix::<ROTATES, 19, 45, 61, 3, 6>(pair(7));
        let middle = _mm256_alignr_epi8::<8>(pair(5), pair(4));
        _mm256_add_epi64(
            _mm256_add_epi64(_mm256_add_epi64(pair(0), middle), near),
            far,
        )
    }
}

/// Rotations right by `R` and `S` (left by `L` and `M`) and a shift right by `N`, summed.
///
/// # Safety
/// As [`each_lane`].
#[inline(always)]
unsafe fn mix<
    const ROTATES: bool,
    const R: i32,
    const L: i32,
    const S: i32,
    const M: i32,
    const N: i32,
>(
    x: __m256i,
) -> __m256i {
    // SAFETY: the caller promises the instructions.
    unsafe {
        if ROTATES {
            let (r, s) = (_mm256_ror_epi64::<R>(x), _mm256_ror_epi64::<S>(x));
            _mm256_ternarylogic_epi64::<0x96>(r, s, _mm256_srli_epi64::<N>(x))
        } else {
            let r = _mm256_xor_si256(_mm256_srli_epi64::<R>(x), _mm256_slli_epi64::<L>(x));
            let s = _mm256_xor_si256(_mm256_srli_epi64::<S>(x), _mm256_slli_epi64::<M>(x));
            _mm256_xor_si256(_mm256_xor_si256(r, s), _mm256_srli_epi64::<N>(x))
        }
    }
}
