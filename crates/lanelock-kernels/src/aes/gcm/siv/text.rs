//! The counter mode of GCM-SIV.

use crate::aes::rounds::{Keys, Rounds};
use crate::aes::sweep::{Around, Mode, Second};
use crate::aes::{BLOCK, EncryptKey};
use crate::arch::blocks::Vector;

/// Encrypts or decrypts; a message's IV is its first counter (RFC 8452, 4).
pub(super) struct Count;

impl Mode for Count {
    type Key = EncryptKey;
    type Transform<V: Vector, const ROUNDS: usize, K: Keys<V>> = KeyStream<V, ROUNDS, K>;

    #[inline(always)]
    unsafe fn start<V: Vector, const ROUNDS: usize, K: Keys<V>>(
        rounds: Rounds<V, ROUNDS, K>,
        iv: *const [u8; BLOCK],
    ) -> KeyStream<V, ROUNDS, K> {
        let proof = rounds.proof();
        // SAFETY: the caller's block.
        let first = unsafe { V::broadcast(proof, iv.cast()) };
        KeyStream {
            rounds,
            next: first.add32(V::ramp(proof)),
            step: V::splat(proof, V::BLOCKS as u128),
        }
    }

    #[inline(always)]
    fn ahead_of_blocks<V: Vector>(ivs: V, data: V) -> (V, V) {
        (ivs, data)
    }
}

/// Consecutive counters: little-endian, in the first word of a block, which wraps alone.
#[derive(Clone, Copy)]
pub(super) struct KeyStream<V, const ROUNDS: usize, K> {
    rounds: Rounds<V, ROUNDS, K>,
    next: V,
    step: V,
}

impl<V: Vector, const ROUNDS: usize, K: Keys<V>> Around<V> for KeyStream<V, ROUNDS, K> {
    const INVERSE: bool = false;
    const SECOND: Second = Second::Data;
    type Rounds = Rounds<V, ROUNDS, K>;

    #[inline(always)]
    fn rounds(&self) -> &Self::Rounds {
        &self.rounds
    }

    #[inline(always)]
    fn ahead(&mut self, data: V) -> (V, V) {
        let counters = self.next;
        self.next = counters.add32(self.step);
        (counters.xor(self.rounds.at(0)), data)
    }
}
