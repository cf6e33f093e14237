//! SHA-512 of one message after the other (FIPS 180-4, section 6.4.2): the schedule in vectors,
//! two words at a time, and the rounds in integers.
//!
//! Both run at the same time, since they use different parts of the core: the rounds, a chain of
//! dependent steps, take as long as they would if the schedule were there already.

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
    for lane in 0..lanes {
        // SAFETY: `lane` is one of the caller's; its blocks are readable.
        unsafe {
            let (row, data) = (&mut *rows.add(lane), at.add(lane).read());
            for block in 0..blocks {
                compress::<ROTATES>(row, data.add(128 * block));
            }
        }
    }
}

/// Sixteen words, each with the constant of its round added.
#[repr(align(64))]
struct Sums([u64; 16]);

/// # Safety
/// As [`each_lane`], with one block at `data`.
#[inline(always)]
unsafe fn compress<const ROTATES: bool>(row: &mut Row<u64>, data: *const u8) {
    // SAFETY: the block is 8 registers of 16 bytes; the caller promises the instructions.
    unsafe {
        let swap = _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607);
        let mut w = [swap; 8];
        let mut sums = Sums([0; 16]);
        for i in 0..8 {
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128(data.cast::<__m128i>().add(i)), swap);
            sums.put(i, w[i], &K512[i / 4]);
        }
        let mut s = *row;
        for next in K512[2..].chunks_exact(2) {
            s = sixteen::<ROTATES, true>(s, &mut w, &mut sums, [&next[0], &next[1]]);
        }
        s = sixteen::<ROTATES, false>(s, &mut w, &mut sums, [&K512[0], &K512[1]]);
        for i in 0..8 {
            row[i] = row[i].wrapping_add(s[i]);
        }
    }
}

impl Sums {
    /// Word pair `i` of 8 with its constants, which are in `k` at its place modulo 4.
    ///
    /// # Safety
    /// The CPU has the instructions.
    #[inline(always)]
    unsafe fn put(&mut self, i: usize, words: __m128i, k: &[u64; 8]) {
        // SAFETY: pairs inside both arrays.
        unsafe {
            let k = _mm_loadu_si128(k[2 * (i % 4)..][..2].as_ptr().cast());
            let to = self.0[2 * i..][..2].as_mut_ptr().cast();
            _mm_store_si128(to, _mm_add_epi64(words, k));
            // Read from memory as an operand of the addition; taken out of the register, each
            // word would cost two instructions more.
            asm!("/* {0} */", in(reg) to, options(nostack, preserves_flags));
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

/// Sixteen rounds; with `EXTEND`, also the sums of the next sixteen, whose constants are `next`.
///
/// # Safety
/// As [`compress`].
#[inline(always)]
unsafe fn sixteen<const ROTATES: bool, const EXTEND: bool>(
    state: Row<u64>,
    w: &mut [__m128i; 8],
    sums: &mut Sums,
    next: [&[u64; 8]; 2],
) -> Row<u64> {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    macro_rules! round {
        ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $t:expr) => {
            // Of each sum, what the last round leaves latest is added last: one step from the
            // old `e` to the new one, and one from `a` to `a`, are a rotation, two exclusive ors
            // and one addition.
            let rest = pin($h.wrapping_add(sums.0[$t]));
            let early = pin($d.wrapping_add(rest));
            let choice = $g ^ ($e & ($f ^ $g));
            let sigma = pin($e.rotate_right(14) ^ $e.rotate_right(18) ^ $e.rotate_right(41));
            $d = pin(early.wrapping_add(choice)).wrapping_add(sigma);
            let first = pin(rest.wrapping_add(choice)).wrapping_add(sigma);
            // The majority, whose two halves have no bit in common.
            let first = pin(first.wrapping_add($b & $c));
            let first = pin(first.wrapping_add($a & ($b ^ $c)));
            let sigma = $a.rotate_right(28) ^ $a.rotate_right(34) ^ $a.rotate_right(39);
            $h = sigma.wrapping_add(first);
        };
    }
    macro_rules! two {
        ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $i:expr) => {
            round!($a $b $c $d $e $f $g $h, 2 * $i);
            round!($h $a $b $c $d $e $f $g, 2 * $i + 1);
            if EXTEND {
                // SAFETY: the caller promises the instructions.
                unsafe {
                    w[$i] = extend::<ROTATES>(w, $i);
                    sums.put($i, w[$i], next[$i / 4]);
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
    [a, b, c, d, e, f, g, h]
}

/// The two words 16 after pair `i`; `w[i]` is the oldest pair, the others follow it cyclically.
///
/// # Safety
/// As [`compress`].
#[inline(always)]
unsafe fn extend<const ROTATES: bool>(w: &[__m128i; 8], i: usize) -> __m128i {
    let pair = |n: usize| w[(i + n) % 8];
    // SAFETY: the caller promises the instructions.
    unsafe {
        let near = mix::<ROTATES, 1, 63, 8, 56, 7>(_mm_alignr_epi8::<8>(pair(1), pair(0)));
        let far = mix::<ROTATES, 19, 45, 61, 3, 6>(pair(7));
        let middle = _mm_alignr_epi8::<8>(pair(5), pair(4));
        _mm_add_epi64(_mm_add_epi64(_mm_add_epi64(pair(0), middle), near), far)
    }
}

/// Rotations right by `R` and `S` (left by `L` and `M`) and a shift right by `N`, summed.
///
/// # Safety
/// As [`compress`].
#[inline(always)]
unsafe fn mix<
    const ROTATES: bool,
    const R: i32,
    const L: i32,
    const S: i32,
    const M: i32,
    const N: i32,
>(
    x: __m128i,
) -> __m128i {
    // SAFETY: the caller promises the instructions.
    unsafe {
        if ROTATES {
            let (r, s) = (_mm_ror_epi64::<R>(x), _mm_ror_epi64::<S>(x));
            _mm_ternarylogic_epi64::<0x96>(r, s, _mm_srli_epi64::<N>(x))
        } else {
            let r = _mm_xor_si128(_mm_srli_epi64::<R>(x), _mm_slli_epi64::<L>(x));
            let s = _mm_xor_si128(_mm_srli_epi64::<S>(x), _mm_slli_epi64::<M>(x));
            _mm_xor_si128(_mm_xor_si128(r, s), _mm_srli_epi64::<N>(x))
        }
    }
}
