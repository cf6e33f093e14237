//! A text on its way: counter mode and GHASH side by side.

use super::ghash::{Ghash, POWERS};
use super::{Job, j0_of};
use crate::aes::BLOCK;
use crate::aes::rounds::{Rounds, each_round};
use crate::arch::blocks::Vector;

/// What runs between the rounds of a text, in four steps.
pub(super) trait Beside {
    /// # Safety
    /// What the implementation was made with is valid.
    unsafe fn step(&mut self);
}

/// No steps.
pub(super) struct Nothing;

impl Beside for Nothing {
    #[inline(always)]
    unsafe fn step(&mut self) {}
}

/// What is left of a text.
pub(super) struct Text<V, const ROUNDS: usize, const ENCRYPT: bool> {
    pub rounds: Rounds<V, ROUNDS>,
    pub counters: Counters<V>,
    pub source: *const u8,
    pub target: *mut u8,
    pub len: usize,
}

impl<V: Vector, const ROUNDS: usize, const ENCRYPT: bool> Text<V, ROUNDS, ENCRYPT> {
    /// Eight registers.
    pub const CHUNK: usize = 8 * V::BYTES;

    /// # Safety
    /// The key has `ROUNDS` rounds.
    #[inline(always)]
    pub unsafe fn of(proof: V::Proof, job: &Job<'_>) -> Self {
        // SAFETY: as above.
        unsafe {
            Self {
                rounds: Rounds::load(proof, job.key.cipher().as_ptr()),
                counters: Counters::after(V::splat(proof, j0_of(job))),
                source: job.source,
                target: job.target,
                len: job.len,
            }
        }
    }

    /// Processes chunks of eight registers while there are any. No sum is open before or after.
    ///
    /// # Safety
    /// Source and target are valid for `len` bytes.
    #[inline(always)]
    pub unsafe fn bulk(&mut self, hash: &mut Ghash<V>) {
        if self.len < Self::CHUNK {
            return;
        }
        // SAFETY: whole chunks of the text.
        unsafe {
            if ENCRYPT {
                self.chunk_alone();
            }
            self.chunks(hash, 0);
            if ENCRYPT {
                hash.absorb_chunk(self.target.sub(Self::CHUNK));
            }
        }
    }

    /// Encrypts or decrypts a chunk, and hashes none.
    ///
    /// # Safety
    /// As for [`Text::bulk`]; a chunk is left.
    #[inline(always)]
    pub unsafe fn chunk_alone(&mut self) {
        // SAFETY: a whole chunk of the text.
        unsafe {
            let stream = self.rounds.encrypt(self.counters.next::<8>());
            for (i, stream) in stream.into_iter().enumerate() {
                let data = V::load(self.rounds.proof(), self.source.add(V::BYTES * i));
                data.xor(stream).store(self.target.add(V::BYTES * i));
            }
        }
        self.advance(Self::CHUNK);
    }

    /// Encrypts or decrypts whole chunks while there are any with at least `more` bytes behind them.
    /// Beside each a chunk of ciphertext is hashed: its own when decrypting, the one before when
    /// encrypting. What the hash's sum holds already counts to the first chunk's.
    ///
    /// # Safety
    /// As for [`Text::bulk`]; when encrypting, a chunk lies before what is left.
    #[inline(always)]
    pub unsafe fn chunks(&mut self, hash: &mut Ghash<V>, more: usize) {
        // SAFETY: whole chunks of the text.
        unsafe {
            while self.len >= Self::CHUNK + more {
                let hashed = if ENCRYPT {
                    self.target.sub(Self::CHUNK).cast_const()
                } else {
                    self.source
                };
                self.chunk(hash, hashed);
                self.advance(Self::CHUNK);
            }
        }
    }

    /// Processes what is left, less than a chunk, as part of the open sum. `after` blocks follow
    /// in this sum.
    ///
    /// # Safety
    /// As for [`Text::bulk`].
    #[inline(always)]
    pub unsafe fn last(&mut self, hash: &mut Ghash<V>, after: usize) {
        // SAFETY: the caller's promises.
        unsafe {
            let last = self.last_alone(hash, after, &mut Nothing);
            if ENCRYPT && self.len > 0 {
                hash.add_text(self.target, self.len, last, after);
            }
        }
    }

    /// Encrypts or decrypts what is left, less than a chunk, with steps of `beside` between the
    /// rounds. When decrypting it is part of the open
    /// sum, in which `after` blocks follow. When encrypting it is not hashed; the result is its
    /// last register, zero behind the text.
    ///
    /// # Safety
    /// As for [`Text::bulk`].
    #[inline(always)]
    pub unsafe fn last_alone(
        &mut self,
        hash: &mut Ghash<V>,
        after: usize,
        beside: &mut impl Beside,
    ) -> V {
        // SAFETY: the caller's promises.
        unsafe {
            match self.len.div_ceil(V::BYTES) {
                0 => V::zero(self.rounds.proof()),
                1 => self.registers::<1>(hash, after, beside),
                2 => self.registers::<2>(hash, after, beside),
                3 => self.registers::<3>(hash, after, beside),
                4 => self.registers::<4>(hash, after, beside),
                5 => self.registers::<5>(hash, after, beside),
                6 => self.registers::<6>(hash, after, beside),
                7 => self.registers::<7>(hash, after, beside),
                _ => self.registers::<8>(hash, after, beside),
            }
        }
    }

