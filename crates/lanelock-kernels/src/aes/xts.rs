//! XTS (IEEE 1619), with ciphertext stealing.

use core::array;

use super::rounds::{PerRounds, Rounds, each_round};
use super::sweep::{Groups, Transform, each_group, load, store, sweep};
use super::{BLOCK, DecryptKey, EncryptKey, KeySize};
use crate::arch::blocks::Vector;
use crate::arrays::{each, from_fn};
use crate::machine::Machine;

/// One data unit, or the next part of one.
#[derive(Debug)]
pub struct Job<'k, Key> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes, at least 16; a multiple of 16 unless the data unit ends here.
    pub len: usize,
    /// The first key's schedule, for the data.
    pub key: &'k Key,
    /// The second key's schedule, for the tweak.
    pub tweak_key: &'k EncryptKey,
    /// Before: the data unit's number, little-endian, or what the previous part left here.
    /// After: the tweak of the next block.
    pub tweak: [u8; BLOCK],
    /// Before: whether `tweak` comes from a previous part. After: true.
    pub begun: bool,
}

/// Encrypts every job.
///
/// # Panics
/// If a key differs in size from the first job's, or a length is below 16.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the job's `len` bytes.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other jobs.
pub unsafe fn encrypt_many(machine: Machine, jobs: &mut [Job<'_, EncryptKey>]) {
    let Some(size) = jobs.first().map(|job| job.key.size()) else {
        return;
    };
    assert!(
        jobs.iter().all(|job| fits(job, job.key.size(), size)),
        "{MISFIT}"
    );
    // SAFETY: the caller's contract; the sizes were compared.
    unsafe { machine.blocks.run_sized(size, EncryptMany(jobs)) }
}

/// Decrypts every job.
///
/// # Panics
/// As [`encrypt_many`].
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(machine: Machine, jobs: &mut [Job<'_, DecryptKey>]) {
    let Some(size) = jobs.first().map(|job| job.key.size()) else {
        return;
    };
    assert!(
        jobs.iter().all(|job| fits(job, job.key.size(), size)),
        "{MISFIT}"
    );
    // SAFETY: the caller's contract; the sizes were compared.
    unsafe { machine.blocks.run_sized(size, DecryptMany(jobs)) }
}

fn fits<Key>(job: &Job<'_, Key>, size: KeySize, expected: KeySize) -> bool {
    job.len >= BLOCK && size == expected && job.tweak_key.size() == expected
}

const MISFIT: &str = "at least one block and keys of one size are required";

struct EncryptMany<'a, 'k>(&'a mut [Job<'k, EncryptKey>]);
struct DecryptMany<'a, 'k>(&'a mut [Job<'k, DecryptKey>]);

impl PerRounds for EncryptMany<'_, '_> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        for job in self.0 {
            // SAFETY: `encrypt_many`'s contract. The last whole block is turned first, then
            // gives its head to the tail and is turned again with the tail's input.
            unsafe {
                let rounds = Rounds::<V, ROUNDS>::load(proof, job.key.as_ptr());
                let rest = job.len % BLOCK;
                let whole = job.len - rest;
                begin::<V, _, ROUNDS>(proof, job);
                units::<V, _, ROUNDS, true>(&rounds, job, whole);
                if rest > 0 {
                    let (source, target) = (job.source.add(whole), job.target.add(whole));
                    let last = target.sub(BLOCK);
                    let mut stolen = Partial::load(source, rest);
                    let block = last.cast::<[u8; BLOCK]>().read();
                    stolen.fill_up(&block, rest);
                    target.copy_from_nonoverlapping(block.as_ptr(), rest);
                    one::<V, ROUNDS, true>(&rounds, &mut stolen.0, job.tweak);
                    last.cast::<[u8; BLOCK]>().write(stolen.0);
                }
            }
        }
    }
}

impl PerRounds for DecryptMany<'_, '_> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        for job in self.0 {
            // SAFETY: `decrypt_many`'s contract. With a tail, the last whole block is turned by
            // the last tweak, and what it is put together to by the one before.
            unsafe {
                let rounds = Rounds::<V, ROUNDS>::load(proof, job.key.as_ptr());
                let rest = job.len % BLOCK;
                let whole = job.len - rest - if rest > 0 { BLOCK } else { 0 };
                begin::<V, _, ROUNDS>(proof, job);
                units::<V, _, ROUNDS, false>(&rounds, job, whole);
                if rest > 0 {
                    let (source, target) = (job.source.add(whole), job.target.add(whole));
                    let mut block = source.cast::<[u8; BLOCK]>().read();
                    let mut stolen = Partial::load(source.add(BLOCK), rest);
                    let last = double(u128::from_le_bytes(job.tweak)).to_le_bytes();
                    one::<V, ROUNDS, false>(&rounds, &mut block, last);
                    stolen.fill_up(&block, rest);
                    target
                        .add(BLOCK)
                        .copy_from_nonoverlapping(block.as_ptr(), rest);
                    one::<V, ROUNDS, false>(&rounds, &mut stolen.0, job.tweak);
                    target.cast::<[u8; BLOCK]>().write(stolen.0);
                }
            }
        }
    }
}

