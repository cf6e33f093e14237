//! AES-CMAC (RFC 4493, NIST SP 800-38B) over a CBC context, as a stretch of the same endless
//! stream as in [`crate::cbc`]: OpenSSL's own CMAC encrypts block by block and restarts per message.

use lanelock_core::algorithm::MAX_TAG_LEN;
use zeroize::Zeroize;

use crate::cbc::xor;
use crate::ffi::{CipherContext, Failed};

const BLOCK: usize = 16;

/// Bytes encrypted in one call.
const BUFFER: usize = 2048;

/// A keyed CMAC.
pub(crate) struct Cmac {
    context: CipherContext,
    /// The block that the context will XOR next.
    last: [u8; BLOCK],
    /// For a last block that is whole, and for one that was padded.
    subkeys: [[u8; BLOCK]; 2],
    buffer: [u8; BUFFER],
    filled: usize,
    /// The message's first block, from which `last` is to be taken out, has not been encrypted.
    fresh: bool,
}

impl Cmac {
    /// Over a fresh context of AES-CBC that encrypts.
    pub(crate) fn new(mut context: CipherContext) -> Result<Self, Failed> {
        let zero = [0; BLOCK];
        context.start(&zero)?;
        let mut last = zero;
        context.update_slice(&mut last)?;
        let whole = double(last);
        let subkeys = [whole, double(whole)];
        Ok(Self {
            context,
            last,
            subkeys,
            buffer: [0; BUFFER],
            filled: 0,
            fresh: true,
        })
    }

    /// Starts a message.
    #[inline]
    pub(crate) fn start(&mut self) {
        self.filled = 0;
        self.fresh = true;
    }

    /// Adds to the message. A full buffer waits until more follows: the last block is special.
    #[inline]
    pub(crate) fn update(&mut self, mut data: &[u8]) -> Result<(), Failed> {
        while !data.is_empty() {
            if self.filled == BUFFER {
                self.encrypt(BUFFER)?;
            }
            let (now, later) = data.split_at(data.len().min(BUFFER - self.filled));
            self.buffer[self.filled..self.filled + now.len()].copy_from_slice(now);
            self.filled += now.len();
            data = later;
        }
        Ok(())
    }

    /// Ends the message and writes its untruncated tag to the front of `tag`.
    #[inline]
    pub(crate) fn finish(&mut self, tag: &mut [u8; MAX_TAG_LEN]) -> Result<(), Failed> {
        let whole = self.filled > 0 && self.filled.is_multiple_of(BLOCK);
        let len = self.filled.next_multiple_of(BLOCK).max(BLOCK);
        if !whole {
            self.buffer[self.filled..len].fill(0);
            self.buffer[self.filled] = 0x80;
        }
        let subkey = self.subkeys[usize::from(!whole)];
        if let Some(last) = self.buffer[..len].last_chunk_mut() {
            xor(last, &subkey);
        }
        self.encrypt(len)?;
        tag[..BLOCK].copy_from_slice(&self.last);
        Ok(())
    }

    /// Encrypts the buffer's first `len` bytes, a multiple of the block and not 0.
    #[inline]
    fn encrypt(&mut self, len: usize) -> Result<(), Failed> {
        let data = &mut self.buffer[..len];
        if let Some(first) = data.first_chunk_mut()
            && self.fresh
        {
            xor(first, &self.last);
        }
        self.fresh = false;
        self.filled = 0;
        self.context.update_slice(data)?;
        self.last = *data.last_chunk().ok_or(Failed::MISUSE)?;
        Ok(())
    }
}

impl Drop for Cmac {
    fn drop(&mut self) {
        self.last.zeroize();
        self.subkeys.zeroize();
        self.buffer.zeroize();
    }
}

/// Multiplies by x in GF(2^128) (RFC 4493, 2.3), without a branch on the secret.
pub(crate) fn double(block: [u8; BLOCK]) -> [u8; BLOCK] {
    let value = u128::from_be_bytes(block);
    let carry = (value >> 127).wrapping_neg();
    (value << 1 ^ carry & 0x87).to_be_bytes()
}
