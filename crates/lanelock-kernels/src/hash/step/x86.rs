//! The steps of registers, and of instructions that are made for the hash.

#![allow(unsafe_code)] // runs compressions with their instruction set, on rows and blocks by pointer

use super::{Blocks, Ends, Step, blocks, ends, outer, outer_bits, step_portable};
use crate::hash::Algorithm;
use crate::lanes::{Lanes, Pair, Row, WideWord, Word};

/// Bytes of an outer HMAC block that the padding code may need at most.
const OUTER_BLOCK: usize = 128;

/// The SHA extensions for up to `up_to` messages.
pub(in crate::hash) const fn step_ni<A: Algorithm>(up_to: usize) -> Step<A> {
    match A::EXTENSION {
        Some(blocks) => Step {
            up_to,
            group: 1,
            blocks,
            outer: outer_ni::<A>,
            ends: None,
        },
        None => step_portable(),
    }
}

/// A lone message on a tier that takes the index `TIER` in [`Compress::ALONE`](crate::hash::Compress::ALONE).
pub(in crate::hash) const fn step_alone<A: Algorithm, const TIER: usize>() -> Step<A> {
    match A::ALONE {
        Some(alone) => Step {
            up_to: 1,
            group: 1,
            blocks: alone[TIER],
            outer: outer_alone::<A, TIER>,
            ends: None,
        },
        None => step_integer(),
    }
}

/// The two functions of a step over one register type, with its instructions enabled.
macro_rules! step {
    ($step:ident, $features:literal, $lanes:ty,
     $blocks:ident, $outer:ident, $ends:ident, $compress:ident) => {
        pub(in crate::hash) const fn $step<A: Algorithm>() -> Step<A> {
            let lanes = <$lanes>::COUNT;
            assert!(lanes.is_power_of_two());
            Step {
                up_to: lanes,
                group: lanes,
                blocks: $blocks::<A>,
                outer: $outer::<A>,
                ends: Some($ends::<A>),
            }
        }

        /// # Safety
        /// As [`Step::blocks`], and the CPU has the instructions.
        #[target_feature(enable = $features)]
        unsafe fn $blocks<A: Algorithm>(
            rows: *mut Row<A::Word>,
            at: *const *const u8,
            lanes: usize,
            count: usize,
        ) {
            // SAFETY: the caller's promise, passed on.
            unsafe { blocks::<A, $lanes>(rows, at, lanes, count, $compress::<A>) }
        }

        /// # Safety
        /// As [`Step::outer`], and the CPU has the instructions.
        #[target_feature(enable = $features)]
        unsafe fn $outer<A: Algorithm>(
            chain: *mut Row<A::Word>,
            inner: *const Row<A::Word>,
            lanes: usize,
        ) {
            // SAFETY: the caller's promise, passed on.
            unsafe { outer::<A, $lanes>(chain, inner, lanes, $compress::<A>) }
        }

        /// # Safety
        /// The CPU has the instructions.
        #[target_feature(enable = $features)]
        unsafe fn $ends<A: Algorithm>(these: &Ends<A>) {
            // SAFETY: the caller's promise, passed on.
            unsafe { ends::<A, $lanes>(these, $compress::<A>) }
        }

        /// One copy for all callers: the code of a compression is long.
        ///
        /// # Safety
        /// As [`Compress::compress`](crate::hash::Compress::compress), and the CPU has the instructions.
        #[inline(never)]
        #[target_feature(enable = $features)]
        unsafe fn $compress<A: Algorithm>(state: &mut [$lanes; 8], w: *mut $lanes) {
            crate::frame::align();
            // SAFETY: the caller's promise, passed on.
            unsafe { A::compress::<$lanes>(state, w) }
        }
    };
}

step!(
    step_integer,
    "bmi1,bmi2",
    A::Word,
    blocks_integer,
    outer_integer,
    ends_integer,
    compress_integer
);
step!(
    step_zmm,
    "avx512f,avx512bw,avx512dq,avx512vl",
    <A::Word as WideWord>::Zmm,
    blocks_zmm,
    outer_zmm,
    ends_zmm,
    compress_zmm
);
step!(
    step_two_zmm,
    "avx512f,avx512bw,avx512dq,avx512vl",
    Pair<<A::Word as WideWord>::Zmm>,
    blocks_two_zmm,
    outer_two_zmm,
    ends_two_zmm,
    compress_two_zmm
);
step!(
    step_ymm,
    "avx2",
    <A::Word as WideWord>::Ymm,
    blocks_ymm,
    outer_ymm,
    ends_ymm,
    compress_ymm
);
step!(
    step_two_ymm,
    "avx2",
    Pair<<A::Word as WideWord>::Ymm>,
    blocks_two_ymm,
    outer_two_ymm,
    ends_two_ymm,
    compress_two_ymm
);

/// The outer hash of a few lanes by [`Compress::EXTENSION`](crate::hash::Compress::EXTENSION).
///
/// # Safety
/// As [`Step::outer`], and the CPU has the instructions of the extension.
unsafe fn outer_ni<A: Algorithm>(
    chain: *mut Row<A::Word>,
    inner: *const Row<A::Word>,
    lanes: usize,
) {
    let Some(blocks) = A::EXTENSION else { return };
    // SAFETY: the caller's promise, passed on.
    unsafe { outer_bytes::<A>(blocks, chain, inner, lanes) }
}

/// The outer hash of a lone message by [`Compress::ALONE`](crate::hash::Compress::ALONE).
///
/// # Safety
/// As [`Step::outer`], and the CPU has the instructions of the tier.
unsafe fn outer_alone<A: Algorithm, const TIER: usize>(
    chain: *mut Row<A::Word>,
    inner: *const Row<A::Word>,
    lanes: usize,
) {
    let Some(alone) = A::ALONE else { return };
    // SAFETY: the caller's promise, passed on.
    unsafe { outer_bytes::<A>(alone[TIER], chain, inner, lanes) }
}

/// The outer hash by a compression that reads blocks of bytes.
///
/// # Safety
/// As [`Step::outer`], and the CPU has the instructions of `blocks`.
#[inline(always)]
unsafe fn outer_bytes<A: Algorithm>(
    blocks: Blocks<A>,
    chain: *mut Row<A::Word>,
    inner: *const Row<A::Word>,
    lanes: usize,
) {
    let mut first = 0;
    while first < lanes {
        let group = (lanes - first).min(4);
        let mut padded = [[0; OUTER_BLOCK]; 4];
        let mut at = [core::ptr::null(); 4];
        for lane in 0..group {
            // SAFETY: `first + lane` is below the caller's `lanes`.
            let words = unsafe { &*inner.add(first + lane) };
            let block = &mut padded[lane][..A::BLOCK];
            for (word, to) in words
                .iter()
                .zip(block[..A::DIGEST].chunks_exact_mut(A::Word::BYTES))
            {
                word.write_be(to);
            }
            block[A::DIGEST] = 0x80;
            A::Word::from_bits(outer_bits::<A>()).write_be(&mut block[A::BLOCK - A::Word::BYTES..]);
            at[lane] = block.as_ptr();
        }
        // SAFETY: `group` rows from `first` are the caller's; each pointer is to one block.
        unsafe { blocks(chain.add(first), at.as_ptr(), group, 1) };
        first += group;
    }
}
