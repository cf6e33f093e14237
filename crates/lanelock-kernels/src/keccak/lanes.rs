//! The states of as many sponges as a register has words, in memory: word by word, the lanes of each
//! side by side.

#![allow(unsafe_code)] // reads messages by pointer

use core::array::from_fn;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::function::MAX_RATE;
use super::permutation::{WORDS, permute};
use crate::arch::register::Proof;
use crate::arch::words::{self, LongLanes};
use crate::bytes::copy_short;
use crate::wipe::wipe;

/// Lanes of the widest register.
pub(crate) const LANES: usize = 8;

/// Bytes of a state.
pub(crate) const STATE: usize = 8 * WORDS;

/// Words of a state that [`Sponges::squeeze`] reads by registers, for up to a rate.
const SQUEEZED: usize = 24;
const _: () = assert!(MAX_RATE <= 8 * SQUEEZED && SQUEEZED < WORDS);

/// Sponges that absorb by the registers `V`, and are permuted on `W` in code that is compiled for `P`.
///
/// Invariant: the first [`WORDS`] · `COUNT` words of `states` are initialised, and those of `squeezed` if
/// there are any.
pub(crate) struct Sponges<P, V: LongLanes, W = V> {
    states: States,
    /// The first words of the states, lane by lane.
    squeezed: MaybeUninit<[[u64; SQUEEZED]; LANES]>,
    any_squeezed: bool,
    /// Whether they are those of the states as they are.
    is_current: bool,
    proof: P,
    lane: V::Proof,
    permuted_on: PhantomData<W>,
}

#[repr(align(64))]
struct States(MaybeUninit<[u64; WORDS * LANES]>);

