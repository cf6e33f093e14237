//! CCM (SP 800-38C): CBC-MAC in lanes across messages, then CTR; both at once, message by message,
//! for one or a few short ones.

mod lone;

use super::message::length;
use super::{BLOCK, EncryptKey, KeySize, Message, ctr, mac};
use crate::arrays::from_fn;
use crate::bytes::copy_short;
use crate::machine::Machine;
use lone::Lone;

/// One whole message.
#[derive(Debug)]
pub struct Job<'k> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes; no more than the nonce leaves room to count.
    pub len: usize,
    /// Additional data, valid for reads of `aad_len` bytes.
    pub aad: *const u8,
    /// Bytes, below 2³².
    pub aad_len: usize,
    /// The schedule of this message.
    pub key: &'k EncryptKey,
    /// The nonce.
    pub nonce: Nonce,
    /// 4 to 16 bytes, even: the tag depends on it.
    pub tag_len: usize,
    /// After: the tag, of which `tag_len` bytes count. When decrypting the caller compares it,
    /// and wipes the target if it is not the one expected.
    pub tag: [u8; BLOCK],
}

/// A nonce in its place between the flags and the count of a block (SP 800-38C, A.2 and A.3).
#[derive(Clone, Copy, Debug)]
pub struct Nonce {
    block: u128,
    /// Bytes: 7 to 13.
    len: usize,
}

impl Nonce {
    /// A nonce of 7 to 13 bytes.
    ///
    /// # Panics
    /// If it has another length.
    #[inline]
    #[must_use]
    pub fn new(nonce: &[u8]) -> Self {
        let len = nonce.len();
        assert!((7..=13).contains(&len), "a nonce has 7 to 13 bytes");
        let mut block = [0; BLOCK];
        // SAFETY: 13 bytes at most, from the second byte of a block.
        unsafe { copy_short(nonce.as_ptr(), block[1..].as_mut_ptr(), len) };
        let block = u128::from_be_bytes(block);
        Self { block, len }
    }

    /// The first block that a message of `len` bytes authenticates (A.2.1). `tag_len` is even, 4 to
    /// 16 bytes.
    ///
    /// # Panics
    /// If the nonce leaves no room for `len`.
    #[inline]
    #[must_use]
    pub fn first_block(self, has_aad: bool, tag_len: usize, len: usize) -> [u8; BLOCK] {
        self.block(64 * usize::from(has_aad) + 4 * (tag_len - 2), len)
    }

    /// A counter block (A.3): the tag's is 0, the text's begin with 1.
    #[inline]
    #[must_use]
    pub fn counter(self, count: u8) -> [u8; BLOCK] {
        self.block(0, count.into())
    }

    /// The nonce between a count in the bytes that it leaves and `flags` with how many these are.
    #[inline(always)]
    fn block(self, flags: usize, count: usize) -> [u8; BLOCK] {
        let (left, count) = (15 - self.len, count as u128);
        assert!(
            count >> (8 * left) == 0,
            "the message is too long for its nonce"
        );
        let flags = (flags + left - 1) as u128;
        (flags << 120 | self.block | count).to_be_bytes()
    }
}

