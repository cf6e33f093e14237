//! One message alone: for a few blocks, keeping lanes takes longer than chaining.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::{Chains, Line, Mode, Tail};
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
            let chaining = self.chaining[0].assume_init();
            let mut chain = Chain::<V::Single, T, ROUNDS> {
                rounds: Rounds::load(single, self.key[0].assume_init()),
                before: V::Single::load(single, chaining),
                tail: PhantomData,
            };
            let mut blocks = self.blocks[0].assume_init();
            loop {
                let (source, target) = (self.source[0].assume_init(), self.target[0].assume_init());
                if T::MODE.writes() {
                    chain.run(source, blocks, |n, block| {
                        block.store(target.add(BLOCK * n))
                    });
                } else if self.goes_on(0) {
                    chain.run(source, blocks, |_, _| {});
                }
                if !self.go_on(0, blocks) {
                    break;
                }
                blocks = self.blocks[0].assume_init();
            }
            if T::MODE.writes() {
                if T::MODE.keeps() {
                    chain.before.store(chaining);
                }
                return;
            }
            let source = self.source[0].assume_init();
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
struct Chain<S, T, const ROUNDS: usize> {
    rounds: Rounds<S, ROUNDS>,
    /// The last block of the chain, or what the message begins with.
    before: S,
    tail: PhantomData<T>,
}

impl<S: Vector, T: Tail, const ROUNDS: usize> Chain<S, T, ROUNDS> {
    /// Chains `blocks` blocks and hands what becomes of each to `take`.
    ///
    /// # Safety
    /// `source` is valid for reads of that many blocks, at least one.
    #[inline(always)]
    unsafe fn run(&mut self, source: *const u8, blocks: usize, take: impl Fn(usize, S)) {
        // SAFETY: the caller's promise.
        unsafe {
            let (rounds, proof) = (self.rounds, self.before.proof());
            let (first, last) = (rounds.at(0), rounds.last());
            // The last round key and the first of the next block go in with that block, which
            // takes no time of its own then: nothing but rounds waits for the block before.
            let seam = last.xor(first);
            let text = |n: usize| S::load(proof, source.add(BLOCK * n));
            let mut states = [match T::MODE {
                Mode::Mac | Mode::Cbc => text(0).xor(first).xor(self.before),
                Mode::Cfb | Mode::Ofb => self.before.xor(first),
            }];
            for n in 0..blocks {
                each_round!(rounds.count(), |r| { rounds.middle(r, &mut states) });
                let [state] = states;
                let (out, next) = match T::MODE {
                    Mode::Mac | Mode::Cbc => {
                        self.before = state.aes_enc_last(last);
                        let more = n + 1 < blocks;
                        (self.before, if more { text(n + 1).xor(seam) } else { seam })
                    }
                    Mode::Cfb => {
                        let text = text(n);
                        self.before = state.aes_enc_last(text.xor(last));
                        (self.before, text.xor(seam))
                    }
                    Mode::Ofb => {
                        self.before = state.aes_enc_last(last);
                        (self.before.xor(text(n)), seam)
                    }
                };
                take(n, out);
                states = [state.aes_enc_last(next)];
            }
        }
    }
}
