//! Messages side by side, or one alone: CBC-MAC and counter mode in one pass.
//!
//! The blocks of a CBC-MAC wait for each other, so one message takes as long as its chain; key
//! stream is made beside it, and with four registers the rounds fill the time that each of them waits.
//! They hold one block where messages have keys of their own.

use super::{Job, Jobs};
use crate::aes::BLOCK;
use crate::aes::rounds::{InMemory, PerRounds, Rounds, each_round};
use crate::arch::blocks::{ProofOf, Vector};
use crate::arrays::{from_fn, map};

/// Encrypts or decrypts the messages, `N` at a time, and leaves their tags in the jobs.
///
/// # Safety
/// - The jobs keep the contract of [`encrypt_many`](super::encrypt_many).
/// - Of those with additional data of one length, which are next to each other, the longest are first.
pub(super) struct Together<'l, 'k, const ENCRYPT: bool, const N: usize>(pub Jobs<'l, 'k>);

impl<const ENCRYPT: bool, const N: usize> PerRounds for Together<'_, '_, ENCRYPT, N> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        // SAFETY: the creator's promise; one alone has its own shape.
        unsafe {
            let single = V::single(proof);
            if const { !V::SIDE_BY_SIDE } {
                for &job in self.0 {
                    run::<V, V::Single, ROUNDS, ENCRYPT, 1, 1>(proof, single, [job]);
                }
                return;
            }
            let mut rest = self.0;
            while let [_, ..] = rest {
                let jobs = take::<N>(&mut rest);
                run::<V, V::Single, ROUNDS, ENCRYPT, N, N>(proof, single, jobs);
            }
        }
    }
}

/// As [`Together`], of messages with one key, on registers of several blocks, of which each has one: eight at a time,
/// but for those that are few or of which half are much shorter.
///
/// # Safety
/// As for [`Together`]; all have the first one's key.
pub(super) struct Abreast<'l, 'k, const ENCRYPT: bool>(pub Jobs<'l, 'k>);

impl<const ENCRYPT: bool> PerRounds for Abreast<'_, '_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        if const { V::BLOCKS == 1 } {
            unreachable!("registers of several blocks");
        }
        let single = V::single(proof);
        let mut rest = self.0;
        // SAFETY: the creator's promise.
        unsafe {
            while let [longest, ..] = rest {
                // Else four would run to the end, in twice as many registers as they need.
                if rest.len() > 4 && 2 * (*rest[4]).len >= (**longest).len {
                    let jobs = take::<8>(&mut rest);
                    if const { V::BLOCKS > 2 } {
                        run::<V, V, ROUNDS, ENCRYPT, 2, 8>(proof, proof, jobs);
                    } else {
                        run::<V, V, ROUNDS, ENCRYPT, 4, 8>(proof, proof, jobs);
                    }
                } else {
                    let jobs = take::<4>(&mut rest);
                    run::<V, V::Single, ROUNDS, ENCRYPT, 4, 4>(proof, single, jobs);
                }
            }
        }
    }
}

/// The next of at least one message, up to `M` with additional data of one length; the first, which is the
/// longest, is there for those that are missing.
///
/// # Safety
/// As for [`Together`].
#[inline(always)]
unsafe fn take<'k, const M: usize>(rest: &mut Jobs<'_, 'k>) -> [*mut Job<'k>; M] {
    // SAFETY: the caller's promise.
    let aad_len = |job: *mut Job<'_>| unsafe { (*job).aad_len };
    let first = aad_len(rest[0]);
    let next = rest.iter().take(M);
    let count = next.take_while(|&&job| aad_len(job) == first).count();
    let jobs = from_fn(|n| rest[n.saturating_sub(M - count)]);
    *rest = &rest[count..];
    jobs
}

/// Messages with additional data of one length, none of which is longer than the one before it; each has a block
/// of one of `N` registers `S`.
///
/// # Safety
/// As for [`Together`]; as for [`Abreast`] if a register has several blocks.
#[inline(always)]
unsafe fn run<
    V: Vector,
    S: Vector<Single = V::Single>,
    const ROUNDS: usize,
    const ENCRYPT: bool,
    const N: usize,
    const M: usize,
