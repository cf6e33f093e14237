//! AES-CBC (SP 800-38A, section 6.2) and HMAC (RFC 2104) of one message in one pass.
//!
//! Both chain: a round of CBC encryption waits for the round before it, and so does a round of the
//! hash function, while the CPU could run several. Put between each other, the slower of the two
//! hides the other. What is authenticated is in 64-byte blocks that begin anywhere in the
//! payload, so the hash function follows the cipher (or leads it) by 64 to 79 bytes (up to 15).

mod hash;
mod run;
mod steps;

pub use hash::Interleave;

use super::{BLOCK, DecryptKey, EncryptKey};
use crate::arch::sha::Sha;
use crate::arch::words::{Row, Word};
use crate::bytes::copy_short;
use crate::hash::HmacKey;
use crate::machine::Machine;
use crate::wipe::wipe;

/// A schedule and the direction it is for.
#[derive(Clone, Copy, Debug)]
pub enum CbcKey<'k> {
    /// Encrypts.
    Encrypt(&'k EncryptKey),
    /// Decrypts.
    Decrypt(&'k DecryptKey),
}

/// Which side of the cipher is authenticated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// What the cipher reads.
    Source,
    /// What the cipher writes.
    Target,
}

/// The proof that the CPU has instructions for the rounds of both.
#[derive(Clone, Copy, Debug)]
pub struct Instructions(Sha);

impl Instructions {
    /// Those of `machine`, if it has them.
    #[must_use]
    pub fn of(machine: Machine) -> Option<Self> {
        machine.sha.map(Self)
    }
}

/// One message on its way through cipher and MAC; both states are kept between partial updates.
/// Wiped on drop.
///
/// Bytes are authenticated in the order of the calls.
pub struct CbcHmac<'k, A: Interleave> {
    key: CbcKey<'k>,
    mac_key: &'k HmacKey<A>,
    /// The last ciphertext block, or the IV.
    iv: [u8; BLOCK],
    chain: Row<A::Word>,
    /// Authenticated bytes that are not in `chain` yet, and room for their padding. Invariant:
    /// `filled` < two blocks.
    buffer: [u8; 3 * HASH],
    filled: usize,
    /// Authenticated bytes, with the block of the key.
    total: u64,
    instructions: Instructions,
}

/// Block length of the hash functions that interleave.
const HASH: usize = 64;

impl<'k, A: Interleave> CbcHmac<'k, A> {
    /// A message of no bytes so far; `None` unless the hash function interleaves.
    #[must_use]
    #[inline(always)]
    pub fn new(
        instructions: Instructions,
        key: CbcKey<'k>,
        mac_key: &'k HmacKey<A>,
        iv: [u8; BLOCK],
    ) -> Option<Self> {
        A::INTERLEAVES.then(|| Self {
            key,
            mac_key,
            iv,
            chain: *mac_key.inner(),
            buffer: [0; 3 * HASH],
            filled: 0,
            total: HASH as u64,
            instructions,
        })
    }

    /// Authenticates `part`, which the cipher leaves alone.
    pub fn authenticate(&mut self, part: &[u8]) {
        self.total += part.len() as u64;
        // SAFETY: a slice.
        unsafe { self.absorb(part.as_ptr(), part.len()) }
    }

    /// Runs the cipher over `len` bytes that are not authenticated.
    ///
    /// # Panics
    /// If `len` is not a multiple of 16.
    ///
    /// # Safety
    /// As for [`Self::update`].
    pub unsafe fn cipher(&mut self, source: *const u8, target: *mut u8, len: usize) {
        assert!(len.is_multiple_of(BLOCK), "CBC takes whole blocks");
        // SAFETY: the caller's promises.
        unsafe { self.cipher_alone(source, target, len) };
    }

    /// Runs the cipher over `len` bytes, and authenticates them on one side of it.
    ///
    /// Both advance together where at least 64 bytes are left; parts of multiples of 64 bytes
    /// lose nothing.
    ///
    /// # Panics
    /// If `len` is not a multiple of 16.
    ///
    /// # Safety
    /// `source` is valid for reads and `target` for writes of `len` bytes; they are identical or
    /// disjoint.
    pub unsafe fn update(&mut self, side: Side, source: *const u8, target: *mut u8, len: usize) {
        assert!(len.is_multiple_of(BLOCK), "CBC takes whole blocks");
        self.total += len as u64;
        // SAFETY: the caller's promises.
        unsafe {
            match side {
                Side::Source => self.lead(source, target, len),
                Side::Target => self.follow(source, target, len),
            }
        }
    }

