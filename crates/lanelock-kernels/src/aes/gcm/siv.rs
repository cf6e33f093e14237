//! AES-GCM-SIV (RFC 8452): each message has keys of its own, which are derived together, as are the
//! POLYVALs of many messages, with one in each block of a register.

use core::{array, fmt, ptr};

use zeroize::Zeroize;

use super::ghash::Sum;
use crate::aes::rounds::{OfSize, PerRounds, Rounds};
use crate::aes::sweep::{Transform, sweep};
use crate::aes::vector::{Kernel, Vector};
use crate::aes::{BLOCK, EncryptKey, Isa, KeySize, ecb};

/// Bytes of a nonce.
pub const NONCE: usize = 12;

/// Messages that run together: four registers of the widest tier.
const LOT: usize = 16;

/// One whole message.
#[derive(Debug)]
pub struct Job<'k> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes of the text, any number.
    pub len: usize,
    /// Additional data, valid for reads of `aad_len` bytes.
    pub aad: *const u8,
    /// Bytes of the additional data, any number.
    pub aad_len: usize,
    /// The key-generating key's schedule.
    pub key: &'k EncryptKey,
    /// The nonce.
    pub nonce: [u8; NONCE],
    /// Before, to decrypt: the tag that came with the message. After: the tag it should have; when
    /// decrypting the caller compares the two, and wipes the target if they differ.
    pub tag: [u8; BLOCK],
}

