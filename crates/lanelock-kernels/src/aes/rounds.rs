//! The rounds of AES on several registers at once.

use super::key::ROUND_KEYS;
use super::{EncryptKey, KeySize};
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

impl<V: Vector> Rounds<V, ANY> {
    #[inline(always)]
    pub fn of(proof: V::Proof, key: &EncryptKey) -> Self {
        // SAFETY: a schedule has room for the keys of 14 rounds.
        unsafe {
            let (from, rounds) = (key.as_ptr(), key.size().rounds());
            let mut keys = [V::zero(proof); ROUND_KEYS];
            for (r, key) in keys[..14].iter_mut().enumerate() {
                *key = V::broadcast(proof, from.add(16 * r));
            }
            let last = V::broadcast(proof, from.add(16 * rounds));
            Self { keys, last, rounds }
        }
    }
}

impl<V: Vector, const ROUNDS: usize> Rounds<V, ROUNDS> {
    /// # Safety
    /// `from` points to a schedule of `ROUNDS` rounds, not [`ANY`].
    #[inline(always)]
    pub unsafe fn load(proof: V::Proof, from: *const u8) -> Self {
        // SAFETY: a schedule has `ROUNDS + 1` round keys.
        unsafe {
            let mut keys = [V::zero(proof); ROUND_KEYS];
            keys[0] = V::broadcast(proof, from);
            each_round!(ROUNDS, |r| {
                keys[r] = V::broadcast(proof, from.add(16 * r))
            });
            let last = V::broadcast(proof, from.add(16 * ROUNDS));
            Self {
                keys,
                last,
                rounds: ROUNDS,
            }
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

    /// The key of round `r`, 0 for the one before the first.
    #[inline(always)]
    pub fn at(&self, r: usize) -> V {
        if r == self.count() {
            self.last
        } else {
            self.keys[r]
        }
    }

    /// The equivalent inverse cipher.
    #[inline(always)]
    pub fn decrypt<const G: usize>(&self, mut state: [V; G]) -> [V; G] {
        for s in &mut state {
            *s = s.xor(self.keys[0]);
        }
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
    /// The kernel's contract; every key has `ROUNDS` rounds.
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof);
}

/// Runs a kernel with the number of rounds of a key size.
///
/// # Safety
/// The kernel's contract; every key of it has this size.
pub(crate) struct OfSize<K>(pub KeySize, pub K);

impl<K: PerRounds> Kernel for OfSize<K> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        // SAFETY: the creator's promise, in each case.
        unsafe {
            match self.0 {
                KeySize::Aes128 => V::enter(proof, WithRounds::<K, 10>(self.1)),
                KeySize::Aes192 => V::enter(proof, WithRounds::<K, 12>(self.1)),
                KeySize::Aes256 => V::enter(proof, WithRounds::<K, 14>(self.1)),
            }
        }
    }
}

struct WithRounds<K, const ROUNDS: usize>(K);

impl<K: PerRounds, const ROUNDS: usize> Kernel for WithRounds<K, ROUNDS> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        // SAFETY: the creator's promise.
        unsafe { self.0.run::<V, ROUNDS>(proof) }
    }
}
