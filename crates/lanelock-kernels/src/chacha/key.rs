//! Keys, and the derivation that XChaCha20 puts before them.

use super::Kernels;
use super::block::{CONSTANTS, COUNTER};
use super::tier::ROWS;
use crate::lanes::DoubleRow;
use crate::wipe::wipe;

/// Bytes of a key.
pub const KEY: usize = 32;
/// Bytes of a nonce.
pub const NONCE: usize = 12;
/// Bytes of an XChaCha20 nonce.
pub const X_NONCE: usize = 24;

/// A ChaCha20 key; wiped on drop.
pub struct Key([u32; 8]);

impl Key {
    /// A key from its bytes.
    #[must_use]
    pub fn new(bytes: &[u8; KEY]) -> Self {
        let mut words = [0; 8];
        read_words(bytes, &mut words);
        Self(words)
    }

    /// The state of one block.
    #[inline(always)]
    pub(super) fn state(&self, counter: u32, nonce: &[u8; NONCE]) -> DoubleRow<u32> {
        let mut state = [0; 16];
        state[..4].copy_from_slice(&CONSTANTS);
        state[4..12].copy_from_slice(&self.0);
        state[COUNTER] = counter;
        read_words(nonce, &mut state[13..]);
        state
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Key")
    }
}

/// HChaCha20: the key of one XChaCha20 message, and the nonce to use it with
/// (draft-irtf-cfrg-xchacha-03, section 2).
#[must_use]
pub fn extended_key(kernels: &Kernels, key: &Key, nonce: &[u8; X_NONCE]) -> (Key, [u8; NONCE]) {
    let mut state = key.state(0, &[0; NONCE]);
    read_words(&nonce[..16], &mut state[COUNTER..]);
    let mut rows = [[0; 16]; ROWS];
    rows[0] = state;
    kernels.blocks(&mut rows, 1);
    // The block function adds the state at the end and HChaCha20 does not. What it takes are the
    // first and the last row, where the state is public.
    let mut derived = [0; 8];
    for i in 0..4 {
        derived[i] = rows[0][i].wrapping_sub(state[i]);
        derived[4 + i] = rows[0][12 + i].wrapping_sub(state[12 + i]);
    }
    let derived = Key(core::mem::take(&mut derived));
    wipe(&mut rows);
    wipe(&mut state);
    let mut rest = [0; NONCE];
    rest[4..].copy_from_slice(&nonce[16..]);
    (derived, rest)
}

/// Little-endian words.
#[inline(always)]
fn read_words(bytes: &[u8], words: &mut [u32]) {
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
}
