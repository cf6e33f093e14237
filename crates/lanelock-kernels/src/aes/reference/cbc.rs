//! CBC on one message.

use super::{decrypt_block, encrypt_block};
use crate::aes::{BLOCK, EncryptKey};

/// Encrypts whole blocks; `iv` becomes the last ciphertext block.
pub fn encrypt(key: &EncryptKey, iv: &mut [u8; BLOCK], data: &mut [u8]) {
    for block in data.as_chunks_mut::<BLOCK>().0 {
        *iv = encrypt_block(key, xor(*block, *iv));
        *block = *iv;
    }
}

/// Decrypts whole blocks; `iv` becomes the last ciphertext block.
pub fn decrypt(key: &EncryptKey, iv: &mut [u8; BLOCK], data: &mut [u8]) {
    for block in data.as_chunks_mut::<BLOCK>().0 {
        let ciphertext = *block;
        *block = xor(decrypt_block(key, ciphertext), *iv);
        *iv = ciphertext;
    }
}

pub(crate) fn xor(a: [u8; BLOCK], b: [u8; BLOCK]) -> [u8; BLOCK] {
    (u128::from_le_bytes(a) ^ u128::from_le_bytes(b)).to_le_bytes()
}
