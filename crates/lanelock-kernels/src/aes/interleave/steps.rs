//! CBC cut into steps of one AES round, to be placed between the rounds of a hash function.

use core::arch::x86_64::*;

use crate::aes::BLOCK;
use crate::hash::sha_ni::Beside;

/// The blocks of a message, one after the other.
///
/// Decrypted blocks do not wait for each other: the CPU overlaps the last rounds of one with the
/// first of the next, so this order serves both directions.
///
/// Invariant: `keys` is the schedule of `ROUNDS` rounds of the direction, aligned as such, and
/// `source` and `target` are valid for all blocks that the steps will be run for; they are the
/// same or disjoint.
pub(super) struct Steps<'v, const ROUNDS: usize, const ENCRYPT: bool> {
    keys: *const __m128i,
    source: *const u8,
    target: *mut u8,
    /// Where the chaining value is before and after.
    iv: &'v mut [u8; BLOCK],
    /// The ciphertext block before this one.
    before: __m128i,
    /// Of decryption: this ciphertext block.
    ciphertext: __m128i,
    state: __m128i,
}

/// AES blocks beside one block of the hash function: as many bytes.
const BLOCKS: usize = 4;

impl<'v, const ROUNDS: usize, const ENCRYPT: bool> Steps<'v, ROUNDS, ENCRYPT> {
    /// # Safety
    /// The invariant.
    #[inline(always)]
    pub unsafe fn new(
        keys: *const u8,
        source: *const u8,
        target: *mut u8,
        iv: &'v mut [u8; BLOCK],
    ) -> Self {
        // SAFETY: every x86-64 CPU has SSE2.
        let zero = unsafe { _mm_setzero_si128() };
        Self {
            keys: keys.cast(),
            source,
            target,
            iv,
            before: zero,
            ciphertext: zero,
            state: zero,
        }
    }

    /// Runs `blocks` blocks by themselves.
    ///
    /// # Safety
    /// The CPU has AES-NI; the invariant for that many blocks.
    #[target_feature(enable = "aes,sse4.1,ssse3")]
    pub unsafe fn alone(mut self, blocks: usize) {
        // SAFETY: the caller's promises.
        unsafe {
            self.begin();
            for _ in 0..blocks {
                for r in 0..=ROUNDS {
                    self.step(0, r);
                }
                self.advance(1);
            }
            self.end();
        }
    }

    /// Round `r` of the `block`-th block from here; 0 reads it, the last one writes it.
    ///
    /// # Safety
    /// The CPU has AES-NI; the invariant.
    #[inline(always)]
    unsafe fn step(&mut self, block: usize, r: usize) {
        // SAFETY: the invariant: `ROUNDS + 1` aligned round keys, and a block on both sides.
        unsafe {
            let key = _mm_load_si128(self.keys.add(r));
            if r == 0 {
                let text = _mm_loadu_si128(self.source.add(BLOCK * block).cast());
                self.state = _mm_xor_si128(text, key);
                if ENCRYPT {
                    self.state = _mm_xor_si128(self.state, self.before);
                } else {
                    self.ciphertext = text;
                }
            } else if r < ROUNDS {
                self.state = if ENCRYPT {
                    _mm_aesenc_si128(self.state, key)
                } else {
                    _mm_aesdec_si128(self.state, key)
                };
            } else {
                let text = if ENCRYPT {
                    self.before = _mm_aesenclast_si128(self.state, key);
                    self.before
                } else {
                    let text = _mm_aesdeclast_si128(self.state, key);
                    let text = _mm_xor_si128(text, self.before);
                    self.before = self.ciphertext;
                    text
                };
                _mm_storeu_si128(self.target.add(BLOCK * block).cast(), text);
            }
        }
    }

    #[inline(always)]
    fn advance(&mut self, blocks: usize) {
        self.source = self.source.wrapping_add(BLOCK * blocks);
        self.target = self.target.wrapping_add(BLOCK * blocks);
    }
}

impl<const ROUNDS: usize, const ENCRYPT: bool> Beside for Steps<'_, ROUNDS, ENCRYPT> {
    #[inline(always)]
    unsafe fn begin(&mut self) {
        // SAFETY: the IV is a block.
        self.before = unsafe { _mm_loadu_si128(self.iv.as_ptr().cast()) };
    }

    /// The steps of four blocks, spread evenly over the groups of one. The first block is written
    /// behind group 3 at the earliest.
    #[inline(always)]
    unsafe fn behind(&mut self, group: usize, groups: usize) {
        let steps = ROUNDS + 1;
        for step in group * BLOCKS * steps / groups..(group + 1) * BLOCKS * steps / groups {
            // SAFETY: the CPU has AES-NI, as the caller promises; the invariant.
            unsafe { self.step(step / steps, step % steps) };
        }
        if group + 1 == groups {
            self.advance(BLOCKS);
        }
    }
    #[inline(always)]
    unsafe fn end(&mut self) {
        // SAFETY: the IV is a block.
        unsafe { _mm_storeu_si128(self.iv.as_mut_ptr().cast(), self.before) }
    }
}
