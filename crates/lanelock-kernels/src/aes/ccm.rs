//! CCM (SP 800-38C): CBC-MAC in lanes across messages, then CTR; both at once for one message, and for
//! four side by side.

mod shapes;
mod together;

use core::mem::MaybeUninit;
use core::ptr;

use super::message::length;
use super::{BLOCK, EncryptKey, KeySize, Message, ctr, mac};
use crate::arch::blocks::load_number;
use crate::arrays::from_fn;
use crate::bytes::{copy_short, load_short};
use crate::machine::Machine;
use shapes::{Jobs, MOST, fill, order};
use together::{Abreast, Together};

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
    /// The block, in halves: with the alignment of a number of both, jobs would have gaps, and copies of
    /// these are loads that wait for the stores beside them.
    high: u64,
    low: u64,
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
    #[expect(clippy::cast_possible_truncation, reason = "halves")]
    pub fn new(nonce: &[u8]) -> Self {
        let len = nonce.len();
        assert!((7..=13).contains(&len), "a nonce has 7 to 13 bytes");
        // SAFETY: fewer bytes than sixteen. They begin in the second of a block.
        let block = unsafe { load_short(nonce.as_ptr(), len) } << 8;
        let [high, low] = [block as u64, (block >> 64) as u64].map(u64::swap_bytes);
        Self { high, low, len }
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
        let block = u128::from(self.high) << 64 | u128::from(self.low);
        (flags << 120 | block | count).to_be_bytes()
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
    // SAFETY: the caller's contract.
    unsafe { run_many::<true>(machine, jobs) }
}

