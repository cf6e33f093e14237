//! Messages by themselves, with IVs of twelve bytes. If one is short, the IV goes from memory into a
//! register once, the mask of the tag is encrypted beside the text, and one sum holds all that is
//! hashed: nothing waits for memory, and there is one reduction.

use core::slice;

use super::ghash::Ghash;
use super::in_turn::InTurn;
use super::products::lengths;
use super::table::POWERS;
use super::{Job, iv, place_of};
use crate::aes::fed::WIDE;
use crate::aes::rounds::{InMemory, PerRounds, Rounds, WithRounds, each_round};
use crate::aes::{BLOCK, KeySize};
use crate::arch::blocks::Vector;
use crate::arch::register::{Register, assume};
use crate::machine::Machine;

/// The code for a message by itself, of keys of one size: chosen once, so that a message takes one call.
///
/// Invariant: the CPU has its instructions, as the machine that it was chosen for proves.
#[derive(Clone, Copy, Debug)]
pub struct LoneKernel(unsafe fn(&mut Job<'_>));

impl LoneKernel {
    /// That which encrypts a message and computes its tag.
    #[must_use]
    pub fn encrypting(machine: &Machine, size: KeySize) -> Self {
        Self::choose::<true>(machine, size)
    }

    /// That which decrypts a message and computes the tag that its ciphertext should have.
    #[must_use]
    pub fn decrypting(machine: &Machine, size: KeySize) -> Self {
        Self::choose::<false>(machine, size)
    }

    fn choose<const ENCRYPT: bool>(machine: &Machine, size: KeySize) -> Self {
        let mut chosen = None;
        let choice = Choice::<ENCRYPT>(&mut chosen);
        // SAFETY: it reads no key.
        unsafe { machine.blocks.run_sized_products(size, choice) };
        Self(chosen.expect("each set of registers has code"))
    }

    /// Runs a message.
    ///
    /// # Safety
    /// As for [`encrypt_many`](super::encrypt_many), for one job; it has an IV of twelve bytes, and a key of this
    /// size.
    #[inline(always)]
    pub unsafe fn run(self, job: &mut Job<'_>) {
        debug_assert!(!job.iv.is_null());
        // SAFETY: the caller's contract, and the invariant.
        unsafe { (self.0)(job) }
    }
}

/// Where the code goes that is [chosen](LoneKernel::choose).
struct Choice<'c, const ENCRYPT: bool>(&'c mut Option<unsafe fn(&mut Job<'_>)>);

impl<const ENCRYPT: bool> PerRounds for Choice<'_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, _: V::Proof) {
        *self.0 = Some(enter::<V, ROUNDS, ENCRYPT>);
    }
}

/// Runs a message.
///
/// # Safety
/// As for [`LoneKernel::run`]; the CPU has the instructions of `V`.
unsafe fn enter<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(job: &mut Job<'_>) {
    // SAFETY: the caller's contract.
    unsafe {
        let proof = assume::<V::Proof>();
        V::enter(proof, (Lone::<ENCRYPT>(job), WithRounds::<ROUNDS>));
    }
}

/// As [`LoneKernel::encrypting`], for each message when it is yielded, on a machine that [is fed](Machine::is_fed).
///
/// # Safety
/// As for [`encrypt_many`](super::encrypt_many), for each job from when it is yielded until this returns; it
/// has an IV of twelve bytes, and a key of this size.
#[inline(always)]
pub unsafe fn encrypt_fed<'k>(
    machine: &Machine,
    size: KeySize,
    jobs: impl Iterator<Item = *mut Job<'k>>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        machine
            .blocks
            .run_sized_products(size, Fed::<true, _>(jobs))
    }
}

/// As [`LoneKernel::decrypting`], for each message when it is yielded, on a machine that [is fed](Machine::is_fed).
///
/// # Safety
/// As for [`encrypt_fed`].
#[inline(always)]
pub unsafe fn decrypt_fed<'k>(
    machine: &Machine,
    size: KeySize,
    jobs: impl Iterator<Item = *mut Job<'k>>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        machine
            .blocks
            .run_sized_products(size, Fed::<false, _>(jobs))
    }
}

struct Fed<const ENCRYPT: bool, I>(I);

impl<'k, const ENCRYPT: bool, I: Iterator<Item = *mut Job<'k>>> PerRounds for Fed<ENCRYPT, I> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        if const { V::BLOCKS < WIDE } {
            unreachable!("a machine that is fed");
        }
        for job in self.0 {
            // SAFETY: the contract of `encrypt_fed`.
            unsafe { one::<V, ROUNDS, ENCRYPT>(proof, &mut *job) };
        }
    }
}

/// Most registers of a text that are turned in one go: of those of four blocks there are more, and 576 bytes
/// are a common length.
#[inline(always)]
const fn most_registers(blocks: usize) -> usize {
    if blocks > 2 { 9 } else { 8 }
}

