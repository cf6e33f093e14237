//! A text on its way: counter mode and GHASH side by side.

use super::Job;
use super::ghash::{Ghash, Values, spares_rest};
use super::table::POWERS;
use crate::aes::BLOCK;
use crate::aes::rounds::{Rounds, each_round};
use crate::ahead;
use crate::arch::blocks::Vector;
use crate::arrays::from_fn;

/// What runs between the rounds of a text.
pub(super) trait Beside<V> {
    /// One of four steps.
    ///
    /// # Safety
    /// What the implementation was made with is valid.
    unsafe fn step(&mut self);

    /// After a round but the last, whose key this is.
    #[inline(always)]
    fn middle(&mut self, _: V) {}

    /// After the last round, whose key this is.
    #[inline(always)]
    fn end(&mut self, _: V) {}
}

/// No steps.
pub(super) struct Nothing;

impl<V> Beside<V> for Nothing {
    #[inline(always)]
    unsafe fn step(&mut self) {}
}

/// The mask of a tag, which takes part in the rounds, and what else runs between them. By itself it would
/// be the longest wait of a short text.
pub(super) struct WithMask<'a, V: Vector, B> {
    /// Its block, to which the first key was added.
    pub mask: &'a mut V::Single,
    pub beside: &'a mut B,
}

