//! The counters of CTR, a register at a time.

use crate::aes::BLOCK;
use crate::aes::rounds::{Keys, Rounds};
use crate::aes::sweep::{Around, Second};
use crate::arch::blocks::Vector;
use crate::arrays::each;

/// Values of a counter's last byte.
pub(super) const NUMBERS: usize = 256;

/// Consecutive counters, as they lie in memory. Most differ in their last byte alone: no bytes are put into another
/// order, and in groups nothing is added. [`KeyStream::settle`] sees to those behind one whose last byte has carried.
/// Counter blocks are no secret, nor is where their last bytes lie in a table.
#[derive(Clone, Copy)]
pub(super) struct KeyStream<V, const ROUNDS: usize, K> {
    rounds: Rounds<V, ROUNDS, K>,
    /// Those of the next register. What their last bytes have carried since that was settled is missing.
    counters: V,
    /// Where the last bytes of the next register are in [`LAST_BYTES`]; at most [`NUMBERS`] blocks from its beginning where
    /// what has carried is settled.
    next: usize,
    /// In groups, the counters with zero in their last byte and the first round key added.
    alike: V,
}

impl<V: Vector, const ROUNDS: usize, K: Keys<V>> KeyStream<V, ROUNDS, K> {
    /// From a counter on whose last byte is `last`.
    ///
    /// # Safety
    /// The counter block is valid for reads.
    #[inline(always)]
    pub unsafe fn start(
        rounds: Rounds<V, ROUNDS, K>,
        counter: *const [u8; BLOCK],
        last: u8,
    ) -> Self {
        const { assert!(V::BLOCKS * if V::BLOCKS > 2 { 4 } else { 8 } <= GROUP) };
        let proof = rounds.proof();
        // SAFETY: the caller's block, and a register of the table.
        unsafe {
            let first = V::broadcast(proof, counter.cast());
            Self {
                rounds,
                counters: if const { V::BLOCKS == 1 } {
                    first
                } else {
                    first.add64(Self::last_bytes(proof, 0))
                },
                next: BLOCK * usize::from(last),
                alike: V::zero(proof),
            }
        }
    }

    /// A register of [`LAST_BYTES`].
    ///
    /// # Safety
    /// `at` is at most [`NUMBERS`] blocks, or that of a register of a group which begins with such a one.
    #[inline(always)]
    unsafe fn last_bytes(proof: V::Proof, at: usize) -> V {
        debug_assert!(at + V::BYTES <= size_of_val(&LAST_BYTES));
        // SAFETY: the caller's promise.
        unsafe { V::load(proof, LAST_BYTES.0.as_ptr().byte_add(at).cast()) }
    }

    /// What changes in front of the last byte when that carries. In registers: short messages then save no others.
    #[inline(always)]
    fn carry(&self) -> V {
        let proof = self.counters.proof();
        let zero = self.before_last_byte().reverse();
        let full = zero.add64(V::splat(proof, 0xff));
        let next = full.add64(V::splat(proof, 1));
        // The highest bit of the low half is set no longer.
        let carry = full.and(full.xor(next)).shr64(63).low_to_high();
        next.add64(carry).xor(zero).reverse()
    }

    /// The counters with zero in their last byte.
    #[inline(always)]
    fn before_last_byte(&self) -> V {
        let mask = V::splat(self.counters.proof(), u128::MAX >> 8);
        self.counters.and(mask)
    }
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
        let counters = self.counters;
        let step = V::splat(data.proof(), (V::BLOCKS as u128) << 120);
        let mut next = [counters.add64(step)];
        if V::BLOCKS == 4 {
            // Else each distance from the first would take up a register, of 32.
            V::pin(&mut next);
        }
        [self.counters] = next;
        self.next += V::BYTES;
        (counters.xor(self.rounds.at(0)), data)
    }

    #[inline(always)]
    fn before_groups(&mut self) {
        self.alike = self.before_last_byte().xor(self.rounds.at(0));
    }

    #[inline(always)]
    fn ahead_in_groups(&mut self, data: V) -> (V, V) {
        let step = V::splat(data.proof(), (V::BLOCKS as u128) << 120);
        self.counters = self.counters.add64(step);
        // SAFETY: a register of a group, before which the number was settled.
        let last = unsafe { Self::last_bytes(data.proof(), self.next) };
        self.next += V::BYTES;
        (self.alike.xor(last), data)
    }

    #[inline(always)]
    fn settle<const G: usize>(&mut self, states: &mut [V; G], from: usize, count: usize) {
        let all = const { BLOCK * NUMBERS };
        if self.next <= all {
            return;
        }
        let carry = self.carry();
        // Bytes of those that have not carried.
        let before = all + V::BYTES * count - self.next;
        each!(G, |I| {
            if (from..from + count).contains(&I) {
                let at = BLOCK * GROUP - before + V::BYTES * (I - from);
                // SAFETY: some of a group have carried, and there are as many blocks of each kind as a group has.
                let carried =
                    unsafe { V::load(carry.proof(), CARRIED.0.as_ptr().byte_add(at).cast()) };
                states[I] = states[I].xor(carry.and(carried));
            }
        });
        self.counters = self.counters.xor(carry);
        self.alike = self.alike.xor(carry);
        self.next -= all;
    }
}

/// Most blocks of a group of registers: of four of four blocks, or of eight of fewer.
const GROUP: usize = 16;

#[repr(align(64))]
struct Blocks<const N: usize>([[u8; BLOCK]; N]);

/// Block `n` is zero but for its last byte, which is `n`, or what is left of it once the byte has carried.
static LAST_BYTES: Blocks<{ NUMBERS + GROUP }> = Blocks({
    let mut blocks = [[0; BLOCK]; NUMBERS + GROUP];
    let mut n = 0;
    while n < blocks.len() {
        blocks[n][BLOCK - 1] = n.to_le_bytes()[0];
        n += 1;
    }
    blocks
});

/// Blocks that are zero, and as many of which each bit is set.
static CARRIED: Blocks<{ 2 * GROUP }> = Blocks({
    let mut blocks = [[0; BLOCK]; 2 * GROUP];
    let mut n = GROUP;
    while n < blocks.len() {
        blocks[n] = [0xff; BLOCK];
        n += 1;
    }
    blocks
});