/// The bytes after the last whole block.
struct Partial([u8; BLOCK]);

impl Partial {
    /// # Safety
    /// `from` is valid for reads of `len` bytes, below 16.
    #[inline(always)]
    unsafe fn load(from: *const u8, len: usize) -> Self {
        let mut block = [0; BLOCK];
        // SAFETY: as above.
        unsafe { from.copy_to_nonoverlapping(block.as_mut_ptr(), len) };
        Self(block)
    }

    #[inline(always)]
    fn fill_up(&mut self, with: &[u8; BLOCK], from: usize) {
        self.0[from..].copy_from_slice(&with[from..]);
    }
}

/// Encrypts the data unit's number, unless a previous part did.
#[inline(always)]
unsafe fn begin<V: Vector, Key, const ROUNDS: usize>(proof: V::Proof, job: &mut Job<'_, Key>) {
    if !job.begun {
        // SAFETY: the tweak's schedule; a block is loaded and stored.
        unsafe {
            let rounds = Rounds::<V, ROUNDS>::load(proof, job.tweak_key.as_ptr());
            let [tweak] = rounds.encrypt([V::broadcast(proof, job.tweak.as_ptr())]);
            tweak.first().store(job.tweak.as_mut_ptr());
        }
        job.begun = true;
    }
}

/// Turns `len` bytes, whole blocks; the job's tweak moves on.
///
/// # Safety
/// Source and target are valid for `len` bytes.
#[inline(always)]
unsafe fn units<V: Vector, Key, const ROUNDS: usize, const ENCRYPT: bool>(
    rounds: &Rounds<V, ROUNDS>,
    job: &mut Job<'_, Key>,
    len: usize,
) {
    let proof = rounds.proof();
    // SAFETY: the caller's promises.
    unsafe {
        let tweak = V::broadcast(proof, job.tweak.as_ptr());
        let mut mask = Mask::<V, ROUNDS, ENCRYPT>::start(rounds, tweak);
        let full = len - len % V::BYTES;
        sweep(proof, &mut mask, job.source, job.target, full);
        mask.next[0].first().store(job.tweak.as_mut_ptr());
        if full < len {
            let (source, target) = (job.source.add(full), job.target.add(full));
            sweep(proof, &mut mask, source, target, len - full);
            let mut tweak = u128::from_le_bytes(job.tweak);
            for _ in 0..(len - full) / BLOCK {
                tweak = double(tweak);
            }
            job.tweak = tweak.to_le_bytes();
        }
    }
}

#[inline(always)]
fn one<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    rounds: &Rounds<V, ROUNDS>,
    block: &mut [u8; BLOCK],
    tweak: [u8; BLOCK],
) {
    let proof = rounds.proof();
    // SAFETY: blocks are loaded, and one is stored.
    unsafe {
        let tweak = V::broadcast(proof, tweak.as_ptr());
        let state = [V::broadcast(proof, block.as_ptr()).xor(tweak)];
        let [turned] = if ENCRYPT {
            rounds.encrypt(state)
        } else {
            rounds.decrypt(state)
        };
        turned.xor(tweak).first().store(block.as_mut_ptr());
    }
}

/// Multiplies a tweak by x, by masks: it is secret.
#[inline(always)]
fn double(tweak: u128) -> u128 {
    tweak << 1 ^ (tweak >> 127).wrapping_neg() & 0x87
}

struct Mask<V, const ROUNDS: usize, const ENCRYPT: bool> {
    rounds: Rounds<V, ROUNDS>,
    /// The tweaks of the next register, and, if it is of four blocks, of the one after that.
    next: [V; 2],
}

impl<V: Vector, const ROUNDS: usize, const ENCRYPT: bool> Mask<V, ROUNDS, ENCRYPT> {
    /// `tweak` is the first block's, in all blocks.
    #[inline(always)]
    fn start(rounds: &Rounds<V, ROUNDS>, tweak: V) -> Self {
        let proof = rounds.proof();
        // SAFETY: four blocks are no less than a register.
        let powers = unsafe { V::load(proof, POWERS.0.as_ptr().cast()) };
        let high = tweak.clmul::<0x01>(powers);
        let reduced = high.clmul::<0x01>(V::splat(proof, 0x87));
        let low = tweak.clmul::<0x00>(powers);
        let first = low.xor3(high.low_to_high(), reduced);
        Self {
            rounds: *rounds,
            next: [first, first.times_x(V::BLOCKS)],
        }
    }