impl<V: Vector, B: Beside<V>> Beside<V> for WithMask<'_, V, B> {
    #[inline(always)]
    unsafe fn step(&mut self) {
        let mut mask = [*self.mask];
        V::Single::pin(&mut mask);
        [*self.mask] = mask;
        // SAFETY: the caller's promise.
        unsafe { self.beside.step() }
    }

    #[inline(always)]
    fn middle(&mut self, key: V) {
        *self.mask = self.mask.aes_enc(key.first());
        self.beside.middle(key);
    }

    #[inline(always)]
    fn end(&mut self, key: V) {
        *self.mask = self.mask.aes_enc_last(key.first());
        self.beside.end(key);
    }
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
    /// The key has `ROUNDS` rounds, and the job is valid.
    #[inline(always)]
    pub unsafe fn of(proof: V::Proof, job: &Job<'_>) -> Self {
        // SAFETY: as above.
        unsafe {
            Self {
                rounds: Rounds::load(proof, job.key.cipher().as_ptr()),
                counters: Counters::of_chunks(V::splat(proof, job.j0()), job.counts_from_one()),
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
                self.chunk_alone(&mut Nothing);
            }
            let values = hash.open_chunks();
            let mut values = self.chunks(hash, values, Self::CHUNK);
            if ENCRYPT {
                values = hash.absorb_chunk(self.target.sub(Self::CHUNK), values);
            }
            hash.close_chunks(values);
        }
    }

    /// Encrypts or decrypts a chunk, and hashes none of it; steps of `beside` run between the rounds.
    ///
    /// # Safety
    /// As for [`Text::bulk`]; a chunk is left.
    #[inline(always)]
    pub unsafe fn chunk_alone(&mut self, beside: &mut impl Beside<V>) {
        // SAFETY: a whole chunk of the text.
        unsafe {
            let mut stream = self.counters.of_chunk::<8>(self.rounds.at(0));
            each_round!(self.rounds.count(), |r| {
                self.rounds.middle(r, &mut stream);
                beside.middle(self.rounds.at(r));
                V::pin(&mut stream);
                if r.is_multiple_of(2) && r <= 8 {
                    beside.step();
                }
            });
            beside.end(self.rounds.last());
            self.turn_chunk(stream);
        }
        self.advance(Self::CHUNK);
    }

    /// Encrypts or decrypts whole chunks while there are `least` bytes, a chunk or more. Beside each a chunk
    /// of ciphertext is hashed behind `values`: its own when decrypting, the one before when encrypting.
    /// What the hash's sum holds already counts to the first chunk's.
    ///
    /// # Safety
    /// As for [`Text::bulk`]; when encrypting, a chunk lies before what is left.
    #[inline(always)]
    pub unsafe fn chunks(
        &mut self,
        hash: &mut Ghash<V>,
        mut values: Values<V>,
        least: usize,
    ) -> Values<V> {
        debug_assert!(least >= Self::CHUNK);
        // SAFETY: whole chunks of the text.
        unsafe {
            while self.len >= least {
                ahead::ask(self.source, self.len, 0, Self::CHUNK);
                let hashed = if ENCRYPT {
                    self.target.sub(Self::CHUNK).cast_const()
                } else {
                    self.source
                };
                values = self.chunk(hash, hashed, values);
                self.advance(Self::CHUNK);
            }
        }
        values
    }

    /// Processes what is left, at most a chunk, as part of the open sum. `after` blocks follow
    /// in this sum.
    ///
    /// # Safety
    /// As for [`Text::bulk`].
    #[inline(always)]
    pub unsafe fn last(&mut self, hash: &mut Ghash<V>, after: usize) {
        // SAFETY: the caller's promises.
        unsafe {
            let last = self.last_alone(hash, None, after, &mut Nothing);
            if ENCRYPT && self.len > 0 {
                hash.add_text(self.target, self.len, last, after);
            }
        }
    }

    /// Encrypts or decrypts what is left, at most a chunk, with steps of `beside` between the
    /// rounds. When decrypting it is part of the open sum, in which `after` blocks follow, and so are
    /// `values`, if there are any. When encrypting it is not hashed, nor are they; the result is its last
    /// register, zero behind the text.
    ///
    /// # Safety
    /// As for [`Text::bulk`].
    #[inline(always)]
    pub unsafe fn last_alone(
        &mut self,
        hash: &mut Ghash<V>,
        values: Option<Values<V>>,
        after: usize,
        beside: &mut impl Beside<V>,
    ) -> V {
        // SAFETY: the caller's promises.
        unsafe {
            match self.len.div_ceil(V::BYTES) {
                0 => {
                    each_round!(self.rounds.count(), |r| {
                        beside.middle(self.rounds.at(r));
                    });
                    beside.end(self.rounds.last());
                    if !ENCRYPT && let Some(values) = values {
                        hash.take_up_values(values, after);
                    }
                    V::zero(self.rounds.proof())
                }
                1 => self.registers::<1>(hash, values, after, beside),
                2 => self.registers::<2>(hash, values, after, beside),
                3 => self.registers::<3>(hash, values, after, beside),
                4 => self.registers::<4>(hash, values, after, beside),
                5 => self.registers::<5>(hash, values, after, beside),
                6 => self.registers::<6>(hash, values, after, beside),
                7 => self.registers::<7>(hash, values, after, beside),
                _ => self.registers::<8>(hash, values, after, beside),
            }
        }
    }

    /// What is left, which ends in the last of `G` registers.
    #[inline(always)]
    unsafe fn registers<const G: usize>(
        &mut self,
        hash: &mut Ghash<V>,
        values: Option<Values<V>>,
        after: usize,
        beside: &mut impl Beside<V>,
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
            let power = self.len.div_ceil(BLOCK) + after;
            let sparing = const { spares_rest::<V>(V::BYTES * G) } && values.is_some();
            if !ENCRYPT && let Some(values) = values {
                if sparing {
                    hash.add_values(values, G - 1);
                } else {
                    hash.take_up_values(values, power);
                }
            }
            let mut stream = self.counters.of_chunk::<G>(self.rounds.at(0));
            each_round!(self.rounds.count(), |r| {
                self.rounds.middle(r, &mut stream);
                beside.middle(self.rounds.at(r));
                // Else the last rounds of each register may come behind all of another's, and wait.
                V::pin(&mut stream);
                if r.is_multiple_of(2) && r <= 8 {
                    beside.step();
                    if !ENCRYPT {
                        hash.add_pair(&data, r.saturating_sub(2), power, sparing);
                    }
                }
            });
            if !ENCRYPT && sparing {
                hash.close_sparing(&data, power);
            }
            beside.end(self.rounds.last());
            for (data, stream) in data.iter_mut().zip(stream) {
                *data = stream.aes_enc_last(data.xor(self.rounds.last()));
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

    /// A chunk of counter mode with the products of another between its rounds, two at a time.
    #[inline(always)]
    unsafe fn chunk(
        &mut self,
        hash: &mut Ghash<V>,
        hashed: *const u8,
        values: Values<V>,
    ) -> Values<V> {
        // SAFETY: `hashed` is a chunk, and so is what is left of the text.
        unsafe {
            let mut stream = self.counters.of_chunk::<8>(self.rounds.at(0));
            each_round!(self.rounds.count(), |r| {
                self.rounds.middle(r, &mut stream);
                V::pin(&mut stream);
                if r.is_multiple_of(2) && r <= 8 {
                    hash.add_of_chunk(hashed, r.saturating_sub(2) / 2, values);
                    hash.pin();
                }
            });
            let values = hash.close_chunk(hashed);
            self.turn_chunk(stream);
            values
        }
    }

    /// The last round of a chunk, and what it does to the text, which is added to the key: nothing waits for that.
    ///
    /// # Safety
    /// As for [`Text::bulk`]; a chunk is left.
    #[inline(always)]
    unsafe fn turn_chunk(&self, stream: [V; 8]) {
        let (proof, last) = (self.rounds.proof(), self.rounds.last());
        for (i, stream) in stream.into_iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe {
                let data = V::load(proof, self.source.add(V::BYTES * i));
                let turned = stream.aes_enc_last(data.xor(last));
                turned.store(self.target.add(V::BYTES * i));
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

/// The counter of a text's first block where the IV has twelve bytes.
const START: u32 = 2;
const FIRST: usize = START as usize;

/// Consecutive counters. The low 32 bits count.
#[derive(Clone, Copy)]
pub(super) struct Counters<V> {
    /// The next one less [`START`], byte-reversed, in every block.
    next: V,
    /// Whether that is a multiple of a chunk's blocks, before a chunk.
    aligned: bool,
}

impl<V: Vector> Counters<V> {
    /// Blocks of a chunk.
    const CHUNK: usize = 8 * V::BLOCKS;

    /// Those after the block that `j0` holds throughout.
    #[inline(always)]
    pub fn after(j0: V) -> Self {
        let back = 1_u32.wrapping_sub(START);
        Self {
            next: j0.reverse().add32(V::splat(j0.proof(), back.into())),
            aligned: false,
        }
    }

    /// Those after the block that `j0` holds throughout, for a text of chunks; aligned if it counts as one.
    #[inline(always)]
    pub fn of_chunks(j0: V, counts_from_one: bool) -> Self {
        Self {
            aligned: counts_from_one,
            ..Self::after(j0)
        }
    }

    /// The first `G` registers after a block that ends in one, which `j0` holds throughout, or anything
    /// else that is added to it: no sum carries, and a constant is the difference.
    #[inline(always)]
    pub fn of_first<const G: usize>(j0: V) -> [V; G] {
        from_fn(|g| {
            let at = V::BLOCKS * g;
            // SAFETY: the table has as many registers.
            j0.xor(unsafe { V::load(j0.proof(), Self::AFTER_ONE[at..].as_ptr().cast()) })
        })
    }

    /// In what the counters from 2 on differ from 1.
    const AFTER_ONE: &[[u8; BLOCK]; POWERS] = &{
        let mut blocks = [[0; BLOCK]; POWERS];
        let mut n = 0;
        while n < POWERS {
            blocks[n][BLOCK - 1] = (n + FIRST).to_le_bytes()[0] ^ 1;
            n += 1;
        }
        blocks
    };

    /// Those `blocks` later.
    #[inline(always)]
    pub fn later(self, blocks: usize) -> Self {
        Self {
            next: self.and(blocks),
            aligned: self.aligned && blocks.is_multiple_of(Self::CHUNK),
        }
    }

    /// The next `G` registers.
    #[inline(always)]
    pub fn next<const G: usize>(&mut self) -> [V; G] {
        let proof = self.next.proof();
        let step = V::splat(proof, V::BLOCKS as u128);
        let mut next = self.and(FIRST).add32(V::ramp(proof));
        let mut blocks = [next; G];
        for block in &mut blocks {
            *block = next.reverse();
            next = next.add32(step);
        }
        self.next = self.and(V::BLOCKS * G);
        blocks
    }

    /// The next `G` registers, a chunk or less of it, the key of the first round added. Aligned, they
    /// differ from one block by constant bits, which spares a sum and a shuffle of each register; but the
    /// last few of a chunk count on from the next one's block.
    #[inline(always)]
    pub fn of_chunk<const G: usize>(&mut self, key: V) -> [V; G] {
        const { assert!(G <= 8) };
        if !self.aligned {
            return self.next::<G>().map(|block| block.xor(key));
        }
        let proof = self.next.proof();
        let this = self.next.reverse().xor(key);
        // SAFETY: the table has a register.
        let step = unsafe { V::load(proof, Self::CARRY.as_ptr().cast()) };
        let last = self.next.add32(step).reverse().xor(key);
        self.next = self.and(V::BLOCKS * G);
        self.aligned = G == 8;
        from_fn(|i| {
            let block = if V::BLOCKS * (i + 1) > Self::CHUNK - FIRST {
                last
            } else {
                this
            };
            // SAFETY: the table has eight registers.
            block.xor(unsafe { V::load(proof, Self::BITS[V::BLOCKS * i..].as_ptr().cast()) })
        })
    }

    /// `blocks` more than the next.
    #[inline(always)]
    fn and(&self, blocks: usize) -> V {
        let blocks = blocks as u128 % (1 << 32);
        self.next.add32(V::splat(self.next.proof(), blocks))
    }

    /// In what a chunk's counters differ from the first one's block.
    const BITS: &[[u8; BLOCK]; 32] = &{
        let mut blocks = [[0; BLOCK]; 32];
        let mut n = 0;
        while n < Self::CHUNK {
            blocks[n][BLOCK - 1] = ((n + FIRST) % Self::CHUNK).to_le_bytes()[0];
            n += 1;
        }
        blocks
    };

    /// What its last registers add before: a chunk, in the blocks that are the next chunk's.
    const CARRY: &[[u8; BLOCK]; 4] = &{
        let mut blocks = [[0; BLOCK]; 4];
        let mut n = V::BLOCKS.saturating_sub(FIRST);
        while n < V::BLOCKS {
            blocks[n][0] = Self::CHUNK.to_le_bytes()[0];
            n += 1;
        }
        blocks
    };
}

const _: () = assert!(POWERS >= 37); // what the chunks before have become, a chunk, lengths
