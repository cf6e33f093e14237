//! CTR (SP 800-38A, section 6.5): the counter is the whole block, big-endian.

use super::rounds::{OfSize, PerRounds, Rounds};
use super::sweep::{Transform, sweep};
use super::vector::{Kernel, Vector};
use super::{BLOCK, EncryptKey, Isa};

/// One message to encrypt or decrypt, or the next part of one.
#[derive(Debug)]
pub struct Job<'k> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes, any number.
    pub len: usize,
    /// The schedule of this message.
    pub key: &'k EncryptKey,
    /// Before: the counter block to start from, or what the previous part left here. After: the
    /// counter block that comes next.
    pub counter: [u8; BLOCK],
    /// Bytes of this counter's key stream that the previous part has used, below 16; zero for a
    /// new message. Kept up to date like `counter`.
    pub used: usize,
}

/// Encrypts or decrypts every job.
///
/// # Panics
/// If a key differs in size from the first job's, or `used` is not below 16.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the job's `len` bytes.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other jobs.
pub unsafe fn apply_many(isa: Isa, jobs: &mut [Job<'_>]) {
    // SAFETY: the caller's contract.
    unsafe { apply::<true>(isa, jobs) }
}

/// As [`apply_many`] for messages that do not go on: what it leaves in `counter` and `used` is
/// unspecified.
///
/// # Panics
/// As [`apply_many`].
///
/// # Safety
/// As for [`apply_many`].
pub unsafe fn apply_whole(isa: Isa, jobs: &mut [Job<'_>]) {
    // SAFETY: the caller's contract.
    unsafe { apply::<false>(isa, jobs) }
}

/// # Safety
/// As for [`apply_many`].
unsafe fn apply<const GOES_ON: bool>(isa: Isa, jobs: &mut [Job<'_>]) {
    let Some(first) = jobs.first().map(|job| job.key) else {
        return;
    };
    let size = first.size();
    let uniform = jobs
        .iter()
        .all(|job| job.used < BLOCK && (core::ptr::eq(job.key, first) || job.key.size() == size));
    assert!(uniform, "keys of one size and partial blocks are required");
    // SAFETY: the caller's contract; the sizes were compared.
    unsafe { isa.run(OfSize(size, Apply::<GOES_ON>(jobs))) }
}

struct Apply<'a, 'k, const GOES_ON: bool>(&'a mut [Job<'k>]);

impl<const GOES_ON: bool> PerRounds for Apply<'_, '_, GOES_ON> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self) {
        let mut jobs = self.0;
        loop {
            // SAFETY: `apply_many`'s contract.
            unsafe {
                let plain = Plain::<ROUNDS, GOES_ON>(jobs);
                let done = V::enter(plain);
                let Some((job, rest)) = jobs[done..].split_first_mut() else {
                    return;
                };
                V::enter(InParts::<ROUNDS>(job));
                jobs = rest;
            }
        }
    }
}

/// The first jobs, up to one that has to run in parts; how many there are. A loop without calls,
/// which would cost it the registers of its round keys.
struct Plain<'a, 'k, const ROUNDS: usize, const GOES_ON: bool>(&'a mut [Job<'k>]);

impl<const ROUNDS: usize, const GOES_ON: bool> Kernel for Plain<'_, '_, ROUNDS, GOES_ON> {
    type Output = usize;

    #[inline(always)]
    unsafe fn run<V: Vector>(self) -> usize {
        let jobs = self.0;
        let Some(first) = jobs.first() else {
            return 0;
        };
        let mut key = core::ptr::from_ref(first.key);
        // SAFETY: keys have `ROUNDS` rounds; `apply_many`'s contract.
        unsafe {
            let mut rounds = Rounds::<V, ROUNDS>::load(first.key.as_ptr());
            for (i, job) in jobs.iter_mut().enumerate() {
                // Below 2^56 blocks, the low half of a counter that does not begin so has room.
                if job.used != 0 || job.counter[8] == 0xff {
                    return i;
                }
                if !core::ptr::eq(job.key, key) {
                    key = job.key;
                    rounds = Rounds::load(job.key.as_ptr());
                }
                let mut stream = KeyStream::start(rounds, &job.counter);
                sweep(&mut stream, job.source, job.target, job.len);
                if GOES_ON {
                    let low = low(u128::from_be_bytes(job.counter)) + (job.len / BLOCK) as u64;
                    job.counter[8..].copy_from_slice(&low.to_be_bytes());
                    job.used = job.len % BLOCK;
                }
            }
        }
        jobs.len()
    }
}

