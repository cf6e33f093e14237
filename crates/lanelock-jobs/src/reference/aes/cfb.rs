//! CFB with segments of a block on one message.

use lanelock_kernels::aes::{BLOCK, EncryptKey};

use super::encrypt_block;

/// Encrypts; the last block may be shorter. `iv` becomes the last whole ciphertext block.
pub fn encrypt(key: &EncryptKey, iv: &mut [u8; BLOCK], data: &mut [u8]) {
    for block in data.chunks_mut(BLOCK) {
        add(block, encrypt_block(key, *iv));
        *iv = block.try_into().unwrap_or(*iv);
    }
}

/// Decrypts; the last block may be shorter. `iv` becomes the last whole ciphertext block.
pub fn decrypt(key: &EncryptKey, iv: &mut [u8; BLOCK], data: &mut [u8]) {
    for block in data.chunks_mut(BLOCK) {
        let stream = encrypt_block(key, *iv);
        *iv = (&*block).try_into().unwrap_or(*iv);
        add(block, stream);
    }
}

/// XORs the first bytes of `stream` into a block.
pub(super) fn add(block: &mut [u8], stream: [u8; BLOCK]) {
    for (byte, stream) in block.iter_mut().zip(stream) {
        *byte ^= stream;
    }
}
