//! The functions that a message's result is computed with.

use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Cipher, Hash, Mac};

/// What every algorithm does to one flat message. An IV or customization string that the algorithm
/// does not have is empty; lengths are in bytes.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::type_complexity, reason = "each parameter has its name")]
pub struct Reference {
    /// The payload, encrypted or decrypted.
    pub cipher:
        fn(cipher: Cipher, direction: Direction, key: &[u8], iv: &[u8], payload: &[u8]) -> Vec<u8>,
    /// The digest.
    pub hash: fn(hash: Hash, customization: &[u8], digest_len: usize, data: &[u8]) -> Vec<u8>,
    /// The tag.
    pub mac: fn(
        mac: Mac,
        key: &[u8],
        customization: &[u8],
        iv: &[u8],
        data: &[u8],
        tag_len: usize,
    ) -> Vec<u8>,
    /// Ciphertext and tag.
    pub seal: fn(
        aead: Aead,
        key: &[u8],
        iv: &[u8],
        aad: &[u8],
        plaintext: &[u8],
        tag_len: usize,
    ) -> (Vec<u8>, Vec<u8>),
    /// The plaintext; `None` if the tag does not verify.
    pub open: fn(
        aead: Aead,
        key: &[u8],
        iv: &[u8],
        aad: &[u8],
        ciphertext: &[u8],
        tag: &[u8],
    ) -> Option<Vec<u8>>,
}