/// Whether a message has room in [`most_registers`] of so many blocks, and its additional data in one sum
/// with it.
#[inline(always)]
pub(super) fn is_short(blocks: usize, job: &Job<'_>) -> bool {
    let most = most_registers(blocks) * blocks;
    // What one sum holds beside the text and the lengths.
    let aad_blocks = POWERS - 1 - most;
    job.len <= BLOCK * most && job.aad_len <= BLOCK * aad_blocks
}

/// The only message, which has code of its own: in a loop, what does not change from message to message is kept
/// in registers, and to fill those takes as long as a message.
struct Lone<'m, 'k, const ENCRYPT: bool>(&'m mut Job<'k>);

impl<const ENCRYPT: bool> PerRounds for Lone<'_, '_, ENCRYPT> {
    const SPILLS: bool = false;

    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        let Self(job) = self;
        let shape = Shape::of(job);
        // SAFETY: the contract of `LoneKernel::run`.
        unsafe {
            if const { V::BLOCKS == 1 } {
                one::<V, ROUNDS, ENCRYPT>(proof, job);
            } else if shape.aad_len > BLOCK || shape.len > V::BYTES || shape.len < BLOCK {
                V::enter(proof, (Other::<ENCRYPT>(job), WithRounds::<ROUNDS>));
            } else if shape.len == BLOCK {
                let shape = Shape::of_blocks(1, shape.aad_len);
                register::<V::Single, ROUNDS, ENCRYPT>(V::single(proof), job, shape);
            } else if shape.len == V::BYTES {
                let shape = Shape::of_blocks(V::BLOCKS, shape.aad_len);
                register::<V, ROUNDS, ENCRYPT>(proof, job, shape);
            } else {
                register::<V, ROUNDS, ENCRYPT>(proof, job, shape);
            }
        }
    }
}

/// The same for a message of any lengths. On its own: one whose text is a block, or more in one register, needs
/// neither its registers nor its stack.
struct Other<'m, 'k, const ENCRYPT: bool>(&'m mut Job<'k>);

impl<const ENCRYPT: bool> PerRounds for Other<'_, '_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        // SAFETY: the contract of `LoneKernel::run`.
        unsafe { one::<V, ROUNDS, ENCRYPT>(proof, self.0) };
    }
}

/// Messages one after the other, the short ones without another call; all have IVs of twelve bytes.
pub(super) struct OneByOne<'m, 'k, const ENCRYPT: bool>(pub(super) &'m mut [Job<'k>]);

impl<const ENCRYPT: bool> PerRounds for OneByOne<'_, '_, ENCRYPT> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self, proof: V::Proof) {
        debug_assert!(self.0.iter().all(|job| !job.iv.is_null()));
        for job in self.0 {
            // SAFETY: the contract of `LoneKernel::run`, for each of the jobs.
            unsafe { one::<V, ROUNDS, ENCRYPT>(proof, job) };
        }
    }
}

/// # Safety
/// The contract of [`LoneKernel::run`]; the key has `ROUNDS` rounds.
#[inline(always)]
unsafe fn one<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    job: &mut Job<'_>,
) {
    let shape = Shape::of(job);
    // SAFETY: the caller's promises.
    unsafe {
        if !is_short(V::BLOCKS, job) {
            long::<V, ROUNDS, ENCRYPT>(proof, job);
        } else if const { V::BLOCKS > 1 } && shape.is_of_blocks() {
            // Registers of one block: their last sum is one block already.
            block::<V::Single, ROUNDS, ENCRYPT>(V::single(proof), job, shape);
        } else {
            registers::<V, ROUNDS, ENCRYPT>(proof, job);
        }
    }
}

/// # Safety
/// As for [`one`].
#[inline(always)]
unsafe fn long<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    job: &mut Job<'_>,
) {
    let turn = InTurn::<ENCRYPT>(slice::from_mut(job));
    // SAFETY: the caller's promises.
    unsafe { V::enter(proof, (turn, WithRounds::<ROUNDS>)) };
}

