//! What modes whose blocks do not wait for each other do around the rounds of the cipher, a group of registers
//! at a time.

use core::array;
use core::marker::PhantomData;

use crate::aes::BLOCK;
use crate::aes::rounds::{Schedules, each_round};
use crate::ahead::ask;
use crate::arch::blocks::Vector;
use crate::arch::unknown;
use crate::arrays::each;

/// What a mode does to consecutive registers of a message.
pub(crate) trait Transform<V: Vector>: Sized {
    /// Whether the last register of a message is never partial.
    const ENDS_WHOLE: bool = false;

    /// Of `G` registers, `data`, which lie behind each other at `source`.
    ///
    /// # Safety
    /// `source` is valid for reads of them all but the last.
    unsafe fn apply<const G: usize>(&mut self, data: [V; G], source: *const u8) -> [V; G];

    /// [`Transform::apply`] from memory to memory, for whole groups of `G` registers; returns the bytes that they have.
    ///
    /// # Safety
    /// `source` is valid for reads and `target` for writes of `len` bytes, and they are identical or disjoint.
    #[inline(always)]
    unsafe fn apply_groups<const G: usize>(
        &mut self,
        proof: V::Proof,
        source: *const u8,
        target: *mut u8,
        len: usize,
    ) -> usize {
        // SAFETY: the caller's promises.
        unsafe { each_group::<V, Self, G>(self, proof, source, target, len) }
    }
}

/// What [`Around::behind`] takes beside the key.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Second {
    /// The data of the register.
    Data,
    /// Each block's the one before it, as it was.
    BlockBefore,
    /// Nothing.
    Nothing,
}

/// What such a mode does around the rounds of the cipher.
pub(crate) trait Around<V: Vector>: Copy {
    /// Whether messages are of whole blocks.
    const WHOLE_BLOCKS: bool = false;
    /// Whether the rounds are those of decryption.
    const INVERSE: bool;
    /// What the second of [`Around::ahead`] is.
    const SECOND: Second;
    type Rounds: Schedules<V>;

    fn rounds(&self) -> &Self::Rounds;

    /// What the first round takes for the next register of the message, which is what the cipher does with the key
    /// before the rounds added; and what [`Around::behind`] takes.
    fn ahead(&mut self, data: V) -> (V, V);

    /// The same, of a register of many, before the first of which [`Around::before_groups`] is called.
    #[inline(always)]
    fn ahead_in_groups(&mut self, data: V) -> (V, V) {
        self.ahead(data)
    }

    /// Prepares what only groups of registers are worth.
    #[inline(always)]
    fn before_groups(&mut self) {}

    /// Completes what [`Around::ahead`] has returned for the first round of `count` registers: the states from `from` on.
    #[inline(always)]
    fn settle<const G: usize>(&mut self, _states: &mut [V; G], _from: usize, _count: usize) {}

    /// What the last round adds, of its key and the second of [`Around::ahead`].
    #[inline(always)]
    fn behind(key: V, second: V) -> V {
        key.xor(second)
    }
}

impl<V: Vector, T: Around<V>> Transform<V> for T {
    const ENDS_WHOLE: bool = T::WHOLE_BLOCKS && V::BLOCKS == 1;

    #[inline(always)]
    unsafe fn apply<const G: usize>(&mut self, data: [V; G], source: *const u8) -> [V; G] {
        let these = array::from_mut(self);
        let (state, mut second) = ahead::<V, T, 1, G, false>(these, data);
        let state = middle(these, state);
        if const { V::BLOCKS > 1 && matches!(T::SECOND, Second::BlockBefore) } {
            // SAFETY: the caller's promise.
            second = unsafe { again::<V, T, 1, G, false>(second, [source]) };
        }
        end(these, state, second)
    }

