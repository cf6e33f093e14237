//! One message alone: for a few blocks, keeping lanes takes longer than chaining.

use core::mem::MaybeUninit;

use super::{Chains, Line, Tail};
use crate::aes::BLOCK;
use crate::aes::rounds::{Rounds, each_round};
use crate::arch::blocks::Vector;

impl<T: Tail> Chains<T> {
    /// Runs the only message to its end, in registers of one block.
    ///
    /// # Safety
    /// As [`Chains::run`]; there is one message.
    #[inline(always)]
    pub(super) unsafe fn run_lone<V: Vector, const ROUNDS: usize>(&mut self, proof: V::Proof) {
        let single = V::single(proof);
        // SAFETY: entry 0 is initialised; its message has at least one block, and what
        // `Link` promises.
        unsafe {
            let blocks = self.blocks[0].assume_init();
            let source = self.source[0].assume_init();
            let chaining = self.chaining[0].assume_init();
            let mut chain = Chain::<V::Single, ROUNDS> {
                rounds: Rounds::load(single, self.key[0].assume_init()),
                before: V::Single::load(single, chaining),
            };
            if T::WRITES {
                let target = self.target[0].assume_init();
                chain.run(source, blocks, |n, block| {
                    block.store(target.add(BLOCK * n))
                });
                return;
            }
            if blocks > 1 {
                chain.run(source, blocks - 1, |_, _| {});
            }
            let tail = self.tail[0].assume_init();
            let mut last = source.wrapping_add(BLOCK * (blocks - 1));
            let mut line = MaybeUninit::<Line>::uninit();
            if tail.lacks() > 0 {
                tail.pad::<V>(proof, last, line.as_mut_ptr());
                last = line.as_ptr().cast();
            }
            // What is added to the last block may as well be added to what it is chained to.
            chain.before = chain
                .before
                .xor(V::Single::load(single, tail.added().cast()));
            chain.run(last, 1, |_, _| {});
            chain.before.store(chaining);
        }
    }
}

/// A chain between two blocks.
struct Chain<S, const ROUNDS: usize> {
    rounds: Rounds<S, ROUNDS>,
    /// The last ciphertext block, or what the message begins with.
    before: S,
}

impl<S: Vector, const ROUNDS: usize> Chain<S, ROUNDS> {
    /// Chains `blocks` blocks and hands each ciphertext block to `take`.
    ///
    /// # Safety
    /// `source` is valid for reads of that many blocks, at least one.
    #[inline(always)]
    unsafe fn run(&mut self, source: *const u8, blocks: usize, take: impl Fn(usize, S)) {
        // SAFETY: the caller's promise.
        unsafe {
            let (rounds, proof) = (self.rounds, self.before.proof());
            // The last round key and the first of the next block go in with that block, which
            // takes no time of its own then: nothing but rounds waits for the block before.
            let seam = rounds.last().xor(rounds.at(0));
            let mut states = [S::load(proof, source).xor(rounds.at(0)).xor(self.before)];
            let mut n = 0;
            loop {
                each_round!(rounds.count(), |r| { rounds.middle(r, &mut states) });
                self.before = states[0].aes_enc_last(rounds.last());
                take(n, self.before);
                n += 1;
                if n == blocks {
                    return;
                }
                let next = S::load(proof, source.add(BLOCK * n)).xor(seam);
                states[0] = states[0].aes_enc_last(next);
            }
        }
    }
}