/// A message that [is short](is_short).
///
/// # Safety
/// As for [`one`].
#[inline(always)]
unsafe fn registers<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    job: &mut Job<'_>,
) {
    let (message, shape) = (&*job, Shape::of(job));
    // SAFETY: the caller's promises; the sum has at most as many blocks as there are powers.
    unsafe {
        let mut hash = Ghash::<V>::start(proof, message.key.powers());
        if shape.aad_len > BLOCK {
            hash.absorb_open::<false, false>(message.aad, shape.aad_len, shape.blocks + 1);
        }
        let rounds = Rounds::in_memory(proof, message.key.cipher().as_ptr());
        let mask = match shape.len.div_ceil(V::BYTES) {
            0 => turn::<V, ROUNDS, ENCRYPT, 0>(&rounds, message, shape, &mut hash),
            1 => turn::<V, ROUNDS, ENCRYPT, 1>(&rounds, message, shape, &mut hash),
            2 => turn::<V, ROUNDS, ENCRYPT, 2>(&rounds, message, shape, &mut hash),
            3 => turn::<V, ROUNDS, ENCRYPT, 3>(&rounds, message, shape, &mut hash),
            4 => turn::<V, ROUNDS, ENCRYPT, 4>(&rounds, message, shape, &mut hash),
            5 => turn::<V, ROUNDS, ENCRYPT, 5>(&rounds, message, shape, &mut hash),
            6 => turn::<V, ROUNDS, ENCRYPT, 6>(&rounds, message, shape, &mut hash),
            7 => turn::<V, ROUNDS, ENCRYPT, 7>(&rounds, message, shape, &mut hash),
            9 if const { most_registers(V::BLOCKS) > 8 } => {
                turn::<V, ROUNDS, ENCRYPT, 9>(&rounds, message, shape, &mut hash)
            }
            _ => turn::<V, ROUNDS, ENCRYPT, 8>(&rounds, message, shape, &mut hash),
        };
        finish::<V, ENCRYPT>(job, shape, hash, mask);
    }
}

/// A message whose text ends in one register, and that has at most a block of additional data.
///
/// # Safety
/// The contract of [`LoneKernel::run`]; the key has `ROUNDS` rounds.
#[inline(always)]
unsafe fn register<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    job: &mut Job<'_>,
    shape: Shape,
) {
    // SAFETY: the caller's promises.
    unsafe {
        let mut hash = Ghash::<V>::start(proof, job.key.powers());
        let rounds = Rounds::in_memory(proof, job.key.cipher().as_ptr());
        let mask = turn::<V, ROUNDS, ENCRYPT, 1>(&rounds, job, shape, &mut hash);
        finish::<V, ENCRYPT>(job, shape, hash, mask);
    }
}

/// A message of at most a block of each, in registers of one block.
///
/// # Safety
/// The contract of [`LoneKernel::run`]; the key has `ROUNDS` rounds.
#[inline(always)]
unsafe fn block<V: Vector, const ROUNDS: usize, const ENCRYPT: bool>(
    proof: V::Proof,
    job: &mut Job<'_>,
    shape: Shape,
) {
    let message = &*job;
    // SAFETY: the caller's promises.
    unsafe {
        let mut hash = Ghash::<V>::start(proof, message.key.powers());
        let rounds = Rounds::in_memory(proof, message.key.cipher().as_ptr());
        let mask = match shape.len {
            0 => turn::<V, ROUNDS, ENCRYPT, 0>(&rounds, message, shape, &mut hash),
            // Code of its own, which cuts nothing off.
            BLOCK => {
                turn::<V, ROUNDS, ENCRYPT, 1>(&rounds, message, Shape::of_blocks(1, 0), &mut hash)
            }
            _ => turn::<V, ROUNDS, ENCRYPT, 1>(&rounds, message, shape, &mut hash),
        };
        finish::<V, ENCRYPT>(job, shape, hash, mask);
    }
}

/// Adds the lengths, and additional data of at most a block, to the sum, and writes the tag.
///
/// # Safety
/// The contract of [`LoneKernel::run`]; all else is in the sum.
#[inline(always)]
pub(super) unsafe fn finish<V: Vector, const ENCRYPT: bool>(
    message: &mut Job<'_>,
    shape: Shape,
    mut hash: Ghash<V>,
    mask: V::Single,
) {
    let Shape {
        len,
        aad_len,
        blocks,
    } = shape;
    let single = mask.proof();
    let lengths = lengths(single, aad_len, len);
    // SAFETY: the caller's promises.
    unsafe {
        if aad_len <= BLOCK {
            // No more than these bytes: a load that reaches beyond them, even masked, waits for a tag
            // that was written there.
            let aad = if aad_len == BLOCK {
                V::Single::load(single, message.aad)
            } else {
                V::Single::load_bytes(single, message.aad, aad_len)
            };
            hash.add_ends(aad.coefficients(), blocks + 2, lengths);
        } else {
            hash.take_up(lengths, 1);
        }
        hash.close();
        hash.value().xor(mask).store(place_of::<ENCRYPT>(message));
    }
}

/// The lengths of a message, read once: text that is stored might lie where they do, for all the compiler
/// knows.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    len: usize,
    aad_len: usize,
    /// Of the text.
    blocks: usize,
}

