//! Authenticated encryption with additional data.

use lanelock_core::Aead;
use openssl::symm;
use openssl::symm::Mode;

use super::cipher::{aes_cbc, aes_ctr};
use super::{evp, gcm_siv, siv, xchacha, xor};

/// Encrypts `data`; ciphertext and tag.
///
/// # Panics
/// If a length is none of the algorithm's.
#[must_use]
pub fn seal(
    aead: Aead,
    key: &[u8],
    iv: &[u8],
    aad: &[u8],
    data: &[u8],
    tag_len: usize,
) -> (Vec<u8>, Vec<u8>) {
    match aead {
        Aead::AesCcm => (
            ccm_stream(key, iv, data),
            ccm_tag(key, iv, aad, data, tag_len),
        ),
        Aead::AesGcmSiv => gcm_siv::seal(key, iv, aad, data),
        Aead::AesSiv => siv::seal(key, iv, aad, data),
        Aead::XChaCha20Poly1305 => {
            let (key, iv) = xchacha::extended(key, iv);
            seal(Aead::ChaCha20Poly1305, &key, &iv, aad, data, tag_len)
        }
        _ => {
            let (cipher, mut tag) = (evp_aead(aead, key.len()), vec![0; tag_len]);
            let output = symm::encrypt_aead(cipher, key, Some(iv), aad, data, &mut tag);
            (output.expect("lengths fit"), tag)
        }
    }
}

/// Decrypts `data`; nothing if the tag does not match.
///
/// # Panics
/// If a length is none of the algorithm's.
#[must_use]
pub fn open(
    aead: Aead,
    key: &[u8],
    iv: &[u8],
    aad: &[u8],
    data: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    match aead {
        Aead::AesCcm => {
            let plaintext = ccm_stream(key, iv, data);
            let matches = ccm_tag(key, iv, aad, &plaintext, tag.len()) == tag;
            matches.then_some(plaintext)
        }
        Aead::AesGcmSiv => gcm_siv::open(key, iv, aad, data, tag),
        Aead::AesSiv => siv::open(key, iv, aad, data, tag),
        Aead::XChaCha20Poly1305 => {
            let (key, iv) = xchacha::extended(key, iv);
            open(Aead::ChaCha20Poly1305, &key, &iv, aad, data, tag)
        }
        _ => symm::decrypt_aead(evp_aead(aead, key.len()), key, Some(iv), aad, data, tag).ok(),
    }
}

fn evp_aead(aead: Aead, key_len: usize) -> symm::Cipher {
    match (aead, key_len) {
        (Aead::AesGcm, 16) => symm::Cipher::aes_128_gcm(),
        (Aead::AesGcm, 24) => symm::Cipher::aes_192_gcm(),
        (Aead::AesGcm, _) => symm::Cipher::aes_256_gcm(),
        (Aead::ChaCha20Poly1305, _) => symm::Cipher::chacha20_poly1305(),
        (other, _) => panic!("no reference for {other:?}"),
    }
}

/// The counter block of CCM with number 0 or 1 (SP 800-38C, A.3).
fn ccm_counter(nonce: &[u8], number: u8) -> Vec<u8> {
    let mut block = vec![u8::try_from(14 - nonce.len()).expect("nonce of 7 to 13 bytes")];
    block.extend(nonce);
    block.resize(16, 0);
    block[15] = number;
    block
}

/// The payload, encrypted or decrypted with the counters from 1 on.
fn ccm_stream(key: &[u8], nonce: &[u8], data: &[u8]) -> Vec<u8> {
    let first = ccm_counter(nonce, 1);
    evp(aes_ctr(key.len()), Mode::Encrypt, key, Some(&first), data)
}

/// CBC-MAC over the formatted input (SP 800-38C, A.2), masked with counter 0.
fn ccm_tag(key: &[u8], nonce: &[u8], aad: &[u8], data: &[u8], tag_len: usize) -> Vec<u8> {
    let length_len = 15 - nonce.len();
    let flags = 64 * usize::from(!aad.is_empty()) + 8 * ((tag_len - 2) / 2) + (length_len - 1);
    let mut input = vec![u8::try_from(flags).expect("seven bits")];
    input.extend(nonce);
    input.extend(&(data.len() as u64).to_be_bytes()[8_usize.saturating_sub(length_len)..]);
    // A length field wider than eight bytes does not occur: the nonce has at least seven.
    match u32::try_from(aad.len()).expect("additional data below 4 GiB") {
        0 => {}
        short @ ..0xff00 => input.extend(&short.to_be_bytes()[2..]),
        long => input.extend([&[0xff, 0xfe], &long.to_be_bytes()[..]].concat()),
    }
    input.extend(aad);
    input.resize(input.len().next_multiple_of(16), 0);
    input.extend(data);
    input.resize(input.len().next_multiple_of(16), 0);
    let chain = evp(
        aes_cbc(key.len()),
        Mode::Encrypt,
        key,
        Some(&[0; 16]),
        &input,
    );
    let mut tag = chain[chain.len() - 16..].to_vec();
    let mask = ccm_counter(nonce, 0);
    let mask = evp(
        aes_ctr(key.len()),
        Mode::Encrypt,
        key,
        Some(&mask),
        &[0; 16],
    );
    xor(&mut tag, &mask);
    tag.truncate(tag_len);
    tag
}