/// Encrypts every job and computes its tag.
///
/// # Panics
/// If a key differs in size from the first job's, or a tag or length is out of range.
///
/// # Safety
/// - Each `source` and `aad` is valid for reads and each `target` for writes of its length.
/// - A target is identical to its own source or disjoint from it, and disjoint from its own
///   additional data and from the sources, targets and additional data of all other jobs.
pub unsafe fn encrypt_many(machine: Machine, jobs: &mut [Job<'_>]) {
    for jobs in jobs.chunks_mut(GROUP) {
        // SAFETY: the caller's contract.
        unsafe {
            match jobs.len() {
                _ if one_by_one(jobs) => {
                    for job in jobs {
                        machine.blocks.run_sized(job.key.size(), Lone::<true>(job));
                    }
                }
                ..=8 => encrypt_group::<8>(machine, jobs),
                _ => encrypt_group::<GROUP>(machine, jobs),
            }
        }
    }
}

/// Decrypts every job and computes the tag it should have.
///
/// # Panics
/// As [`encrypt_many`].
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(machine: Machine, jobs: &mut [Job<'_>]) {
    for jobs in jobs.chunks_mut(GROUP) {
        // SAFETY: the caller's contract.
        unsafe {
            match jobs.len() {
                _ if one_by_one(jobs) => {
                    for job in jobs {
                        machine.blocks.run_sized(job.key.size(), Lone::<false>(job));
                    }
                }
                ..=8 => decrypt_group::<8>(machine, jobs),
                _ => decrypt_group::<GROUP>(machine, jobs),
            }
        }
    }
}

/// Up to `N` jobs, at least one.
///
/// # Safety
/// As for [`encrypt_many`].
unsafe fn encrypt_group<const N: usize>(machine: Machine, jobs: &mut [Job<'_>]) {
    let size = size_of_all(jobs);
    // SAFETY: the caller's contract.
    unsafe {
        authenticate::<N>(machine, size, jobs, |job| job.source);
        count::<N>(machine, size, jobs);
    }
}

/// Up to `N` jobs, at least one.
///
/// # Safety
/// As for [`encrypt_many`].
unsafe fn decrypt_group<const N: usize>(machine: Machine, jobs: &mut [Job<'_>]) {
    let size = size_of_all(jobs);
    // SAFETY: the caller's contract; the plaintext is in the target once it is decrypted. `count`
    // masks the tag that is not there yet: the tags are taken up afterwards.
    unsafe {
        jobs.iter_mut().for_each(|job| job.tag = [0; BLOCK]);
        count::<N>(machine, size, jobs);
        let mut masks = [[0; BLOCK]; N];
        masks
            .iter_mut()
            .zip(&*jobs)
            .for_each(|(mask, job)| *mask = job.tag);
        authenticate::<N>(machine, size, jobs, |job| job.target);
        for (job, mask) in jobs.iter_mut().zip(masks) {
            let tag = u128::from_ne_bytes(job.tag) ^ u128::from_ne_bytes(mask);
            job.tag = tag.to_ne_bytes();
        }
    }
}

/// The size of the jobs' keys.
fn size_of_all(jobs: &[Job<'_>]) -> KeySize {
    let size = jobs[0].key.size();
    let alike = jobs.iter().all(|job| job.key.size() == size);
    assert!(alike, "keys of one size are required");
    size
}

/// Whether lanes would cost these jobs more than they save.
fn one_by_one(jobs: &[Job<'_>]) -> bool {
    match jobs.len() {
        1 => true,
        2 | 3 => jobs.iter().all(|job| job.len <= SHORT),
        _ => false,
    }
}

/// Most bytes of two or three messages that run one by one.
const SHORT: usize = 256;

/// As many messages as the widest tier has lanes.
const GROUP: usize = 32;

impl Job<'_> {
    /// Writes the first block, and the second with the length and head of the additional data if there
    /// is any, to zeros; returns how much of both there is, and how much additional data they hold.
    ///
    /// # Safety
    /// `aad` is valid for `aad_len` bytes.
    #[inline(always)]
    unsafe fn prefix(&self, to: &mut [u8; 2 * BLOCK]) -> (usize, usize) {
        let tag_fits = (4..=16).contains(&self.tag_len) && self.tag_len.is_multiple_of(2);
        assert!(tag_fits, "a tag has 4 to 16 bytes, an even number");
        let has_aad = self.aad_len > 0;
        let first = self.nonce.first_block(has_aad, self.tag_len, self.len);
        to[..BLOCK].copy_from_slice(&first);
        if !has_aad {
            return (BLOCK, 0);
        }
        let at = if self.aad_len < 0xff00 {
            to[16..18].copy_from_slice(&self.aad_len.to_be_bytes()[6..]);
            18
        } else {
            assert!(
                u32::try_from(self.aad_len).is_ok(),
                "additional data is below 4 GiB"
            );
            to[16..18].copy_from_slice(&[0xff, 0xfe]);
            to[18..22].copy_from_slice(&self.aad_len.to_be_bytes()[4..]);
            22
        };
        let head = self.aad_len.min(2 * BLOCK - at);
        // SAFETY: `head` bytes of the additional data, 14 at most.
        unsafe { copy_short(self.aad, to[at..].as_mut_ptr(), head) };
        (2 * BLOCK, head)
    }
}

/// What a message authenticates at first: all of it, if it is short.
struct Head {
    bytes: [u8; 2 * BLOCK + HELD],
    /// Bytes of it, the end of the additional data padded.
    len: usize,
    /// Bytes of the additional data among them.
    aad: usize,
    /// Bytes of the text among them: all or none.
    text: usize,
}

/// Most bytes of a text that are copied behind what comes before them: lanes that have ended one run
/// take longer to begin another.
const HELD: usize = 4 * BLOCK;

impl Head {
    const EMPTY: Self = Self {
        bytes: [0; _],
        len: 0,
        aad: 0,
        text: 0,
    };

    /// Fills an empty one, where it stays: what is written in small parts must not be read at once, or
    /// the CPU waits until all of them are in the cache.
    ///
    /// # Safety
    /// The additional data and the text are valid for their lengths.
    #[inline(always)]
    unsafe fn fill(&mut self, job: &Job<'_>, text: *const u8) {
        let Some(prefix) = self.bytes.first_chunk_mut() else {
            return;
        };
        // SAFETY: the caller's promise.
        (self.len, self.aad) = unsafe { job.prefix(prefix) };
        if self.aad == job.aad_len && job.len <= HELD {
            self.text = job.len;
            // SAFETY: behind the prefix, two blocks at most, there is room for so many bytes.
            unsafe { copy_short(text, self.bytes[self.len..].as_mut_ptr(), job.len) };
            self.len += job.len;
        }
    }
}

/// Leaves the CBC-MAC of each of up to `N` messages in its tag.
///
/// # Safety
/// As for [`encrypt_many`]; every key has `size`; the plaintext is at `plaintext`.
unsafe fn authenticate<const N: usize>(
    machine: Machine,
    size: KeySize,
    jobs: &mut [Job<'_>],
    plaintext: impl Fn(&Job<'_>) -> *const u8,
) {
    let mut heads = [const { Head::EMPTY }; N];
    for (head, job) in heads.iter_mut().zip(&mut *jobs) {
        job.tag = [0; BLOCK];
        // SAFETY: the caller's contract.
        unsafe { head.fill(job, plaintext(job)) };
    }
    // SAFETY: the heads are on the stack, and what they do not hold of additional data and text is
    // valid.
    unsafe {
        chain(machine, size, jobs, &heads, |_, head| {
            (head.bytes.as_ptr(), head.len)
        });
        let both = || jobs.iter().zip(&heads);
        let (aad, text) = (
            both().any(|(job, head)| job.aad_len > head.aad),
            both().any(|(job, head)| job.len > head.text),
        );
        if aad {
            chain(machine, size, jobs, &heads, |job, head| {
                (job.aad.wrapping_add(head.aad), job.aad_len - head.aad)
            });
        }
        if text {
            chain(machine, size, jobs, &heads, |job, head| {
                (plaintext(job), job.len - head.text)
            });
        }
    }
}

/// Chains a part of each message to what its tag has of those before; zeros behind it up to a block.
///
/// # Safety
/// As for [`authenticate`]; each part is valid for reads of so many bytes.
#[inline(always)]
unsafe fn chain(
    machine: Machine,
    size: KeySize,
    jobs: &mut [Job<'_>],
    heads: &[Head],
    part: impl Fn(&Job<'_>, &Head) -> (*const u8, usize),
) {
    let parts = jobs.iter_mut().zip(heads).map(|(job, head)| {
        let (source, len) = part(job, head);
        mac::Message {
            source,
            len,
            key: job.key,
            subkeys: None,
            chain: &raw mut job.tag,
        }
    });
    // SAFETY: the caller's contract; the tags are each job's own.
    unsafe { mac::authenticate_each(machine, size, parts) }
}

/// Encrypts or decrypts the texts of up to `N` messages with the counters from 1, and their tags
/// with counter 0.
///
/// # Safety
/// As for [`encrypt_many`]; every key has `size`.
unsafe fn count<const N: usize>(machine: Machine, size: KeySize, jobs: &mut [Job<'_>]) {
    let last = jobs.len() - 1;
    // Entries past the last repeat it and are not used.
    let counters: [_; N] = from_fn(|i| {
        let nonce = jobs[i.min(last)].nonce;
        [nonce.counter(0), nonce.counter(1)]
    });
    let texts = jobs
        .iter_mut()
        .zip(&counters)
        .flat_map(|(job, [of_tag, of_text])| {
            let tag = (&raw mut job.tag).cast::<u8>();
            let text = |source, target, len, iv| Message {
                source,
                target,
                len: length(len),
                key: job.key,
                iv,
            };
            [
                text(tag.cast_const(), tag, BLOCK, of_tag),
                text(job.source, job.target, job.len, of_text),
            ]
        });
    // SAFETY: the texts are the caller's, the tags each job's own.
    unsafe { ctr::apply_each(machine, size, texts) };
}

#[cfg(test)]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tests;