impl Shape {
    #[inline(always)]
    #[expect(
        clippy::manual_div_ceil,
        reason = "no length is near the largest number: half of the instructions"
    )]
    pub(super) fn of(job: &Job<'_>) -> Self {
        Self {
            len: job.len,
            aad_len: job.aad_len,
            blocks: (job.len + BLOCK - 1) / BLOCK,
        }
    }

    /// Of a message whose text is so many blocks. Where that is a constant, there is code of its own, which cuts
    /// nothing off and finds powers where they lie.
    #[inline(always)]
    fn of_blocks(blocks: usize, aad_len: usize) -> Self {
        Self {
            len: BLOCK * blocks,
            aad_len,
            blocks,
        }
    }

    /// Whether text and additional data have at most a block each.
    #[inline(always)]
    fn is_of_blocks(self) -> bool {
        self.len <= BLOCK && self.aad_len <= BLOCK
    }

    /// Of a message that is all additional data. Its length would be loaded together with what lies beside
    /// it, and that load wait until both stores have left the queue.
    #[inline(always)]
    pub(super) fn of_aad(aad_len: usize) -> Self {
        Self {
            len: 0,
            aad_len,
            blocks: 0,
        }
    }
}

/// Encrypts or decrypts a text that ends in the last of `G` registers and adds it to the sum, in
/// which the lengths follow; returns the mask of the tag.
///
/// # Safety
/// The contract of [`LoneKernel::run`]; the key has `ROUNDS` rounds.
#[inline(always)]
pub(super) unsafe fn turn<V: Vector, const ROUNDS: usize, const ENCRYPT: bool, const G: usize>(
    rounds: &Rounds<V, ROUNDS, InMemory<V>>,
    message: &Job<'_>,
    shape: Shape,
    hash: &mut Ghash<V>,
) -> V::Single {
    let proof = rounds.proof();
    let single = V::single(proof);
    // SAFETY: accesses to the last register are cut off at the end of the text.
    unsafe {
        let (source, target) = (message.source, message.target);
        let end = V::BYTES * G.saturating_sub(1);
        let (within, power) = (shape.len - end, shape.blocks + 1);
        let is_whole = within == V::BYTES;
        let mut data = [V::zero(proof); G];
        for g in 0..G {
            data[g] = if g < G - 1 || is_whole {
                V::load(proof, source.add(V::BYTES * g))
            } else {
                V::load_bytes(proof, source.add(end), within)
            };
        }
        // With so many registers: rounds in step, and products between them. Else the rounds of one register
        // come behind all of another's, and wait; of registers of one block, too, whatever their number.
        let in_step = const { !ENCRYPT && G > 1 && V::BLOCKS > 2 };
        if !ENCRYPT && !in_step {
            hash.add_registers(data, power);
        }
        // The IV and no counter, after the first key.
        let iv = V::splat(proof, iv(message.iv)).xor(rounds.at(0));
        let mut mask = iv.first().xor(V::Single::load(single, counters(1)));
        let mut stream = [iv; G];
        for (g, stream) in stream.iter_mut().enumerate() {
            *stream = stream.xor(V::load(proof, counters(2 + V::BLOCKS * g)));
        }
        each_round!(rounds.count(), |r| {
            let key = rounds.at(r);
            mask = mask.aes_enc(key.first());
            for stream in &mut stream {
                *stream = stream.aes_enc(key);
            }
            if const { G > 1 && V::BLOCKS == 1 } || in_step && r.is_multiple_of(2) {
                V::pin(&mut stream);
                if in_step && r <= 8 {
                    hash.add_pair(&data, r.saturating_sub(2), power, false);
                }
            }
        });
        if in_step && G > 8 {
            hash.add_pair(&data, G.saturating_sub(1), power, false);
        }
        let last = rounds.last();
        for (data, stream) in data.iter_mut().zip(stream) {
            *data = stream.aes_enc_last(data.xor(last));
        }
        // Else the rounds of each register would move to where it is stored.
        V::pin(&mut data);
        for g in 0..G {
            if g < G - 1 || is_whole {
                data[g].store(target.add(V::BYTES * g));
            } else {
                data[g].store_bytes(target.add(end), within);
                if ENCRYPT {
                    data[g] = data[g].keep_bytes(within);
                }
            }
        }
        if ENCRYPT {
            hash.add_registers(data, power);
        }
        mask.aes_enc_last(last.first())
    }
}

/// Blocks of a text and one before it, in registers of up to four.
const COUNTERS: usize = 2 + 4 * most_registers(4);
const _: () = assert!(COUNTERS < 256 && COUNTERS <= POWERS);

/// Counters without IVs, from `n` on.
#[inline(always)]
fn counters(n: usize) -> *const u8 {
    static BLOCKS: [[u8; BLOCK]; COUNTERS] = {
        let mut blocks = [[0; BLOCK]; COUNTERS];
        let mut n = 0;
        while n < COUNTERS {
            blocks[n][BLOCK - 1] = n.to_le_bytes()[0];
            n += 1;
        }
        blocks
    };
    BLOCKS[n..].as_ptr().cast()
}
