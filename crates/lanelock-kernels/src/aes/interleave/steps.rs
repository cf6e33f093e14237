//! CBC cut into steps of one AES round, to be placed between the rounds of a hash function.

use crate::aes::BLOCK;
use crate::arch::blocks::{Kernel, Vector};
use crate::arch::words::Beside;

/// The blocks of a message, one after the other.
///
/// Decrypted blocks do not wait for each other: the CPU overlaps the last rounds of one with the
/// first of the next, so this order serves both directions.
///
/// Invariant: `keys` is the schedule of `ROUNDS` rounds of the direction, aligned; `V` has one block, and
/// `source` and `target` are valid for all blocks that the steps will be run for; they are the
/// same or disjoint.
pub(super) struct Steps<'v, V, const ROUNDS: usize, const ENCRYPT: bool> {
    keys: *const u128,
    source: *const u8,
    target: *mut u8,
    /// Where the chaining value is before and after.
    iv: &'v mut [u8; BLOCK],
    /// The ciphertext block before this one.
    before: V,
    /// Of decryption: this ciphertext block.
    ciphertext: V,
    state: V,
}

/// AES blocks beside one block of the hash function: as many bytes.
const BLOCKS: usize = 4;

impl<'v, V: Vector, const ROUNDS: usize, const ENCRYPT: bool> Steps<'v, V, ROUNDS, ENCRYPT> {
    /// # Safety
    /// The invariant.
    #[inline(always)]
    pub unsafe fn new(
        proof: V::Proof,
        keys: *const u128,
        source: *const u8,
        target: *mut u8,
        iv: &'v mut [u8; BLOCK],
    ) -> Self {
        let zero = V::zero(proof);
        Self {
            keys,
            source,
            target,
            iv,
            before: zero,
            ciphertext: zero,
            state: zero,
        }
    }

    /// Round `r` of the `block`-th block from here; 0 reads it, the last one writes it.
    ///
    /// # Safety
    /// The invariant.
    #[inline(always)]
    unsafe fn step(&mut self, block: usize, r: usize) {
        // SAFETY: the invariant: `ROUNDS + 1` aligned round keys, and a block on both sides.
        unsafe {
            // An aligned read becomes an operand of the round, without AVX too.
            let key = self.keys.add(r).read();
            let key = V::load(self.state.proof(), (&raw const key).cast());
            if r == 0 {
                let text = V::load(self.state.proof(), self.source.add(BLOCK * block));
                self.state = text.xor(key);
                if ENCRYPT {
                    self.state = self.state.xor(self.before);
                } else {
                    self.ciphertext = text;
                }
            } else if r < ROUNDS {
                self.state = if ENCRYPT {
                    self.state.aes_enc(key)
                } else {
                    self.state.aes_dec(key)
                };
            } else {
                let text = if ENCRYPT {
                    self.before = self.state.aes_enc_last(key);
                    self.before
                } else {
                    let text = self.state.aes_dec_last(key).xor(self.before);
                    self.before = self.ciphertext;
                    text
                };
                text.store(self.target.add(BLOCK * block));
            }
        }
    }

    #[inline(always)]
    fn advance(&mut self, blocks: usize) {
        self.source = self.source.wrapping_add(BLOCK * blocks);
        self.target = self.target.wrapping_add(BLOCK * blocks);
    }
}

impl<V: Vector, const ROUNDS: usize, const ENCRYPT: bool> Beside for Steps<'_, V, ROUNDS, ENCRYPT> {
    #[inline(always)]
    fn begin(&mut self) {
        // SAFETY: the IV is a block.
        self.before = unsafe { V::load(self.state.proof(), self.iv.as_ptr()) };
    }

    /// The steps of four blocks, spread evenly over the groups of one. The first block is written
    /// behind group 3 at the earliest.
    #[inline(always)]
    unsafe fn behind(&mut self, group: usize, groups: usize) {
        let steps = ROUNDS + 1;
        for step in group * BLOCKS * steps / groups..(group + 1) * BLOCKS * steps / groups {
            // SAFETY: as the caller promises.
            unsafe { self.step(step / steps, step % steps) };
        }
        if group + 1 == groups {
            self.advance(BLOCKS);
        }
    }
    #[inline(always)]
    fn end(&mut self) {
        // SAFETY: the IV is a block.
        unsafe { self.before.store(self.iv.as_mut_ptr()) }
    }
}

/// The steps of a number of blocks by themselves.
pub(super) struct Lone<'v, V, const ROUNDS: usize, const ENCRYPT: bool>(
    pub(super) Steps<'v, V, ROUNDS, ENCRYPT>,
    pub(super) usize,
);

impl<W: Vector, const ROUNDS: usize, const ENCRYPT: bool> Kernel for Lone<'_, W, ROUNDS, ENCRYPT> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, _: V::Proof) {
        let Self(mut steps, blocks) = self;
        // SAFETY: the creator's promise: the invariant for that many blocks.
        unsafe {
            steps.begin();
            for _ in 0..blocks {
                for r in 0..=ROUNDS {
                    steps.step(0, r);
                }
                steps.advance(1);
            }
            steps.end();
        }
    }
}