/// Encrypts every job and computes its tag.
///
/// # Panics
/// If a key differs in size from the first job's, or has 24 bytes.
///
/// # Safety
/// - Each `source` and `aad` is valid for reads and each `target` for writes of its length.
/// - A target is identical to its own source or disjoint from it, and disjoint from its own
///   additional data and from the sources, targets and additional data of all other jobs.
pub unsafe fn encrypt_many(isa: Isa, jobs: &mut [Job<'_>]) {
    for jobs in jobs.chunks_mut(LOT) {
        let keys = Keys::new(isa, jobs.iter().map(|job| (job.key, &job.nonce)));
        // SAFETY: the caller's contract.
        unsafe {
            tags(isa, jobs, &keys, |job| job.source);
            crypt(isa, jobs, &keys);
        }
    }
}

/// Decrypts every job and computes the tag that its plaintext should have.
///
/// # Panics
/// As [`encrypt_many`].
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(isa: Isa, jobs: &mut [Job<'_>]) {
    for jobs in jobs.chunks_mut(LOT) {
        let keys = Keys::new(isa, jobs.iter().map(|job| (job.key, &job.nonce)));
        // SAFETY: the caller's contract; the targets have been written.
        unsafe {
            crypt(isa, jobs, &keys);
            tags(isa, jobs, &keys, |job| job.target);
        }
    }
}

/// A message in pieces. The caller encrypts after it has the tag, and decrypts before.
pub struct Stream {
    isa: Isa,
    keys: Keys,
    nonce: [u8; NONCE],
    sum: [u8; BLOCK],
    /// Blocks of the text that are encrypted or decrypted.
    done: u32,
}

impl Stream {
    /// Starts a message.
    ///
    /// # Panics
    /// If `key` has 24 bytes.
    pub fn new(isa: Isa, key: &EncryptKey, nonce: [u8; NONCE]) -> Self {
        Self {
            isa,
            keys: Keys::new(isa, [(key, &nonce)].into_iter()),
            nonce,
            sum: [0; BLOCK],
            done: 0,
        }
    }

    /// Adds to the additional data, or after it to the plaintext. Of each of the two, only the last
    /// piece may end in a part of a block.
    pub fn absorb(&mut self, piece: &[u8]) {
        let mut hash = [Hash {
            key: &self.keys.authentication[0],
            parts: [(piece.as_ptr(), piece.len()), NOTHING, NOTHING],
            sum: self.sum,
        }];
        // SAFETY: the part is a slice of that length.
        unsafe { self.isa.run(Polyval(&mut hash)) };
        self.sum = hash[0].sum;
    }

    /// The tag, once all is absorbed.
    pub fn tag(&mut self, aad_len: usize, len: usize) -> [u8; BLOCK] {
        self.absorb(&lengths(aad_len, len));
        let mut tags = [masked(&self.sum, &self.nonce)];
        encrypt_each(self.isa, self.keys.ciphers(), &mut tags);
        tags[0]
    }

    /// Encrypts or decrypts the next piece of the message that has `tag`. Only the last may end in a
    /// part of a block.
    ///
    /// # Safety
    /// `source` is valid for reads and `target` for writes of `len` bytes; they are identical or
    /// disjoint.
    pub unsafe fn crypt(
        &mut self,
        tag: &[u8; BLOCK],
        source: *const u8,
        target: *mut u8,
        len: usize,
    ) {
        let mut counter = first_counter(tag);
        let (words, _) = counter.as_chunks_mut();
        words[0] = u32::from_le_bytes(words[0])
            .wrapping_add(self.done)
            .to_le_bytes();
        let key = self.keys.cipher(0);
        let text = Text {
            source,
            target,
            len,
            key,
            counter,
        };
        // SAFETY: the caller's contract.
        unsafe { self.isa.run(OfSize(key.size(), Crypt([text].into_iter()))) };
        // A message has fewer than 2^32 blocks (RFC 8452, 6).
        #[expect(clippy::cast_possible_truncation, reason = "the counter wraps")]
        let blocks = len.div_ceil(BLOCK) as u32;
        self.done = self.done.wrapping_add(blocks);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.sum.zeroize();
    }
}

/// The keys of up to [`LOT`] messages (RFC 8452, 4), wiped on drop.
struct Keys {
    authentication: [[u8; BLOCK]; LOT],
    /// Of as many as there are messages.
    ciphers: [Option<EncryptKey>; LOT],
}

/// Blocks from which a message's keys are taken, half of each.
const DERIVED: usize = 6;

impl Keys {
    /// Derives the keys of messages by their key-generating keys and nonces, [`LOT`] at the most.
    fn new<'a>(
        isa: Isa,
        messages: impl Iterator<Item = (&'a EncryptKey, &'a [u8; NONCE])> + Clone,
    ) -> Self {
        let mut keys = Self {
            authentication: [[0; BLOCK]; LOT],
            ciphers: [const { None }; LOT],
        };
        let Some((first, _)) = messages.clone().next() else {
            return keys;
        };
        let half = match first.size() {
            KeySize::Aes128 => 16,
            KeySize::Aes256 => 32,
            KeySize::Aes192 => panic!("AES-GCM-SIV has keys of 16 or 32 bytes"),
        };
        let mut derived = [[[0; BLOCK]; DERIVED]; LOT];
        let mut jobs: [_; LOT] = array::from_fn(|_| ecb::Job {
            source: ptr::null(),
            target: ptr::null_mut(),
            len: 0,
            key: first,
        });
        let mut count = 0;
        for (((key, nonce), blocks), job) in messages.zip(&mut derived).zip(&mut jobs) {
            for (number, block) in (0_u8..).zip(&mut *blocks) {
                block[0] = number;
                block[4..].copy_from_slice(nonce);
            }
            let target = blocks.as_mut_ptr().cast();
            (job.source, job.target, job.len) = (target, target, BLOCK * (2 + half / 8));
            job.key = key;
            count += 1;
        }
        // SAFETY: each job has blocks of its own, in place, six of them at the most.
        unsafe { ecb::encrypt_many(isa, &jobs[..count]) };
        for (i, blocks) in derived[..count].iter().enumerate() {
            let mut halves = [[0; 8]; DERIVED];
            for (to, block) in halves.iter_mut().zip(blocks) {
                to.copy_from_slice(&block[..8]);
            }
            let (authentication, encryption) = halves.as_flattened().split_at(BLOCK);
            keys.authentication[i].copy_from_slice(authentication);
            keys.ciphers[i] = EncryptKey::new(isa, &encryption[..half]);
            halves.as_flattened_mut().zeroize();
        }
        derived.as_flattened_mut().as_flattened_mut().zeroize();
        keys
    }

    /// The cipher of message `i`.
    fn cipher(&self, i: usize) -> &EncryptKey {
        self.ciphers[i].as_ref().expect("keyed with the lot")
    }

    fn ciphers(&self) -> impl Iterator<Item = &EncryptKey> {
        self.ciphers.iter().flatten()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.authentication.as_flattened_mut().zeroize();
    }
}

/// What POLYVAL ends with.
fn lengths(aad_len: usize, len: usize) -> [u8; BLOCK] {
    (8 * aad_len as u128 | (8 * len as u128) << 64).to_le_bytes()
}

/// What is encrypted to the tag.
fn masked(sum: &[u8; BLOCK], nonce: &[u8; NONCE]) -> [u8; BLOCK] {
    let mut block = *sum;
    for (byte, nonce) in block.iter_mut().zip(nonce) {
        *byte ^= nonce;
    }
    block[BLOCK - 1] &= 0x7f;
    block
}

fn first_counter(tag: &[u8; BLOCK]) -> [u8; BLOCK] {
    let mut counter = *tag;
    counter[BLOCK - 1] |= 0x80;
    counter
}

/// Encrypts each block under its own key.
fn encrypt_each<'k>(
    isa: Isa,
    keys: impl Iterator<Item = &'k EncryptKey>,
    blocks: &mut [[u8; BLOCK]],
) {
    for (key, block) in keys.zip(blocks) {
        let target = block.as_mut_ptr();
        // SAFETY: one block, in place.
        unsafe {
            ecb::encrypt_many(
                isa,
                &[ecb::Job {
                    source: target,
                    target,
                    len: BLOCK,
                    key,
                }],
            );
        }
    }
}

