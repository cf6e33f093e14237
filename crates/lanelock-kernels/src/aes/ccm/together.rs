//! Messages side by side, or one alone: CBC-MAC and counter mode in one pass.
//!
//! The blocks of a CBC-MAC wait for each other, so one message takes as long as its chain; key
//! stream is made beside it, and with four messages the rounds fill the time that each of them waits.
//! Registers hold one block, as each message has a key of its own.

use core::mem::MaybeUninit;

use super::{Job, Picked};
use crate::aes::BLOCK;
use crate::aes::rounds::{InMemory, PerRounds, Rounds, each_round};
use crate::arch::blocks::Vector;
use crate::arrays::{from_fn, map};

/// Encrypts or decrypts the messages, `N` at a time, and leaves their tags in the jobs.
///
/// # Safety
/// - The jobs keep the contract of [`encrypt_many`](super::encrypt_many).
/// - Of those with additional data of one length, which are next to each other, the longest are first.
pub(super) struct Together<'l, 'k, const ENCRYPT: bool, const N: usize>(pub Picked<'l, 'k>);

impl<const ENCRYPT: bool, const N: usize> PerRounds for Together<'_, '_, ENCRYPT, N> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        let mut rest = self.0;
        // SAFETY: the creator's promise; one alone has its own shape.
        unsafe {
            if const { !V::SIDE_BY_SIDE } {
                for &job in rest {
                    run::<V, ROUNDS, ENCRYPT, 1>(proof, [job]);
                }
                return;
            }
            while let [first, ..] = rest {
                let aad_len = (**first).aad_len;
                let next = rest.iter().take(N);
                let count = next.take_while(|job| (***job).aad_len == aad_len).count();
                // The first, which is the longest, is there for those that are missing.
                let jobs = from_fn(|n| rest[n.saturating_sub(N - count)]);
                run::<V, ROUNDS, ENCRYPT, N>(proof, jobs);
                rest = &rest[count..];
            }
        }
    }
}

