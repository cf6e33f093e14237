//! CCM on one message (SP 800-38C).

use lanelock_kernels::aes::{BLOCK, EncryptKey};

use super::mac::cbc_mac;
use super::{ctr, encrypt_block, xor};

/// Encrypts `data`; returns the tag, of which the first `tag_len` bytes count.
pub fn encrypt(
    key: &EncryptKey,
    nonce: &[u8],
    tag_len: usize,
    aad: &[u8],
    data: &mut [u8],
) -> [u8; BLOCK] {
    let tag = tag(key, nonce, tag_len, aad, data);
    counter(key, nonce, data);
    tag
}

/// Decrypts `data`; returns the tag, which the caller compares.
pub fn decrypt(
    key: &EncryptKey,
    nonce: &[u8],
    tag_len: usize,
    aad: &[u8],
    data: &mut [u8],
) -> [u8; BLOCK] {
    counter(key, nonce, data);
    tag(key, nonce, tag_len, aad, data)
}

fn block(flags: usize, nonce: &[u8], count: usize) -> [u8; BLOCK] {
    let mut block = (count as u128).to_be_bytes();
    block[0] = flags.to_le_bytes()[0];
    block[1..=nonce.len()].copy_from_slice(nonce);
    block
}

fn counter(key: &EncryptKey, nonce: &[u8], data: &mut [u8]) {
    ctr::apply(key, block(14 - nonce.len(), nonce, 1), data);
}

fn tag(key: &EncryptKey, nonce: &[u8], tag_len: usize, aad: &[u8], data: &[u8]) -> [u8; BLOCK] {
    let flags = 64 * usize::from(!aad.is_empty()) + 8 * ((tag_len - 2) / 2) + 14 - nonce.len();
    let mut chain = cbc_mac(key, [0; BLOCK], &block(flags, nonce, data.len()));
    let mut first = [0; BLOCK];
    let prefix = match aad.len() {
        0 => 0,
        1..0xff00 => {
            first[..2].copy_from_slice(&aad.len().to_be_bytes()[6..]);
            2
        }
        _ => {
            first[..2].copy_from_slice(&[0xff, 0xfe]);
            first[2..6].copy_from_slice(&aad.len().to_be_bytes()[4..]);
            6
        }
    };
    let (head, rest) = aad.split_at(aad.len().min(BLOCK - prefix));
    first[prefix..][..head.len()].copy_from_slice(head);
    if !aad.is_empty() {
        chain = cbc_mac(key, chain, &first);
    }
    let chain = cbc_mac(key, cbc_mac(key, chain, rest), data);
    xor(chain, encrypt_block(key, block(14 - nonce.len(), nonce, 0)))
}
