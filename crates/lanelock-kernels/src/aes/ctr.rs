//! CTR (SP 800-38A, section 6.5): the counter is the whole block, big-endian.

use core::array;

use super::fed::{run_fed, run_lone};
use super::message::{in_pieces, in_records, length};
use super::rounds::{Keys, Rounds};
use super::sweep::{Around, Mode, Second, ahead, run_records, sweep};
use super::{BLOCK, EncryptKey, KeySize, Message, Part, Piece, Records};
use crate::arch::blocks::{Kernel, Vector};
use crate::arrays::from_fn;
use crate::machine::Machine;

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
/// If a key differs in size from the first job's, `used` is not below 16, or a length not below
/// 4 GiB.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the job's `len` bytes.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other jobs.
pub unsafe fn apply_many(machine: Machine, jobs: &mut [Job<'_>]) {
    let Some(size) = jobs.first().map(|job| job.key.size()) else {
        return;
    };
    let uniform = jobs
        .iter()
        .all(|job| job.used < BLOCK && job.key.size() == size);
    assert!(uniform, "keys of one size and partial blocks are required");
    // SAFETY: the caller's contract; the sizes were compared. What a job has left is within its
    // text, and its counter stays as it is until the messages have run.
    unsafe {
        for job in jobs.iter_mut().filter(|job| job.used > 0) {
            finish_block(machine, job);
        }
        let messages = jobs.iter().map(|job| Message {
            source: job.source,
            target: job.target,
            len: length(job.len),
            key: job.key,
            iv: &raw const job.counter,
        });
        apply_each(machine, size, messages);
    }
    for job in jobs.iter_mut().filter(|job| job.len > 0) {
        job.counter = counter_after(job.counter, job.len);
        job.used = job.len % BLOCK;
    }
}

/// Encrypts or decrypts every part; the IV is the counter block to start from.
///
/// # Panics
/// If a key differs in size from the first part's, a length is not below 4 GiB, or a part in several
/// pieces is not in whole blocks.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the `len` bytes of the part or
///   piece.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources
///   and targets of all other parts.
pub unsafe fn apply_parts(machine: Machine, parts: &mut [Part<'_, EncryptKey>]) {
    let Some(size) = Part::key_size(parts) else {
        return;
    };
    let count = |iv: &mut [u8; BLOCK], piece: &Piece| *iv = counter_after(*iv, piece.len);
    in_pieces(parts, count, |records| {
        // SAFETY: the caller's contract; the sizes were compared.
        unsafe { apply_records(machine, size, records) }
    });
}

/// The counter block that comes next after so many bytes.
#[inline(always)]
fn counter_after(counter: [u8; BLOCK], bytes: usize) -> [u8; BLOCK] {
    let next = u128::from_be_bytes(counter).wrapping_add((bytes / BLOCK) as u128);
    next.to_be_bytes()
}

/// Encrypts or decrypts each message as it is yielded; its IV is the counter block to start from.
///
/// # Safety
/// - As for [`apply_many`], and each counter block is valid for reads, from when a message is
///   yielded until this returns.
/// - Every key has `size`.
#[inline]
pub unsafe fn apply_each<'k>(
    machine: Machine,
    size: KeySize,
    messages: impl Iterator<Item = Message<'k, EncryptKey>>,
) {
    in_records(messages, |records| {
        // SAFETY: the caller's contract.
        unsafe { apply_records(machine, size, records) }
    });
}

/// As [`apply_each`], for messages that are in memory.
///
/// # Safety
/// As for [`apply_each`], until this returns; the records are valid for reads, and do not change.
#[inline(never)]
pub unsafe fn apply_records(machine: Machine, size: KeySize, records: &Records<'_, EncryptKey>) {
    // SAFETY: the caller's contract.
    unsafe { run_records::<Count>(machine, size, records) }
}

/// As [`apply_records`], for messages that come one by one, each when it is yielded. The first is expected to have
/// `len` bytes, the others as many or more. Best where the machine [is fed](Machine::is_fed), or
/// [is fed a few](Machine::is_fed_few).
///
/// # Safety
/// As for [`apply_records`], from when a message is yielded until this returns.
#[inline]
pub unsafe fn apply_fed<'k>(
    machine: Machine,
    size: KeySize,
    len: u32,
    messages: impl Iterator<Item = Message<'k, EncryptKey>>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_fed::<Count>(machine, size, len, messages) }
}

