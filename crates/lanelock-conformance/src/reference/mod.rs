//! What every algorithm does to one flat message, written as plainly as possible.
//!
//! Nothing here is shared with an engine: block ciphers, hashes and GCM come from OpenSSL's
//! one-shot calls through the `openssl` crate; cSHAKE comes from the `sha3` crate; everything else (CMAC, HMAC, KMAC, CCM,
//! SIV, GCM-SIV, Poly1305, the DOCSIS residue, triple-DES counters) is built from those by the book. It is slow, keeps no
//! state, and knows no segments, offsets or bursts.

mod aead;
mod cipher;
mod gcm_siv;
mod hash;
mod mac;
mod siv;
mod xchacha;

pub use aead::{open, seal};
pub use cipher::cipher;
pub use hash::hash;
pub use mac::mac;

use lanelock_testkit::message::Reference;
use openssl::symm;

/// All of these functions.
pub const REFERENCE: Reference = Reference {
    cipher,
    hash,
    mac,
    seal,
    open,
};

/// A cipher of OpenSSL over whole blocks or a stream, without padding.
///
/// # Panics
/// If OpenSSL refuses, which means that the caller broke the algorithm's rules.
fn evp(
    cipher: symm::Cipher,
    mode: symm::Mode,
    key: &[u8],
    iv: Option<&[u8]>,
    data: &[u8],
) -> Vec<u8> {
    let mut context = symm::Crypter::new(cipher, mode, key, iv).expect("key and IV fit");
    context.pad(false);
    let mut output = vec![0; data.len() + cipher.block_size()];
    let mut len = context.update(data, &mut output).expect("data fits");
    len += context.finalize(&mut output[len..]).expect("whole blocks");
    output.truncate(len);
    output
}

/// XORs `with` into the front of `data`.
fn xor(data: &mut [u8], with: &[u8]) {
    for (byte, other) in data.iter_mut().zip(with) {
        *byte ^= other;
    }
}
