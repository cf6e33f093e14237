//! The counter mode of GCM-SIV.

use crate::aes::rounds::{PerRounds, Rounds};
use crate::aes::sweep::{Transform, sweep};
use crate::aes::{BLOCK, EncryptKey};
use crate::arch::blocks::Vector;

/// A text and where its key stream begins.
pub(super) struct Text<'k> {
    pub(super) source: *const u8,
    pub(super) target: *mut u8,
    pub(super) len: usize,
    pub(super) key: &'k EncryptKey,
    pub(super) counter: [u8; BLOCK],
}

/// Encrypts or decrypts texts, which are as [`super::encrypt_many`] demands.
pub(super) struct Crypt<I>(pub(super) I);

impl<'k, I: Iterator<Item = Text<'k>>> PerRounds for Crypt<I> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        for text in self.0 {
            // SAFETY: the creator's promise.
            unsafe {
                let mut stream = KeyStream {
                    rounds: Rounds::<V, ROUNDS>::load(proof, text.key.as_ptr()),
                    next: V::broadcast(proof, text.counter.as_ptr()).add32(V::ramp(proof)),
                };
                sweep(proof, &mut stream, text.source, text.target, text.len);
            }
        }
    }
}

/// Counter mode with a little-endian counter in the first word of a block, which wraps alone.
struct KeyStream<V, const ROUNDS: usize> {
    rounds: Rounds<V, ROUNDS>,
    next: V,
}

impl<V: Vector, const ROUNDS: usize> Transform<V> for KeyStream<V, ROUNDS> {
    #[inline(always)]
    fn apply<const G: usize>(&mut self, data: [V; G]) -> [V; G] {
        let proof = self.rounds.proof();
        let step = V::splat(proof, V::BLOCKS as u128);
        let mut counters = [V::zero(proof); G];
        for counter in &mut counters {
            *counter = self.next;
            self.next = self.next.add32(step);
        }
        let stream = self.rounds.encrypt(counters);
        let mut output = data;
        for (output, stream) in output.iter_mut().zip(stream) {
            *output = output.xor(stream);
        }
        output
    }
}
