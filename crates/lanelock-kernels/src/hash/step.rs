//! The compressions of a number of lanes: of whole blocks, of HMAC's outer block, of whole ends.

#![allow(unsafe_code)] // runs compressions with their instruction set, on rows and blocks by pointer

use core::mem::MaybeUninit;

use super::block::{Block, Next};
use super::compiled;
use crate::arch::Integers;
use crate::arch::words::{Compression, Registers, Row, WideWord, Word, WordLanes};
use crate::hash::{Algorithm, Compress};

/// The compression for at most `up_to` messages in flight.
#[derive(Clone, Copy)]
pub(super) struct Step<A: Algorithm> {
    pub(super) up_to: usize,
    /// Lanes are read and written in groups of this many, a power of two.
    group: usize,
    blocks: Compression<A::Word>,
    outer: Outer<A>,
    /// Whole ends of messages, where that is faster than run by run.
    ends: Option<unsafe fn(&Ends<A>)>,
}

/// What is left of messages that end together: some blocks of each, then those that its padding is
/// in, then the outer hash of HMAC. Without the latter two, they do not end.
///
/// Invariant: all pointers are valid for [`Step::touched`]`(lanes)` elements, `rows` also for
/// writes, and each of `at` and `ending_at` for reading its number of blocks.
pub(super) struct Ends<A: Algorithm> {
    pub(super) rows: *mut Row<A::Word>,
    pub(super) lanes: usize,
    pub(super) at: *const *const u8,
    pub(super) blocks: usize,
    pub(super) ending_at: *const *const u8,
    pub(super) ending_blocks: usize,
    /// The keys' outer states; null for a plain hash.
    pub(super) outer: *const Row<A::Word>,
}

impl<A: Algorithm> Ends<A> {
    /// Block `n` of the lanes from `first` on, if they have so many.
    #[inline(always)]
    fn next(&self, first: usize, n: usize) -> Next {
        let (at, block) = if n < self.blocks {
            (self.at, n)
        } else if n < self.blocks + self.ending_blocks {
            (self.ending_at, n - self.blocks)
        } else {
            return Next::NONE;
        };
        Next::new(at.wrapping_add(first), block * A::BLOCK)
    }
}

/// See [`Compress::compress`].
pub(super) type CompressFn<V> = unsafe fn(&mut [V; 8], &mut Block<V>, Next);
/// `(chain, inner, lanes)`; see [`Step::outer`].
type Outer<A> =
    unsafe fn(*mut Row<<A as Compress>::Word>, *const Row<<A as Compress>::Word>, usize);

impl<A: Algorithm> Step<A> {
    /// Plain integers, one message after the other.
    pub(super) const PORTABLE: Self = Self {
        ends: None,
        ..Self::of::<Integers, A::Word>()
    };

    /// Registers `V`, in code compiled for the set `S`.
    pub(super) const fn of<S: Registers, V: WordLanes<Word = A::Word>>() -> Self
    where
        S::Proof: Into<V::Proof>,
    {
        assert!(V::COUNT.is_power_of_two());
        Self {
            up_to: V::COUNT,
            group: V::COUNT,
            blocks: compiled::blocks::<S, A, V>,
            outer: compiled::outer::<S, A, V>,
            ends: Some(compiled::ends::<S, A, V>),
        }
    }

    /// The instructions made for the algorithm, for up to `up_to` messages; integers if there are
    /// none.
    pub(super) const fn extension(up_to: usize) -> Self {
        match A::EXTENSION {
            Some(blocks) => Self {
                up_to,
                group: 1,
                blocks,
                outer: outer_by_extension::<A>,
                ends: None,
            },
            None => Self::PORTABLE,
        }
    }