    /// Writes the tag of all that was authenticated; the cipher may go on.
    ///
    /// # Panics
    /// If `tag` is not as long as the digest.
    pub fn tag(&mut self, tag: &mut [u8]) {
        assert!(tag.len() == A::DIGEST, "the tag has {} bytes", A::DIGEST);
        let blocks = self.pad();
        // SAFETY: `blocks` blocks of the buffer.
        unsafe { self.hash_alone(self.buffer.as_ptr(), blocks) };
        let digest = A::DIGEST / A::Word::BYTES;
        let mut block = [A::Word::default(); 16];
        for i in 0..digest {
            block[i] = self.chain[i].to_be();
        }
        block[digest] = A::Word::END.to_be();
        #[allow(clippy::cast_possible_truncation)] // at most 8 · (64 + 32)
        let bits = 8 * (HASH + A::DIGEST) as u32;
        block[15] = A::Word::from_bits(bits).to_be();
        self.chain = *self.mac_key.outer();
        // SAFETY: sixteen words of four bytes are a block.
        unsafe { self.hash_alone(block.as_ptr().cast(), 1) };
        for (word, to) in self.chain.iter().zip(tag.chunks_exact_mut(A::Word::BYTES)) {
            word.write_be(to);
        }
    }

    /// Ends the message in the buffer; returns the number of blocks.
    ///
    /// Line by line: the rounds can load a line at once if it was stored at once.
    #[inline(always)]
    fn pad(&mut self) -> usize {
        // From 17 − n on: what is kept of a line that begins with n − 1 bytes, and what follows
        // them.
        const KEEP: [u8; 33] = {
            let mut keep = [0; 33];
            keep.split_at_mut(16).0.copy_from_slice(&[0xff; 16]);
            keep
        };
        const END: [u8; 33] = {
            let mut end = [0; 33];
            end[16] = 0x80;
            end
        };
        let blocks = (self.filled + 9).div_ceil(HASH);
        let (lines, _) = self.buffer[..HASH * blocks].as_chunks_mut::<BLOCK>();
        for (i, line) in lines.iter_mut().enumerate() {
            let from = 17 - (self.filled + 1).saturating_sub(BLOCK * i).min(17);
            let length = if i + 1 == 4 * blocks {
                u128::from(self.total << 3).to_be_bytes()
            } else {
                [0; BLOCK]
            };
            for j in 0..BLOCK {
                line[j] = line[j] & KEEP[from + j] | END[from + j] | length[j];
            }
        }
        blocks
    }

    /// The authenticated bytes are those written: the hash function follows the cipher.
    ///
    /// # Safety
    /// As for [`Self::update`].
    unsafe fn follow(&mut self, source: *const u8, target: *mut u8, len: usize) {
        // Bytes that the cipher has written, and of these, what is in the chain or the buffer.
        let (mut written, mut hashed) = (0, 0);
        loop {
            let (left, ready) = (len - written, written - hashed);
            // SAFETY: `hashed` ≤ `written` ≤ `len`, and whatever runs ends by `written` or `len`.
            unsafe {
                let (from, to) = (source.add(written), target.add(written));
                let text = target.add(hashed);
                if self.filled >= HASH {
                    if left < HASH {
                        break;
                    }
                    self.both(None, from, to, 1);
                    written += HASH;
                } else if self.filled + ready < HASH {
                    let lack = (HASH - self.filled - ready).next_multiple_of(BLOCK);
                    let bytes = lack.min(left);
                    if bytes == 0 {
                        break;
                    }
                    self.cipher_alone(from, to, bytes);
                    written += bytes;
                } else if self.filled > 0 {
                    hashed += self.fill(text, HASH - self.filled);
                } else {
                    let blocks = left / HASH;
                    if blocks == 0 {
                        break;
                    }
                    self.both(Some(text), from, to, blocks);
                    written += HASH * blocks;
                    hashed += HASH * blocks;
                }
            }
        }
        // SAFETY: as above.
        unsafe {
            self.cipher_alone(source.add(written), target.add(written), len - written);
            self.absorb(target.add(hashed), len - hashed);
        }
    }

