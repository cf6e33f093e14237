//! Keys, and the derivation that XChaCha20 puts before them.

use super::Kernels;
use super::block::{CONSTANTS, COUNTER};
use super::kernels::ROWS;
use super::lone::{Lone, Room};
use crate::arch::words::DoubleRow;
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
        self.write_state(&mut state, counter, nonce_words(nonce));
        state
    }

    /// The same where it is wanted: a copy would wait for its parts to arrive in memory.
    #[inline(always)]
    pub(super) fn write_state(&self, state: &mut DoubleRow<u32>, counter: u32, nonce: [u32; 3]) {
        state[..4].copy_from_slice(&CONSTANTS);
        state[4..12].copy_from_slice(&self.0);
        state[COUNTER] = counter;
        state[COUNTER + 1..].copy_from_slice(&nonce);
    }

    /// The state whose block the key of a message with this nonce is taken from.
    #[inline(always)]
    fn extending(&self, nonce: &[u32; 4]) -> DoubleRow<u32> {
        let mut state = self.state(0, &[0; NONCE]);
        state[COUNTER..].copy_from_slice(nonce);
        state
    }

    /// HChaCha20's result: the first and the last row before the block function adds the state,
    /// which is public there.
    #[inline(always)]
    fn take(&mut self, block: &DoubleRow<u32>, nonce: &[u32; 4]) {
        for i in 0..4 {
            self.0[i] = block[i].wrapping_sub(CONSTANTS[i]);
            self.0[4 + i] = block[COUNTER + i].wrapping_sub(nonce[i]);
        }
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

/// The keys of up to `N` XChaCha20 messages by HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2);
/// each is used with its message's [`extended_nonce`].
#[derive(Debug)]
pub struct ExtendedKeys<const N: usize>([Key; N]);

impl<const N: usize> ExtendedKeys<N> {
    /// Derives a key for each pair of a key and a nonce; those past the last are zero.
    ///
    /// # Panics
    /// If there are more than `N`.
    #[must_use]
    pub fn new<'m>(
        kernels: &Kernels,
        messages: impl Iterator<Item = (&'m Key, &'m [u8; X_NONCE])>,
    ) -> Self {
        const { assert!(0 < N && N <= ROWS) };
        let mut keys = Self([const { Key([0; 8]) }; N]);
        let mut nonces = [[0; 4]; N];
        if N == 1 {
            for (i, (key, nonce)) in messages.enumerate() {
                read_words(&nonce[..16], &mut nonces[i]);
                let mut state = key.extending(&nonces[i]);
                let mut room = Room::new();
                let mut block = Lone::new(&mut room);
                block.fill(kernels, &state, 1);
                keys.0[i].take(block.block(0), &nonces[i]);
                wipe(&mut state);
            }
            return keys;
        }
        let mut rows = [[0; 16]; ROWS];
        let mut count = 0;
        for (key, nonce) in messages {
            read_words(&nonce[..16], &mut nonces[count]);
            rows[count] = key.extending(&nonces[count]);
            count += 1;
        }
        kernels.blocks(&mut rows, count);
        for i in 0..count {
            keys.0[i].take(&rows[i], &nonces[i]);
        }
        wipe(&mut rows);
        keys
    }

    /// The keys, in the order of the messages.
    pub fn iter(&self) -> core::slice::Iter<'_, Key> {
        self.0.iter()
    }
}

impl<const N: usize> From<ExtendedKeys<N>> for [Key; N] {
    fn from(keys: ExtendedKeys<N>) -> Self {
        keys.0
    }
}

/// The nonce that goes with the key derived from `nonce`.
#[inline]
#[must_use]
pub fn extended_nonce(nonce: &[u8; X_NONCE]) -> [u8; NONCE] {
    let mut rest = [0; NONCE];
    rest[4..].copy_from_slice(&nonce[16..]);
    rest
}

/// The words of a nonce.
#[inline(always)]
pub(super) fn nonce_words(nonce: &[u8; NONCE]) -> [u32; 3] {
    let mut words = [0; 3];
    read_words(nonce, &mut words);
    words
}

/// Little-endian words.
#[inline(always)]
fn read_words(bytes: &[u8], words: &mut [u32]) {
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
}