    /// A lone message, in code compiled for the set `S`.
    pub(super) const fn alone<S: Registers>() -> Self {
        match <<A::Word as WideWord>::In<S> as WordLanes>::SHA2 {
            Some(blocks) => Self {
                up_to: 1,
                group: 1,
                blocks,
                outer: outer_alone::<A, <A::Word as WideWord>::In<S>>,
                ends: None,
            },
            None => Self::of::<S, A::Word>(),
        }
    }

    /// For twice as many messages in flight, one register after the other.
    pub(super) const fn twice(self) -> Self {
        Self {
            up_to: 2 * self.up_to,
            ..self
        }
    }

    /// `lanes` rounded up to what the kernel reads and writes.
    #[inline]
    pub(super) fn touched(&self, lanes: usize) -> usize {
        // The standard library's method would divide.
        (lanes + self.group - 1) & !(self.group - 1)
    }

    /// Compresses `blocks` blocks of each lane into its row.
    ///
    /// # Safety
    /// `rows` and `at` are valid for [`Self::touched`]`(lanes)` elements, and each pointer for
    /// reading `blocks` blocks.
    #[inline]
    pub(super) unsafe fn blocks(
        &self,
        rows: *mut Row<A::Word>,
        at: *const *const u8,
        lanes: usize,
        blocks: usize,
    ) {
        // SAFETY: the bounds are the caller's promise. The instructions exist: a `Kernels` is only
        // reachable through a constructor that took the token.
        unsafe { (self.blocks)(rows, at, lanes, blocks) }
    }

    /// The outer hash of HMAC: `inner` digests become one padded block each, compressed into
    /// `chain`, which holds the keys' outer states.
    ///
    /// # Safety
    /// Both are valid for [`Self::touched`]`(lanes)` rows.
    #[inline]
    pub(super) unsafe fn outer(
        &self,
        chain: *mut Row<A::Word>,
        inner: *const Row<A::Word>,
        lanes: usize,
    ) {
        // SAFETY: as in `blocks`.
        unsafe { (self.outer)(chain, inner, lanes) }
    }

    /// What runs messages to their ends by one call, leaving their digests in the rows, if there is
    /// something for this number of lanes.
    #[inline(always)]
    pub(super) fn ends(&self) -> Option<unsafe fn(&Ends<A>)> {
        self.ends
    }
}

/// # Safety
/// As [`Step::outer`] with `V::COUNT` for the group; `compress` is that of `V`.
#[inline(always)]
pub(super) unsafe fn outer<A: Algorithm, V: WordLanes<Word = A::Word>>(
    proof: V::Proof,
    chain: *mut Row<A::Word>,
    inner: *const Row<A::Word>,
    lanes: usize,
    compress: CompressFn<V>,
) {
    for first in (0..lanes).step_by(V::COUNT) {
        // SAFETY: whole groups are inside the caller's `touched(lanes)`.
        unsafe {
            let (chain, inner) = (chain.add(first), inner.add(first));
            let state = outer_of::<A, V>(V::load_rows(proof, inner), chain, compress);
            V::store_rows(state, chain);
        }
    }
}

/// See [`Ends`].
///
/// # Safety
/// `V` has the step's group of lanes; `compress` is its own.
#[inline(always)]
pub(super) unsafe fn ends<A: Algorithm, V: WordLanes<Word = A::Word>>(
    proof: V::Proof,
    these: &Ends<A>,
    compress: CompressFn<V>,
) {
    let mut block = Block::new();
    for first in (0..these.lanes).step_by(V::COUNT) {
        // SAFETY: the invariant of `Ends`; whole groups are inside its `touched(lanes)`.
        unsafe {
            let rows = these.rows.add(first);
            let mut state = V::load_rows(proof, rows);
            these.next(first, 0).load(proof, &mut block);
            for n in 0..these.blocks + these.ending_blocks {
                compress(&mut state, &mut block, these.next(first, n + 1));
            }
            if !these.outer.is_null() {
                state = outer_of::<A, V>(state, these.outer.add(first), compress);
            }
            V::store_rows(state, rows);
        }
    }
}

