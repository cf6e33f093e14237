//! One message: counter mode and GHASH side by side.

use super::Job;
use super::ghash::{Ghash, POWERS};
use crate::aes::BLOCK;
use crate::aes::rounds::{Rounds, each_round};
use crate::aes::vector::{Kernel, Vector};

/// Whether a message is one sum: additional data of one block, less than a chunk of text, and
/// the lengths.
#[inline(always)]
pub(super) fn is_short<V: Vector>(job: &Job<'_>) -> bool {
    job.len < 8 * V::BYTES && job.aad_len <= BLOCK
}

/// Processes a short message and leaves its tag in the job.
///
/// # Safety
/// Runs under [`Vector::enter`]; the job [`is_short`] and keeps the contract of
/// [`encrypt_many`](super::encrypt_many).
#[inline(always)]
pub(super) unsafe fn short<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(job: &mut Job<'_>) {
    // SAFETY: the caller's promises; the sum has at most 1 + 32 + 1 blocks.
    unsafe {
        let mut hash = Ghash::<V>::start(job.key.powers());
        let mut text = Text::<V, ROUNDS, ENCRYPT>::of(job);
        let [mask] = text.rounds.encrypt([V::broadcast(job.j0.as_ptr())]);
        let lengths = V::Single::splat(lengths(job).swap_bytes());
        if job.aad_len == 0 {
            hash.add::<false>(V::from_single(lengths), 1);
        } else {
            let aad = if job.aad_len == BLOCK {
                V::Single::load(job.aad)
            } else {
                V::Single::load_bytes(job.aad, job.aad_len)
            };
            hash.add_ends(aad, job.len.div_ceil(BLOCK) + 2, lengths);
        }
        text.last(&mut hash, 1);
        hash.close();
        hash.value().xor(mask.first()).store(job.tag.as_mut_ptr());
    }
}

/// Processes any message and leaves its tag in the job.
///
/// # Safety
/// The job keeps the contract of [`encrypt_many`](super::encrypt_many), and its key has `ROUNDS`
/// rounds.
pub(super) struct Long<'a, 'k, const ROUNDS: usize, const ENCRYPT: bool>(pub &'a mut Job<'k>);

impl<const ROUNDS: usize, const ENCRYPT: bool> Kernel for Long<'_, '_, ROUNDS, ENCRYPT> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let job = self.0;
        // SAFETY: the creator's promises; after the chunks at most 32 blocks are left, and the
        // lengths.
        unsafe {
            let mut hash = Ghash::<V>::start(job.key.powers());
            let mut text = Text::<V, ROUNDS, ENCRYPT>::of(job);
            let [mask] = text.rounds.encrypt([V::broadcast(job.j0.as_ptr())]);
            hash.absorb(job.aad, job.aad_len);
            text.bulk(&mut hash);
            hash.open(text.len.div_ceil(BLOCK) + 1);
            text.last(&mut hash, 1);
            hash.add::<false>(V::from_single(Vector::splat(lengths(job).swap_bytes())), 1);
            hash.close();
            hash.value().xor(mask.first()).store(job.tag.as_mut_ptr());
        }
    }
}

