//! The tag of one ChaCha20-Poly1305 message whose parts arrive one after the other.

#![allow(unsafe_code)] // hands pointers to the kernels

use super::batch::{Batch, Room};
use super::{Kernels, Key, NONCE, TAG};
use crate::poly1305::{self, Authenticator, BLOCK, Element, Item, RUNS, Secret};
use crate::wipe::wipe;

/// A tag in progress; wiped on drop.
pub struct TagStream {
    authenticator: Authenticator,
    item: Item,
    /// Bytes that do not fill a block yet; invariant: `filled` is below a block.
    block: [u8; BLOCK],
    filled: usize,
    aad_len: u64,
    text_len: u64,
}

impl TagStream {
    /// The tag of a message of nothing so far.
    #[must_use]
    pub fn new(kernels: &Kernels, key: &Key, nonce: &[u8; NONCE]) -> Self {
        let mut one_time = [[0; 8]];
        let mut room = Room::new();
        let mut batch = Batch::new(kernels, &mut room, &mut one_time);
        batch.key(key, nonce, 0);
        batch.flush();
        drop(batch);
        let stream = Self {
            authenticator: kernels.authenticator(),
            item: Item {
                secret: Secret::new(&one_time[0]),
                runs: [(core::ptr::null(), 0); RUNS],
                sum: Element::default(),
            },
            block: [0; BLOCK],
            filled: 0,
            aad_len: 0,
            text_len: 0,
        };
        wipe(&mut one_time);
        stream
    }

    /// The next part of the associated data, of any length.
    ///
    /// # Panics
    /// After text.
    pub fn aad(&mut self, part: &[u8]) {
        assert!(self.text_len == 0, "associated data has ended");
        self.aad_len += part.len() as u64;
        self.update(part);
    }

    /// The next part of the ciphertext, of any length.
    pub fn text(&mut self, part: &[u8]) {
        if part.is_empty() {
            return;
        }
        if self.text_len == 0 {
            self.pad();
        }
        self.text_len += part.len() as u64;
        self.update(part);
    }

    /// The tag.
    #[must_use]
    pub fn finish(mut self) -> [u8; TAG] {
        self.pad();
        let mut lengths = [0; BLOCK];
        lengths[..8].copy_from_slice(&self.aad_len.to_le_bytes());
        lengths[8..].copy_from_slice(&self.text_len.to_le_bytes());
        self.update(&lengths);
        self.item.secret.tag(self.item.sum)
    }

    fn update(&mut self, mut part: &[u8]) {
        if self.filled > 0 {
            let (now, later) = part.split_at(part.len().min(BLOCK - self.filled));
            self.block[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            part = later;
            if self.filled < BLOCK {
                return;
            }
            let block = self.block;
            self.absorb(&block);
        }
        let (blocks, rest) = part.split_at(part.len() / BLOCK * BLOCK);
        self.absorb(blocks);
        self.block[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    /// Fills an unfilled block with zeros.
    fn pad(&mut self) {
        if self.filled > 0 {
            let mut block = [0; BLOCK];
            block[..self.filled].copy_from_slice(&self.block[..self.filled]);
            self.absorb(&block);
            self.filled = 0;
        }
    }

    /// Absorbs whole blocks.
    fn absorb(&mut self, blocks: &[u8]) {
        self.item.runs[0] = (blocks.as_ptr(), blocks.len() / BLOCK);
        // SAFETY: the one run that is not empty is a slice of that many blocks.
        unsafe {
            poly1305::authenticate(self.authenticator, core::slice::from_mut(&mut self.item))
        };
        self.item.runs[0].1 = 0;
    }
}

impl Drop for TagStream {
    fn drop(&mut self) {
        self.item.secret.wipe();
        wipe(&mut self.block);
    }
}

impl core::fmt::Debug for TagStream {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "TagStream after {} and {} bytes",
            self.aad_len, self.text_len
        )
    }
}
