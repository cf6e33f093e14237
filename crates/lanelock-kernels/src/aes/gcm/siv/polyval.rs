//! POLYVAL (RFC 8452, 3) of many messages, each with a key of its own, in lockstep.

use core::ptr;

use super::LOT;
use crate::aes::BLOCK;
use crate::aes::gcm::products::Sum;
use crate::arch::blocks::{Kernel, Vector};
use crate::wipe::wipe;

/// A POLYVAL in progress.
pub(super) struct Hash<'k> {
    pub(super) key: &'k [u8; BLOCK],
    /// What to add, each padded with zeros to whole blocks: valid for reads of its length.
    pub(super) parts: [(*const u8, usize); 3],
    /// Before: of what was added so far; zero if there are several hashes. After: of all.
    pub(super) sum: [u8; BLOCK],
}

/// No part.
pub(super) const NOTHING: (*const u8, usize) = (ptr::null(), 0);

static ZERO: [u8; BLOCK] = [0; BLOCK];

/// Continues up to [`LOT`] hashes, one in each block of a register. All end together: a shorter one
/// begins with blocks of zeros, which leave a sum of zero as it is.
pub(super) struct Polyval<'a, 'k>(pub(super) &'a mut [Hash<'k>]);

impl Kernel for Polyval<'_, '_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        for hashes in self.0.chunks_mut(4 * V::BLOCKS) {
            // SAFETY: the creator's promise.
            unsafe {
                match hashes.len().div_ceil(V::BLOCKS) {
                    1 => polyval::<V, 1>(proof, hashes),
                    2 => polyval::<V, 2>(proof, hashes),
                    _ => polyval::<V, 4>(proof, hashes),
                }
            }
        }
    }
}

/// The blocks of a hash, in order.
#[derive(Clone, Copy)]
struct Walk {
    /// Where blocks lie and how many: zeros, then whole blocks and the padded one of each part.
    runs: [(*const u8, usize); 7],
    at: usize,
}

impl Walk {
    const IDLE: Self = Self {
        runs: [
            (ZERO.as_ptr(), usize::MAX),
            NOTHING,
            NOTHING,
            NOTHING,
            NOTHING,
            NOTHING,
            NOTHING,
        ],
        at: 0,
    };

    /// # Safety
    /// The hash's parts are valid; `padded` stays where it is.
    #[inline(always)]
    unsafe fn new(hash: &Hash<'_>, blocks: usize, padded: &mut [[u8; BLOCK]; 3]) -> Self {
        let mut walk = Self::IDLE;
        walk.runs[0].1 = blocks - blocks_of(hash);
        for (i, ((part, len), padded)) in hash.parts.into_iter().zip(padded).enumerate() {
            let rest = len % BLOCK;
            walk.runs[1 + 2 * i] = (part, len / BLOCK);
            walk.runs[2 + 2 * i] = (padded.as_ptr(), usize::from(rest > 0));
            if rest > 0 {
                // SAFETY: the part has `rest` bytes after its whole blocks.
                unsafe {
                    ptr::copy_nonoverlapping(part.add(len - rest), padded.as_mut_ptr(), rest);
                }
            }
        }
        walk
    }

    /// Where the next block lies.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    fn next(&mut self) -> *mut u8 {
        while self.runs[self.at].1 == 0 {
            self.at += 1;
        }
        let (block, left) = &mut self.runs[self.at];
        let here = *block;
        *left -= 1;
        if self.at > 0 {
            *block = block.wrapping_add(BLOCK);
        }
        here.cast_mut()
    }
}

fn blocks_of(hash: &Hash<'_>) -> usize {
    hash.parts.iter().map(|part| part.1.div_ceil(BLOCK)).sum()
}

/// [`Polyval`] of at most `G` registers.
///
/// # Safety
/// The contract of [`Polyval`].
#[inline(always)]
unsafe fn polyval<V: Vector, const G: usize>(proof: V::Proof, hashes: &mut [Hash<'_>]) {
    let blocks = hashes.iter().map(blocks_of).max().unwrap_or(0);
    let mut padded = [[[0; BLOCK]; 3]; LOT];
    let mut walks = [Walk::IDLE; LOT];
    let mut sums = [ZERO; LOT];
    let mut keys = [ZERO; LOT];
    // SAFETY: as above; `padded` does not move. A register has as many lanes as it has blocks, and
    // `G` of them no more than there are in a lot.
    unsafe {
        for (i, hash) in hashes.iter().enumerate() {
            walks[i] = Walk::new(hash, blocks, &mut padded[i]);
            (sums[i], keys[i]) = (hash.sum, *hash.key);
        }
        let (mut sum, mut key, mut key_sum) = (
            [V::zero(proof); G],
            [V::zero(proof); G],
            [V::zero(proof); G],
        );
        for g in 0..G {
            sum[g] = V::load(proof, sums[V::BLOCKS * g..].as_ptr().cast());
            key[g] = V::load(proof, keys[V::BLOCKS * g..].as_ptr().cast());
            key_sum[g] = key[g].xor(key[g].swap_halves());
        }
        for _ in 0..blocks {
            let mut from = [ptr::null_mut(); LOT];
            for (from, walk) in from[..V::BLOCKS * G].iter_mut().zip(&mut walks) {
                *from = walk.next();
            }
            for g in 0..G {
                let data = V::gather(proof, from[V::BLOCKS * g..].as_ptr());
                let mut product = Sum::<V>::zero(proof);
                product.add(sum[g].xor(data), key[g], key_sum[g]);
                sum[g] = product.reduced();
            }
        }
        for g in 0..G {
            sum[g].store(sums[V::BLOCKS * g..].as_mut_ptr().cast());
        }
    }
    for (hash, sum) in hashes.iter_mut().zip(&sums) {
        hash.sum = *sum;
    }
    let used = V::BLOCKS * G;
    wipe(&mut padded[..used]);
    wipe(&mut sums[..used]);
    wipe(&mut keys[..used]);
}
