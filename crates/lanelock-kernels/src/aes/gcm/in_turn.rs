//! Messages one after the other. What is left to hash of each waits until the first registers of
//! the next are under way: carry-less multiplications of one fill the waiting times of the other's
//! AES rounds.

use super::ghash::Ghash;
use super::text::{Beside, Nothing, Text};
use super::{Job, aad_of, j0_of, place_of};
use crate::aes::BLOCK;
use crate::aes::rounds::PerRounds;
use crate::arch::blocks::Vector;
use crate::arrays::map;

/// The jobs that `list` names.
///
/// # Safety
/// The numbers in `list` are different and below the number of jobs at `jobs`, which keep the
/// contract of [`encrypt_many`](super::encrypt_many).
pub(super) struct InTurn<'l, 'k, const ENCRYPT: bool> {
    pub jobs: *mut Job<'k>,
    pub list: &'l [u8],
}

impl<const ENCRYPT: bool> PerRounds for InTurn<'_, '_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        let mut behind: Option<Behind<V, ENCRYPT>> = None;
        for &number in self.list {
            // SAFETY: the creator's promises.
            unsafe {
                let job = &mut *self.jobs.add(number.into());
                behind = Some(turn::<V, ROUNDS, ENCRYPT>(proof, job, behind));
            }
        }
        if let Some(behind) = behind {
            // SAFETY: the creator's promises.
            unsafe { behind.finish() }
        }
    }
}

/// A message whose text is turned, and whose hash lacks the last sum.
#[derive(Clone, Copy)]
struct Behind<V: Vector, const ENCRYPT: bool> {
    /// When decrypting, the text is part of the open sum.
    hash: Ghash<V>,
    /// When encrypting: what is left to add of the ciphertext, and its last register, zero behind
    /// the text.
    from: *const u8,
    last: V,
    /// Bytes of it.
    len: usize,
    /// At which power it goes on.
    power: usize,
    /// Blocks of the text in the last sum.
    blocks: usize,
    /// Additional data of one block, reversed, if it is part of the last sum.
    aad: Option<V::Single>,
    lengths: V::Single,
    mask: V::Single,
    tag: *mut u8,
}

/// Encrypts or decrypts the text of `job`, hashes all of it but the last sum, and finishes the
/// message before.
///
/// # Safety
/// The contract of [`InTurn`].
#[inline(always)]
unsafe fn turn<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    job: &mut Job<'_>,
    mut before: Option<Behind<V, ENCRYPT>>,
) -> Behind<V, ENCRYPT> {
    // SAFETY: the caller's promises.
    unsafe {
        let mut hash = Ghash::<V>::start(proof, job.key.powers());
        let mut text = Text::<V, ROUNDS, ENCRYPT>::of(proof, job);
        let mut mask = text.rounds.encrypt([V::splat(proof, j0_of(job))]);
        V::pin(&mut mask);
        let chunk = Text::<V, ROUNDS, ENCRYPT>::CHUNK;
        let mut aad = None;
        if job.aad_len > BLOCK {
            hash.absorb(job.aad, job.aad_len);
        } else if text.len <= chunk {
            aad = Some(aad_of::<V>(proof, job.aad, job.aad_len).reverse());
        }
        let mut last = V::zero(proof);
        if text.len < chunk {
            last = text.last_alone(&mut hash, 1, &mut before);
            if let Some(before) = before {
                before.finish();
            }
        } else {
            if ENCRYPT {
                text.chunk_alone();
            }
            if let Some(before) = before {
                before.finish();
            }
            if aad.is_none() && (1..=BLOCK).contains(&job.aad_len) {
                hash.add::<false>(
                    V::from_single(proof, aad_of::<V>(proof, job.aad, job.aad_len)),
                    8 * V::BLOCKS + 1,
                );
            }
            // When decrypting, the lengths have a place in the sum of the last chunk. That spares a
            // reduction, and costs a long message more: the chunk is hashed before its rounds.
            let more = usize::from(!ENCRYPT && text.len <= 4 * chunk);
            text.chunks(&mut hash, more);
            if text.len > 0 {
                if ENCRYPT {
                    let before = text.target.sub(chunk);
                    let mut chunk = Chunk::<V>::new(hash, before);
                    last = text.last_alone(&mut hash, 1, &mut chunk);
                    hash = chunk.close();
                } else {
                    last = text.last_alone(&mut hash, 1, &mut Nothing);
                }
            } else if ENCRYPT {
                text.back();
                last = V::load(proof, text.target.add(text.len - V::BYTES));
            }
        }
        Behind {
            hash,
            from: text.target,
            last,
            len: text.len,
            blocks: text.len.div_ceil(BLOCK),
            power: text.len.div_ceil(BLOCK) + 1,
            aad,
            lengths: V::Single::splat(
                V::single(proof),
                (8 * job.aad_len as u128) << 64 | 8 * job.len as u128,
            ),
            mask: mask[0].first(),
            tag: place_of(job),
        }
    }
}

impl<V: Vector, const ENCRYPT: bool> Behind<V, ENCRYPT> {
    /// Hashes what is left and writes the tag.
    ///
    /// # Safety
    /// The message is one of [`InTurn`].
    #[inline(always)]
    unsafe fn finish(self) {
        let Self { mut hash, len, .. } = self;
        // SAFETY: the caller's promises; the sum has at most 1 + 32 + 1 blocks.
        unsafe {
            if ENCRYPT && len > 0 {
                hash.add_text(self.from, len, self.last, 1);
            }
            let (first, power) = match self.aad {
                Some(aad) => (aad, self.blocks + 2),
                None => (hash.reduced(), self.blocks + 1),
            };
            hash.add_ends(first, power, self.lengths);
            hash.close();
            hash.value().xor(self.mask).store(self.tag);
        }
    }
}

/// A chunk of ciphertext on its way into a hash, two registers a step.
struct Chunk<V: Vector> {
    hash: Ghash<V>,
    from: *const u8,
    /// Registers that are left.
    left: usize,
}

impl<V: Vector> Chunk<V> {
    /// The chunk at `from`, which is valid for reads of eight registers.
    #[inline(always)]
    fn new(hash: Ghash<V>, from: *const u8) -> Self {
        let left = 8;
        Self { hash, from, left }
    }

    /// The hash behind the chunk, all of whose steps have run.
    #[inline(always)]
    fn close(mut self) -> Ghash<V> {
        debug_assert!(self.left == 0);
        self.hash.close();
        self.hash
    }
}

impl<V: Vector> Beside for Chunk<V> {
    #[inline(always)]
    unsafe fn step(&mut self) {
        self.left -= 2;
        // SAFETY: eight registers from `from`.
        unsafe {
            self.hash.add_of_chunk(self.from, self.left);
            self.hash.pin();
        }
    }
}

impl<V: Vector, const ENCRYPT: bool> Beside for Option<Behind<V, ENCRYPT>> {
    /// Adds the next two registers to the sum, if they are not the last.
    #[inline(always)]
    unsafe fn step(&mut self) {
        // SAFETY: `from` is valid for the whole registers before the last.
        unsafe {
            if ENCRYPT
                && let Some(behind) = self
                && behind.len > 2 * V::BYTES
            {
                let data = map([0, V::BYTES], |at| {
                    V::load(behind.last.proof(), behind.from.add(at))
                });
                behind.hash.add_two::<false>(data, behind.power);
                behind.hash.pin();
                behind.from = behind.from.add(2 * V::BYTES);
                behind.len -= 2 * V::BYTES;
                behind.power -= 2 * V::BLOCKS;
            }
        }
    }
}