/// Computes the tag of each job from its plaintext.
///
/// # Safety
/// Additional data and what `plaintext` names are valid for reads of their lengths; there are
/// [`LOT`] jobs at the most, of which `keys` are.
unsafe fn tags(
    isa: Isa,
    jobs: &mut [Job<'_>],
    keys: &Keys,
    plaintext: impl Fn(&Job<'_>) -> *const u8,
) {
    let mut ends = [[0; BLOCK]; LOT];
    for (end, job) in ends.iter_mut().zip(&*jobs) {
        *end = lengths(job.aad_len, job.len);
    }
    let mut hashes: [_; LOT] = array::from_fn(|i| Hash {
        key: &keys.authentication[i],
        parts: match jobs.get(i) {
            Some(job) => [
                (job.aad, job.aad_len),
                (plaintext(job), job.len),
                (ends[i].as_ptr(), BLOCK),
            ],
            None => [NOTHING; 3],
        },
        sum: [0; BLOCK],
    });
    let hashes = &mut hashes[..jobs.len()];
    // SAFETY: the caller's promise, and `ends` live until the kernel has returned.
    unsafe { isa.run(Polyval(hashes)) };
    let mut blocks = [[0; BLOCK]; LOT];
    for ((block, hash), job) in blocks.iter_mut().zip(&mut *hashes).zip(&*jobs) {
        *block = masked(&hash.sum, &job.nonce);
        hash.sum.zeroize();
    }
    encrypt_each(isa, keys.ciphers(), &mut blocks[..jobs.len()]);
    for (job, tag) in jobs.iter_mut().zip(blocks) {
        job.tag = tag;
    }
}

/// Encrypts or decrypts each job's text, with the counter that its tag gives.
///
/// # Safety
/// [`encrypt_many`]'s contract; there are [`LOT`] jobs at the most, of which `keys` are.
unsafe fn crypt(isa: Isa, jobs: &[Job<'_>], keys: &Keys) {
    let Some(size) = jobs.first().map(|job| job.key.size()) else {
        return;
    };
    let texts = jobs.iter().zip(keys.ciphers()).map(|(job, key)| Text {
        source: job.source,
        target: job.target,
        len: job.len,
        key,
        counter: first_counter(&job.tag),
    });
    // SAFETY: the caller's promise; a message's key has the size of the one it is derived from.
    unsafe { isa.run(OfSize(size, Crypt(texts))) }
}

/// A text and where its key stream begins.
struct Text<'k> {
    source: *const u8,
    target: *mut u8,
    len: usize,
    key: &'k EncryptKey,
    counter: [u8; BLOCK],
}

/// Encrypts or decrypts texts, which are as [`encrypt_many`] demands.
struct Crypt<I>(I);

impl<'k, I: Iterator<Item = Text<'k>>> PerRounds for Crypt<I> {
    #[inline(always)]
    unsafe fn run<V: Vector, const ROUNDS: usize>(self) {
        // SAFETY: the creator's promise.
        unsafe { V::enter(CryptEach::<I, ROUNDS>(self.0)) }
    }
}

struct CryptEach<I, const ROUNDS: usize>(I);

impl<'k, I: Iterator<Item = Text<'k>>, const ROUNDS: usize> Kernel for CryptEach<I, ROUNDS> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        for text in self.0 {
            // SAFETY: the creator's promise; runs under `enter`.
            unsafe {
                let mut stream = KeyStream {
                    rounds: Rounds::<V, ROUNDS>::load(text.key.as_ptr()),
                    next: V::broadcast(text.counter.as_ptr()).add32(V::ramp()),
                };
                sweep(&mut stream, text.source, text.target, text.len);
            }
        }
    }
}

