//! The rounds of AES on several registers at once.

use super::KeySize;
use super::key::ROUND_KEYS;
use super::vector::{Kernel, Vector};

/// Runs `$body` for each middle round, as straight code: round keys indexed by a loop variable
/// would live in memory.
macro_rules! each_round {
    ($rounds:expr, |$r:ident| $body:block) => {
        each_round!(@ $rounds, $r, $body, 1 2 3 4 5 6 7 8 9 10 11 12 13)
    };
    (@ $rounds:expr, $r:ident, $body:block, $($round:literal)*) => {
        $(if $round < $rounds {
            let $r: usize = $round;
            $body
        })*
    };
}
pub(crate) use each_round;

/// The round keys of one schedule, each in every block of a register.
#[derive(Clone, Copy)]
pub(crate) struct Rounds<V, const ROUNDS: usize>([V; ROUND_KEYS]);

impl<V: Vector, const ROUNDS: usize> Rounds<V, ROUNDS> {
    /// # Safety
    /// Runs under [`Vector::enter`]; `keys` points to a schedule of `ROUNDS` rounds.
    #[inline(always)]
    pub unsafe fn load(keys: *const u8) -> Self {
        // SAFETY: a schedule has `ROUNDS + 1` round keys.
        unsafe {
            let mut rounds = [V::zero(); ROUND_KEYS];
            rounds[0] = V::broadcast(keys);
            each_round!(ROUNDS, |r| { rounds[r] = V::broadcast(keys.add(16 * r)) });
            rounds[ROUNDS] = V::broadcast(keys.add(16 * ROUNDS));
            Self(rounds)
        }
    }

    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn encrypt<const G: usize>(&self, mut state: [V; G]) -> [V; G] {
        // SAFETY: as above.
        unsafe {
            self.begin(&mut state);
            each_round!(ROUNDS, |r| { self.middle(r, &mut state) });
            self.end(&mut state);
        }
        state
    }

    /// Before the first round of encryption; then [`Rounds::middle`] from 1 to `ROUNDS - 1`,
    /// then [`Rounds::end`].
    ///
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn begin<const G: usize>(&self, state: &mut [V; G]) {
        for s in state {
            // SAFETY: as above.
            *s = unsafe { s.xor(self.0[0]) };
        }
    }

    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn middle<const G: usize>(&self, r: usize, state: &mut [V; G]) {
        for s in state {
            // SAFETY: as above.
            *s = unsafe { s.aes_enc(self.0[r]) };
        }
    }

    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn end<const G: usize>(&self, state: &mut [V; G]) {
        for s in state {
            // SAFETY: as above.
            *s = unsafe { s.aes_enc_last(self.0[ROUNDS]) };
        }
    }

    /// The key of round `r`, 0 for the one before the first.
    #[inline(always)]
    pub fn at(&self, r: usize) -> V {
        self.0[r]
    }

    /// The equivalent inverse cipher.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; the schedule is one for decryption.
    #[inline(always)]
    pub unsafe fn decrypt<const G: usize>(&self, mut state: [V; G]) -> [V; G] {
        // SAFETY: as above.
        unsafe {
            for s in &mut state {
                *s = s.xor(self.0[0]);
            }
            each_round!(ROUNDS, |r| {
                for s in &mut state {
                    *s = s.aes_dec(self.0[r]);
                }
            });
            for s in &mut state {
                *s = s.aes_dec_last(self.0[ROUNDS]);
            }
        }
        state
    }
}

/// A kernel that is compiled once per number of rounds.
pub(crate) trait PerRounds {
    /// # Safety
    /// As for [`Kernel::run`]; every key has `ROUNDS` rounds.
    unsafe fn run<V: Vector, const ROUNDS: usize>(self);
}

/// Runs a kernel with the number of rounds of a key size.
///
/// # Safety
/// The kernel's contract; every key of it has this size.
pub(crate) struct OfSize<K>(pub KeySize, pub K);

impl<K: PerRounds> Kernel for OfSize<K> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the creator's promise, in each case.
        unsafe {
            match self.0 {
                KeySize::Aes128 => V::enter(WithRounds::<K, 10>(self.1)),
                KeySize::Aes192 => V::enter(WithRounds::<K, 12>(self.1)),
                KeySize::Aes256 => V::enter(WithRounds::<K, 14>(self.1)),
            }
        }
    }
}

struct WithRounds<K, const ROUNDS: usize>(K);

impl<K: PerRounds, const ROUNDS: usize> Kernel for WithRounds<K, ROUNDS> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        // SAFETY: the creator's promise.
        unsafe { self.0.run::<V, ROUNDS>() }
    }
}
