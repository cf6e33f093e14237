//! Messages one after the other. What is left to hash of each waits until the first registers of
//! the next are under way: carry-less multiplications of one fill the waiting times of the other's
//! AES rounds. Where a register holds one block, the CPU looks that far ahead by itself.

use super::ghash::{Ghash, Values, spares_rest};
use super::products::lengths;
use super::text::{Beside, Nothing, Text, WithMask};
use super::{Job, aad_of, place_of};
use crate::aes::BLOCK;
use crate::aes::rounds::PerRounds;
use crate::arch::blocks::Vector;
use crate::arrays::map;

/// Any jobs.
///
/// # Safety
/// The contract of [`encrypt_many`](super::encrypt_many).
pub(super) struct InTurn<'j, 'k, const ENCRYPT: bool>(pub &'j mut [Job<'k>]);

impl<const ENCRYPT: bool> PerRounds for InTurn<'_, '_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        let mut behind: Option<Behind<V, ENCRYPT>> = None;
        for job in self.0 {
            // SAFETY: the creator's promises.
            unsafe {
                let turned = turn::<V, ROUNDS, ENCRYPT>(proof, job, behind);
                if const { ENCRYPT && V::BLOCKS == 1 && V::REGISTERS <= 16 } {
                    turned.finish();
                } else {
                    behind = Some(turned);
                }
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
    /// Whether it is added with few powers.
    sparing: bool,
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
        let first_key = text.rounds.at(0).first();
        let mut mask = V::Single::splat(V::single(proof), job.j0()).xor(first_key);
        let chunk = Text::<V, ROUNDS, ENCRYPT>::CHUNK;
        // A mask shares the first rounds of a text that is encrypted and the last of one that is decrypted:
        // those which no chunk is hashed beside.
        let least = if ENCRYPT { chunk } else { chunk + 1 };
        let aad = before_text(&mut hash, job);
        let mut last = V::zero(proof);
        let mut values = Values::of_block(proof, aad);
        if text.len < least {
            let mut beside = WithMask {
                mask: &mut mask,
                beside: &mut before,
            };
            last = text.last_alone(&mut hash, Some(values), 1, &mut beside);
            if let Some(before) = before {
                before.finish();
            }
        } else {
            if ENCRYPT {
                text.chunk_alone(&mut WithMask {
                    mask: &mut mask,
                    beside: &mut before,
                });
            }
            if let Some(before) = before {
                before.finish();
            }
            values = text.chunks(&mut hash, values, least);
            if !ENCRYPT {
                let mut beside = WithMask {
                    mask: &mut mask,
                    beside: &mut Nothing,
                };
                text.last_alone(&mut hash, Some(values), 1, &mut beside);
            } else if text.len > 0 {
                let from = text.target.sub(chunk);
                let mut chunk = Chunk {
                    hash,
                    from,
                    values,
                    part: 0,
                };
                last = text.last_alone(&mut hash, None, 1, &mut chunk);
                (hash, values) = chunk.close();
            } else {
                text.back();
                last = V::load(proof, text.target.add(text.len - V::BYTES));
            }
        }
        let sparing = spares_rest::<V>(text.len);
        if ENCRYPT {
            if sparing {
                hash.add_values(values, (text.len - 1) / V::BYTES);
            } else {
                hash.take_up_values(values, text.len.div_ceil(BLOCK) + 1);
            }
        }
        Behind {
            hash,
            from: text.target,
            last,
            len: text.len,
            sparing,
            lengths: lengths(V::single(proof), job.aad_len, job.len),
            mask,
            tag: place_of::<ENCRYPT>(job),
        }
    }
}

/// The block that is hashed before the text, a polynomial: additional data, the last block of it together
/// with the hash of all before, or zero.
///
/// # Safety
/// The job is valid.
#[inline(always)]
unsafe fn before_text<V: Vector>(hash: &mut Ghash<V>, job: &Job<'_>) -> V::Single {
    // SAFETY: the caller's promise.
    unsafe {
        let proof = hash.proof();
        if job.aad_len <= BLOCK {
            return aad_of::<V>(proof, job.aad, job.aad_len).coefficients();
        }
        let whole = (job.aad_len - 1) / BLOCK * BLOCK;
        hash.absorb(job.aad, whole);
        let last = aad_of::<V>(proof, job.aad.add(whole), job.aad_len - whole);
        last.coefficients().xor(hash.reduced())
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
        // SAFETY: the caller's promises; the sum has at most a register, 32 blocks and
        // the lengths.
        unsafe {
            if ENCRYPT && self.sparing {
                let (mut from, mut left) = (self.from, (len - 1) / V::BYTES);
                while left > 2 {
                    hash.add_of_rest(from, left);
                    (from, left) = (from.add(2 * V::BYTES), left - 2);
                }
                hash.close_rest(from, left, self.last, (len - 1) % V::BYTES / BLOCK + 1);
            } else if ENCRYPT && len > 0 {
                hash.add_text(self.from, len, self.last, 1);
            }
            hash.take_up(self.lengths, 1);
            hash.close();
            hash.value().xor(self.mask).store(self.tag);
        }
    }
}

/// A chunk of ciphertext on its way into a hash, a part each step.
struct Chunk<V: Vector> {
    hash: Ghash<V>,
    /// Valid for reads of eight registers.
    from: *const u8,
    values: Values<V>,
    /// The next one.
    part: usize,
}

impl<V: Vector> Chunk<V> {
    /// The hash behind the chunk, all of whose parts have been added.
    #[inline(always)]
    fn close(mut self) -> (Ghash<V>, Values<V>) {
        debug_assert!(self.part == 4);
        // SAFETY: eight registers from `from`.
        let values = unsafe { self.hash.close_chunk(self.from) };
        (self.hash, values)
    }
}

impl<V: Vector> Beside<V> for Chunk<V> {
    #[inline(always)]
    unsafe fn step(&mut self) {
        // SAFETY: eight registers from `from`; there are four steps.
        unsafe {
            self.hash.add_of_chunk(self.from, self.part, self.values);
            self.hash.pin();
        }
        self.part += 1;
    }
}

impl<V: Vector, const ENCRYPT: bool> Beside<V> for Option<Behind<V, ENCRYPT>> {
    /// Adds the next two registers to the sum, if they are not the last.
    #[inline(always)]
    unsafe fn step(&mut self) {
        // SAFETY: `from` is valid for the whole registers before the last.
        unsafe {
            if ENCRYPT
                && let Some(behind) = self
                && behind.len > 2 * V::BYTES
            {
                if behind.sparing {
                    let left = (behind.len - 1) / V::BYTES;
                    if left <= 2 {
                        return;
                    }
                    behind.hash.add_of_rest(behind.from, left);
                } else {
                    let data = map([0, V::BYTES], |at| {
                        V::load(behind.last.proof(), behind.from.add(at))
                    });
                    behind.hash.add_two(data, behind.len.div_ceil(BLOCK) + 1);
                }
                behind.hash.pin();
                behind.from = behind.from.add(2 * V::BYTES);
                behind.len -= 2 * V::BYTES;
            }
        }
    }
}