/// Decrypts every job and computes the tag it should have.
///
/// # Panics
/// As [`encrypt_many`].
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(machine: Machine, jobs: &mut [Job<'_>]) {
    // SAFETY: the caller's contract.
    unsafe { run_many::<false>(machine, jobs) }
}

/// # Safety
/// As for [`encrypt_many`].
#[inline(always)]
unsafe fn run_many<const ENCRYPT: bool>(machine: Machine, jobs: &mut [Job<'_>]) {
    let Some(first) = jobs.first() else {
        return;
    };
    let size = first.key.size();
    if let [job] = jobs {
        let lone = Together::<ENCRYPT, 1>(&[&raw mut *job]);
        // SAFETY: the caller's contract.
        return unsafe { machine.blocks.run_sized(size, lone) };
    }
    let alike = jobs.iter().all(|job| job.key.size() == size);
    assert!(alike, "keys of one size are required");
    for jobs in jobs.chunks_mut(MOST) {
        let mut list = [const { MaybeUninit::uninit() }; MOST];
        let list = fill(&mut list, jobs);
        // SAFETY: the caller's contract; the list has each job once.
        unsafe {
            let fours = order(machine, list);
            let (fours, rest) = list.split_at(fours);
            let one_key =
                |jobs: Jobs<'_, '_>| jobs.iter().all(|&job| ptr::eq((*job).key, (*jobs[0]).key));
            if machine.blocks.count() >= 2 && fours.len() > 4 && one_key(fours) {
                let eights = Abreast::<ENCRYPT>(fours);
                machine.blocks.run_sized(size, eights);
            } else if !fours.is_empty() {
                let fours = Together::<ENCRYPT, 4>(fours);
                machine.blocks.run_sized(size, fours);
            }
            for these in rest.chunks(GROUP) {
                match these.len() {
                    1 => {
                        let lone = Together::<ENCRYPT, 1>(these);
                        machine.blocks.run_sized(size, lone);
                    }
                    ..=8 => run_group::<ENCRYPT, 8>(machine, size, these),
                    _ => run_group::<ENCRYPT, GROUP>(machine, size, these),
                }
            }
        }
    }
}

/// Up to `N` jobs, at least one.
///
/// # Safety
/// As for [`encrypt_many`]; every key has `size`.
unsafe fn run_group<const ENCRYPT: bool, const N: usize>(
    machine: Machine,
    size: KeySize,
    jobs: Jobs<'_, '_>,
) {
    // SAFETY: the caller's contract.
    unsafe {
        if ENCRYPT {
            authenticate::<N>(machine, size, jobs, |job| job.source);
            count::<N>(machine, size, jobs);
        } else {
            decrypt_group::<N>(machine, size, jobs);
        }
    }
}

/// As [`run_group`].
///
/// # Safety
/// As for [`run_group`].
unsafe fn decrypt_group<const N: usize>(machine: Machine, size: KeySize, jobs: Jobs<'_, '_>) {
    // SAFETY: the caller's contract; the plaintext is in the target once it is decrypted. `count`
    // masks the tag that is not there yet: the tags are taken up afterwards.
    unsafe {
        jobs.iter().for_each(|&job| (*job).tag = [0; BLOCK]);
        count::<N>(machine, size, jobs);
        let mut masks = [[0; BLOCK]; N];
        for (mask, &job) in masks.iter_mut().zip(jobs) {
            *mask = (*job).tag;
        }
        authenticate::<N>(machine, size, jobs, |job| job.target);
        for (&job, mask) in jobs.iter().zip(masks) {
            let tag = u128::from_ne_bytes((*job).tag) ^ u128::from_ne_bytes(mask);
            (*job).tag = tag.to_ne_bytes();
        }
    }
}

/// As many messages as the widest tier has lanes.
const GROUP: usize = 32;

impl Job<'_> {
    /// What those have in common that run side by side.
    fn shape(&self) -> (usize, usize) {
        (self.len, self.aad_len)
    }

    /// The first block (A.2.1).
    ///
    /// # Panics
    /// If the tag or the length is out of range.
    #[inline(always)]
    fn first_block(&self) -> [u8; BLOCK] {
        let tag_fits = (4..=16).contains(&self.tag_len) && self.tag_len.is_multiple_of(2);
        assert!(tag_fits, "a tag has 4 to 16 bytes, an even number");
        self.nonce
            .first_block(self.aad_len > 0, self.tag_len, self.len)
    }

    /// The second block of one with additional data, little-endian: its length, as much of it as fits,
    /// zeros (A.2.2). And how much of it that is.
    ///
    /// # Panics
    /// If it is longer than the kernel allows.
    ///
    /// # Safety
    /// `aad` is valid for `aad_len` bytes.
    #[inline(always)]
    unsafe fn aad_head(&self) -> (u128, usize) {
        let Ok(len) = u32::try_from(self.aad_len) else {
            panic!("additional data is below 4 GiB")
        };
        let (field, bytes) = match u16::try_from(len) {
            Ok(len @ ..0xff00) => (len.swap_bytes().into(), 2),
            _ => (u128::from(len.swap_bytes()) << 16 | 0xfeff, 6),
        };
        let head = self.aad_len.min(BLOCK - bytes);
        // SAFETY: `head` bytes of the additional data, 14 at most.
        let data = unsafe { load_number(self.aad, head) };
        (data << (8 * bytes) | field, head)
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
        self.bytes[..BLOCK].copy_from_slice(&job.first_block());
        self.len = BLOCK;
        if job.aad_len > 0 {
            // SAFETY: the caller's promise.
            let (second, aad) = unsafe { job.aad_head() };
            self.bytes[BLOCK..2 * BLOCK].copy_from_slice(&second.to_le_bytes());
            (self.len, self.aad) = (2 * BLOCK, aad);
        }
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
    jobs: Jobs<'_, '_>,
    plaintext: impl Fn(&Job<'_>) -> *const u8,
) {
    let mut heads = [const { Head::EMPTY }; N];
    for (head, &job) in heads.iter_mut().zip(jobs) {
        // SAFETY: the caller's contract.
        unsafe {
            (*job).tag = [0; BLOCK];
            head.fill(&*job, plaintext(&*job));
        }
    }
    // SAFETY: the heads are on the stack, and what they do not hold of additional data and text is
    // valid.
    unsafe {
        chain(machine, size, jobs, &heads, |_, head| {
            (head.bytes.as_ptr(), head.len)
        });
        let both = || jobs.iter().map(|&job| &*job).zip(&heads);
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
    jobs: Jobs<'_, '_>,
    heads: &[Head],
    part: impl Fn(&Job<'_>, &Head) -> (*const u8, usize),
) {
    // SAFETY: the caller's contract; the tags are each job's own.
    unsafe {
        let parts = jobs.iter().zip(heads).map(|(&job, head)| {
            let (source, len) = part(&*job, head);
            mac::Message {
                source,
                len,
                key: (*job).key,
                subkeys: None,
                chain: &raw mut (*job).tag,
            }
        });
        mac::authenticate_each(machine, size, parts);
    }
}

/// Encrypts or decrypts the texts of up to `N` messages with the counters from 1, and their tags
/// with counter 0.
///
/// # Safety
/// As for [`encrypt_many`]; every key has `size`.
unsafe fn count<const N: usize>(machine: Machine, size: KeySize, jobs: Jobs<'_, '_>) {
    let last = jobs.len() - 1;
    // SAFETY: the texts are the caller's, the tags each job's own. Entries past the last repeat it and
    // are not used.
    unsafe {
        let counters: [_; N] = from_fn(|i| {
            let nonce = (*jobs[i.min(last)]).nonce;
            [nonce.counter(0), nonce.counter(1)]
        });
        let texts = jobs
            .iter()
            .zip(&counters)
            .flat_map(|(&job, [of_tag, of_text])| {
                let tag = (&raw mut (*job).tag).cast::<u8>();
                let text = |source, target, len, iv| Message {
                    source,
                    target,
                    len: length(len),
                    key: (*job).key,
                    iv,
                };
                [
                    text(tag.cast_const(), tag, BLOCK, of_tag),
                    text((*job).source, (*job).target, (*job).len, of_text),
                ]
            });
        ctr::apply_each(machine, size, texts);
    }
}
