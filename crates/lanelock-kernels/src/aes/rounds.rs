//! The rounds of AES on several registers at once.

use core::marker::PhantomData;

use super::KeySize;
use super::key::{ROUND_KEYS, SIZE};
use crate::arch::blocks::{Kernel, Vector};
use crate::arrays::each;

/// Runs `$body` for each middle round, as straight code: round keys indexed by a loop variable
/// would live in memory. There are 10, 12 or 14 rounds, so a number that is not a constant is asked
/// for twice.
macro_rules! each_round {
    ($rounds:expr, |$r:ident| $body:block) => {
        each_round!(@ $rounds, $r, $body, 1 2 3 4 5 6 7 8 9 10 11 12 13)
    };
    (@ $rounds:expr, $r:ident, $body:block, $($round:literal)*) => {
        $(if $round < 10 || $round / 2 * 2 < $rounds {
            let $r: usize = $round;
            $body
        })*
    };
}
pub(crate) use each_round;

/// The round keys of one schedule, each in every block of a register. `ROUNDS` is [`ANY`] where
/// code for each number of rounds would gain nothing.
#[derive(Clone, Copy)]
pub(crate) struct Rounds<V, const ROUNDS: usize, K = Held<V>> {
    keys: K,
    rounds: usize,
    registers: PhantomData<V>,
}

/// Where round keys are.
pub(crate) trait Keys<V: Vector>: Copy {
    /// The proof of their registers.
    fn proof(&self) -> V::Proof;
    /// The key of round `r` but the last, 0 for the one before the first.
    fn at(&self, r: usize) -> V;
    /// The key of the last of `rounds` rounds.
    fn last(&self, rounds: usize) -> V;
}

/// The round keys of one schedule, wherever they are.
pub(crate) trait Schedules<V> {
    /// How many rounds there are.
    fn number(&self) -> usize;
    /// The key of round `r` but the last, 0 for the one before the first.
    fn key(&self, r: usize) -> V;
    /// The key of the last round.
    fn last_key(&self) -> V;
}

impl<V: Vector, const ROUNDS: usize, K: Keys<V>> Schedules<V> for Rounds<V, ROUNDS, K> {
    #[inline(always)]
    fn number(&self) -> usize {
        self.count()
    }

    #[inline(always)]
    fn key(&self, r: usize) -> V {
        self.at(r)
    }

    #[inline(always)]
    fn last_key(&self) -> V {
        self.last()
    }
}

/// Round keys in registers: for many messages, or for code that has registers to spare.
#[derive(Clone, Copy)]
pub(crate) struct Held<V> {
    /// The first key and those of the middle rounds.
    keys: [V; ROUND_KEYS],
    last: V,
}

impl<V: Vector> Keys<V> for Held<V> {
    #[inline(always)]
    fn proof(&self) -> V::Proof {
        self.last.proof()
    }

    #[inline(always)]
    fn at(&self, r: usize) -> V {
        self.keys[r]
    }

    #[inline(always)]
    fn last(&self, _: usize) -> V {
        self.last
    }
}

/// Round keys that are loaded where they are used: a key for one message alone. To hold all of them
/// takes as long as the rounds of a short message, and longer where other code of the function
/// leaves no registers for them.
#[derive(Clone, Copy)]
pub(crate) struct InMemory<V: Vector> {
    /// A schedule, valid as long as this.
    from: *const u8,
    proof: V::Proof,
}

impl<V: Vector> Keys<V> for InMemory<V> {
    #[inline(always)]
    fn proof(&self) -> V::Proof {
        self.proof
    }

    #[inline(always)]
    fn at(&self, r: usize) -> V {
        debug_assert!(r < ROUND_KEYS);
        // SAFETY: a schedule has room for those of 14 rounds.
        unsafe { V::broadcast(self.proof, self.from.add(16 * r)) }
    }

    #[inline(always)]
    fn last(&self, rounds: usize) -> V {
        self.at(rounds)
    }
}

/// A number of rounds that is known when a key is.
pub(crate) const ANY: usize = 0;

impl<V: Vector, const ROUNDS: usize> Rounds<V, ROUNDS> {
    /// # Safety
    /// `from` points to a schedule, of `ROUNDS` rounds unless that is
    /// [`ANY`].
    #[inline(always)]
    pub unsafe fn load(proof: V::Proof, from: *const u8) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::held(proof, from, number_of_rounds::<ROUNDS>(from)) }
    }

    /// Those of another schedule with as many rounds, of which no line but theirs is read.
    ///
    /// # Safety
    /// `from` points to such a schedule.
    #[inline(always)]
    pub unsafe fn load_alike(self, from: *const u8) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::held(self.proof(), from, self.count()) }
    }

    /// # Safety
    /// `from` points to a schedule of `rounds` rounds, at least ten.
    #[inline(always)]
    unsafe fn held(proof: V::Proof, from: *const u8, rounds: usize) -> Self {
        // SAFETY: a schedule has `rounds + 1` round keys.
        unsafe {
            let mut keys = [V::zero(proof); ROUND_KEYS];
            keys[0] = V::broadcast(proof, from);
            each_round!(if ROUNDS == ANY { 14 } else { ROUNDS }, |r| {
                let at = if ROUNDS == ANY { r.min(rounds) } else { r };
                keys[r] = V::broadcast(proof, from.add(16 * at))
            });
            let last = V::broadcast(proof, from.add(16 * rounds));
            Self::of(Held { keys, last }, rounds)
        }
    }
}

