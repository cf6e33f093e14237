//! OFB on one message.

use lanelock_kernels::aes::{BLOCK, EncryptKey};

use super::cfb::add;
use super::encrypt_block;

/// Encrypts or decrypts; the last block may be shorter. `iv` becomes what was added to the last
/// whole one.
pub fn apply(key: &EncryptKey, iv: &mut [u8; BLOCK], data: &mut [u8]) {
    for block in data.chunks_mut(BLOCK) {
        let stream = encrypt_block(key, *iv);
        if block.len() == BLOCK {
            *iv = stream;
        }
        add(block, stream);
    }
}
