//! AES-GCM-SIV (RFC 8452): each message has keys of its own, which are derived together, as are the
//! POLYVALs of many messages, with one in each block of a register.

mod keys;
mod polyval;
mod text;

use core::{array, fmt, iter};

use crate::aes::message::{in_records, length};
use crate::aes::sweep::run_records;
use crate::aes::{BLOCK, EncryptKey, Message};
use crate::machine::Machine;
use crate::wipe::wipe;
use keys::{Keys, encrypt_each};
use polyval::{Hash, NOTHING, Polyval};
use text::Count;

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
    /// Bytes of the text, any number below 4 GiB.
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
pub unsafe fn encrypt_many(machine: Machine, jobs: &mut [Job<'_>]) {
    for jobs in jobs.chunks_mut(LOT) {
        let keys = Keys::new(machine, jobs.iter().map(|job| (job.key, &job.nonce)));
        // SAFETY: the caller's contract.
        unsafe {
            tags(machine, jobs, &keys, |job| job.source);
            crypt(machine, jobs, &keys);
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
pub unsafe fn decrypt_many(machine: Machine, jobs: &mut [Job<'_>]) {
    for jobs in jobs.chunks_mut(LOT) {
        let keys = Keys::new(machine, jobs.iter().map(|job| (job.key, &job.nonce)));
        // SAFETY: the caller's contract; the targets have been written.
        unsafe {
            crypt(machine, jobs, &keys);
            tags(machine, jobs, &keys, |job| job.target);
        }
    }
}

/// A message in pieces. The caller encrypts after it has the tag, and decrypts before.
pub struct Stream {
    machine: Machine,
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
    pub fn new(machine: Machine, key: &EncryptKey, nonce: [u8; NONCE]) -> Self {
        Self {
            machine,
            keys: Keys::new(machine, [(key, &nonce)].into_iter()),
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
        unsafe { self.machine.blocks.run_products(Polyval(&mut hash)) };
        self.sum = hash[0].sum;
        wipe(&mut hash[0].sum);
    }

    /// The tag, once all is absorbed.
    pub fn tag(&mut self, aad_len: usize, len: usize) -> [u8; BLOCK] {
        self.absorb(&lengths(aad_len, len));
        let mut tags = [masked(&self.sum, &self.nonce)];
        let key = self.keys.cipher(0);
        encrypt_each(self.machine, key, [(key, &mut tags[..])].into_iter());
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
        let text = Message {
            source,
            target,
            len: length(len),
            key,
            iv: &raw const counter,
        };
        // SAFETY: the caller's contract.
        in_records(iter::once(text), |records| unsafe {
            run_records::<Count>(self.machine, key.size(), records);
        });
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
        wipe(&mut self.sum);
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

/// Computes the tag of each job from its plaintext.
///
/// # Safety
/// Additional data and what `plaintext` names are valid for reads of their lengths; there are
/// [`LOT`] jobs at the most, of which `keys` are.
unsafe fn tags(
    machine: Machine,
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
    unsafe { machine.blocks.run_products(Polyval(hashes)) };
    let mut blocks = [[0; BLOCK]; LOT];
    for ((block, hash), job) in blocks.iter_mut().zip(&mut *hashes).zip(&*jobs) {
        *block = masked(&hash.sum, &job.nonce);
        wipe(&mut hash.sum);
    }
    let stretches = keys.ciphers().zip(blocks.chunks_mut(1));
    encrypt_each(machine, keys.cipher(0), stretches);
    for (job, tag) in jobs.iter_mut().zip(blocks) {
        job.tag = tag;
    }
}

/// Encrypts or decrypts each job's text, with the counter that its tag gives.
///
/// # Safety
/// [`encrypt_many`]'s contract; there are [`LOT`] jobs at the most, of which `keys` are.
unsafe fn crypt(machine: Machine, jobs: &[Job<'_>], keys: &Keys) {
    let mut counters = [[0; BLOCK]; LOT];
    for (counter, job) in counters.iter_mut().zip(jobs) {
        *counter = first_counter(&job.tag);
    }
    let texts = jobs.iter().zip(keys.ciphers()).zip(&counters);
    let texts = texts.map(|((job, key), counter)| Message {
        source: job.source,
        target: job.target,
        len: length(job.len),
        key,
        iv: counter,
    });
    let size = keys.cipher(0).size();
    in_records(texts, |records| {
        // SAFETY: the caller's promise; a message's key has the size of the one it is derived from.
        unsafe { run_records::<Count>(machine, size, records) }
    });
}
