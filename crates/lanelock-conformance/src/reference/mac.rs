//! Message authentication codes.

use lanelock_core::{Aead, Hash, Mac};
use openssl::bn::{BigNum, BigNumContext};
use openssl::symm::Mode;

use super::cipher::{aes_cbc, aes_ecb};
use super::hash::{block_len, cshake};
use super::{aead, evp, hash, xor};

/// The tag of `data`, of `len` bytes.
///
/// # Panics
/// If a length is none of the algorithm's.
#[must_use]
pub fn mac(
    mac: Mac,
    key: &[u8],
    customization: &[u8],
    iv: &[u8],
    data: &[u8],
    len: usize,
) -> Vec<u8> {
    let whole = match mac {
        Mac::Hmac(hash) => hmac(hash, key, data),
        Mac::AesCmac => cmac(key, data),
        Mac::AesGmac => aead::seal(Aead::AesGcm, key, iv, data, &[], 16).1,
        Mac::Poly1305 => poly1305(key, data),
        Mac::Kmac128 => kmac(Hash::CShake128, 168, key, customization, data, len),
        Mac::Kmac256 => kmac(Hash::CShake256, 136, key, customization, data, len),
        other => panic!("no reference for {other:?}"),
    };
    whole[..len].to_vec()
}

/// SP 800-185, section 4.3, over cSHAKE with blocks of `rate` bytes.
fn kmac(
    function: Hash,
    rate: usize,
    key: &[u8],
    customization: &[u8],
    data: &[u8],
    len: usize,
) -> Vec<u8> {
    // left_encode and right_encode of numbers below 2^16 (section 2.3.1).
    let digits = |number: usize| match u16::try_from(number).expect("short").to_be_bytes() {
        [0, low] => vec![low],
        both => both.to_vec(),
    };
    let count = |digits: &[u8]| u8::try_from(digits.len()).expect("one or two");
    let left = |number| [vec![count(&digits(number))], digits(number)].concat();
    let mut input = [left(rate), left(8 * key.len()), key.to_vec()].concat();
    input.resize(input.len().next_multiple_of(rate), 0);
    let bits = digits(8 * len);
    input.extend([data, &bits, &[count(&bits)]].concat());
    cshake(function, b"KMAC", customization, len, &input)
}

/// RFC 2104.
fn hmac(function: Hash, key: &[u8], data: &[u8]) -> Vec<u8> {
    let digest = |data: &[u8]| hash(function, &[], function.digest_len(), data);
    let block = block_len(function);
    let mut padded = if key.len() > block {
        digest(key)
    } else {
        key.to_vec()
    };
    padded.resize(block, 0);
    let pad = |byte: u8| -> Vec<u8> { padded.iter().map(|k| k ^ byte).collect() };
    let inner = digest(&[&pad(0x36), data].concat());
    digest(&[pad(0x5c), inner].concat())
}

/// RFC 4493, with the two subkeys of its section 2.3.
pub(super) fn cmac(key: &[u8], data: &[u8]) -> Vec<u8> {
    let k1 = double(&evp(aes_ecb(key.len()), Mode::Encrypt, key, None, &[0; 16]));
    let last_len = match data.len() % 16 {
        0 if !data.is_empty() => 16,
        rest => rest,
    };
    let (front, rest) = data.split_at(data.len() - last_len);
    let mut last = rest.to_vec();
    if last.len() == 16 {
        xor(&mut last, &k1);
    } else {
        last.push(0x80);
        last.resize(16, 0);
        xor(&mut last, &double(&k1));
    }
    let chain = [front, &last].concat();
    let chain = evp(
        aes_cbc(key.len()),
        Mode::Encrypt,
        key,
        Some(&[0; 16]),
        &chain,
    );
    chain[chain.len() - 16..].to_vec()
}

/// Multiplication by x in GF(2^128).
pub(super) fn double(block: &[u8]) -> Vec<u8> {
    let number = u128::from_be_bytes(block.try_into().expect("one block"));
    let carry = if number >> 127 == 1 { 0x87 } else { 0 };
    ((number << 1) ^ carry).to_be_bytes().to_vec()
}

/// RFC 8439, 2.5: a polynomial over the blocks, modulo 2^130 - 5, at the point r, plus s.
fn poly1305(key: &[u8], data: &[u8]) -> Vec<u8> {
    let (r, s) = key.split_at(16);
    let clamp = 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff_u128;
    let r = u128::from_le_bytes(r.try_into().expect("16 bytes")) & clamp;
    let r = number(&r.to_le_bytes());
    let prime = {
        let five = BigNum::from_u32(5).expect("memory");
        let mut power = BigNum::new().expect("memory");
        power.set_bit(130).expect("memory");
        &power - &five
    };
    let mut context = BigNumContext::new().expect("memory");
    let mut sum = BigNum::new().expect("memory");
    for block in data.chunks(16) {
        let term = &sum + &number(&[block, &[1]].concat());
        let mut product = BigNum::new().expect("memory");
        product
            .mod_mul(&term, &r, &prime, &mut context)
            .expect("memory");
        sum = product;
    }
    let mut tag = (&sum + &number(s)).to_vec();
    tag.reverse();
    tag.resize(16.max(tag.len()), 0);
    tag.truncate(16);
    tag
}

/// A little-endian number.
fn number(bytes: &[u8]) -> BigNum {
    let big_endian: Vec<u8> = bytes.iter().rev().copied().collect();
    BigNum::from_slice(&big_endian).expect("memory")
}