impl<P, V, W> Sponges<P, V, W>
where
    P: Proof + Into<V::Proof> + Into<W::Proof>,
    V: LongLanes,
    W: words::Logic,
{
    /// Sponges that have absorbed nothing.
    #[inline(always)]
    pub(crate) fn new(proof: P) -> Self {
        const { assert!(V::COUNT <= LANES && V::COUNT == W::COUNT) };
        let mut sponges = Self {
            states: States(MaybeUninit::uninit()),
            squeezed: MaybeUninit::uninit(),
            any_squeezed: false,
            is_current: false,
            proof,
            lane: proof.into(),
            permuted_on: PhantomData,
        };
        sponges.clear();
        sponges
    }

    /// All states as those that have absorbed nothing.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        let zero = V::splat(self.lane, 0);
        for i in 0..WORDS {
            // SAFETY: inside the states.
            unsafe { zero.store(self.at(i)) };
        }
    }

    /// Where the lanes' word `i` is.
    #[inline(always)]
    fn at(&mut self, i: usize) -> *mut u64 {
        debug_assert!(i < WORDS);
        let words: *mut u64 = self.states.0.as_mut_ptr().cast();
        words.wrapping_add(i * V::COUNT)
    }

    /// Clears the states of lanes whose word of `keep` is zero; in those of the others it is all ones.
    #[inline(always)]
    pub(crate) fn keep(&mut self, keep: &[u64; LANES]) {
        // SAFETY: `COUNT` ≤ `LANES` words; words inside the states.
        unsafe {
            let (keep, zero) = (V::load(self.lane, keep.as_ptr()), V::splat(self.lane, 0));
            for i in 0..WORDS {
                let word = V::load(self.lane, self.at(i));
                keep.choose(word, zero).store(self.at(i));
            }
        }
    }

    /// XORs `bytes` bytes from `*at[lane] + offset` into each state: a multiple of 8, from 64 to
    /// [`STATE`].
    ///
    /// # Safety
    /// `at` is valid for reading `COUNT` pointers, and each, plus `offset`, for reading `bytes`.
    #[inline(always)]
    pub(crate) unsafe fn absorb(&mut self, at: *const *const u8, offset: usize, bytes: usize) {
        let count = bytes / 8;
        debug_assert!(bytes.is_multiple_of(8) && (8..=WORDS).contains(&count));
        // SAFETY: the words read are inside `bytes`, those written inside the states.
        unsafe {
            let mut i = 0;
            while i + 8 <= count {
                let block = V::load_words(self.lane, at, offset + 8 * i);
                for (j, word) in block.into_iter().enumerate() {
                    self.xor(i + j, word);
                }
                i += 8;
            }
            // The last two or eight words, of which the first were absorbed.
            match count - i {
                0 => {}
                rest @ 1..=2 => {
                    let (first, last) = V::load_pairs(self.lane, at, offset + bytes - 16);
                    if rest == 2 {
                        self.xor(i, first);
                    }
                    self.xor(count - 1, last);
                }
                _ => {
                    let block = V::load_words(self.lane, at, offset + bytes - 64);
                    for (j, word) in block.into_iter().enumerate() {
                        if count - 8 + j >= i {
                            self.xor(count - 8 + j, word);
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn xor(&mut self, i: usize, word: V) {
        // SAFETY: inside the states.
        unsafe { V::load(self.lane, self.at(i)).xor(word).store(self.at(i)) };
    }

    /// Permutes every state.
    #[inline(always)]
    pub(crate) fn permute(&mut self) {
        self.is_current = false;
        // SAFETY: the invariant.
        unsafe { permute::<P, W>(self.proof, self.at(0)) };
    }

    /// The state of lane `from` for lane `to`, too.
    #[inline(always)]
    pub(crate) fn copy_lane(&mut self, from: usize, to: usize) {
        debug_assert!(from < V::COUNT && to < V::COUNT);
        self.is_current = false;
        for i in 0..WORDS {
            let words = self.at(i);
            // SAFETY: words of the states.
            unsafe { words.add(to).write(words.add(from).read()) };
        }
    }

    /// The first bytes of a lane's state as it was last permuted.
    #[inline(always)]
    pub(crate) fn squeeze(&mut self, lane: usize, to: &mut [u8]) {
        assert!(lane < V::COUNT && to.len() <= STATE, "of one state");
        // Where other lanes are likely to be read as well, one transposition serves all.
        if V::COUNT >= 4 && (65..=MAX_RATE).contains(&to.len()) {
            if !self.is_current {
                self.transpose();
            }
            let from: *const [u64; SQUEEZED] = self.squeezed.as_ptr().cast();
            // SAFETY: the lane's words, which have just been initialised, are longer than `to`.
            unsafe { copy(from.add(lane).cast(), to.as_mut_ptr(), to.len()) };
        } else {
            let words = self.at(0);
            for (i, place) in to.chunks_mut(8).enumerate() {
                // SAFETY: a word of the state: `to` is no longer than one.
                let word = unsafe { words.add(i * V::COUNT + lane).read() };
                place.copy_from_slice(&word.to_le_bytes()[..place.len()]);
            }
        }
    }

    /// The first words of all states, lane by lane.
    #[inline(always)]
    fn transpose(&mut self) {
        let to: *mut u64 = self.squeezed.as_mut_ptr().cast();
        for first in (0..SQUEEZED).step_by(V::COUNT) {
            let rows: [*const u8; LANES] =
                from_fn(|i| self.at(first + i.min(V::COUNT - 1)).cast_const().cast());
            // SAFETY: 8 words from each row on: as a row has at least four, those of one more row at
            // most, and there is one more. `COUNT` words for each lane, of which there are `COUNT`.
            unsafe {
                let lanes = V::load_words(self.lane, rows.as_ptr(), 0);
                for (lane, words) in lanes.into_iter().enumerate().take(V::COUNT) {
                    words.store(to.add(lane * SQUEEZED + first));
                }
            }
        }
        (self.any_squeezed, self.is_current) = (true, true);
    }
}

impl<P, V: LongLanes, W> Sponges<P, V, W> {
    /// Overwrites the states.
    #[inline(always)]
    pub(crate) fn wipe(&mut self) {
        let words: *mut u64 = self.states.0.as_mut_ptr().cast();
        // SAFETY: the invariant.
        wipe(unsafe { core::slice::from_raw_parts_mut(words, WORDS * V::COUNT) });
        if self.any_squeezed {
            wipe(self.squeezed.write([[0; SQUEEZED]; LANES]));
        }
    }
}

/// Copies no more than a rate.
///
/// # Safety
/// `from` is readable and `to` writable for `count` ≤ [`MAX_RATE`] bytes; they do not overlap.
#[inline(always)]
pub(super) unsafe fn copy(mut from: *const u8, mut to: *mut u8, mut count: usize) {
    const { assert!(MAX_RATE <= 256) };
    // SAFETY: the caller's promise, in one piece or two.
    unsafe {
        if count > 128 {
            copy_short(from, to, 128);
            (from, to) = (from.add(128), to.add(128));
            count -= 128;
        }
        copy_short(from, to, count);
    }
}