/// Messages with additional data of one length, none of which is longer than the one before it.
///
/// # Safety
/// As for [`Together`].
#[inline(always)]
unsafe fn run<V: Vector, const ROUNDS: usize, const ENCRYPT: bool, const N: usize>(
    proof: V::Proof,
    jobs: [*mut Job<'_>; N],
) {
    let single = V::single(proof);
    // SAFETY: the creator's promise; each access is within its part, or cut off at its end. States of lanes
    // that have ended are initialised.
    unsafe {
        let places = map(jobs, |job| (&raw mut (*job).tag).cast());
        let all = map(jobs, |job| &*job);
        let mut jobs = all;
        let mut chains = Chains::<V::Single, ROUNDS, N>::start(single, jobs);
        if jobs[0].aad_len > 0 {
            let heads: [_; N] = from_fn(|n| jobs[n].aad_head());
            chains.push(from_fn(|n| V::Single::splat(single, heads[n].0)));
            let (mut at, end) = (heads[0].1, jobs[0].aad_len);
            while end - at >= BLOCK {
                chains.push(from_fn(|n| V::Single::load(single, jobs[n].aad.add(at))));
                at += BLOCK;
            }
            if at < end {
                chains.push(from_fn(|n| {
                    V::load_bytes(proof, jobs[n].aad.add(at), end - at).first()
                }));
            }
        }
        // The states of lanes from `live` on, which have ended and repeat the first: the same loads, results
        // and stores.
        let mut ended = [const { MaybeUninit::<[u8; BLOCK]>::uninit() }; N];
        let (mut at, mut live) = (0, N);
        loop {
            let end = jobs[live - 1].len;
            while end - at >= BLOCK {
                let data = from_fn(|n| V::Single::load(single, jobs[n].source.add(at)));
                let turned = chains.turn::<ENCRYPT>(data, |_, turned| turned);
                for n in 0..N {
                    turned[n].store(jobs[n].target.add(at));
                }
                at += BLOCK;
            }
            if at < end {
                let left: [_; N] = from_fn(|n| (jobs[n].len - at).min(BLOCK));
                let load = |n: usize| V::load_bytes(proof, jobs[n].source.add(at), left[n]).first();
                let cut =
                    |n: usize, turned| V::from_single(proof, turned).keep_bytes(left[n]).first();
                let turned = chains.turn::<ENCRYPT>(from_fn(load), cut);
                for n in 0..N {
                    V::from_single(proof, turned[n]).store_bytes(jobs[n].target.add(at), left[n]);
                }
                at += BLOCK;
            }
            if jobs[0].len <= at {
                break;
            }
            let before = live;
            while jobs[live - 1].len <= at {
                live -= 1;
            }
            for n in 1..N {
                if n >= live {
                    if n < before {
                        chains.states[n].store(ended[n].as_mut_ptr().cast());
                    }
                    jobs[n] = jobs[0];
                    chains.repeat(n);
                }
            }
        }
        for n in 1..N {
            if n >= live {
                let state = V::Single::load(single, ended[n].as_ptr().cast());
                let rounds = Rounds::in_memory(single, all[n].key.as_ptr());
                chains.resume(n, rounds, state);
            }
        }
        let tags = chains.tags();
        for n in 0..N {
            tags[n].store(places[n]);
        }
    }
}

/// CBC-MACs whose last blocks are on their way, and the counters.
struct Chains<S: Vector, const ROUNDS: usize, const N: usize> {
    rounds: [Rounds<S, ROUNDS, InMemory<S>>; N],
    /// The blocks on their way, the first round key added.
    states: [S; N],
    /// Counters 0.
    first: [S; N],
    /// The last ones used, byte-reversed. The low half counts; it cannot overflow, as the nonce
    /// leaves eight bytes at most and a message has fewer blocks than bytes.
    counters: [S; N],
}

impl<S: Vector, const ROUNDS: usize, const N: usize> Chains<S, ROUNDS, N> {
    /// Begins with the first block of each message.
    ///
    /// # Safety
    /// The keys have `ROUNDS` rounds.
    #[inline(always)]
    unsafe fn start(proof: S::Proof, jobs: [&Job<'_>; N]) -> Self {
        let load = |block: [u8; BLOCK]| S::splat(proof, u128::from_le_bytes(block));
        // SAFETY: the jobs hold the keys as long as this is used.
        let rounds: [Rounds<S, ROUNDS, InMemory<S>>; N] =
            from_fn(|n| unsafe { Rounds::in_memory(proof, jobs[n].key.as_ptr()) });
        let first: [S; N] = from_fn(|n| load(jobs[n].nonce.counter(0)));
        Self {
            states: from_fn(|n| load(jobs[n].first_block()).xor(rounds[n].at(0))),
            rounds,
            first,
            counters: from_fn(|n| first[n].reverse()),
        }
    }

    /// Makes lane `n` a copy of the first.
    #[inline(always)]
    fn repeat(&mut self, n: usize) {
        self.rounds[n] = self.rounds[0];
        self.states[n] = self.states[0];
        self.counters[n] = self.counters[0];
    }

    /// Makes lane `n` what it was before it repeated the first, but for its counter.
    #[inline(always)]
    fn resume(&mut self, n: usize, rounds: Rounds<S, ROUNDS, InMemory<S>>, state: S) {
        self.rounds[n] = rounds;
        self.states[n] = state;
    }

    /// Chains a block of each message.
    #[inline(always)]
    fn push(&mut self, blocks: [S; N]) {
        each_round!(self.rounds[0].count(), |r| {
            for n in 0..N {
                self.states[n] = self.states[n].aes_enc(self.rounds[n].at(r));
            }
        });
        self.chain(blocks);
    }

    /// Ends the last round, and begins with the next blocks.
    #[inline(always)]
    fn chain(&mut self, blocks: [S; N]) {
        for n in 0..N {
            // The last round key of one block and the first of the next.
            let seam = self.rounds[n].last().xor(self.rounds[n].at(0));
            self.states[n] = self.states[n].aes_enc_last(seam.xor(blocks[n]));
        }
    }

    /// Encrypts or decrypts a block of each text, the plaintext of which is chained; `cut` makes
    /// zeros of what is behind a lane's.
    #[inline(always)]
    fn turn<const ENCRYPT: bool>(&mut self, data: [S; N], cut: impl Fn(usize, S) -> S) -> [S; N] {
        for counter in &mut self.counters {
            *counter = counter.add64(S::splat(counter.proof(), 1));
        }
        let streams = self.beside(from_fn(|n| self.counters[n].reverse()));
        let turned: [S; N] = from_fn(|n| data[n].xor(streams[n]));
        self.chain(if ENCRYPT {
            data
        } else {
            from_fn(|n| cut(n, turned[n]))
        });
        turned
    }

    /// The tags, untruncated.
    #[inline(always)]
    fn tags(mut self) -> [S; N] {
        let masks = self.beside(self.first);
        from_fn(|n| self.states[n].aes_enc_last(self.rounds[n].last().xor(masks[n])))
    }

    /// Takes the chains up to their last rounds, and encrypts `blocks` beside them.
    #[inline(always)]
    fn beside(&mut self, blocks: [S; N]) -> [S; N] {
        let mut streams: [S; N] = from_fn(|n| blocks[n].xor(self.rounds[n].at(0)));
        each_round!(self.rounds[0].count(), |r| {
            for n in 0..N {
                let key = self.rounds[n].at(r);
                self.states[n] = self.states[n].aes_enc(key);
                streams[n] = streams[n].aes_enc(key);
            }
            // Else one message's rounds may come behind all others', and then wait.
            S::pin(&mut self.states);
            S::pin(&mut streams);
        });
        from_fn(|n| streams[n].aes_enc_last(self.rounds[n].last()))
    }
}