/// As [`apply_fed`], for a message that is alone, which `message` makes, each time that it is asked to.
///
/// # Safety
/// As for [`apply_fed`].
#[inline]
pub unsafe fn apply_lone<'k>(
    machine: Machine,
    size: KeySize,
    message: impl FnMut() -> Message<'k, EncryptKey>,
) {
    // SAFETY: the caller's contract.
    unsafe { run_lone::<Count>(machine, size, message) }
}

/// Sweeps messages whose counters do not carry into their upper halves.
struct Count;

impl Mode for Count {
    type Key = EncryptKey;
    type Transform<V: Vector, const ROUNDS: usize, K: Keys<V>> = KeyStream<V, ROUNDS, K>;

    #[inline(always)]
    unsafe fn start<V: Vector, const ROUNDS: usize, K: Keys<V>>(
        rounds: Rounds<V, ROUNDS, K>,
        iv: *const [u8; BLOCK],
    ) -> KeyStream<V, ROUNDS, K> {
        // SAFETY: the caller's block.
        unsafe { KeyStream::start(rounds, iv) }
    }

    #[inline(always)]
    fn ahead_of_blocks<V: Vector>(ivs: V, data: V) -> (V, V) {
        (ivs, data)
    }

    /// Below 2^56 blocks, the low half of a counter that does not begin so has room.
    #[inline(always)]
    unsafe fn admits(iv: *const [u8; BLOCK]) -> bool {
        // SAFETY: the caller's block.
        unsafe { (*iv)[8] != 0xff }
    }

    #[inline(always)]
    unsafe fn run_other<V: Vector, const ROUNDS: usize>(
        proof: V::Proof,
        message: Message<'_, EncryptKey>,
    ) {
        // SAFETY: the caller's promises.
        unsafe { V::enter(proof, Carrying::<ROUNDS>(message)) }
    }
}

/// A message whose counter may carry into its upper half.
struct Carrying<'k, const ROUNDS: usize>(Message<'k, EncryptKey>);

impl<const ROUNDS: usize> Kernel for Carrying<'_, ROUNDS> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self, proof: V::Proof) {
        let message = self.0;
        // SAFETY: `apply_each`'s contract.
        unsafe {
            let rounds = Rounds::<V, ROUNDS>::load(proof, message.key.as_ptr());
            let mut next = u128::from_be_bytes(message.iv.read());
            let mut done = 0;
            let len = message.len as usize;
            while done < len {
                // The low half must not overflow within one sweep.
                let room = usize::try_from(u64::MAX - low(next)).unwrap_or(usize::MAX);
                let room = room.saturating_add(1).saturating_mul(BLOCK);
                let now = (len - done).min(room);
                let counter = next.to_be_bytes();
                let mut stream = KeyStream::start(rounds, &raw const counter);
                let (source, target) = (message.source.add(done), message.target.add(done));
                sweep(proof, &mut stream, source, target, now);
                next = next.wrapping_add(now.div_ceil(BLOCK) as u128);
                done += now;
            }
        }
    }
}

/// Uses up the key stream of a block that the previous part began, and takes those bytes off the
/// job.
///
/// # Safety
/// The contract of [`apply_many`].
unsafe fn finish_block(machine: Machine, job: &mut Job<'_>) {
    let len = job.len.min(BLOCK - job.used);
    let mut stream = [0; BLOCK];
    let (source, target) = (stream.as_ptr(), stream.as_mut_ptr());
    let whole = Message {
        source,
        target,
        len: length(BLOCK),
        key: job.key,
        iv: &raw const job.counter,
    };
    // SAFETY: the stream is a block, in place; `len` bytes lie within the job's text.
    unsafe {
        apply_each(machine, job.key.size(), core::iter::once(whole));
        for (i, byte) in stream[job.used..][..len].iter().enumerate() {
            job.target.add(i).write(job.source.add(i).read() ^ byte);
        }
        (job.source, job.target) = (job.source.add(len), job.target.add(len));
    }
    (job.len, job.used) = (job.len - len, (job.used + len) % BLOCK);
    if job.used == 0 {
        job.counter = u128::from_be_bytes(job.counter)
            .wrapping_add(1)
            .to_be_bytes();
    }
}