/// A message that begins within a block, or whose counter carries into its upper half.
struct InParts<'a, 'k, const ROUNDS: usize>(&'a mut Job<'k>);

impl<const ROUNDS: usize> Kernel for InParts<'_, '_, ROUNDS> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let job = self.0;
        // SAFETY: `apply_many`'s contract.
        unsafe {
            let rounds = Rounds::<V, ROUNDS>::load(job.key.as_ptr());
            let counter = u128::from_be_bytes(job.counter);
            let (mut done, mut next) = (0, counter);
            if job.used > 0 {
                done = finish_block(&rounds, job);
                next = counter.wrapping_add(1);
            }
            while done < job.len {
                // The low half must not overflow within one sweep.
                let room = usize::try_from(u64::MAX - low(next)).unwrap_or(usize::MAX);
                let len = (job.len - done).min(room.saturating_add(1).saturating_mul(BLOCK));
                let mut stream = KeyStream::start(rounds, &next.to_be_bytes());
                sweep(&mut stream, job.source.add(done), job.target.add(done), len);
                next = next.wrapping_add(len.div_ceil(BLOCK) as u128);
                done += len;
            }
            let total = job.used + job.len;
            let counter = counter.wrapping_add((total / BLOCK) as u128);
            job.counter = counter.to_be_bytes();
            job.used = total % BLOCK;
        }
    }
}

/// Uses up the key stream of a block that the previous part began; returns how many bytes.
///
/// # Safety
/// Runs under [`Vector::enter`]; the contract of [`apply_many`].
#[inline(always)]
unsafe fn finish_block<V: Vector, const ROUNDS: usize>(
    rounds: &Rounds<V, ROUNDS>,
    job: &Job<'_>,
) -> usize {
    let len = job.len.min(BLOCK - job.used);
    let mut stream = [0_u8; BLOCK];
    // SAFETY: `len` bytes lie within the message, and within the block after those used.
    unsafe {
        let [encrypted] = rounds.encrypt([V::broadcast(job.counter.as_ptr())]);
        encrypted.store_bytes(stream.as_mut_ptr(), BLOCK);
        for (i, byte) in stream[job.used..][..len].iter().enumerate() {
            job.target.add(i).write(job.source.add(i).read() ^ byte);
        }
    }
    len
}

#[expect(clippy::cast_possible_truncation)]
fn low(counter: u128) -> u64 {
    counter as u64
}

/// Consecutive counters, little-endian; the low half does not overflow.
struct KeyStream<V, const ROUNDS: usize> {
    rounds: Rounds<V, ROUNDS>,
    counters: V,
    step: V,
}

impl<V: Vector, const ROUNDS: usize> KeyStream<V, ROUNDS> {
    /// # Safety
    /// Runs under [`Vector::enter`].
    #[inline(always)]
    unsafe fn start(rounds: Rounds<V, ROUNDS>, counter: &[u8; BLOCK]) -> Self {
        // SAFETY: as above.
        unsafe {
            let counters = V::broadcast(counter.as_ptr()).reverse().add64(V::ramp());
            Self {
                rounds,
                counters,
                step: V::splat(V::BLOCKS as u128),
            }
        }
    }
}

impl<V: Vector, const ROUNDS: usize> Transform<V> for KeyStream<V, ROUNDS> {
    #[inline(always)]
    unsafe fn apply<const G: usize>(&mut self, mut data: [V; G]) -> [V; G] {
        // SAFETY: runs under `enter`.
        unsafe {
            let mut blocks = [V::zero(); G];
            for block in &mut blocks {
                *block = self.counters.reverse();
                let mut next = [self.counters.add64(self.step)];
                if V::BLOCKS == 4 {
                    // Else each distance from the first would take up a register, of 32.
                    V::pin(&mut next);
                }
                [self.counters] = next;
            }
            for (data, stream) in data.iter_mut().zip(self.rounds.encrypt(blocks)) {
                *data = data.xor(stream);
            }
            data
        }
    }
}

#[cfg(test)]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tests;
