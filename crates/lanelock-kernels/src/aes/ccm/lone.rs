//! One message: CBC-MAC and counter mode in one pass.
//!
//! The blocks of a CBC-MAC wait for each other, so one message takes as long as its chain; key
//! stream is made beside it, on the same registers of one block.

use super::Job;
use crate::aes::BLOCK;
use crate::aes::rounds::{PerRounds, Rounds, each_round};
use crate::arch::blocks::Vector;

/// Encrypts or decrypts the message and leaves its tag in the job.
///
/// # Safety
/// The job keeps the contract of [`encrypt_many`](super::encrypt_many).
pub(super) struct Lone<'a, 'k, const ENCRYPT: bool>(pub &'a mut Job<'k>);

impl<const ENCRYPT: bool> PerRounds for Lone<'_, '_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        let (job, single) = (self.0, V::single(proof));
        // SAFETY: the creator's promise; each access is within its part, or cut off at its end.
        unsafe {
            let mut prefix = [0; _];
            let (prefix_len, head) = job.prefix(&mut prefix);
            let mut chain = Chain::<V::Single, ROUNDS>::start(single, job, prefix.as_ptr());
            if prefix_len > BLOCK {
                chain.push(V::Single::load(single, prefix.as_ptr().add(BLOCK)));
            }
            let (mut aad, mut left) = (job.aad.wrapping_add(head), job.aad_len - head);
            while left >= BLOCK {
                chain.push(V::Single::load(single, aad));
                (aad, left) = (aad.add(BLOCK), left - BLOCK);
            }
            if left > 0 {
                chain.push(V::load_bytes(proof, aad, left).first());
            }
            let (mut source, mut target, mut left) = (job.source, job.target, job.len);
            while left >= BLOCK {
                let data = V::Single::load(single, source);
                let turned = chain.turn::<ENCRYPT>(data, |turned| turned);
                turned.store(target);
                (source, target) = (source.add(BLOCK), target.add(BLOCK));
                left -= BLOCK;
            }
            if left > 0 {
                let data = V::load_bytes(proof, source, left).first();
                let cut = |turned| V::from_single(proof, turned).keep_bytes(left).first();
                let turned = chain.turn::<ENCRYPT>(data, cut);
                V::from_single(proof, turned).store_bytes(target, left);
            }
            chain.tag().store(job.tag.as_mut_ptr());
        }
    }
}

/// A CBC-MAC whose last block is on its way, and the counters.
struct Chain<S, const ROUNDS: usize> {
    rounds: Rounds<S, ROUNDS>,
    /// The last round key of one block and the first of the next: added with the next block in
    /// the last round, which takes no time of its own then.
    seam: S,
    /// The block on its way, the first round key added.
    state: S,
    /// Counter 0.
    first: S,
    /// The last one used, byte-reversed. The low half counts; it cannot overflow, as the nonce
    /// leaves eight bytes at most and a message has fewer blocks than bytes.
    counter: S,
}

impl<S: Vector, const ROUNDS: usize> Chain<S, ROUNDS> {
    /// Begins with the block at `block`.
    ///
    /// # Safety
    /// The key has `ROUNDS` rounds, and `block` is a block.
    #[inline(always)]
    unsafe fn start(proof: S::Proof, job: &Job<'_>, block: *const u8) -> Self {
        let first = job.nonce.counter(0);
        // SAFETY: as above.
        unsafe {
            let rounds = Rounds::<S, ROUNDS>::load(proof, job.key.as_ptr());
            let first = S::load(proof, first.as_ptr());
            Self {
                rounds,
                seam: rounds.last().xor(rounds.at(0)),
                state: S::load(proof, block).xor(rounds.at(0)),
                first,
                counter: first.reverse(),
            }
        }
    }

    /// Chains a block.
    #[inline(always)]
    fn push(&mut self, block: S) {
        let mut states = [self.state];
        each_round!(self.rounds.count(), |r| {
            self.rounds.middle(r, &mut states)
        });
        self.state = states[0].aes_enc_last(self.seam.xor(block));
    }

    /// Encrypts or decrypts a block of the text, the plaintext of which is chained; `cut` makes
    /// zeros of what is behind it.
    #[inline(always)]
    fn turn<const ENCRYPT: bool>(&mut self, data: S, cut: impl Fn(S) -> S) -> S {
        self.counter = self.counter.add64(S::splat(self.first.proof(), 1));
        let (state, stream) = self.beside(self.counter.reverse());
        let turned = data.xor(stream);
        let plaintext = if ENCRYPT { data } else { cut(turned) };
        self.state = state.aes_enc_last(self.seam.xor(plaintext));
        turned
    }

    /// The tag, untruncated.
    #[inline(always)]
    fn tag(&self) -> S {
        let (state, mask) = self.beside(self.first);
        state.aes_enc_last(self.rounds.last().xor(mask))
    }

    /// The chain before its last round, and `block` encrypted.
    #[inline(always)]
    fn beside(&self, block: S) -> (S, S) {
        let mut states = [self.state, block.xor(self.rounds.at(0))];
        each_round!(self.rounds.count(), |r| {
            self.rounds.middle(r, &mut states)
        });
        (states[0], states[1].aes_enc_last(self.rounds.last()))
    }
}
