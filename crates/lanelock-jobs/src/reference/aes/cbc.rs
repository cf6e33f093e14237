//! CBC on one message.

use lanelock_kernels::aes::{BLOCK, EncryptKey};

use super::{decrypt_block, encrypt_block, xor};

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
