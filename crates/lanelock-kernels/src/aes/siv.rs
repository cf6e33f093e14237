//! AES-SIV (RFC 5297): the CMACs of a burst's messages in lanes, then their texts side by side.
//!
//! A message's synthetic IV is its tag, and where its counter starts. It is the CMAC of the text,
//! of which the last block was mixed with the CMACs of the additional data and of the nonce.

use core::mem::MaybeUninit;

use super::mac::{Message, Subkeys, authenticate_each};
use super::{BLOCK, EncryptKey, KeySize, ctr, double, xor};
use crate::machine::Machine;
use crate::taint::publish;
use crate::wipe::wipe;

/// The key of a session, in both of its halves, and what does not depend on a message. Wiped on
/// drop.
pub struct Key {
    mac: EncryptKey,
    subkeys: Subkeys,
    text: EncryptKey,
    /// The CMAC of a zero block, doubled: what the additional data is added to.
    begin: [u8; BLOCK],
}

/// Longest nonce, in bytes.
pub const MAX_NONCE: usize = 128;

/// One message to encrypt or decrypt.
pub struct Job<'k> {
    /// Valid for reads of `len` bytes.
    pub source: *const u8,
    /// Valid for writes of `len` bytes; may be `source`.
    pub target: *mut u8,
    /// Bytes, below 4 GiB.
    pub len: usize,
    /// Valid for reading.
    pub aad: *const [u8],
    /// The key of this message.
    pub key: &'k Key,
    /// The synthetic IV. Encryption writes it. Decryption begins with the expected one, and leaves
    /// what it ought to have been.
    pub tag: [u8; BLOCK],
    /// Invariant: the first `nonce_len` bytes are initialised.
    nonce: MaybeUninit<[u8; MAX_NONCE]>,
    nonce_len: Option<u8>,
}

impl<'k> Job<'k> {
    /// A message of no text. Without a nonce, the messages of equal text and additional data are
    /// equal.
    ///
    /// # Panics
    /// If the nonce is longer than [`MAX_NONCE`].
    #[inline]
    #[must_use]
    pub fn new(key: &'k Key, aad: *const [u8], nonce: Option<&[u8]>, tag: [u8; BLOCK]) -> Self {
        let mut job = Self {
            source: core::ptr::null(),
            target: core::ptr::null_mut(),
            len: 0,
            aad,
            key,
            tag,
            nonce: MaybeUninit::uninit(),
            nonce_len: None,
        };
        if let Some(nonce) = nonce {
            assert!(nonce.len() <= MAX_NONCE, "a nonce of AES-SIV is short");
            // SAFETY: `MAX_NONCE` bytes of room.
            unsafe {
                job.nonce
                    .as_mut_ptr()
                    .cast::<u8>()
                    .copy_from(nonce.as_ptr(), nonce.len())
            };
            job.nonce_len = u8::try_from(nonce.len()).ok();
        }
        job
    }

    fn nonce(&self) -> Option<&[u8]> {
        let len = self.nonce_len?;
        // SAFETY: the invariant.
        Some(unsafe { core::slice::from_raw_parts(self.nonce.as_ptr().cast(), len.into()) })
    }
}

impl core::fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Job")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// Messages that run together.
const TOGETHER: usize = 64;