    #[inline(always)]
    unsafe fn apply_groups<const G: usize>(
        &mut self,
        proof: V::Proof,
        source: *const u8,
        target: *mut u8,
        len: usize,
    ) -> usize {
        self.before_groups();
        let these = array::from_mut(self);
        let mut groups = Groups::<V, G>::new(source, target, len);
        while let Some((source, target)) = groups.take() {
            // SAFETY: the caller's promises. The block before a register but the first is in the one before.
            unsafe {
                let data = load::<V, G>(proof, source);
                let (state, second) = ahead::<V, T, 1, G, true>(these, data);
                let state = middle(these, state);
                let second = again::<V, T, 1, G, true>(second, [source]);
                store(end(these, state, second), target);
            }
        }
        groups.done
    }
}

/// Whole groups of `G` registers from memory to memory.
pub(crate) struct Groups<V, const G: usize> {
    source: *const u8,
    target: *mut u8,
    len: usize,
    /// The bytes of those that were taken.
    pub done: usize,
    registers: PhantomData<V>,
}

impl<V: Vector, const G: usize> Groups<V, G> {
    #[inline(always)]
    pub fn new(source: *const u8, target: *mut u8, len: usize) -> Self {
        Self {
            source,
            target,
            len,
            done: 0,
            registers: PhantomData,
        }
    }

    /// Where the next group lies, if there is one.
    #[inline(always)]
    pub fn take(&mut self) -> Option<(*const u8, *mut u8)> {
        let (mut at, bytes) = (self.done, const { G * V::BYTES });
        if const { V::BLOCKS > 2 } {
            // Else the compiler keeps a count for each use of it. On narrower registers, there are more rounds beside.
            at = unknown(at);
        }
        if self.len - at < bytes {
            return None;
        }
        ask(self.source, self.len, at, bytes);
        self.done = at + bytes;
        Some((self.source.wrapping_add(at), self.target.wrapping_add(at)))
    }
}

/// [`Transform::apply_groups`] by [`Transform::apply`].
///
/// # Safety
/// As for that.
#[inline(always)]
pub(crate) unsafe fn each_group<V: Vector, T: Transform<V>, const G: usize>(
    transform: &mut T,
    proof: V::Proof,
    source: *const u8,
    target: *mut u8,
    len: usize,
) -> usize {
    let mut groups = Groups::<V, G>::new(source, target, len);
    while let Some((source, target)) = groups.take() {
        // SAFETY: the caller's promises.
        unsafe { store(transform.apply(load::<V, G>(proof, source), source), target) };
    }
    groups.done
}

/// Applies each of `N` to its share of `G` registers, side by side; where they are read, they lie one behind the other.
///
/// # Safety
/// Each of `sources` is valid for reads of its share.
#[inline(always)]
pub(super) unsafe fn apply_each<V: Vector, T: Around<V>, const N: usize, const G: usize>(
    proof: V::Proof,
    these: &mut [T; N],
    sources: [*const u8; N],
) -> [V; G] {
    let share = const { G / N };
    let mut data = [V::zero(proof); G];
    // SAFETY: the caller's promise.
    unsafe {
        each!(G, |I| {
            data[I] = V::load(proof, sources[I / share].add(V::BYTES * (I % share)));
        });
        let (state, second) = ahead::<V, T, N, G, false>(these, data);
        let state = middle(these, state);
        end(these, state, again::<V, T, N, G, true>(second, sources))
    }
}

/// The second of [`Around::ahead`], loaded a second time where there are no registers to keep it, or where blocks would
/// have to be moved from one place in a register to the next: that takes the place of rounds, a load does not.
/// Without `LASTS`, those of the last register of each share stay.
///
/// # Safety
/// As for [`apply_each`], of all registers that do not stay; nothing was written there since.
#[inline(always)]
unsafe fn again<V: Vector, T: Around<V>, const N: usize, const G: usize, const LASTS: bool>(
    mut second: [V; G],
    sources: [*const u8; N],
) -> [V; G] {
    let share = const { G / N };
    let is_kept = const {
        V::REGISTERS > 2 * G && (V::BLOCKS == 1 || !matches!(T::SECOND, Second::BlockBefore))
    };
    // A pointer for each register would have no register, either.
    if is_kept || share == 1 {
        return second;
    }
    // SAFETY: the caller's promise. The block before a register but the first of a message is in the one before.
    unsafe {
        each!(G, |I| {
            let (proof, within) = (second[I].proof(), I % share);
            let at = sources[I / share].wrapping_add(V::BYTES * within);
            match T::SECOND {
                _ if !LASTS && within == share - 1 => {}
                Second::Data => second[I] = V::load(proof, at),
                Second::BlockBefore if within > 0 => {
                    second[I] = V::load(proof, at.wrapping_sub(BLOCK));
                }
                Second::BlockBefore | Second::Nothing => {}
            }
        });
    }
    second
}