/// The last block that is hashed, as a big-endian number.
#[inline(always)]
fn lengths(job: &Job<'_>) -> u128 {
    (8 * job.aad_len as u128) << 64 | 8 * job.len as u128
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
    const CHUNK: usize = 8 * V::BYTES;

    /// # Safety
    /// Runs under [`Vector::enter`]; the key has `ROUNDS` rounds.
    #[inline(always)]
    unsafe fn of(job: &Job<'_>) -> Self {
        // SAFETY: as above.
        unsafe {
            Self {
                rounds: Rounds::load(job.key.cipher().as_ptr()),
                counters: Counters::after(&job.j0),
                source: job.source,
                target: job.target,
                len: job.len,
            }
        }
    }

    /// Processes chunks of eight registers while there are any. No sum is open before or after.
    ///
    /// # Safety
    /// Runs under [`Vector::enter`]; source and target are valid for `len` bytes.
    #[inline(always)]
    pub unsafe fn bulk(&mut self, hash: &mut Ghash<V>) {
        if self.len < Self::CHUNK {
            return;
        }
        // SAFETY: whole chunks of the text. When encrypting, the chunk hashed is the one before.
        unsafe {
            if ENCRYPT {
                let mut data = [V::zero(); 8];
                for (i, data) in data.iter_mut().enumerate() {
                    *data = V::load(self.source.add(V::BYTES * i));
                }
                let stream = self.rounds.encrypt(self.counters.next::<8>());
                for (i, (data, stream)) in data.into_iter().zip(stream).enumerate() {
                    data.xor(stream).store(self.target.add(V::BYTES * i));
                }
                self.advance(Self::CHUNK);
            }
            while self.len >= Self::CHUNK {
                let hashed = if ENCRYPT {
                    self.target.sub(Self::CHUNK).cast_const()
                } else {
                    self.source
                };
                self.chunk(hash, hashed);
                self.advance(Self::CHUNK);
            }
            if ENCRYPT {
                hash.absorb(self.target.sub(Self::CHUNK), Self::CHUNK);
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
            match self.len.div_ceil(V::BYTES) {
                0 => {}
                1 => self.registers::<1>(hash, after),
                2 => self.registers::<2>(hash, after),
                3 | 4 => self.registers::<4>(hash, after),
                _ => self.registers::<8>(hash, after),
            }
        }
    }

    #[inline(always)]
    unsafe fn registers<const G: usize>(&mut self, hash: &mut Ghash<V>, after: usize) {
        let power = self.len.div_ceil(BLOCK) + after;
        // SAFETY: `within` cuts each access off at the end of the text.
        unsafe {
            let mut data = [V::zero(); G];
            for (i, data) in data.iter_mut().enumerate() {
                let within = self.len.saturating_sub(V::BYTES * i).min(V::BYTES);
                *data = if within == V::BYTES {
                    V::load(self.source.add(V::BYTES * i))
                } else {
                    V::load_bytes(self.source.wrapping_add(V::BYTES * i), within)
                };
            }
            if !ENCRYPT {
                hash.add_last(data, self.len, power);
            }
            let stream = self.rounds.encrypt(self.counters.next::<G>());
            for (i, (data, stream)) in data.iter_mut().zip(stream).enumerate() {
                *data = data.xor(stream);
                let within = self.len.saturating_sub(V::BYTES * i).min(V::BYTES);
                if within == V::BYTES {
                    data.store(self.target.add(V::BYTES * i));
                } else if within > 0 {
                    data.store_bytes(self.target.add(V::BYTES * i), within);
                    *data = data.keep_bytes(within);
                }
            }
            if ENCRYPT {
                hash.add_last(data, self.len, power);
            }
        }
    }

    /// A chunk of counter mode with the products of another between its rounds, the register
    /// that waits for the previous sum last.
    #[inline(always)]
    unsafe fn chunk(&mut self, hash: &mut Ghash<V>, hashed: *const u8) {
        // SAFETY: `hashed` is a chunk, and so is what is left of the text; powers are at most
        // the blocks of eight registers.
        unsafe {
            let mut stream = self.counters.next::<8>();
            self.rounds.begin(&mut stream);
            each_round!(ROUNDS, |r| {
                self.rounds.middle(r, &mut stream);
                V::pin(&mut stream);
                if let Some(i) = 8_usize.checked_sub(r) {
                    let data = V::load(hashed.add(V::BYTES * i));
                    let power = V::BLOCKS * (8 - i);
                    if i == 0 {
                        hash.add::<true>(data, power);
                    } else {
                        hash.add::<false>(data, power);
                    }
                }
            });
            hash.close();
            self.rounds.end(&mut stream);
            for (i, stream) in stream.into_iter().enumerate() {
                let data = V::load(self.source.add(V::BYTES * i));
                data.xor(stream).store(self.target.add(V::BYTES * i));
            }
        }
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
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn after(block: &[u8; BLOCK]) -> Self {
        // SAFETY: as above; a block is read.
        unsafe {
            let block = V::broadcast(block.as_ptr()).reverse();
            Self(block.add32(V::ramp()).add32(V::splat(1)))
        }
    }

    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    pub unsafe fn next<const G: usize>(&mut self) -> [V; G] {
        // SAFETY: as above.
        unsafe {
            let step = V::splat(V::BLOCKS as u128);
            let mut blocks = [self.0; G];
            for block in &mut blocks {
                *block = self.0.reverse();
                self.0 = self.0.add32(step);
            }
            blocks
        }
    }
}

const _: () = assert!(POWERS >= 34); // additional data, less than a chunk, lengths
