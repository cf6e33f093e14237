//! SHA-512 of one message after the other (FIPS 180-4, section 6.4.2): the schedule in vectors, two
//! words of two blocks at a time, and the rounds in integers.
//!
//! Schedule and rounds run at the same time, since they use different parts of the core: of the first two
//! blocks, the whole schedule beside the rounds of the first; of the next two, half of it beside the rounds of
//! the block before them, and half beside their first one's. The integer units bound the rounds, so one has
//! as few instructions as it can. Their order is written down: of some eighty that were timed on Zen 3, the
//! fastest. Each kind of rounds is there once, in a loop: more instructions would be slower beside a busy
//! neighbour on the same core, which has its own in the cache of decoded instructions.

use core::mem::MaybeUninit;

use crate::arch::unknown;
use crate::arch::words::Row;
use crate::hash::sha2::K512;

use rounds::{alone, beside};
use schedule::Schedule;

mod rounds;
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
    if blocks == 0 {
        return;
    }
    let mut space = MaybeUninit::<[Sums; 21]>::uninit();
    // To a multiple of 32 within the first of twenty-one. An array that is aligned itself would take a register for
    // its frame, and the rounds need nearly all of them.
    let start = space.as_mut_ptr().cast::<Sums>();
    let first = start.map_addr(|address| address.next_multiple_of(32));
    for lane in 0..lanes {
        // SAFETY: `lane` is one of the caller's; its blocks are readable. Twenty sums follow `first`.
        unsafe {
            let sums = [first, first.add(10)];
            one_lane::<ROTATES>(&mut *rows.add(lane), at.add(lane).read(), blocks, sums);
        }
    }
}

/// For each pair of words of two blocks, both of the first block and then both of the second, each with
/// the constant of its round added; four pairs for eight rounds.
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
/// As [`each_lane`], of one lane and a block at least; both of `sums` are valid for ten, and multiples of 32.
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
            let rest = if block == 0 {
                // There was no block before, beside whose rounds half of these words could have been made.
                for i in 2..unknown(10) {
                    s = beside::<ROTATES, 8>(s, at, &mut schedule);
                    schedule.put(sums, i);
                    at = at.wrapping_add(16);
                }
                2
            } else if second && block + 1 == blocks {
                10
            } else {
                // Beside a second block the next pair of blocks begins, beside that one's first block it ends.
                let (to, from) = if second {
                    schedule = Schedule::new(two(block + 1), next);
                    (next, 2)
                } else {
                    (sums, 6)
                };
                for i in from..unknown(from + 4) {
                    s = beside::<ROTATES, 16>(s, at, &mut schedule);
                    schedule.put(to, i);
                    at = at.wrapping_add(32);
                }
                2
            };
            for _ in 0..unknown(rest) {
                s = alone(s, at);
                at = at.wrapping_add(16);
            }
            for (word, s) in row.iter_mut().zip(s) {
                *word = word.wrapping_add(s);
            }
            if second {
                (sums, next) = (next, sums);
            }
        }
    }
}
