//! GCM on one message (SP 800-38D), GHASH bit by bit.

use lanelock_kernels::aes::{BLOCK, EncryptKey};

use super::encrypt_block;

/// Encrypts `data`; returns the whole tag.
pub fn encrypt(key: &EncryptKey, j0: [u8; BLOCK], aad: &[u8], data: &mut [u8]) -> [u8; BLOCK] {
    counter(key, j0, data);
    tag(key, j0, aad, data)
}

/// Decrypts `data`; returns the whole tag, which the caller compares.
pub fn decrypt(key: &EncryptKey, j0: [u8; BLOCK], aad: &[u8], data: &mut [u8]) -> [u8; BLOCK] {
    let tag = tag(key, j0, aad, data);
    counter(key, j0, data);
    tag
}

/// The block before the first counter, from an IV of any length but zero.
pub fn j0(key: &EncryptKey, iv: &[u8]) -> [u8; BLOCK] {
    if let Ok(iv) = <[u8; 12]>::try_from(iv) {
        let mut block = [0; BLOCK];
        block[..12].copy_from_slice(&iv);
        block[15] = 1;
        return block;
    }
    let h = u128::from_be_bytes(encrypt_block(key, [0; BLOCK]));
    let hashed = absorb(h, 0, iv);
    multiply(hashed ^ (8 * iv.len() as u128), h).to_be_bytes()
}

fn counter(key: &EncryptKey, j0: [u8; BLOCK], data: &mut [u8]) {
    let mut block = j0;
    for chunk in data.chunks_mut(BLOCK) {
        let low = u32::from_be_bytes([block[12], block[13], block[14], block[15]]);
        block[12..].copy_from_slice(&low.wrapping_add(1).to_be_bytes());
        let stream = encrypt_block(key, block);
        chunk
            .iter_mut()
            .zip(stream)
            .for_each(|(byte, stream)| *byte ^= stream);
    }
}

fn tag(key: &EncryptKey, j0: [u8; BLOCK], aad: &[u8], ciphertext: &[u8]) -> [u8; BLOCK] {
    let h = u128::from_be_bytes(encrypt_block(key, [0; BLOCK]));
    let hashed = absorb(h, absorb(h, 0, aad), ciphertext);
    let lengths = (8 * aad.len() as u128) << 64 | 8 * ciphertext.len() as u128;
    let hashed = multiply(hashed ^ lengths, h);
    (hashed ^ u128::from_be_bytes(encrypt_block(key, j0))).to_be_bytes()
}

fn absorb(h: u128, mut hashed: u128, data: &[u8]) -> u128 {
    for chunk in data.chunks(BLOCK) {
        let mut block = [0; BLOCK];
        block[..chunk.len()].copy_from_slice(chunk);
        hashed = multiply(hashed ^ u128::from_be_bytes(block), h);
    }
    hashed
}

/// SP 800-38D, algorithm 1, with masks for branches.
fn multiply(x: u128, mut v: u128) -> u128 {
    let mut product = 0;
    for bit in (0..128).rev() {
        product ^= v & (x >> bit & 1).wrapping_neg();
        v = v >> 1 ^ (v & 1).wrapping_neg() & 0xe1 << 120;
    }
    product
}