    /// A group of registers that [carry](Vector::CARRIES) from memory to memory, with these tweaks; returns the next
    /// group's, which are made between the rounds.
    ///
    /// # Safety
    /// `source` is valid for reads and `target` for writes of so many registers.
    #[inline(always)]
    unsafe fn group<const G: usize>(
        &self,
        tweaks: [V; G],
        source: *const u8,
        target: *mut u8,
    ) -> [V; G] {
        let rounds = &self.rounds;
        // SAFETY: the caller's promise.
        let mut data = unsafe { load::<V, G>(rounds.proof(), source) };
        let (first, last) = (rounds.at(0), rounds.last());
        each!(G, |I| {
            data[I] = data[I].xor(tweaks[I]).xor(first);
        });
        let mut next = tweaks;
        let mut step = [tweaks[G - 1], tweaks[G - 1].carries()];
        each_round!(rounds.count(), |r| {
            let key = rounds.at(r);
            if r > G {
                round::<V, ENCRYPT, 0, 4, G>(&mut data, key);
            } else {
                // With more rounds in a row, the tweak's instructions would wait for those, and they for it.
                let [tweak, carries] = step;
                round::<V, ENCRYPT, 0, 1, G>(&mut data, key);
                let mut entering = [carries.entering()];
                V::pin(&mut entering);
                round::<V, ENCRYPT, 1, 2, G>(&mut data, key);
                step = [tweak.add64(tweak), carries.add32(carries)];
                V::pin(&mut step);
                round::<V, ENCRYPT, 2, 3, G>(&mut data, key);
                step[0] = step[0].xor(entering[0]);
                next[r - 1] = step[0];
                round::<V, ENCRYPT, 3, 4, G>(&mut data, key);
            }
        });
        each!(G, |I| {
            let added = last.xor(tweaks[I]);
            data[I] = if ENCRYPT {
                data[I].aes_enc_last(added)
            } else {
                data[I].aes_dec_last(added)
            };
        });
        // SAFETY: the caller's promise.
        unsafe { store(data, target) };
        next
    }

    /// The tweaks of the next register, for registers of four blocks: by those of two registers
    /// before, times x to the power of 8. To move bytes does not take turns with the rounds.
    #[inline(always)]
    fn step(&mut self) -> V {
        let [tweaks, after] = self.next;
        let reduced = tweaks
            .last_byte()
            .clmul::<0x00>(V::splat(tweaks.proof(), 0x87));
        self.next = [after, tweaks.bytes_up().xor(reduced)];
        tweaks
    }
}

/// A round of the registers in these quarters, which keeps its place.
#[inline(always)]
fn round<V: Vector, const ENCRYPT: bool, const FROM: usize, const TO: usize, const G: usize>(
    data: &mut [V; G],
    key: V,
) {
    each!(G, |I| {
        if const { is_within(4 * I / G, FROM, TO) } {
            data[I] = if ENCRYPT {
                data[I].aes_enc(key)
            } else {
                data[I].aes_dec(key)
            };
        }
    });
    V::pin(data);
}

const fn is_within(n: usize, from: usize, to: usize) -> bool {
    from <= n && n < to
}

/// x to the power of the block's number.
#[repr(align(64))]
struct Powers([u128; 4]);

static POWERS: Powers = Powers([
    1_u128.to_le(),
    2_u128.to_le(),
    4_u128.to_le(),
    8_u128.to_le(),
]);

impl<V: Vector, const ROUNDS: usize, const ENCRYPT: bool> Transform<V>
    for Mask<V, ROUNDS, ENCRYPT>
{
    #[inline(always)]
    unsafe fn apply<const G: usize>(&mut self, mut data: [V; G], _: *const u8) -> [V; G] {
        let tweaks: [V; G] = if const { V::BLOCKS == 4 } {
            from_fn(|_| self.step())
        } else {
            let (tweaks, next) = self.next[0].times_powers_of_x();
            self.next[0] = next;
            tweaks
        };
        each!(G, |I| {
            data[I] = data[I].xor(tweaks[I]);
        });
        if const { G == 4 || G == 8 } {
            // Before the rounds, which would keep what comes behind them, the next registers' tweaks
            // among it, out of the CPU's queues.
            V::pin(array::from_mut(&mut self.next[0]));
            if const { V::BLOCKS == 4 } {
                V::pin(array::from_mut(&mut self.next[1]));
            }
            V::pin(&mut data);
        }
        let mut turned = if ENCRYPT {
            self.rounds.encrypt(data)
        } else {
            self.rounds.decrypt(data)
        };
        for (turned, tweak) in turned.iter_mut().zip(tweaks) {
            *turned = turned.xor(tweak);
        }
        turned
    }

    #[inline(always)]
    unsafe fn apply_groups<const G: usize>(
        &mut self,
        proof: V::Proof,
        source: *const u8,
        target: *mut u8,
        len: usize,
    ) -> usize {
        if const { !V::CARRIES } {
            // SAFETY: the caller's promises.
            return unsafe { each_group::<V, Self, G>(self, proof, source, target, len) };
        }
        let mut groups = Groups::<V, G>::new(source, target, len);
        if len >= G * V::BYTES {
            let (mut tweaks, _) = self.next[0].times_powers_of_x::<G>();
            while let Some((source, target)) = groups.take() {
                // SAFETY: the caller's promises.
                tweaks = unsafe { self.group(tweaks, source, target) };
            }
            self.next[0] = tweaks[0];
        }
        groups.done
    }
}