    /// The authenticated bytes are those read: the hash function leads, because the cipher may
    /// write over them.
    ///
    /// # Safety
    /// As for [`Self::update`].
    unsafe fn lead(&mut self, source: *const u8, target: *mut u8, len: usize) {
        self.hash_full_block();
        let (mut hashed, mut written) = (0, 0);
        // SAFETY: `written` ≤ `hashed` ≤ `len`, and whatever runs ends by `len`.
        unsafe {
            if self.filled > 0 {
                hashed = self.fill(source, len.min(HASH - self.filled));
                written = hashed / BLOCK * BLOCK;
                self.cipher_alone(source, target, written);
                self.hash_full_block();
            }
            let blocks = (len - hashed) / HASH;
            if blocks > 0 {
                let (from, to) = (source.add(written), target.add(written));
                self.both(Some(source.add(hashed)), from, to, blocks);
                hashed += HASH * blocks;
                written += HASH * blocks;
            }
            // The buffer is empty unless nothing is left: a block of it never fills here.
            self.fill(source.add(hashed), len - hashed);
            self.cipher_alone(source.add(written), target.add(written), len - written);
        }
    }

    /// Takes authenticated bytes; less than two blocks of them wait for a cipher to run beside.
    ///
    /// # Safety
    /// `from` is valid for reads of `len` bytes.
    unsafe fn absorb(&mut self, mut from: *const u8, mut len: usize) {
        // SAFETY: no more than `len` bytes are taken; less than two blocks are left to fill.
        unsafe {
            while self.filled > 0 && self.filled + len >= 2 * HASH {
                let taken = self.fill(from, HASH.saturating_sub(self.filled));
                (from, len) = (from.add(taken), len - taken);
                self.hash_full_block();
            }
            if len >= 2 * HASH {
                let blocks = len / HASH - 1;
                self.hash_alone(from, blocks);
                (from, len) = (from.add(HASH * blocks), len - HASH * blocks);
            }
            self.fill(from, len);
        }
    }

    /// Copies `count` bytes to the end of the buffer, where they fit; returns `count`.
    ///
    /// # Safety
    /// `from` is valid for reads of `count` bytes.
    #[inline(always)]
    unsafe fn fill(&mut self, from: *const u8, count: usize) -> usize {
        let room = &mut self.buffer[self.filled..][..count];
        // SAFETY: both have `count` bytes, no more than the buffer's 128; the buffer is ours.
        unsafe { copy_short(from, room.as_mut_ptr(), count) };
        self.filled += count;
        count
    }

    /// Takes the first block out of the buffer.
    #[inline(always)]
    fn shift(&mut self) {
        self.buffer.copy_within(HASH..2 * HASH, 0);
        self.filled -= HASH;
    }

    /// Compresses the buffer's first block, if it is full.
    #[inline(always)]
    fn hash_full_block(&mut self) {
        if self.filled >= HASH {
            // SAFETY: a block of the buffer.
            unsafe { self.hash_alone(self.buffer.as_ptr(), 1) };
            self.shift();
        }
    }

    /// Runs the cipher over `blocks` times 64 bytes and the hash function over as many: those at
    /// `text`, or the buffer's one block.
    ///
    /// # Safety
    /// As for [`Self::update`]. `text` is valid for reads; of its bytes, each block of 64 is
    /// either behind what the cipher reads by then, or not before it.
    #[inline(always)]
    unsafe fn both(
        &mut self,
        text: Option<*const u8>,
        source: *const u8,
        target: *mut u8,
        blocks: usize,
    ) {
        let data = text.unwrap_or(self.buffer.as_ptr());
        // SAFETY: the caller's promises.
        unsafe { self.hash_beside(data, source, target, blocks) };
        if text.is_none() {
            self.shift();
        }
    }
}

impl<A: Interleave> Drop for CbcHmac<'_, A> {
    fn drop(&mut self) {
        wipe(&mut self.chain);
        wipe(&mut self.buffer);
    }
}

impl<A: Interleave> core::fmt::Debug for CbcHmac<'_, A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "CbcHmac<{}> after {} bytes", A::NAME, self.total)
    }
}
