//! AES-SIV and AES-GCM-SIV on one message, in the words of their standards.

use lanelock_kernels::aes::{BLOCK, EncryptKey};

use crate::Given;
use crate::reference::aes::{ctr, encrypt_block, mac};

type Block = [u8; BLOCK];

/// Key, additional data, nonce, expected tag (for decryption) and text; returns the tag.
pub type Siv = fn(&[u8], &[u8], Option<&[u8]>, Block, &mut [u8]) -> Block;

/// RFC 5297, section 2.6.
pub fn siv_encrypt(
    key: &[u8],
    aad: &[u8],
    nonce: Option<&[u8]>,
    _: Block,
    text: &mut [u8],
) -> Block {
    let (mac, cipher) = halves(key);
    let tag = s2v(&mac, aad, nonce, text);
    siv_crypt(&cipher, tag, text);
    tag
}

/// RFC 5297, section 2.7; returns what the tag ought to have been.
pub fn siv_decrypt(
    key: &[u8],
    aad: &[u8],
    nonce: Option<&[u8]>,
    tag: Block,
    text: &mut [u8],
) -> Block {
    let (mac, cipher) = halves(key);
    siv_crypt(&cipher, tag, text);
    s2v(&mac, aad, nonce, text)
}

fn halves(key: &[u8]) -> (EncryptKey, EncryptKey) {
    let (mac, cipher) = key.split_at(key.len() / 2);
    let [mac, cipher] = [mac, cipher].map(crate::aes::portable);
    (mac, cipher)
}

fn siv_crypt(key: &EncryptKey, tag: Block, text: &mut [u8]) {
    let mut counter = tag;
    counter[8] &= 0x7f;
    counter[12] &= 0x7f;
    ctr::apply(key, counter, text);
}

/// RFC 5297, section 2.4.
fn s2v(key: &EncryptKey, aad: &[u8], nonce: Option<&[u8]>, text: &[u8]) -> Block {
    let double = |block: Block| {
        let value = u128::from_be_bytes(block);
        (value << 1 ^ if value >> 127 == 1 { 0x87 } else { 0 }).to_be_bytes()
    };
    let xor = |a: Block, b: Block| core::array::from_fn(|i| a[i] ^ b[i]);
    let mut header: Block = mac::cmac(key, &[0; BLOCK]);
    for component in [Some(aad), nonce].into_iter().flatten() {
        header = xor(double(header), mac::cmac(key, component));
    }
    let mut last = text.to_vec();
    if last.len() < BLOCK {
        last.push(0x80);
        last.resize(BLOCK, 0);
        header = double(header);
    }
    let end = last.len() - BLOCK;
    for (byte, header) in last[end..].iter_mut().zip(header) {
        *byte ^= header;
    }
    mac::cmac(key, &last)
}

/// RFC 8452, section 4; returns the tag.
pub fn gcm_siv_encrypt(key: &EncryptKey, given: &Given<'_>, text: &mut [u8]) -> Block {
    let (authentication, encryption) = gcm_siv_keys(key, given.iv());
    let tag = gcm_siv_tag(authentication, &encryption, given, text);
    gcm_siv_crypt(&encryption, tag, text);
    tag
}

/// RFC 8452, section 5; returns what the tag ought to have been.
pub fn gcm_siv_decrypt(key: &EncryptKey, given: &Given<'_>, text: &mut [u8]) -> Block {
    let (authentication, encryption) = gcm_siv_keys(key, given.iv());
    gcm_siv_crypt(&encryption, given.tag(), text);
    gcm_siv_tag(authentication, &encryption, given, text)
}

/// The keys of a nonce: for POLYVAL and for the text.
#[expect(clippy::missing_panics_doc, reason = "there are two keys at least")]
pub fn gcm_siv_keys(key: &EncryptKey, nonce: [u8; 12]) -> (Block, EncryptKey) {
    let bytes: Vec<u8> = (0_u32..)
        .take(2 + key.size().bytes() / 8)
        .flat_map(|number| {
            let mut block = [0; BLOCK];
            block[..4].copy_from_slice(&number.to_le_bytes());
            block[4..].copy_from_slice(&nonce);
            encrypt_block(key, block)[..8].to_vec()
        })
        .collect();
    let (authentication, encryption) = bytes.split_first_chunk().expect("two keys");
    (*authentication, crate::aes::portable(encryption))
}

/// The text's own counter mode.
pub fn gcm_siv_crypt(key: &EncryptKey, tag: Block, text: &mut [u8]) {
    let mut block = tag;
    block[15] |= 0x80;
    let [a, b, c, d, ..] = tag;
    let mut counter = u32::from_le_bytes([a, b, c, d]);
    for chunk in text.chunks_mut(BLOCK) {
        block[..4].copy_from_slice(&counter.to_le_bytes());
        counter = counter.wrapping_add(1);
        for (byte, stream) in chunk.iter_mut().zip(encrypt_block(key, block)) {
            *byte ^= stream;
        }
    }
}

/// POLYVAL bit by bit.
fn gcm_siv_tag(
    authentication: Block,
    encryption: &EncryptKey,
    given: &Given<'_>,
    text: &[u8],
) -> Block {
    let key = u128::from_le_bytes(authentication);
    let lengths = [given.aad, text].map(|part| (8 * part.len() as u64).to_le_bytes());
    let parts = [given.aad, text, lengths.as_flattened()];
    let blocks = parts.into_iter().flat_map(|part| part.chunks(BLOCK));
    let sum = blocks.fold(0, |sum, chunk| {
        let mut block = [0; BLOCK];
        block[..chunk.len()].copy_from_slice(chunk);
        dot(sum ^ u128::from_le_bytes(block), key)
    });
    let mut block = sum.to_le_bytes();
    for (byte, nonce) in block.iter_mut().zip(given.iv) {
        *byte ^= nonce;
    }
    block[15] &= 0x7f;
    encrypt_block(encryption, block)
}

/// RFC 8452, section 3: multiplied, and divided by x 128 times.
fn dot(a: u128, b: u128) -> u128 {
    (0..128).fold(0, |sum, bit| {
        let sum = sum ^ if b >> bit & 1 == 1 { a } else { 0 };
        (sum >> 1) ^ if sum & 1 == 1 { 0xe1 << 120 } else { 0 }
    })
}
