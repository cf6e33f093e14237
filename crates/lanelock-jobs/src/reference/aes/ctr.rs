//! CTR on one message.

use lanelock_kernels::aes::{BLOCK, EncryptKey};

use super::encrypt_block;

/// Encrypts or decrypts; the counter is the whole block, big-endian.
pub fn apply(key: &EncryptKey, counter: [u8; BLOCK], data: &mut [u8]) {
    let mut counter = u128::from_be_bytes(counter);
    for chunk in data.chunks_mut(BLOCK) {
        let stream = encrypt_block(key, counter.to_be_bytes());
        chunk
            .iter_mut()
            .zip(stream)
            .for_each(|(byte, stream)| *byte ^= stream);
        counter = counter.wrapping_add(1);
    }
}
