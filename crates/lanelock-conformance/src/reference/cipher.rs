//! Ciphers without authentication.

use lanelock_core::Cipher;
use lanelock_core::transform::Direction;
use openssl::symm;
use openssl::symm::Mode;

use super::{evp, xor};

/// Encrypts or decrypts `data` as one message.
///
/// # Panics
/// If a length is none of the algorithm's.
#[must_use]
pub fn cipher(cipher: Cipher, direction: Direction, key: &[u8], iv: &[u8], data: &[u8]) -> Vec<u8> {
    let mode = match direction {
        Direction::Forward => Mode::Encrypt,
        Direction::Reverse => Mode::Decrypt,
    };
    match cipher {
        Cipher::AesCbc => evp(aes_cbc(key.len()), mode, key, Some(iv), data),
        Cipher::AesCtr => evp(aes_ctr(key.len()), mode, key, Some(iv), data),
        Cipher::AesCfb => aes_cfb(mode, key, iv, data),
        Cipher::AesOfb => aes_ofb(key, iv, data),
        Cipher::AesEcb => evp(aes_ecb(key.len()), mode, key, None, data),
        Cipher::AesXts => evp(aes_xts(key.len()), mode, key, Some(iv), data),
        Cipher::CamelliaCbc => evp(camellia_cbc(key.len()), mode, key, Some(iv), data),
        Cipher::ChaCha20 => evp(symm::Cipher::chacha20(), mode, key, Some(iv), data),
        Cipher::TripleDesCbc | Cipher::DesCbc => {
            let key = three_keys(key);
            evp(symm::Cipher::des_ede3_cbc(), mode, &key, Some(iv), data)
        }
        Cipher::TripleDesCtr => des_ctr(&three_keys(key), iv, data),
        Cipher::AesDocsis => docsis(aes_cbc(key.len()), aes_ecb(key.len()), mode, key, iv, data),
        Cipher::DesDocsis => docsis(
            symm::Cipher::des_ede3_cbc(),
            symm::Cipher::des_ede3_ecb(),
            mode,
            &three_keys(key),
            iv,
            data,
        ),
        other => panic!("no reference for {other:?}"),
    }
}

pub(super) fn aes_ecb(key_len: usize) -> symm::Cipher {
    match key_len {
        16 => symm::Cipher::aes_128_ecb(),
        24 => symm::Cipher::aes_192_ecb(),
        _ => symm::Cipher::aes_256_ecb(),
    }
}

pub(super) fn aes_cbc(key_len: usize) -> symm::Cipher {
    match key_len {
        16 => symm::Cipher::aes_128_cbc(),
        24 => symm::Cipher::aes_192_cbc(),
        _ => symm::Cipher::aes_256_cbc(),
    }
}

pub(super) fn aes_ctr(key_len: usize) -> symm::Cipher {
    match key_len {
        16 => symm::Cipher::aes_128_ctr(),
        24 => symm::Cipher::aes_192_ctr(),
        _ => symm::Cipher::aes_256_ctr(),
    }
}

fn aes_xts(key_len: usize) -> symm::Cipher {
    match key_len {
        32 => symm::Cipher::aes_128_xts(),
        _ => symm::Cipher::aes_256_xts(),
    }
}

fn camellia_cbc(key_len: usize) -> symm::Cipher {
    match key_len {
        16 => symm::Cipher::camellia_128_cbc(),
        24 => symm::Cipher::camellia_192_cbc(),
        _ => symm::Cipher::camellia_256_cbc(),
    }
}

/// The three keys of triple DES. Two keys are used as K1, K2, K1 (SP 800-67, 3.2), and triple DES
/// with one key three times over is DES.
fn three_keys(key: &[u8]) -> Vec<u8> {
    match key.len() {
        8 => [key, key, key].concat(),
        16 => [key, &key[..8]].concat(),
        _ => key.to_vec(),
    }
}

/// SP 800-38A, 6.5: each block of keystream is the encryption of a counter that goes up by one.
fn des_ctr(key: &[u8], iv: &[u8], data: &[u8]) -> Vec<u8> {
    let first = u64::from_be_bytes(iv.try_into().expect("8 bytes of IV"));
    let counters: Vec<u8> = (0..data.len().div_ceil(8) as u64)
        .flat_map(|i| first.wrapping_add(i).to_be_bytes())
        .collect();
    let ecb = symm::Cipher::des_ede3_ecb();
    let keystream = evp(ecb, Mode::Encrypt, key, None, &counters);
    let mut output = data.to_vec();
    xor(&mut output, &keystream);
    output
}

/// SP 800-38A, 6.3, with segments of a block: each is XORed with the encryption of the ciphertext in
/// front of it, the first with that of the IV.
fn aes_cfb(mode: Mode, key: &[u8], iv: &[u8], data: &[u8]) -> Vec<u8> {
    let mut feedback = iv.to_vec();
    let segments = data.chunks(16).map(|input| {
        let mask = evp(aes_ecb(key.len()), Mode::Encrypt, key, None, &feedback);
        let mut output = input.to_vec();
        xor(&mut output, &mask);
        let ciphertext = match mode {
            Mode::Encrypt => &output,
            Mode::Decrypt => input,
        };
        feedback = ciphertext.to_vec();
        output
    });
    segments.flatten().collect()
}

/// SP 800-38A, 6.4: the IV is encrypted over and over, and each block of that is XORed with one of
/// the data.
fn aes_ofb(key: &[u8], iv: &[u8], data: &[u8]) -> Vec<u8> {
    let mut keystream = iv.to_vec();
    let mut output = data.to_vec();
    for block in output.chunks_mut(16) {
        keystream = evp(aes_ecb(key.len()), Mode::Encrypt, key, None, &keystream);
        xor(block, &keystream);
    }
    output
}

/// DOCSIS Baseline Privacy: CBC over the whole blocks; what is left is XORed with the encryption
/// of the last block of ciphertext, or of the IV if there is none.
fn docsis(
    cbc: symm::Cipher,
    ecb: symm::Cipher,
    mode: Mode,
    key: &[u8],
    iv: &[u8],
    data: &[u8],
) -> Vec<u8> {
    let block = iv.len();
    let (whole, residue) = data.split_at(data.len() / block * block);
    let mut output = evp(cbc, mode, key, Some(iv), whole);
    let ciphertext = match mode {
        Mode::Encrypt => &output,
        Mode::Decrypt => whole,
    };
    let last = ciphertext.rchunks(block).next().unwrap_or(iv);
    let mask = evp(ecb, Mode::Encrypt, key, None, last);
    let mut residue = residue.to_vec();
    xor(&mut residue, &mask);
    output.extend(residue);
    output
}
