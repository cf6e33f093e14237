//! From a Wycheproof test to a known answer: what its algorithm names mean here.

use lanelock_core::algorithm::Order;
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Algorithm, Cipher, Hash, Mac};

use super::layout::Test;
use crate::known::KnownAnswer;
use crate::reference;

/// What an algorithm name of Wycheproof stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Single(Algorithm),
    /// A cipher whose messages are padded to its blocks as in PKCS #7.
    Padded(Cipher),
    /// AES-CBC with HMAC as in JSON Web Encryption (RFC 7518, 5.2).
    JsonWebEncryption(Hash),
}

/// The meaning of a file's `algorithm`, if it is one of lanelock's.
pub(super) fn kind(name: &str) -> Option<Kind> {
    let hmac = |hash| Some(Kind::Single(Algorithm::Mac(Mac::Hmac(hash))));
    let mac = |mac| Some(Kind::Single(Algorithm::Mac(mac)));
    let aead = |aead| Some(Kind::Single(Algorithm::Aead(aead)));
    match name {
        "AES-GCM" => aead(Aead::AesGcm),
        "AES-CCM" => aead(Aead::AesCcm),
        "AES-GCM-SIV" => aead(Aead::AesGcmSiv),
        "AEAD-AES-SIV-CMAC" => aead(Aead::AesSiv),
        "CHACHA20-POLY1305" => aead(Aead::ChaCha20Poly1305),
        "XCHACHA20-POLY1305" => aead(Aead::XChaCha20Poly1305),
        "AES-CMAC" => mac(Mac::AesCmac),
        "AES-GMAC" => mac(Mac::AesGmac),
        "KMAC128" => mac(Mac::Kmac128),
        "KMAC256" => mac(Mac::Kmac256),
        "HMACSHA1" => hmac(Hash::Sha1),
        "HMACSHA224" => hmac(Hash::Sha224),
        "HMACSHA256" => hmac(Hash::Sha256),
        "HMACSHA384" => hmac(Hash::Sha384),
        "HMACSHA512" => hmac(Hash::Sha512),
        "HMACSHA3-224" => hmac(Hash::Sha3_224),
        "HMACSHA3-256" => hmac(Hash::Sha3_256),
        "HMACSHA3-384" => hmac(Hash::Sha3_384),
        "HMACSHA3-512" => hmac(Hash::Sha3_512),
        "AES-XTS" => Some(Kind::Single(Algorithm::Cipher(Cipher::AesXts))),
        "AES-CBC-PKCS5" => Some(Kind::Padded(Cipher::AesCbc)),
        "CAMELLIA-CBC-PKCS5" => Some(Kind::Padded(Cipher::CamelliaCbc)),
        "A128CBC-HS256" => Some(Kind::JsonWebEncryption(Hash::Sha256)),
        "A192CBC-HS384" => Some(Kind::JsonWebEncryption(Hash::Sha384)),
        "A256CBC-HS512" => Some(Kind::JsonWebEncryption(Hash::Sha512)),
        _ => None,
    }
}

impl Kind {
    /// The family that an engine has to offer.
    pub(super) fn algorithm(self) -> Algorithm {
        match self {
            Self::Single(algorithm) => algorithm,
            Self::Padded(cipher) => Algorithm::Cipher(cipher),
            Self::JsonWebEncryption(hash) => {
                Algorithm::Chain(Order::EncryptThenMac, Cipher::AesCbc, Mac::Hmac(hash))
            }
        }
    }

    pub(super) fn known_answer(self, test: &Test) -> KnownAnswer {
        let mut known = KnownAnswer {
            key: test.key.clone(),
            iv: test.iv.clone(),
            aad: test.aad.clone(),
            plaintext: test.msg.clone(),
            ciphertext: test.ct.clone(),
            tag: test.tag.clone(),
            ..KnownAnswer::empty(self.algorithm())
        };
        if known.algorithm == Algorithm::Cipher(Cipher::AesXts) {
            // The number of the data unit, little-endian: the tweak is its 16 bytes.
            known.iv.resize(16.max(test.iv.len()), 0);
        }
        if !matches!(self, Self::Single(_)) {
            known.plaintext = pad(&test.msg);
        }
        if let Self::JsonWebEncryption(_) = self {
            let (mac_key, key) = test.key.split_at(test.key.len() / 2);
            (known.mac_key, known.key) = (mac_key.to_vec(), key.to_vec());
            known.header = test.iv.clone();
            let bits = 8 * test.aad.len() as u64;
            known.trailer = bits.to_be_bytes().to_vec();
        }
        known
    }
}

/// PKCS #7 for blocks of 16 bytes (RFC 5652, 6.3).
fn pad(message: &[u8]) -> Vec<u8> {
    let count = 16 - message.len() % 16;
    let mut padded = message.to_vec();
    padded.resize(message.len() + count, u8::try_from(count).expect("1 to 16"));
    padded
}

/// What the ciphertext of a padded test decrypts to; nothing if key or IV is not as long as the
/// cipher's, or the ciphertext is no number of whole blocks.
pub(super) fn unpadded(cipher: Cipher, test: &Test) -> Option<Vec<u8>> {
    let fits = test.ct.len().is_multiple_of(cipher.block_len())
        && cipher.key_sizes().contains(test.key.len())
        && test.iv.len() == cipher.iv_len();
    fits.then(|| reference::cipher(cipher, Direction::Reverse, &test.key, &test.iv, &test.ct))
}

/// Whether `padded` ends in correct padding.
pub(super) fn is_padding_correct(padded: &[u8]) -> bool {
    let Some(&last) = padded.last() else {
        return false;
    };
    let count = usize::from(last);
    (1..=16).contains(&count)
        && count <= padded.len()
        && padded[padded.len() - count..]
            .iter()
            .all(|&byte| byte == last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_undone() {
        for len in 0..40 {
            assert!(is_padding_correct(&pad(&vec![0; len])), "{len}");
        }
        assert!(!is_padding_correct(&[]));
        assert!(!is_padding_correct(&[0; 16]));
        assert!(!is_padding_correct(&[17; 32]));
    }
}