    /// What is left, which ends in the last of `G` registers.
    #[inline(always)]
    unsafe fn registers<const G: usize>(
        &mut self,
        hash: &mut Ghash<V>,
        after: usize,
        beside: &mut impl Beside,
    ) -> V {
        // SAFETY: the last register's accesses are cut off at the end of the text.
        unsafe {
            let (end, within) = (V::BYTES * (G - 1), self.len - V::BYTES * (G - 1));
            let mut data = [V::zero(self.rounds.proof()); G];
            for (i, data) in data[..G - 1].iter_mut().enumerate() {
                *data = V::load(self.rounds.proof(), self.source.add(V::BYTES * i));
            }
            data[G - 1] = if within == V::BYTES {
                V::load(self.rounds.proof(), self.source.add(end))
            } else {
                V::load_bytes(self.rounds.proof(), self.source.add(end), within)
            };
            if !ENCRYPT {
                hash.add_last(data, self.len.div_ceil(BLOCK) + after);
            }
            let mut stream = self.counters.next::<G>();
            self.rounds.begin(&mut stream);
            each_round!(self.rounds.count(), |r| {
                self.rounds.middle(r, &mut stream);
                if r.is_multiple_of(2) && r <= 8 {
                    V::pin(&mut stream);
                    beside.step();
                }
            });
            self.rounds.end(&mut stream);
            for (data, stream) in data.iter_mut().zip(stream) {
                *data = data.xor(stream);
            }
            // Else the rounds of each register would move to where it is stored.
            V::pin(&mut data);
            for (i, data) in data[..G - 1].iter().enumerate() {
                data.store(self.target.add(V::BYTES * i));
            }
            let last = data[G - 1];
            if within == V::BYTES {
                last.store(self.target.add(end));
                last
            } else {
                last.store_bytes(self.target.add(end), within);
                last.keep_bytes(within)
            }
        }
    }

    /// A chunk of counter mode with the products of another between its rounds, two registers at a
    /// time.
    #[inline(always)]
    unsafe fn chunk(&mut self, hash: &mut Ghash<V>, hashed: *const u8) {
        // SAFETY: `hashed` is a chunk, and so is what is left of the text; powers are at most
        // the blocks of eight registers.
        unsafe {
            let mut stream = self.counters.next::<8>();
            self.rounds.begin(&mut stream);
            each_round!(self.rounds.count(), |r| {
                self.rounds.middle(r, &mut stream);
                V::pin(&mut stream);
                if r.is_multiple_of(2) && r <= 8 {
                    hash.add_of_chunk(hashed, 8 - r);
                    hash.pin();
                }
            });
            hash.close();
            self.rounds.end(&mut stream);
            for (i, stream) in stream.into_iter().enumerate() {
                let data = V::load(self.rounds.proof(), self.source.add(V::BYTES * i));
                data.xor(stream).store(self.target.add(V::BYTES * i));
            }
        }
    }

    /// Takes up the last chunk again.
    #[inline(always)]
    pub fn back(&mut self) {
        self.source = self.source.wrapping_sub(Self::CHUNK);
        self.target = self.target.wrapping_sub(Self::CHUNK);
        self.len += Self::CHUNK;
    }

    #[inline(always)]
    fn advance(&mut self, bytes: usize) {
        self.source = self.source.wrapping_add(bytes);
        self.target = self.target.wrapping_add(bytes);
        self.len -= bytes;
    }
}

/// Consecutive counters, byte-reversed; the low 32 bits count.
#[derive(Clone, Copy)]
pub(super) struct Counters<V>(V);

impl<V: Vector> Counters<V> {
    #[inline(always)]
    /// Those after the block that `block` holds throughout.
    pub fn after(block: V) -> Self {
        let proof = block.proof();
        let first = block.reverse().add32(V::ramp(proof));
        Self(first.add32(V::splat(proof, 1)))
    }

    /// Those `blocks` later.
    #[inline(always)]
    pub fn later(self, blocks: usize) -> Self {
        let blocks = blocks as u128 % (1 << 32);
        Self(self.0.add32(V::splat(self.0.proof(), blocks)))
    }

    #[inline(always)]
    pub fn next<const G: usize>(&mut self) -> [V; G] {
        let step = V::splat(self.0.proof(), V::BLOCKS as u128);
        let mut blocks = [self.0; G];
        for block in &mut blocks {
            *block = self.0.reverse();
            self.0 = self.0.add32(step);
        }
        blocks
    }
}

const _: () = assert!(POWERS >= 34); // additional data, less than a chunk, lengths