>(
    proof: V::Proof,
    registers: S::Proof,
    jobs: [*mut Job<'_>; M],
) {
    debug_assert_eq!(M, N * S::BLOCKS);
    let single = V::single(proof);
    // SAFETY: the creator's promise; each access is within its part, or cut off at its end.
    unsafe {
        let places: [*mut u8; M] = map(jobs, |job| (&raw mut (*job).tag).cast());
        let all = map(jobs, |job| &*job);
        // Apart from the jobs, which would be in memory to be found by number.
        let lens = map(jobs, |job| (*job).len);
        let mut jobs = all;
        let mut chains = Chains::<S, ROUNDS, N, M>::start(registers, jobs);
        if jobs[0].aad_len > 0 {
            let head = |m: usize| V::Single::splat(single, jobs[m].aad_head().0);
            chains.push(of_each(registers, head));
            let (mut at, end) = (jobs[0].aad_head().1, jobs[0].aad_len);
            while end - at >= BLOCK {
                let load = |m: usize| V::Single::load(single, jobs[m].aad.add(at));
                chains.push(of_each(registers, load));
                at += BLOCK;
            }
            if at < end {
                let load = |m: usize| V::load_bytes(proof, jobs[m].aad.add(at), end - at).first();
                chains.push(of_each(registers, load));
            }
        }
        // The states of messages from `live` on, which have ended and repeat the first: the same loads, results
        // and stores.
        let mut ended = [V::Single::zero(single); M];
        let (mut at, mut live) = (0, M);
        loop {
            let end = lens[live - 1];
            while end - at >= BLOCK {
                let load = |m: usize| V::Single::load(single, jobs[m].source.add(at));
                let data = of_each(registers, load);
                let turned = chains.turn(data);
                chains.chain(if ENCRYPT { data } else { turned });
                let targets = map(jobs, |job| job.target.add(at));
                for n in 0..N {
                    turned[n].scatter(targets.as_ptr().add(S::BLOCKS * n));
                }
                at += BLOCK;
            }
            if at < end {
                let left: [_; M] = from_fn(|m| (jobs[m].len - at).min(BLOCK));
                let load = |m: usize| V::load_bytes(proof, jobs[m].source.add(at), left[m]).first();
                let data = of_each(registers, load);
                let turned = chains.turn(data);
                chains.chain(if ENCRYPT {
                    data
                } else {
                    keep::<V, S, N, M>(proof, turned, left)
                });
                let blocks = blocks_of::<S, N, M>(single, turned);
                for m in 0..M {
                    let block = V::from_single(proof, blocks[m]);
                    block.store_bytes(jobs[m].target.add(at), left[m]);
                }
                at += BLOCK;
            }
            if lens[0] <= at {
                break;
            }
            let before = live;
            while lens[live - 1] <= at {
                live -= 1;
            }
            if live < before {
                let mut states = chains.states();
                let mut counters = chains.counters();
                for m in 1..M {
                    if m >= live {
                        if m < before {
                            ended[m] = states[m];
                        }
                        jobs[m] = jobs[0];
                        chains.schedules[m] = chains.schedules[0];
                        (states[m], counters[m]) = (states[0], counters[0]);
                    }
                }
                chains.set(states, counters);
            }
        }
        if live < M {
            let mut states = chains.states();
            for m in 1..M {
                if m >= live {
                    states[m] = ended[m];
                    chains.schedules[m] = all[m].key.as_ptr();
                }
            }
            chains.set(states, chains.counters());
        }
        let tags = chains.tags();
        for n in 0..N {
            tags[n].scatter(places.as_ptr().add(S::BLOCKS * n));
        }
    }
}

/// Registers in which each message has its block. `block` is called in one place: the compiler would make a
/// function of it otherwise, for which what it borrows is in memory.
#[inline(always)]
fn of_each<S: Vector, const N: usize>(
    proof: S::Proof,
    block: impl Fn(usize) -> S::Single,
) -> [S; N] {
    let mut registers = [S::zero(proof); N];
    for n in 0..N {
        let mut blocks = [S::Single::zero(S::single(proof)); 4];
        for b in 0..S::BLOCKS {
            blocks[b] = block(S::BLOCKS * n + b);
        }
        registers[n] = S::from_singles(proof, blocks);
    }
    registers
}

/// Zeros behind so many bytes of each message's block.
///
/// # Safety
/// They are at most those of a block.
#[inline(always)]
unsafe fn keep<V: Vector, S: Vector<Single = V::Single>, const N: usize, const M: usize>(
    proof: V::Proof,
    registers: [S; N],
    left: [usize; M],
) -> [S; N] {
    let mut blocks = blocks_of::<S, N, M>(V::single(proof), registers);
    for m in 0..M {
        // SAFETY: the caller's promise.
        let kept = unsafe { V::from_single(proof, blocks[m]).keep_bytes(left[m]) };
        blocks[m] = kept.first();
    }
    of_each(registers[0].proof(), |m| blocks[m])
}

/// The block of each message.
#[inline(always)]
fn blocks_of<S: Vector, const N: usize, const M: usize>(
    single: ProofOf<S::Single>,
    registers: [S; N],
) -> [S::Single; M] {
    let mut blocks = [S::Single::zero(single); M];
    for n in 0..N {
        let mut turning = registers[n];
        for b in (0..S::BLOCKS).rev() {
            // The last block becomes the first.
            turning = turning.shift_in(turning);
            blocks[S::BLOCKS * n + b] = turning.first();
        }
    }
    blocks
}

/// CBC-MACs whose last blocks are on their way, and the counters. Of registers of several blocks, all messages have
/// one key.
struct Chains<S: Vector, const ROUNDS: usize, const N: usize, const M: usize> {
    /// Those of the first message.
    rounds: Rounds<S, ROUNDS, InMemory<S>>,
    /// The schedule of each message.
    schedules: [*const u8; M],
    /// The blocks on their way, the first round key added.
    states: [S; N],
    /// Counters 0.
    first: [S; N],
    /// The last ones used, byte-reversed. The low half counts; it cannot overflow, as the nonce
    /// leaves eight bytes at most and a message has fewer blocks than bytes.
    counters: [S; N],
}

impl<S: Vector, const ROUNDS: usize, const N: usize, const M: usize> Chains<S, ROUNDS, N, M> {
    /// Begins with the first block of each message.
    ///
    /// # Safety
    /// The keys have `ROUNDS` rounds, and stay where they are while this is used.
    #[inline(always)]
    unsafe fn start(proof: S::Proof, jobs: [&Job<'_>; M]) -> Self {
        let single = S::single(proof);
        let load = |block: [u8; BLOCK]| S::Single::splat(single, u128::from_le_bytes(block));
        let first: [S; N] = of_each(proof, |m| load(jobs[m].nonce.counter(0)));
        let mut chains = Self {
            // SAFETY: the caller's promise.
            rounds: unsafe { Rounds::in_memory(proof, jobs[0].key.as_ptr()) },
            schedules: map(jobs, |job| job.key.as_ptr()),
            states: of_each(proof, |m| load(jobs[m].first_block())),
            first,
            counters: map(first, S::reverse),
        };
        for n in 0..N {
            chains.states[n] = chains.states[n].xor(chains.key(n, 0));
        }
        chains
    }

    /// The key of round `r` for register `n`, the last one included.
    #[inline(always)]
    fn key(&self, n: usize, r: usize) -> S {
        if const { S::BLOCKS > 1 } {
            return self.rounds.at(r);
        }
        // SAFETY: the promise of `start`; a register has one block.
        unsafe { S::load(self.rounds.proof(), self.schedules[n].add(BLOCK * r)) }
    }

    #[inline(always)]
    fn last_key(&self, n: usize) -> S {
        self.key(n, self.rounds.count())
    }

    /// The state of each message.
    #[inline(always)]
    fn states(&self) -> [S::Single; M] {
        blocks_of(S::single(self.rounds.proof()), self.states)
    }

    /// The counter of each message.
    #[inline(always)]
    fn counters(&self) -> [S::Single; M] {
        blocks_of(S::single(self.rounds.proof()), self.counters)
    }

    /// Gives each message its state and counter.
    #[inline(always)]
    fn set(&mut self, states: [S::Single; M], counters: [S::Single; M]) {
        let proof = self.rounds.proof();
        self.states = of_each(proof, |m| states[m]);
        self.counters = of_each(proof, |m| counters[m]);
    }

    /// Chains a block of each message.
    #[inline(always)]
    fn push(&mut self, blocks: [S; N]) {
        each_round!(self.rounds.count(), |r| {
            for n in 0..N {
                self.states[n] = self.states[n].aes_enc(self.key(n, r));
            }
        });
        self.chain(blocks);
    }

    /// Ends the last round, and begins with the next blocks.
    #[inline(always)]
    fn chain(&mut self, blocks: [S; N]) {
        for n in 0..N {
            // The last round key of one block and the first of the next.
            let seam = self.last_key(n).xor(self.key(n, 0));
            self.states[n] = self.states[n].aes_enc_last(seam.xor(blocks[n]));
        }
    }

    /// Encrypts or decrypts a block of each text; [`Chains::chain`] of the plaintext is to follow.
    #[inline(always)]
    fn turn(&mut self, data: [S; N]) -> [S; N] {
        for counter in &mut self.counters {
            *counter = counter.add64(S::splat(counter.proof(), 1));
        }
        let streams = self.beside(from_fn(|n| self.counters[n].reverse()));
        from_fn(|n| data[n].xor(streams[n]))
    }

    /// The tags, untruncated.
    #[inline(always)]
    fn tags(mut self) -> [S; N] {
        let masks = self.beside(self.first);
        from_fn(|n| self.states[n].aes_enc_last(self.last_key(n).xor(masks[n])))
    }

    /// Takes the chains up to their last rounds, and encrypts `blocks` beside them.
    #[inline(always)]
    fn beside(&mut self, blocks: [S; N]) -> [S; N] {
        let mut streams: [S; N] = from_fn(|n| blocks[n].xor(self.key(n, 0)));
        each_round!(self.rounds.count(), |r| {
            for n in 0..N {
                let key = self.key(n, r);
                self.states[n] = self.states[n].aes_enc(key);
                streams[n] = streams[n].aes_enc(key);
            }
            // Else one message's rounds may come behind all others', and then wait.
            S::pin(&mut self.states);
            S::pin(&mut streams);
        });
        from_fn(|n| streams[n].aes_enc_last(self.last_key(n)))
    }
}
