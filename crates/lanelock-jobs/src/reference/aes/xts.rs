//! XTS on one data unit (IEEE 1619).

use lanelock_kernels::aes::{BLOCK, EncryptKey};

use super::{decrypt_block, encrypt_block, xor};

/// Encrypts a data unit of at least one block; `key2` is the tweak's.
pub fn encrypt(key1: &EncryptKey, key2: &EncryptKey, tweak: [u8; BLOCK], data: &mut [u8]) {
    turn(key1, key2, tweak, data, encrypt_block, [0, 1]);
}

/// Decrypts a data unit of at least one block.
pub fn decrypt(key1: &EncryptKey, key2: &EncryptKey, tweak: [u8; BLOCK], data: &mut [u8]) {
    turn(key1, key2, tweak, data, decrypt_block, [1, 0]);
}

/// `order`: which of the last two tweaks belongs to the last whole block of the input, and which
/// to the block put together from the rest.
fn turn(
    key1: &EncryptKey,
    key2: &EncryptKey,
    tweak: [u8; BLOCK],
    data: &mut [u8],
    cipher: fn(&EncryptKey, [u8; BLOCK]) -> [u8; BLOCK],
    order: [usize; 2],
) {
    let mut tweak = encrypt_block(key2, tweak);
    let mut next = || {
        let this = tweak;
        tweak = double(tweak);
        this
    };
    let apply = |block, tweak| xor(cipher(key1, xor(block, tweak)), tweak);
    let rest = data.len() % BLOCK;
    let whole = data.len() / BLOCK - usize::from(rest > 0);
    let (blocks, end) = data.split_at_mut(BLOCK * whole);
    for block in blocks.as_chunks_mut().0 {
        *block = apply(*block, next());
    }
    if let Some((last, tail)) = end.split_first_chunk_mut::<BLOCK>() {
        let tweaks = [next(), next()];
        *last = apply(*last, tweaks[order[0]]);
        tail.swap_with_slice(&mut last[..rest]);
        *last = apply(*last, tweaks[order[1]]);
    }
}

fn double(tweak: [u8; BLOCK]) -> [u8; BLOCK] {
    let value = u128::from_le_bytes(tweak);
    (value << 1 ^ (value >> 127) * 0x87).to_le_bytes()
}