/// Encrypts every job.
///
/// # Panics
/// If a key differs in size from the first job's.
///
/// # Safety
/// - Each `source` is valid for reads and each `target` for writes of the job's `len` bytes, `aad`
///   for reads.
/// - A target is identical to its own source or disjoint from it, and disjoint from the sources,
///   additional data and targets of all other jobs.
pub unsafe fn encrypt_many(machine: Machine, jobs: &mut [Job<'_>]) {
    let Some(size) = key_size(jobs) else { return };
    for jobs in jobs.chunks_mut(TOGETHER) {
        // SAFETY: the caller's contract; the sizes were compared.
        unsafe {
            synthesise(machine, size, jobs, |job| job.source);
            for job in &mut *jobs {
                job.tag = publish(job.tag);
            }
            crypt(machine, size, jobs);
        }
    }
}

/// Decrypts every job, and leaves in `tag` what the tag ought to have been: the caller compares
/// it, and wipes the text if it is another.
///
/// # Panics
/// As [`encrypt_many`].
///
/// # Safety
/// As for [`encrypt_many`].
pub unsafe fn decrypt_many(machine: Machine, jobs: &mut [Job<'_>]) {
    let Some(size) = key_size(jobs) else { return };
    for jobs in jobs.chunks_mut(TOGETHER) {
        // SAFETY: the caller's contract; the sizes were compared.
        unsafe {
            crypt(machine, size, jobs);
            synthesise(machine, size, jobs, |job| job.target);
        }
    }
}

fn key_size(jobs: &[Job<'_>]) -> Option<KeySize> {
    let size = jobs.first()?.key.size();
    let uniform = jobs.iter().all(|job| job.key.size() == size);
    assert!(uniform, "keys of one size are required");
    Some(size)
}

/// Writes the synthetic IV of the text that lies where `text` says (RFC 5297, section 2.4).
///
/// # Safety
/// As for [`encrypt_many`], of at most [`TOGETHER`] jobs whose keys have `size`.
unsafe fn synthesise(
    machine: Machine,
    size: KeySize,
    jobs: &mut [Job<'_>],
    text: impl Fn(&Job<'_>) -> *const u8,
) {
    let mut chains = [[0_u8; BLOCK]; TOGETHER];
    let mut ends = [[0_u8; 2 * BLOCK]; TOGETHER];
    let chain: *mut [u8; BLOCK] = chains.as_mut_ptr();
    // SAFETY: the caller's contract. Each message has a chaining value of its own, and is inside
    // its job's text, additional data or nonce, or a copy of its end.
    unsafe {
        let components = |jobs: &[Job<'_>], component: fn(&Job<'_>) -> Option<*const [u8]>| {
            let messages = jobs.iter().enumerate().filter_map(|(i, job)| {
                let bytes = component(job)?;
                chain.add(i).write([0; BLOCK]);
                Some(cmac(job.key, bytes, chain.add(i)))
            });
            authenticate_each(machine, size, messages);
        };
        components(jobs, |job| Some(job.aad));
        for (i, job) in jobs.iter_mut().enumerate() {
            // From here on the tag is the header; one that was expected has been used.
            job.tag = xor(job.key.begin, chain.add(i).read());
        }
        components(jobs, |job| job.nonce().map(core::ptr::from_ref));
        for (i, job) in jobs.iter_mut().enumerate() {
            if job.nonce_len.is_some() {
                job.tag = xor(double(job.tag), chain.add(i).read());
            }
        }
        // What is before the last block that is mixed.
        let before = |job: &Job<'_>| job.len.saturating_sub(BLOCK) / BLOCK * BLOCK;
        let messages = jobs.iter().enumerate().map(|(i, job)| {
            chain.add(i).write([0; BLOCK]);
            Message {
                source: text(job),
                len: before(job),
                key: &job.key.mac,
                subkeys: None,
                chain: chain.add(i),
            }
        });
        authenticate_each(machine, size, messages);
        let end: *mut [u8; 2 * BLOCK] = ends.as_mut_ptr();
        let messages = jobs.iter().enumerate().map(|(i, job)| {
            let at = before(job);
            let len = mix(
                &mut *end.add(i),
                text(job).wrapping_add(at),
                job.len - at,
                job.tag,
            );
            cmac(
                job.key,
                core::ptr::slice_from_raw_parts(end.add(i).cast(), len),
                chain.add(i),
            )
        });
        authenticate_each(machine, size, messages);
        for (i, job) in jobs.iter_mut().enumerate() {
            job.tag = chain.add(i).read();
        }
    }
    wipe(&mut ends[..jobs.len()]);
    wipe(&mut chains[..jobs.len()]);
}

/// The whole message of a CMAC, or what is left of one.
fn cmac(key: &Key, bytes: *const [u8], chain: *mut [u8; BLOCK]) -> Message<'_> {
    Message {
        source: bytes.cast(),
        len: bytes.len(),
        key: &key.mac,
        subkeys: Some(&key.subkeys),
        chain,
    }
}

/// Copies the last `len` bytes of a text, less than two blocks, and mixes the header into the last
/// block of them; a text that is shorter than a block is padded to one. Returns how many bytes.
///
/// # Safety
/// `text` is valid for reading `len` bytes; if they are more than a block, they end in the second.
unsafe fn mix(
    end: &mut [u8; 2 * BLOCK],
    text: *const u8,
    len: usize,
    header: [u8; BLOCK],
) -> usize {
    // SAFETY: the caller's promise; `len` is below two blocks.
    unsafe { end.as_mut_ptr().copy_from(text, len) };
    let (len, header) = if len < BLOCK {
        end[len] = 0x80;
        (BLOCK, double(header))
    } else {
        (len, header)
    };
    for (byte, header) in end[len - BLOCK..len].iter_mut().zip(header) {
        *byte ^= header;
    }
    len
}

/// Encrypts or decrypts the texts (RFC 5297, section 2.5).
///
/// # Safety
/// As for [`encrypt_many`], of at most [`TOGETHER`] jobs whose keys have `size`.
unsafe fn crypt(machine: Machine, size: KeySize, jobs: &[Job<'_>]) {
    let mut counters = [[0; BLOCK]; TOGETHER];
    for (counter, job) in counters.iter_mut().zip(jobs) {
        *counter = job.key.counter(&job.tag);
    }
    let messages = jobs
        .iter()
        .zip(&counters)
        .map(|(job, counter)| super::Message {
            source: job.source,
            target: job.target,
            len: super::message::length(job.len),
            key: &job.key.text,
            iv: counter,
        });
    // SAFETY: the caller's contract; the counters stay as they are.
    unsafe { ctr::apply_each(machine, size, messages) };
}

impl Key {
    /// The key of 32, 48 or 64 bytes, the first half of which is S2V's; `None` for another length.
    #[must_use]
    pub fn new(machine: Machine, key: &[u8]) -> Option<Self> {
        let (mac, text) = key.split_at(key.len() / 2);
        let (mac, text) = (
            EncryptKey::new(machine, mac)?,
            EncryptKey::new(machine, text)?,
        );
        let subkeys = Subkeys::new(machine, &mac);
        let mut key = Self {
            mac,
            subkeys,
            text,
            begin: [0; BLOCK],
        };
        let mut zero = [0; BLOCK];
        key.authenticate(machine, &[0; BLOCK], true, &mut zero);
        key.begin = double(zero);
        wipe(&mut zero);
        Some(key)
    }

    /// The size of each half.
    #[must_use]
    pub fn size(&self) -> KeySize {
        self.mac.size()
    }

    /// The key of the text.
    #[must_use]
    pub fn text(&self) -> &EncryptKey {
        &self.text
    }

    /// The counter block that a text starts with, by its synthetic IV: without the top bits of the
    /// last two words.
    #[must_use]
    pub fn counter(&self, tag: &[u8; BLOCK]) -> [u8; BLOCK] {
        let mut counter = *tag;
        counter[8] &= 0x7f;
        counter[12] &= 0x7f;
        counter
    }

    /// The synthetic IV of a message whose parts come one after the other.
    #[must_use]
    pub fn stream(&self, machine: Machine) -> Stream<'_> {
        Stream {
            machine,
            key: self,
            header: self.begin,
            chain: [0; BLOCK],
        }
    }

    /// Chains a part onto `chain`: the `last` of a CMAC, or whole blocks of one.
    fn authenticate(&self, machine: Machine, part: &[u8], last: bool, chain: &mut [u8; BLOCK]) {
        let message = Message {
            source: part.as_ptr(),
            len: part.len(),
            key: &self.mac,
            subkeys: last.then_some(&self.subkeys),
            chain,
        };
        // SAFETY: the part is a slice of that length, the chaining value borrowed exclusively.
        unsafe { authenticate_each(machine, self.size(), core::iter::once(message)) };
    }
}

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        wipe(&mut self.begin);
    }
}

/// A synthetic IV in progress: the additional data, then the nonce if there is one, then the text,
/// each as any number of [`Stream::absorb`] and one end. Wiped on drop.
pub struct Stream<'k> {
    machine: Machine,
    key: &'k Key,
    header: [u8; BLOCK],
    chain: [u8; BLOCK],
}

impl Stream<'_> {
    /// Whole blocks, behind which more of the same component follows.
    pub fn absorb(&mut self, blocks: &[u8]) {
        debug_assert!(blocks.len().is_multiple_of(BLOCK));
        self.key
            .authenticate(self.machine, blocks, false, &mut self.chain);
    }

    /// Ends the additional data by its last bytes, a block at most.
    pub fn end_aad(&mut self, rest: &[u8]) {
        self.header = xor(self.header, self.end(rest));
    }

    /// Ends the nonce by its last bytes.
    pub fn end_nonce(&mut self, rest: &[u8]) {
        self.header = xor(double(self.header), self.end(rest));
    }

    /// Ends the text by its last bytes: less than two blocks, and more than one if that is not all.
    ///
    /// # Panics
    /// If there are more.
    #[must_use]
    pub fn end_text(mut self, rest: &[u8]) -> [u8; BLOCK] {
        assert!(
            rest.len() < 2 * BLOCK,
            "the end of a text is less than two blocks"
        );
        let mut end = [[0; 2 * BLOCK]];
        // SAFETY: a slice of that length.
        let len = unsafe { mix(&mut end[0], rest.as_ptr(), rest.len(), self.header) };
        let tag = self.end(&end[0][..len]);
        wipe(&mut end);
        tag
    }

    fn end(&mut self, rest: &[u8]) -> [u8; BLOCK] {
        self.key
            .authenticate(self.machine, rest, true, &mut self.chain);
        core::mem::take(&mut self.chain)
    }
}

impl core::fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        wipe(&mut self.header);
        wipe(&mut self.chain);
    }
}
