//! A message in parts: what the segments of a scattered buffer need.

use core::fmt;

use zeroize::Zeroize;

use super::ghash::{Absorb, Ghash};
use super::text::{Counters, Text};
use super::{Direction, Key};
use crate::aes::rounds::{PerRounds, Rounds};
use crate::aes::{BLOCK, ecb};
use crate::arch::blocks::Vector;
use crate::machine::Machine;

/// One message in progress. Wiped on drop.
pub struct Stream<'k> {
    machine: Machine,
    key: &'k Key,
    j0: [u8; BLOCK],
    /// GHASH of all whole blocks.
    hashed: [u8; BLOCK],
    /// Counter block of the last key stream block that was used.
    counter: [u8; BLOCK],
    /// Key stream of the block that is not yet whole.
    stream: [u8; BLOCK],
    /// Its ciphertext so far, then zeros.
    partial: [u8; BLOCK],
    aad_len: usize,
    len: usize,
}

impl<'k> Stream<'k> {
    /// A message whose counters follow `j0`.
    pub fn new(machine: Machine, key: &'k Key, j0: [u8; BLOCK]) -> Self {
        let zero = [0; BLOCK];
        let (hashed, counter, stream, partial) = (zero, j0, zero, zero);
        Self {
            machine,
            key,
            j0,
            hashed,
            counter,
            stream,
            partial,
            aad_len: 0,
            len: 0,
        }
    }

    /// The next part of the additional data; each but the last is a multiple of 16 bytes.
    ///
    /// # Panics
    /// After a part of another length, or after text.
    pub fn aad(&mut self, part: &[u8]) {
        assert!(
            self.aad_len.is_multiple_of(BLOCK) && self.len == 0,
            "additional data has ended"
        );
        self.aad_len += part.len();
        // SAFETY: a slice of its length.
        unsafe { self.absorb(part.as_ptr(), part.len()) };
    }

    /// The next part of the text, of any length.
    ///
    /// # Safety
    /// `source` is valid for reads and `target` for writes of `len` bytes; they are identical or
    /// disjoint.
    pub unsafe fn update(
        &mut self,
        direction: Direction,
        source: *const u8,
        target: *mut u8,
        len: usize,
    ) {
        // SAFETY: head, whole blocks and tail add up to `len`.
        unsafe {
            let head = len.min((BLOCK - self.len % BLOCK) % BLOCK);
            self.bytes(direction, source, target, head);
            let (source, target, rest) = (source.add(head), target.add(head), len - head);
            let whole = rest / BLOCK * BLOCK;
            if whole > 0 {
                let size = self.key.cipher().size();
                let machine = self.machine;
                let blocks = Blocks {
                    stream: self,
                    source,
                    target,
                    len: whole,
                };
                match direction {
                    Direction::Encrypt => machine.blocks.run_sized(size, Turned::<true>(blocks)),
                    Direction::Decrypt => machine.blocks.run_sized(size, Turned::<false>(blocks)),
                }
                self.len += whole;
            }
            self.bytes(
                direction,
                source.add(whole),
                target.add(whole),
                rest - whole,
            );
        }
    }

    /// The whole tag.
    pub fn finish(mut self) -> [u8; BLOCK] {
        let partial = self.partial;
        let lengths = (8 * self.aad_len as u128) << 64 | 8 * self.len as u128;
        // SAFETY: two blocks.
        unsafe {
            self.absorb(partial.as_ptr(), self.len % BLOCK);
            self.absorb(lengths.to_be_bytes().as_ptr(), BLOCK);
        }
        let mut tag = self.encrypted(self.j0);
        tag.iter_mut()
            .zip(self.hashed)
            .for_each(|(byte, hashed)| *byte ^= hashed);
        tag
    }

    /// Processes less than a block, within one block.
    unsafe fn bytes(
        &mut self,
        direction: Direction,
        source: *const u8,
        target: *mut u8,
        len: usize,
    ) {
        for i in 0..len {
            let at = self.len % BLOCK;
            if at == 0 {
                self.count(1);
                self.stream = self.encrypted(self.counter);
            }
            // SAFETY: `i` is below the length of the caller's part.
            unsafe {
                let input = source.add(i).read();
                let output = input ^ self.stream[at];
                target.add(i).write(output);
                self.partial[at] = if direction == Direction::Encrypt {
                    output
                } else {
                    input
                };
            }
            self.len += 1;
            if at == BLOCK - 1 {
                let partial = core::mem::take(&mut self.partial);
                // SAFETY: one block.
                unsafe { self.absorb(partial.as_ptr(), BLOCK) };
            }
        }
    }

    unsafe fn absorb(&mut self, from: *const u8, len: usize) {
        let (powers, hashed) = (self.key.powers(), &mut self.hashed);
        // SAFETY: the caller's pointer and length; the powers are the key's.
        unsafe {
            self.machine.blocks.run(Absorb {
                powers,
                hashed,
                from,
                len,
            })
        }
    }

    fn encrypted(&self, mut block: [u8; BLOCK]) -> [u8; BLOCK] {
        let (source, target) = (block.as_ptr(), block.as_mut_ptr());
        let job = ecb::Job {
            source,
            target,
            len: BLOCK,
            key: self.key.cipher(),
        };
        // SAFETY: one block, in place.
        unsafe { ecb::encrypt_many(self.machine, &[job]) };
        block
    }

    /// Moves the counter, which wraps at 32 bits.
    fn count(&mut self, blocks: usize) {
        let counter = u128::from_be_bytes(self.counter);
        let low = counter.wrapping_add(blocks as u128) & 0xffff_ffff;
        self.counter = (counter >> 32 << 32 | low).to_be_bytes();
    }
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { aad_len, len, .. } = self;
        f.debug_struct("Stream")
            .field("aad_len", aad_len)
            .field("len", len)
            .finish_non_exhaustive()
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        self.hashed.zeroize();
        self.stream.zeroize();
    }
}

/// Whole blocks of a part.
struct Blocks<'a, 'k> {
    stream: &'a mut Stream<'k>,
    source: *const u8,
    target: *mut u8,
    len: usize,
}

struct Turned<'a, 'k, const ENCRYPT: bool>(Blocks<'a, 'k>);

impl<const ENCRYPT: bool> PerRounds for Turned<'_, '_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        let Blocks {
            stream,
            source,
            target,
            len,
        } = self.0;
        // SAFETY: `Stream::update`'s contract.
        unsafe {
            let mut hash = Ghash::<V>::resume(proof, stream.key.powers(), &stream.hashed);
            let mut text = Text::<V, ROUNDS, ENCRYPT> {
                rounds: Rounds::load(proof, stream.key.cipher().as_ptr()),
                counters: Counters::after(proof, &stream.counter),
                source,
                target,
                len,
            };
            text.bulk(&mut hash);
            if text.len > 0 {
                hash.open(text.len / BLOCK);
                text.last(&mut hash, 0);
                hash.close();
            }
            hash.value().store(stream.hashed.as_mut_ptr());
        }
        stream.count(len / BLOCK);
    }
}