impl<V: Vector, const ROUNDS: usize> Rounds<V, ROUNDS, InMemory<V>> {
    /// # Safety
    /// As for [`Rounds::load`], for as long as this is used.
    #[inline(always)]
    pub unsafe fn in_memory(proof: V::Proof, from: *const u8) -> Self {
        // SAFETY: the caller's promise.
        let rounds = unsafe { number_of_rounds::<ROUNDS>(from) };
        let from = V::in_place(from);
        Self::of(InMemory { from, proof }, rounds)
    }
}

impl<V: Vector, const ROUNDS: usize, K: Keys<V>> Rounds<V, ROUNDS, K> {
    #[inline(always)]
    fn of(keys: K, rounds: usize) -> Self {
        let registers = PhantomData;
        Self {
            keys,
            rounds,
            registers,
        }
    }

    /// The proof of its registers.
    #[inline(always)]
    pub fn proof(&self) -> V::Proof {
        self.keys.proof()
    }

    /// How many rounds there are.
    #[inline(always)]
    pub fn count(&self) -> usize {
        if ROUNDS == ANY { self.rounds } else { ROUNDS }
    }

    #[inline(always)]
    pub fn encrypt<const G: usize>(&self, mut state: [V; G]) -> [V; G] {
        self.begin(&mut state);
        each_round!(self.count(), |r| { self.middle(r, &mut state) });
        self.end(&mut state);
        state
    }

    /// Before the first round of encryption; then [`Rounds::middle`] from 1 to `ROUNDS - 1`,
    /// then [`Rounds::end`].
    #[inline(always)]
    pub fn begin<const G: usize>(&self, state: &mut [V; G]) {
        let key = self.at(0);
        each!(G, |I| {
            state[I] = state[I].xor(key);
        });
    }

    #[inline(always)]
    pub fn middle<const G: usize>(&self, r: usize, state: &mut [V; G]) {
        let key = self.at(r);
        each!(G, |I| {
            state[I] = state[I].aes_enc(key);
        });
    }

    #[inline(always)]
    pub fn end<const G: usize>(&self, state: &mut [V; G]) {
        let key = self.last();
        each!(G, |I| {
            state[I] = state[I].aes_enc_last(key);
        });
    }

    /// The key of round `r` but the last, 0 for the one before the first.
    #[inline(always)]
    pub fn at(&self, r: usize) -> V {
        self.keys.at(r)
    }

    /// The key of the last round.
    #[inline(always)]
    pub fn last(&self) -> V {
        self.keys.last(self.count())
    }

    /// The equivalent inverse cipher.
    #[inline(always)]
    pub fn decrypt<const G: usize>(&self, mut state: [V; G]) -> [V; G] {
        self.begin(&mut state);
        each_round!(self.count(), |r| {
            let key = self.at(r);
            each!(G, |I| {
                state[I] = state[I].aes_dec(key);
            });
        });
        let key = self.last();
        each!(G, |I| {
            state[I] = state[I].aes_dec_last(key);
        });
        state
    }
}

/// A kernel that is compiled once per number of rounds.
pub(crate) trait PerRounds {
    /// [`Kernel::SPILLS`].
    const SPILLS: bool = true;

    /// # Safety
    /// As for [`Kernel::run`]; every key has `ROUNDS` rounds, unless that is [`ANY`].
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof);
}

/// `ROUNDS`, or, if that is [`ANY`], those of the schedule.
///
/// # Safety
/// `schedule` points to one.
#[inline(always)]
pub(crate) unsafe fn number_of_rounds<const ROUNDS: usize>(schedule: *const u8) -> usize {
    if ROUNDS == ANY {
        // SAFETY: the size follows the round keys.
        unsafe { schedule.add(SIZE).cast::<KeySize>().read().rounds() }
    } else {
        ROUNDS
    }
}

/// The number of rounds of a kernel; of a schedule of any size if that is [`ANY`].
///
/// # Safety
/// The kernel's contract; every key of it has `ROUNDS` rounds, unless that is [`ANY`].
pub(crate) struct WithRounds<const ROUNDS: usize>;

impl<K: PerRounds, const ROUNDS: usize> Kernel for (K, WithRounds<ROUNDS>) {
    type Output = ();

    const SPILLS: bool = K::SPILLS;

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        // SAFETY: the creator's promise.
        unsafe { self.0.run::<V, ROUNDS>(proof) }
    }
}