/// [`Around::ahead`] of each of `N`, for its share of `G` registers; with `MANY`, [`Around::ahead_in_groups`].
#[inline(always)]
fn ahead<V: Vector, T: Around<V>, const N: usize, const G: usize, const MANY: bool>(
    these: &mut [T; N],
    data: [V; G],
) -> ([V; G], [V; G]) {
    let share = const { G / N };
    let (mut state, mut second) = (data, data);
    each!(G, |I| {
        let this = &mut these[I / share];
        (state[I], second[I]) = if MANY {
            this.ahead_in_groups(data[I])
        } else {
            this.ahead(data[I])
        };
        if (I + 1).is_multiple_of(share) {
            this.settle(&mut state, I + 1 - share, share);
        }
    });
    (state, second)
}

/// The results of `G` registers of which each has what the cipher takes, and what [`Around::behind`] does.
#[inline(always)]
pub(super) fn turn<V: Vector, T: Around<V>, const G: usize>(
    this: &T,
    mut state: [V; G],
    second: [V; G],
) -> [V; G] {
    let these = array::from_ref(this);
    each!(G, |I| {
        state[I] = state[I].xor(this.rounds().key(0));
    });
    end(these, middle(these, state), second)
}

/// The rounds of `G` registers but the last.
#[inline(always)]
fn middle<V: Vector, T: Around<V>, const N: usize, const G: usize>(
    these: &[T; N],
    mut state: [V; G],
) -> [V; G] {
    let share = const { G / N };
    each_round!(these[0].rounds().number(), |r| {
        each!(G, |I| {
            let key = these[I / share].rounds().key(r);
            state[I] = if const { T::INVERSE } {
                state[I].aes_dec(key)
            } else {
                state[I].aes_enc(key)
            };
        });
        // Else one register's rounds may come behind all others', and then wait.
        V::pin(&mut state);
    });
    state
}

/// The last round, and [`Around::behind`].
#[inline(always)]
fn end<V: Vector, T: Around<V>, const N: usize, const G: usize>(
    these: &[T; N],
    mut state: [V; G],
    second: [V; G],
) -> [V; G] {
    let share = const { G / N };
    each!(G, |I| {
        let added = T::behind(these[I / share].rounds().last_key(), second[I]);
        state[I] = if const { T::INVERSE } {
            state[I].aes_dec_last(added)
        } else {
            state[I].aes_enc_last(added)
        };
    });
    state
}

/// Registers from memory.
///
/// # Safety
/// `source` is valid for reads of so many.
#[inline(always)]
pub(crate) unsafe fn load<V: Vector, const G: usize>(proof: V::Proof, source: *const u8) -> [V; G] {
    let mut data = [V::zero(proof); G];
    each!(G, |I| {
        // SAFETY: the caller's promise.
        data[I] = unsafe { V::load(proof, source.add(V::BYTES * I)) };
    });
    data
}

/// Registers to memory.
///
/// # Safety
/// `target` is valid for writes of so many registers.
#[inline(always)]
pub(crate) unsafe fn store<V: Vector, const G: usize>(data: [V; G], target: *mut u8) {
    each!(G, |I| {
        // SAFETY: the caller's promise.
        unsafe { data[I].store(target.add(V::BYTES * I)) };
    });
}