/// Counter mode with a little-endian counter in the first word of a block, which wraps alone.
struct KeyStream<V, const ROUNDS: usize> {
    rounds: Rounds<V, ROUNDS>,
    next: V,
}

impl<V: Vector, const ROUNDS: usize> Transform<V> for KeyStream<V, ROUNDS> {
    #[inline(always)]
    unsafe fn apply<const G: usize>(&mut self, data: [V; G]) -> [V; G] {
        // SAFETY: runs under `enter`.
        unsafe {
            let step = V::splat(V::BLOCKS as u128);
            let mut counters = [V::zero(); G];
            for counter in &mut counters {
                *counter = self.next;
                self.next = self.next.add32(step);
            }
            let stream = self.rounds.encrypt(counters);
            let mut output = data;
            for (output, stream) in output.iter_mut().zip(stream) {
                *output = output.xor(stream);
            }
            output
        }
    }
}

/// A POLYVAL in progress.
struct Hash<'k> {
    key: &'k [u8; BLOCK],
    /// What to add, each padded with zeros to whole blocks: valid for reads of its length.
    parts: [(*const u8, usize); 3],
    /// Before: of what was added so far; zero if there are several hashes. After: of all.
    sum: [u8; BLOCK],
}

/// No part.
const NOTHING: (*const u8, usize) = (ptr::null(), 0);

static ZERO: [u8; BLOCK] = [0; BLOCK];

/// Continues up to [`LOT`] hashes, one in each block of a register. All end together: a shorter one
/// begins with blocks of zeros, which leave a sum of zero as it is.
struct Polyval<'a, 'k>(&'a mut [Hash<'k>]);

impl Kernel for Polyval<'_, '_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        for hashes in self.0.chunks_mut(4 * V::BLOCKS) {
            // SAFETY: the creator's promise; runs under `enter`.
            unsafe {
                match hashes.len().div_ceil(V::BLOCKS) {
                    1 => polyval::<V, 1>(hashes),
                    2 => polyval::<V, 2>(hashes),
                    _ => polyval::<V, 4>(hashes),
                }
            }
        }
    }
}

/// The blocks of a hash, in order.
#[derive(Clone, Copy)]
struct Walk {
    /// Where blocks lie and how many: zeros, then whole blocks and the padded one of each part.
    runs: [(*const u8, usize); 7],
    at: usize,
}

