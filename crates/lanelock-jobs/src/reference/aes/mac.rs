//! CMAC and CBC-MAC on one message.

use lanelock_kernels::aes::{BLOCK, EncryptKey};

use super::{encrypt_block, xor};

/// CMAC of a message.
pub fn cmac(key: &EncryptKey, data: &[u8]) -> [u8; BLOCK] {
    let double = |value: u128| value << 1 ^ (value >> 127) * 0x87;
    let mut subkey = double(u128::from_be_bytes(encrypt_block(key, [0; BLOCK])));
    let blocks = data.len().div_ceil(BLOCK).max(1);
    let (whole, rest) = data.split_at(BLOCK * (blocks - 1));
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    if rest.len() < BLOCK {
        last[rest.len()] = 0x80;
        subkey = double(subkey);
    }
    let chain = cbc_mac(key, [0; BLOCK], whole);
    encrypt_block(key, xor(xor(chain, last), subkey.to_be_bytes()))
}

/// The last block of CBC over `data`, padded with zeros to whole blocks.
pub fn cbc_mac(key: &EncryptKey, mut chain: [u8; BLOCK], data: &[u8]) -> [u8; BLOCK] {
    for chunk in data.chunks(BLOCK) {
        let mut block = [0; BLOCK];
        block[..chunk.len()].copy_from_slice(chunk);
        chain = encrypt_block(key, xor(chain, block));
    }
    chain
}
