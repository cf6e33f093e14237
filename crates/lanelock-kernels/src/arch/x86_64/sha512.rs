//! SHA-512 of one message after the other (FIPS 180-4, section 6.4.2): the schedule in vectors, two
//! words of two blocks at a time, and the rounds in integers.
//!
//! Schedule and rounds run at the same time, since they use different parts of the core: of the first two
//! blocks, the whole schedule beside the rounds of the first; of the next two, half of it beside the rounds of
//! the block before them, and half beside their first one's. The integer units bound the rounds, so one has
//! as few operations as it can. The order of all is the program's: of some hundred that were timed on Zen 3,
//! the fastest. Each instance of the sixteen rounds is there once, as two would not fit in that CPU's cache of
//! decoded instructions.

use core::arch::asm;
use core::mem::MaybeUninit;

use crate::arch::words::Row;
use crate::hash::sha2::K512;

use schedule::Schedule;

mod schedule;

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
    let mut space = MaybeUninit::<[Sums; 21]>::uninit();
    // To a multiple of 32 within the first of 21. An array that is aligned itself would take a register for
    // its frame, and the rounds need all of them.
    let start = space.as_mut_ptr().cast::<Sums>();
    let first = opaque(start.map_addr(|address| address.next_multiple_of(32)));
    for lane in 0..lanes {
        // SAFETY: `lane` is one of the caller's; its blocks are readable. Twenty sums follow `first`.
        unsafe {
            let sums = [first, first.add(10)];
            one_lane::<ROTATES>(&mut *rows.add(lane), at.add(lane).read(), blocks, sums);
        }
    }
}

/// For four pairs of words of two blocks, both of the first block and then both of the second, each with
/// the constant of its round added: eight rounds.
type Sums = [[u64; 4]; 4];

/// The constants, arranged as in [`Sums`].
static CONSTANTS: [Sums; 10] = {
    let mut sums = [[[0; 4]; 4]; 10];
    let mut i = 0;
    while i < 40 {
        let (k, l) = (K512[i / 8][i % 8 * 2], K512[i / 8][i % 8 * 2 + 1]);
        sums[i / 4][i % 4] = [k, l, k, l];
        i += 1;
    }
    sums
};

/// # Safety
/// As [`each_lane`], of one lane; both of `sums` are valid for ten, and multiples of 32.
#[inline(always)]
unsafe fn one_lane<const ROTATES: bool>(
    row: &mut Row<u64>,
    data: *const u8,
    blocks: usize,
    [mut sums, mut next]: [*mut Sums; 2],
) {
    // SAFETY: the caller's promises: no block is read but those of the lane; places of `sums`, of `next` and of
    // the constants are below ten, and each of the sums is made before the rounds that add it.
    unsafe {
        let two = |first: usize| [first, (first + 1).min(blocks - 1)].map(|i| data.add(128 * i));
        let mut schedule = Schedule::<ROTATES>::new(two(0), sums);
        for block in 0..blocks {
            let second = block % 2 == 1;
            // The sums of a second block are two words behind those of the first.
            let (mut s, mut at) = (*row, sums.cast::<u64>().add(2 * usize::from(second)));
            let alone = if block == 0 {
                for i in [2, 4, 6, 8] {
                    s = sixteen::<ROTATES, 8>(s, at, &mut schedule, sums.add(i), i);
                    at = behind(at);
                }
                1
            } else if second && block + 1 == blocks {
                5
            } else {
                let (to, from) = if second {
                    schedule = Schedule::new(two(block + 1), next);
                    (next, 2)
                } else {
                    (sums, 6)
                };
                for i in from..from + 4 {
                    s = sixteen::<ROTATES, 4>(s, at, &mut schedule, to.add(i), i);
                    at = behind(at);
                }
                1
            };
            for _ in 0..alone {
                s = sixteen::<ROTATES, 0>(s, at, &mut schedule, sums, 0);
                at = behind(at);
            }
            add(row, &s);
            if second {
                (sums, next) = (next, sums);
            }
        }
    }
}

#[inline(always)]
fn add(row: &mut Row<u64>, s: &Row<u64>) {
    for i in 0..8 {
        row[i] = row[i].wrapping_add(s[i]);
    }
}