#[expect(clippy::cast_possible_truncation)]
fn low(counter: u128) -> u64 {
    counter as u64
}

/// Consecutive counters, little-endian; the low half does not overflow.
#[derive(Clone, Copy)]
struct KeyStream<V, const ROUNDS: usize, K> {
    rounds: Rounds<V, ROUNDS, K>,
    counters: V,
    step: V,
    /// The last byte of the first counter.
    first: u8,
    /// Whether groups of eight blocks begin with multiples of eight.
    aligned: bool,
}

/// Blocks of an aligned group.
const ALIGNED: usize = 8;

/// Their numbers, big-endian.
static NUMBERS: [[u8; BLOCK]; ALIGNED] = {
    let mut blocks = [[0; BLOCK]; ALIGNED];
    let mut n = 0;
    while n < ALIGNED {
        blocks[n][BLOCK - 1] = n.to_le_bytes()[0];
        n += 1;
    }
    blocks
};

impl<V: Vector, const ROUNDS: usize, K: Keys<V>> KeyStream<V, ROUNDS, K> {
    /// Whether groups are worth aligning: where what is not a round of AES takes turns with the rounds.
    const ALIGNS: bool = V::BLOCKS == 1 && V::REGISTERS < 32;

    /// # Safety
    /// The counter block is valid for reads.
    #[inline(always)]
    unsafe fn start(rounds: Rounds<V, ROUNDS, K>, counter: *const [u8; BLOCK]) -> Self {
        let proof = rounds.proof();
        // SAFETY: the caller's block.
        unsafe {
            let counters = V::broadcast(proof, counter.cast())
                .reverse()
                .add64(V::ramp(proof));
            Self {
                rounds,
                counters,
                step: V::splat(proof, V::BLOCKS as u128),
                first: (*counter)[BLOCK - 1],
                aligned: false,
            }
        }
    }
}

impl<V: Vector, const ROUNDS: usize, K: Keys<V>> Around<V> for KeyStream<V, ROUNDS, K> {
    const INVERSE: bool = false;
    const SECOND: Second = Second::Data;
    type Rounds = Rounds<V, ROUNDS, K>;

    #[inline(always)]
    fn rounds(&self) -> &Self::Rounds {
        &self.rounds
    }

    #[inline(always)]
    fn ahead(&mut self, data: V) -> (V, V) {
        let block = self.counters.reverse();
        let mut next = [self.counters.add64(self.step)];
        if V::BLOCKS == 4 {
            // Else each distance from the first would take up a register, of 32.
            V::pin(&mut next);
        }
        [self.counters] = next;
        (block, data)
    }

    /// Aligned, the blocks differ from the first by constants: one sum and one shuffle for all, not for each.
    #[inline(always)]
    fn ahead_of_group<const G: usize>(&mut self, data: [V; G]) -> ([V; G], [V; G]) {
        if const { Self::ALIGNS && G == ALIGNED } && self.aligned {
            let proof = self.counters.proof();
            let mut first = [self.counters.reverse().xor(self.rounds.at(0))];
            // Else the compiler adds the key to each block.
            V::pin(&mut first);
            let [first] = first;
            self.counters = self.counters.add64(V::splat(proof, G as u128));
            // SAFETY: the table has as many blocks.
            let blocks = from_fn(|i| first.xor(unsafe { V::load(proof, NUMBERS[i].as_ptr()) }));
            return (blocks, data);
        }
        ahead(array::from_mut(self), data)
    }

    /// What aligned groups gain is more than one more group takes, and branches that differ from IV to IV, if there
    /// are several.
    #[inline(always)]
    fn first<const G: usize>(&mut self, registers: usize) -> usize {
        self.aligned = const { Self::ALIGNS && G == ALIGNED } && registers >= 8 * G;
        if self.aligned {
            usize::from(self.first).wrapping_neg() % G
        } else {
            registers % G
        }
    }
}
