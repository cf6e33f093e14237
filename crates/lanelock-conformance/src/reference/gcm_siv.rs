//! AES-GCM-SIV as RFC 8452 writes it down.

use openssl::symm::Mode;

use super::cipher::aes_ecb;
use super::{evp, xor};

/// Ciphertext and tag, of section 4.
pub(super) fn seal(key: &[u8], nonce: &[u8], aad: &[u8], data: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (authentication, encryption) = derive_keys(key, nonce);
    let tag = tag(&authentication, &encryption, nonce, aad, data);
    (crypt(&encryption, &tag, data), tag)
}

/// The plaintext, of section 5.
pub(super) fn open(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    data: &[u8],
    expected: &[u8],
) -> Option<Vec<u8>> {
    let (authentication, encryption) = derive_keys(key, nonce);
    let plaintext = crypt(&encryption, expected, data);
    let matches = tag(&authentication, &encryption, nonce, aad, &plaintext) == expected;
    matches.then_some(plaintext)
}

fn encrypt(key: &[u8], block: &[u8]) -> Vec<u8> {
    evp(aes_ecb(key.len()), Mode::Encrypt, key, None, block)
}

/// The message's keys for authentication and for encryption.
fn derive_keys(key: &[u8], nonce: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let halves = (0_u32..).take(2 + key.len() / 8).flat_map(|counter| {
        let block = encrypt(key, &[&counter.to_le_bytes(), nonce].concat());
        block[..8].to_vec()
    });
    let mut authentication: Vec<u8> = halves.collect();
    let encryption = authentication.split_off(16);
    (authentication, encryption)
}

fn tag(
    authentication: &[u8],
    encryption: &[u8],
    nonce: &[u8],
    aad: &[u8],
    plaintext: &[u8],
) -> Vec<u8> {
    let mut input = Vec::new();
    for part in [aad, plaintext] {
        input.extend(part);
        input.resize(input.len().next_multiple_of(16), 0);
    }
    for part in [aad, plaintext] {
        input.extend((8 * part.len() as u64).to_le_bytes());
    }
    let mut sum = polyval(authentication, &input);
    xor(&mut sum, nonce);
    sum[15] &= 0x7f;
    encrypt(encryption, &sum)
}

/// Counter mode with a little-endian counter in the first four bytes, which wraps alone.
fn crypt(key: &[u8], tag: &[u8], data: &[u8]) -> Vec<u8> {
    let (first, rest) = tag.split_first_chunk().expect("a tag of 16 bytes");
    let mut rest = rest.to_vec();
    rest[11] |= 0x80;
    let mut counter = u32::from_le_bytes(*first);
    let mut output = data.to_vec();
    for block in output.chunks_mut(16) {
        let keystream = encrypt(key, &[&counter.to_le_bytes()[..], &rest].concat());
        xor(block, &keystream);
        counter = counter.wrapping_add(1);
    }
    output
}

/// Section 3.
fn polyval(key: &[u8], data: &[u8]) -> Vec<u8> {
    let key = element(key);
    let sum = data
        .chunks(16)
        .fold(0, |sum, block| dot(sum ^ element(block), key));
    sum.to_le_bytes().to_vec()
}

fn element(block: &[u8]) -> u128 {
    u128::from_le_bytes(block.try_into().expect("a block"))
}

/// `a * b * x^-128` in the field of x^128 + x^127 + x^126 + x^121 + 1: bit by bit, b's lowest first,
/// each of the 128 steps with a division by x.
fn dot(a: u128, b: u128) -> u128 {
    let by_x = |n: u128| (n >> 1) ^ if n & 1 == 1 { 0xe1 << 120 } else { 0 };
    (0..128).fold(0, |sum, bit| {
        by_x(sum ^ if b >> bit & 1 == 1 { a } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8452, appendix A.
    #[test]
    fn polyval_is_the_rfcs() {
        let bytes = |text: &str| hex::decode(text).expect("hexadecimal");
        let key = bytes("25629347589242761d31f826ba4b757b");
        let data = bytes("4f4f95668c83dfb6401762bb2d01a262d1a24ddd2721d006bbe45f20d3c9f362");
        let sum = "f7a3b47b846119fae5b7866cf5e5b77e";
        assert_eq!(hex::encode(polyval(&key, &data)), sum);
    }
}