/// The outer hash over `inner` digests, from the keys' outer states.
///
/// # Safety
/// `chain` is valid for the rows of the lanes of `V`; `compress` is that of `V`.
#[inline(always)]
unsafe fn outer_of<A: Algorithm, V: WordLanes<Word = A::Word>>(
    inner: [V; 8],
    chain: *const Row<A::Word>,
    compress: CompressFn<V>,
) -> [V; 8] {
    let digest = A::DIGEST / A::Word::BYTES;
    let proof = inner[0].proof();
    // SAFETY: the caller's promises.
    unsafe {
        let mut words = [V::splat(proof, A::Word::default()); 16];
        words[..digest].copy_from_slice(&inner[..digest]);
        words[digest] = V::splat(proof, A::Word::END);
        words[15] = V::splat(proof, A::Word::from_bits(outer_bits::<A>()));
        let mut block = Block::new();
        block.set(words);
        let mut state = V::load_rows(proof, chain);
        compress(&mut state, &mut block, Next::NONE);
        state
    }
}

/// Length of the outer message in bits: the key block and the inner digest.
#[allow(clippy::cast_possible_truncation)] // at most 8 · (128 + 64)
const fn outer_bits<A: Algorithm>() -> u32 {
    8 * (A::BLOCK + A::DIGEST) as u32
}

/// The outer hash of a few lanes by [`Compress::EXTENSION`].
///
/// # Safety
/// As [`Step::outer`], and the CPU has the instructions of the extension.
unsafe fn outer_by_extension<A: Algorithm>(
    chain: *mut Row<A::Word>,
    inner: *const Row<A::Word>,
    lanes: usize,
) {
    let Some(blocks) = A::EXTENSION else { return };
    // SAFETY: the caller's promise, passed on.
    unsafe { outer_bytes::<A>(blocks, chain, inner, lanes) }
}

/// The outer hash of a lone message by [`WordLanes::SHA2`].
///
/// # Safety
/// As [`Step::outer`], and the CPU has the instructions of `V`.
unsafe fn outer_alone<A: Algorithm, V: WordLanes<Word = A::Word>>(
    chain: *mut Row<A::Word>,
    inner: *const Row<A::Word>,
    lanes: usize,
) {
    let Some(blocks) = V::SHA2 else { return };
    // SAFETY: the caller's promise, passed on.
    unsafe { outer_bytes::<A>(blocks, chain, inner, lanes) }
}

/// The outer hash by a compression that reads blocks of bytes.
///
/// # Safety
/// As [`Step::outer`], and the CPU has the instructions of `blocks`.
#[inline(always)]
unsafe fn outer_bytes<A: Algorithm>(
    blocks: Compression<A::Word>,
    chain: *mut Row<A::Word>,
    inner: *const Row<A::Word>,
    lanes: usize,
) {
    let mut first = 0;
    while first < lanes {
        let group = (lanes - first).min(4);
        // What a lane does not use is not written: a lone message has one block.
        let mut padded = [const { MaybeUninit::<[A::Word; 16]>::uninit() }; 4];
        let mut at = [core::ptr::null(); 4];
        for lane in 0..group {
            // SAFETY: `first + lane` is below the caller's `lanes`.
            let words = unsafe { &*inner.add(first + lane) };
            let digest = A::DIGEST / A::Word::BYTES;
            let mut block = [A::Word::default(); 16];
            for (to, word) in block[..digest].iter_mut().zip(words) {
                *to = word.to_be();
            }
            block[digest] = A::Word::END.to_be();
            block[15] = A::Word::from_bits(outer_bits::<A>()).to_be();
            at[lane] = core::ptr::from_ref(padded[lane].write(block)).cast();
        }
        // SAFETY: `group` rows from `first` are the caller's; each pointer is to one block.
        unsafe { blocks(chain.add(first), at.as_ptr(), group, 1) };
        first += group;
    }
}