/// The pointer as it is. The compiler does not know who else has what it points to, so additions read the sums
/// from memory; taken out of vectors, each would cost two instructions more.
#[inline(always)]
fn opaque<T>(mut at: *mut T) -> *mut T {
    // SAFETY: no instructions.
    unsafe { asm!("/* {0} */", inout(reg) at, options(nostack, preserves_flags)) };
    at
}

/// The sums behind those of sixteen rounds. The compiler would count them, and add the count in every round.
#[inline(always)]
fn behind(at: *mut u64) -> *mut u64 {
    opaque(at.wrapping_add(32))
}

/// The value as it is, made before what follows in the program: the compiler would order sums by its own
/// ranks, and put the steps of the schedule together.
#[inline(always)]
fn in_order(mut value: u64) -> u64 {
    // SAFETY: no instructions.
    unsafe { asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// Sixteen rounds, whose sums begin `at` the first block's or the second's word; beside them, `PAIRS` pairs of
/// the schedule, whose sums, from number `i` of ten, go `to`.
///
/// # Safety
/// The CPU has the instructions. `at` is valid for the words of its block, `to` for the pairs and a multiple of
/// 32; `i` and the pairs are below ten sums.
#[inline(always)]
unsafe fn sixteen<const ROTATES: bool, const PAIRS: usize>(
    state: Row<u64>,
    at: *mut u64,
    schedule: &mut Schedule<ROTATES>,
    to: *mut Sums,
    i: usize,
) -> Row<u64> {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    // Whether the instructions of a loop fit in the lines of the cache of decoded ones depends on where it begins.
    // SAFETY: no instructions but those that do nothing.
    unsafe { asm!(".p2align 6", options(nomem, nostack, preserves_flags)) };
    // One round's `a` and `b` are the next one's `b` and `c`.
    let mut b_or_c = b ^ c;
    macro_rules! round {
        ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $i:expr) => {
            let mut place = 12 * $i;
            // A step of the schedule, of twelve in a round.
            macro_rules! step {
                () => {
                    // SAFETY: the caller's promises, passed on.
                    unsafe { schedule.step::<PAIRS>(place, to, i) };
                    place += 1;
                };
            }
            // SAFETY: a pair is four words, the second block's two behind the first one's; the caller
            // promises that they are valid.
            let sum = unsafe { at.add(4 * ($i >> 1) + ($i & 1)).read() };
            let rest = in_order($h.wrapping_add(sum));
            step!();
            let choice = in_order(!$e & $g);
            let sigma = in_order($e.rotate_right(41));
            step!();
            let turned = in_order($e.rotate_right(18));
            step!();
            let rest = in_order(rest.wrapping_add(choice));
            step!();
            let sigma = in_order(sigma ^ turned);
            let choice = in_order($e & $f);
            step!();
            let turned = in_order($e.rotate_right(14));
            let rest = in_order(rest.wrapping_add(choice));
            step!();
            let sigma = in_order(sigma ^ turned);
            let a_or_b = in_order($a ^ $b);
            step!();
            let first = in_order(rest.wrapping_add(sigma));
            step!();
            let sigma = in_order($a.rotate_right(39));
            let turned = in_order($a.rotate_right(34));
            step!();
            let majority = in_order(b_or_c & a_or_b);
            $d = in_order($d.wrapping_add(first));
            step!();
            let sigma = in_order(sigma ^ turned);
            step!();
            let turned = in_order($a.rotate_right(28));
            let majority = in_order(majority ^ $b);
            step!();
            let sigma = in_order(sigma ^ turned);
            let first = in_order(first.wrapping_add(majority));
            b_or_c = a_or_b;
            $h = in_order(first.wrapping_add(sigma));
            let _ = place;
        };
    }
    macro_rules! eight {
        ($i:expr) => {
            round!(a b c d e f g h, $i);
            round!(h a b c d e f g, $i + 1);
            round!(g h a b c d e f, $i + 2);
            round!(f g h a b c d e, $i + 3);
            round!(e f g h a b c d, $i + 4);
            round!(d e f g h a b c, $i + 5);
            round!(c d e f g h a b, $i + 6);
            round!(b c d e f g h a, $i + 7);
        };
    }
    eight!(0);
    eight!(8);
    if PAIRS == 4 {
        schedule.turn();
    }
    let _ = b_or_c;
    [a, b, c, d, e, f, g, h]
}
