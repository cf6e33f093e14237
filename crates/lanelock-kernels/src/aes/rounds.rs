//! The rounds of AES on several registers at once.

use super::KeySize;
use super::key::{ROUND_KEYS, SIZE};
use crate::arch::blocks::{Kernel, Vector};

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
pub(crate) struct Rounds<V, const ROUNDS: usize> {
    /// The first key and those of the middle rounds.
    keys: [V; ROUND_KEYS],
    last: V,
    rounds: usize,
}

/// A number of rounds that is known when a key is.
pub(crate) const ANY: usize = 0;

impl<V: Vector, const ROUNDS: usize> Rounds<V, ROUNDS> {
    /// # Safety
    /// `from` points to a schedule, of `ROUNDS` rounds unless that is
    /// [`ANY`].
    #[inline(always)]
    pub unsafe fn load(proof: V::Proof, from: *const u8) -> Self {
        // SAFETY: a schedule has `ROUNDS + 1` round keys, and room for those of 14 rounds.
        unsafe {
            let rounds = number_of_rounds::<ROUNDS>(from);
            let mut keys = [V::zero(proof); ROUND_KEYS];
            keys[0] = V::broadcast(proof, from);
            each_round!(if ROUNDS == ANY { 14 } else { ROUNDS }, |r| {
                keys[r] = V::broadcast(proof, from.add(16 * r))
            });
            let last = V::broadcast(proof, from.add(16 * rounds));
            Self { keys, last, rounds }
        }
    }

    /// The proof of its registers.
    #[inline(always)]
    pub fn proof(&self) -> V::Proof {
        self.last.proof()
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
        for s in state {
            *s = s.xor(self.keys[0]);
        }
    }

    #[inline(always)]
    pub fn middle<const G: usize>(&self, r: usize, state: &mut [V; G]) {
        for s in state {
            *s = s.aes_enc(self.keys[r]);
        }
    }

    #[inline(always)]
    pub fn end<const G: usize>(&self, state: &mut [V; G]) {
        for s in state {
            *s = s.aes_enc_last(self.last);
        }
    }

    /// The key of round `r` but the last, 0 for the one before the first.
    #[inline(always)]
    pub fn at(&self, r: usize) -> V {
        self.keys[r]
    }

    /// The key of the last round.
    #[inline(always)]
    pub fn last(&self) -> V {
        self.last
    }

    /// The equivalent inverse cipher.
    #[inline(always)]
    pub fn decrypt<const G: usize>(&self, mut state: [V; G]) -> [V; G] {
        self.begin(&mut state);
        each_round!(self.count(), |r| {
            for s in &mut state {
                *s = s.aes_dec(self.keys[r]);
            }
        });
        for s in &mut state {
            *s = s.aes_dec_last(self.last);
        }
        state
    }
}

/// A kernel that is compiled once per number of rounds.
pub(crate) trait PerRounds {
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

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        // SAFETY: the creator's promise.
        unsafe { self.0.run::<V, ROUNDS>(proof) }
    }
}
