//! CCM (SP 800-38C): CBC-MAC in lanes across messages, then CTR; both at once, message by message,
//! for one or a few short ones.

mod lone;

use super::{BLOCK, EncryptKey, ctr, mac};
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
    // SAFETY: the caller's contract.
    unsafe {
        authenticate::<N>(machine, jobs, |job| job.source);
        count::<N>(machine, jobs);
    }
}

/// Up to `N` jobs, at least one.
///
/// # Safety
/// As for [`encrypt_many`].
unsafe fn decrypt_group<const N: usize>(machine: Machine, jobs: &mut [Job<'_>]) {
    // SAFETY: the caller's contract; the plaintext is in the target once it is decrypted. `count`
    // masks the tag that is not there yet: the tags are taken up afterwards.
    unsafe {
        jobs.iter_mut().for_each(|job| job.tag = [0; BLOCK]);
        count::<N>(machine, jobs);
        let mut masks = [[0; BLOCK]; N];
        masks
            .iter_mut()
            .zip(&*jobs)
            .for_each(|(mask, job)| *mask = job.tag);
        authenticate::<N>(machine, jobs, |job| job.target);
        for (job, mask) in jobs.iter_mut().zip(masks) {
            job.tag
                .iter_mut()
                .zip(mask)
                .for_each(|(byte, mask)| *byte ^= mask);
        }
    }
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
    /// The first block, and the second with the length and head of the additional data; how much
    /// of both there is, and how much additional data they hold.
    ///
    /// # Safety
    /// `aad` is valid for `aad_len` bytes.
    unsafe fn prefix(&self) -> ([u8; 2 * BLOCK], usize, usize) {
        let tag_fits = (4..=16).contains(&self.tag_len) && self.tag_len.is_multiple_of(2);
        assert!(tag_fits, "a tag has 4 to 16 bytes, an even number");
        let has_aad = self.aad_len > 0;
        let first = self.nonce.first_block(has_aad, self.tag_len, self.len);
        let mut prefix = [0; 2 * BLOCK];
        prefix[..BLOCK].copy_from_slice(&first);
        if !has_aad {
            return (prefix, BLOCK, 0);
        }
        let at = if self.aad_len < 0xff00 {
            prefix[16..18].copy_from_slice(&self.aad_len.to_be_bytes()[6..]);
            18
        } else {
            assert!(
                u32::try_from(self.aad_len).is_ok(),
                "additional data is below 4 GiB"
            );
            prefix[16..18].copy_from_slice(&[0xff, 0xfe]);
            prefix[18..22].copy_from_slice(&self.aad_len.to_be_bytes()[4..]);
            22
        };
        let head = self.aad_len.min(2 * BLOCK - at);
        // SAFETY: `head` bytes of the additional data, 14 at most.
        unsafe { copy_short(self.aad, prefix[at..].as_mut_ptr(), head) };
        (prefix, 2 * BLOCK, head)
    }
}

/// Leaves the CBC-MAC of each of up to `N` messages in its tag.
///
/// # Safety
/// As for [`encrypt_many`]; the plaintext is at `plaintext`.
unsafe fn authenticate<const N: usize>(
    machine: Machine,
    jobs: &mut [Job<'_>],
    plaintext: impl Fn(&Job<'_>) -> *const u8,
) {
    let last = jobs.len() - 1;
    // SAFETY: the additional data is valid for its length.
    let prefixes: [_; N] = from_fn(|i| unsafe { jobs[i.min(last)].prefix() });
    let mut macs: [_; N] = from_fn(|i| {
        let (prefix, len, _) = &prefixes[i];
        let (source, len, key) = (prefix.as_ptr(), *len, jobs[i.min(last)].key);
        mac::Job {
            source,
            len,
            more: &[],
            key,
            subkeys: None,
            chain: [0; BLOCK],
        }
    });
    let macs = &mut macs[..=last];
    // SAFETY: each source is valid for its length: the prefixes on the stack, what they leave
    // of the additional data, and the plaintext.
    unsafe {
        mac::authenticate_many(machine, macs);
        for (i, (mac, job)) in macs.iter_mut().zip(&*jobs).enumerate() {
            let head = prefixes[i].2;
            (mac.source, mac.len) = (job.aad.wrapping_add(head), job.aad_len - head);
        }
        if macs.iter().any(|mac| mac.len > 0) {
            mac::authenticate_many(machine, macs);
        }
        for (mac, job) in macs.iter_mut().zip(&*jobs) {
            (mac.source, mac.len) = (plaintext(job), job.len);
        }
        mac::authenticate_many(machine, macs);
    }
    for (job, mac) in jobs.iter_mut().zip(macs) {
        job.tag = mac.chain;
    }
}

/// Encrypts or decrypts the texts of up to `N` messages with the counters from 1, and their tags
/// with counter 0.
///
/// # Safety
/// As for [`encrypt_many`].
unsafe fn count<const N: usize>(machine: Machine, jobs: &mut [Job<'_>]) {
    let last = jobs.len() - 1;
    // Entries past the last repeat it and are not used; one base keeps all tags' pointers valid.
    let base = jobs.as_mut_ptr();
    let mut texts: [[_; 2]; N] = from_fn(|i| {
        // SAFETY: at most the last of the jobs; its tag is not touched through this reference.
        let (job, tag) = unsafe {
            let job = base.add(i.min(last));
            (&*job, (&raw mut (*job).tag).cast::<u8>())
        };
        let text = |count, source, target, len| ctr::Job {
            source,
            target,
            len,
            key: job.key,
            counter: job.nonce.counter(count),
            used: 0,
        };
        [
            text(0, tag.cast_const(), tag, BLOCK),
            text(1, job.source, job.target, job.len),
        ]
    });
    // SAFETY: the texts are the caller's, the tags each job's own.
    unsafe { ctr::apply_many(machine, texts[..=last].as_flattened_mut()) };
}