impl Walk {
    const IDLE: Self = Self {
        runs: [
            (ZERO.as_ptr(), usize::MAX),
            NOTHING,
            NOTHING,
            NOTHING,
            NOTHING,
            NOTHING,
            NOTHING,
        ],
        at: 0,
    };

    /// # Safety
    /// The hash's parts are valid; `padded` stays where it is.
    #[inline(always)]
    unsafe fn new(hash: &Hash<'_>, blocks: usize, padded: &mut [[u8; BLOCK]; 3]) -> Self {
        let mut walk = Self::IDLE;
        walk.runs[0].1 = blocks - blocks_of(hash);
        for (i, ((part, len), padded)) in hash.parts.into_iter().zip(padded).enumerate() {
            let rest = len % BLOCK;
            walk.runs[1 + 2 * i] = (part, len / BLOCK);
            walk.runs[2 + 2 * i] = (padded.as_ptr(), usize::from(rest > 0));
            if rest > 0 {
                // SAFETY: the part has `rest` bytes after its whole blocks.
                unsafe {
                    ptr::copy_nonoverlapping(part.add(len - rest), padded.as_mut_ptr(), rest);
                }
            }
        }
        walk
    }

    /// # Safety
    /// There are blocks left.
    #[inline(always)]
    unsafe fn next(&mut self) -> *mut u8 {
        while self.runs[self.at].1 == 0 {
            self.at += 1;
        }
        let (block, left) = &mut self.runs[self.at];
        let here = *block;
        *left -= 1;
        if self.at > 0 {
            *block = block.wrapping_add(BLOCK);
        }
        here.cast_mut()
    }
}

fn blocks_of(hash: &Hash<'_>) -> usize {
    hash.parts.iter().map(|part| part.1.div_ceil(BLOCK)).sum()
}

/// [`Polyval`] of at most `G` registers.
///
/// # Safety
/// Runs under [`Vector::enter`]; the contract of [`Polyval`].
#[inline(always)]
unsafe fn polyval<V: Vector, const G: usize>(hashes: &mut [Hash<'_>]) {
    let blocks = hashes.iter().map(blocks_of).max().unwrap_or(0);
    let mut padded = [[[0; BLOCK]; 3]; LOT];
    let mut walks = [Walk::IDLE; LOT];
    let mut sums = [ZERO; LOT];
    let mut keys = [ZERO; LOT];
    // SAFETY: as above; `padded` does not move. A register has as many lanes as it has blocks, and
    // `G` of them no more than there are in a lot.
    unsafe {
        for (i, hash) in hashes.iter().enumerate() {
            walks[i] = Walk::new(hash, blocks, &mut padded[i]);
            (sums[i], keys[i]) = (hash.sum, *hash.key);
        }
        let (mut sum, mut key, mut key_sum) = ([V::zero(); G], [V::zero(); G], [V::zero(); G]);
        for g in 0..G {
            sum[g] = V::load(sums[V::BLOCKS * g..].as_ptr().cast());
            key[g] = V::load(keys[V::BLOCKS * g..].as_ptr().cast());
            key_sum[g] = key[g].xor(key[g].swap_halves());
        }
        for _ in 0..blocks {
            let mut from = [ptr::null_mut(); LOT];
            for (from, walk) in from[..V::BLOCKS * G].iter_mut().zip(&mut walks) {
                *from = walk.next();
            }
            for g in 0..G {
                let data = V::gather(from[V::BLOCKS * g..].as_ptr());
                let mut product = Sum::<V>::zero();
                product.add(sum[g].xor(data), key[g], key_sum[g]);
                // Of GHASH's blocks, which are reversed.
                sum[g] = product.values().reverse();
            }
        }
        for g in 0..G {
            sum[g].store(sums[V::BLOCKS * g..].as_mut_ptr().cast());
        }
    }
    for (hash, sum) in hashes.iter_mut().zip(&sums) {
        hash.sum = *sum;
    }
    padded.as_flattened_mut().as_flattened_mut().zeroize();
    sums.as_flattened_mut().zeroize();
    keys.as_flattened_mut().zeroize();
}

#[cfg(test)]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tests;
