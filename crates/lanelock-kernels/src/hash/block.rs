//! The words of a block, and those that SHA-2 extends it to: in registers where there are enough of them, else
//! in memory.

#![allow(unsafe_code)] // words are kept, and the next block is read, by pointer

use core::mem::MaybeUninit;

use crate::arch::words::WordLanes;

/// A block of every lane, and room for what it is extended to.
#[derive(Debug)]
pub struct Block<V>([MaybeUninit<V>; WORDS]);

/// Words of the longest schedule, SHA-512's (FIPS 180-4, section 6.4.2).
const WORDS: usize = 80;

impl<V: WordLanes> Block<V> {
    /// Not set yet.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; WORDS])
    }

    #[inline(always)]
    pub(super) fn set(&mut self, words: [V; 16]) {
        for (to, word) in self.0.iter_mut().zip(words) {
            to.write(word);
        }
    }

    /// # Safety
    /// It is set.
    #[inline(always)]
    pub(super) unsafe fn words(&self) -> [V; 16] {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ptr().cast::<[V; 16]>().read() }
    }
}

/// The block behind the one that is compressed, of each lane.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    /// Null if there is none.
    at: *const *const u8,
    /// From each pointer to it.
    offset: usize,
}

impl Next {
    /// No block.
    pub(super) const NONE: Self = Self {
        at: core::ptr::null(),
        offset: 0,
    };

    /// The block at `offset` from each pointer. Whoever has it compressed promises that there is one.
    #[inline(always)]
    pub(super) fn new(at: *const *const u8, offset: usize) -> Self {
        Self { at, offset }
    }

    /// Replaces `block` by it, if there is one.
    ///
    /// # Safety
    /// Whoever made it has the block.
    #[inline(always)]
    pub(super) unsafe fn load<V: WordLanes>(self, proof: V::Proof, block: &mut Block<V>) {
        if !self.at.is_null() {
            // SAFETY: the caller's promise.
            block.set(unsafe { V::load_block(proof, self.at, self.offset) });
        }
    }

    /// Loads an eighth of it to `block`, if there is one: see [`WordLanes::load_eighth`]. Between the rounds of
    /// the block before, shuffles find an instruction port that is free.
    ///
    /// # Safety
    /// Whoever made it has the block; `eighth` is below 8.
    #[inline(always)]
    pub(super) unsafe fn load_eighth<V: WordLanes>(
        self,
        proof: V::Proof,
        eighth: usize,
        block: &mut Block<V>,
    ) {
        if !self.at.is_null() {
            let to = block.0.as_mut_ptr().cast();
            // SAFETY: the caller's promises.
            unsafe { V::load_eighth(proof, self.at, self.offset, eighth, to) }
        }
    }
}

/// Where the words are that rounds read and extend the block by. `t` is a round's number among sixteen.
pub(super) trait Words<V> {
    /// The word that is read `ahead` rounds after this one, at most fifteen.
    ///
    /// # Safety
    /// It is of the block, or the block has been extended by it.
    unsafe fn get(&self, t: usize, ahead: usize) -> V;

    /// Extends the block by the word that is read sixteen rounds after this one, whose own is not read again.
    ///
    /// # Safety
    /// There is such a round.
    unsafe fn extend(&mut self, t: usize, word: V);

    /// Behind a round of the last sixteen.
    ///
    /// # Safety
    /// Whoever made the next block has it.
    #[inline(always)]
    unsafe fn behind(&mut self, _t: usize) {}
}

/// In registers. They become free in the last sixteen rounds, which load the next block to them.
pub(super) struct Held<'b, V> {
    pub(super) words: [V; 16],
    pub(super) block: &'b mut Block<V>,
    pub(super) next: Next,
}

impl<V: WordLanes> Words<V> for Held<'_, V> {
    #[inline(always)]
    unsafe fn get(&self, t: usize, ahead: usize) -> V {
        self.words[(t + ahead) % 16]
    }

    #[inline(always)]
    unsafe fn extend(&mut self, t: usize, word: V) {
        self.words[t] = word;
    }

    #[inline(always)]
    unsafe fn behind(&mut self, t: usize) {
        if t % 2 == 1 {
            let proof = self.words[t].proof();
            // SAFETY: the caller's promise; the round is below 16.
            unsafe { self.next.load_eighth(proof, t / 2, self.block) }
        }
    }
}

/// In memory, all of them: a block is extended where it lies.
pub(super) struct Written<V>(*mut V);

impl<V: WordLanes> Written<V> {
    /// Those of a block; no other reference to it is used as long as this one.
    #[inline(always)]
    pub(super) fn of(block: &mut Block<V>) -> Self {
        Self(block.0.as_mut_ptr().cast())
    }

    /// For the eight rounds that come next, whose numbers begin with 0 again.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.0 = self.0.wrapping_add(8);
    }
}

impl<V: WordLanes> Words<V> for Written<V> {
    #[inline(always)]
    unsafe fn get(&self, t: usize, ahead: usize) -> V {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(t + ahead).read() }
    }

    #[inline(always)]
    unsafe fn extend(&mut self, t: usize, word: V) {
        // SAFETY: the caller's promise: there is a word for each round.
        unsafe { self.0.add(t + 16).write(word) }
    }
}
