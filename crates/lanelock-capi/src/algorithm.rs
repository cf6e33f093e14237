//! Algorithms by number. A number never changes once assigned; the kind is in its second byte.

use lanelock::algorithm::{Algorithm, Order};
use lanelock::{Aead, Cipher, Hash, Mac};

use crate::error::Failure;

/// AES in CBC mode, without padding.
pub const LANELOCK_AES_CBC: u32 = 0x0101;
/// AES in counter mode; the IV is the first counter block.
pub const LANELOCK_AES_CTR: u32 = 0x0102;
/// AES in cipher feedback mode with 128-bit segments.
pub const LANELOCK_AES_CFB: u32 = 0x0103;
/// AES in output feedback mode.
pub const LANELOCK_AES_OFB: u32 = 0x0104;
/// AES in electronic codebook mode.
pub const LANELOCK_AES_ECB: u32 = 0x0105;
/// AES-XTS; an operation is a data unit, and the key is two AES keys.
pub const LANELOCK_AES_XTS: u32 = 0x0106;
/// AES-CBC with residual block termination (DOCSIS).
pub const LANELOCK_AES_DOCSIS: u32 = 0x0107;
/// Triple DES in CBC mode, with keys of 16 or 24 bytes.
pub const LANELOCK_3DES_CBC: u32 = 0x0108;
/// Triple DES in counter mode.
pub const LANELOCK_3DES_CTR: u32 = 0x0109;
/// DES in CBC mode.
pub const LANELOCK_DES_CBC: u32 = 0x010a;
/// DES-CBC with residual block termination (DOCSIS).
pub const LANELOCK_DES_DOCSIS: u32 = 0x010b;
/// ChaCha20; the IV is the counter, then the nonce.
pub const LANELOCK_CHACHA20: u32 = 0x010c;
/// Camellia in CBC mode.
pub const LANELOCK_CAMELLIA_CBC: u32 = 0x010d;
/// HMAC over MD5.
pub const LANELOCK_HMAC_MD5: u32 = 0x0201;
/// HMAC over SHA-1.
pub const LANELOCK_HMAC_SHA1: u32 = 0x0202;
/// HMAC over SHA-224.
pub const LANELOCK_HMAC_SHA224: u32 = 0x0203;
/// HMAC over SHA-256.
pub const LANELOCK_HMAC_SHA256: u32 = 0x0204;
/// HMAC over SHA-384.
pub const LANELOCK_HMAC_SHA384: u32 = 0x0205;
/// HMAC over SHA-512.
pub const LANELOCK_HMAC_SHA512: u32 = 0x0206;
/// HMAC over SHA3-224.
pub const LANELOCK_HMAC_SHA3_224: u32 = 0x0207;
/// HMAC over SHA3-256.
pub const LANELOCK_HMAC_SHA3_256: u32 = 0x0208;
/// HMAC over SHA3-384.
pub const LANELOCK_HMAC_SHA3_384: u32 = 0x0209;
/// HMAC over SHA3-512.
pub const LANELOCK_HMAC_SHA3_512: u32 = 0x020a;
/// AES-CMAC.
pub const LANELOCK_AES_CMAC: u32 = 0x0221;
/// AES-GMAC.
pub const LANELOCK_AES_GMAC: u32 = 0x0222;
/// Poly1305; a key is for one message.
pub const LANELOCK_POLY1305: u32 = 0x0223;
/// KMAC128 (NIST SP 800-185); the transform may have a customization string.
pub const LANELOCK_KMAC128: u32 = 0x0224;
/// KMAC256 (NIST SP 800-185); the transform may have a customization string.
pub const LANELOCK_KMAC256: u32 = 0x0225;
/// MD5.
pub const LANELOCK_MD5: u32 = 0x0301;
/// SHA-1.
pub const LANELOCK_SHA1: u32 = 0x0302;
/// SHA-224.
pub const LANELOCK_SHA224: u32 = 0x0303;
/// SHA-256.
pub const LANELOCK_SHA256: u32 = 0x0304;
/// SHA-384.
pub const LANELOCK_SHA384: u32 = 0x0305;
/// SHA-512.
pub const LANELOCK_SHA512: u32 = 0x0306;
/// SHA3-224.
pub const LANELOCK_SHA3_224: u32 = 0x0307;
/// SHA3-256.
pub const LANELOCK_SHA3_256: u32 = 0x0308;
/// SHA3-384.
pub const LANELOCK_SHA3_384: u32 = 0x0309;
/// SHA3-512.
pub const LANELOCK_SHA3_512: u32 = 0x030a;
/// SHAKE128; the digest's length is the transform's.
pub const LANELOCK_SHAKE128: u32 = 0x030b;
/// SHAKE256; the digest's length is the transform's.
pub const LANELOCK_SHAKE256: u32 = 0x030c;
/// BLAKE2b with 64 bytes.
pub const LANELOCK_BLAKE2B_512: u32 = 0x030d;
/// BLAKE2s with 32 bytes.
pub const LANELOCK_BLAKE2S_256: u32 = 0x030e;
/// cSHAKE128 (NIST SP 800-185): SHAKE128 with the transform's customization string.
pub const LANELOCK_CSHAKE128: u32 = 0x030f;
/// cSHAKE256 (NIST SP 800-185): SHAKE256 with the transform's customization string.
pub const LANELOCK_CSHAKE256: u32 = 0x0310;
/// AES-GCM.
pub const LANELOCK_AES_GCM: u32 = 0x0401;
/// AES-CCM.
pub const LANELOCK_AES_CCM: u32 = 0x0402;
/// AES-GCM-SIV (RFC 8452).
pub const LANELOCK_AES_GCM_SIV: u32 = 0x0403;
/// AES-SIV (RFC 5297); without a nonce unless the transform has an IV length.
pub const LANELOCK_AES_SIV: u32 = 0x0404;
/// ChaCha20-Poly1305 (RFC 8439).
pub const LANELOCK_CHACHA20_POLY1305: u32 = 0x0405;
/// XChaCha20-Poly1305.
pub const LANELOCK_XCHACHA20_POLY1305: u32 = 0x0406;

/// Order of a chain: the tag covers the ciphertext (IPsec ESP, RFC 7366).
pub const LANELOCK_ENCRYPT_THEN_MAC: u32 = 1;
/// Order of a chain: the tag covers the plaintext (TLS before RFC 7366).
pub const LANELOCK_MAC_THEN_ENCRYPT: u32 = 2;

const NUMBERS: &[(u32, Algorithm)] = &[
    (LANELOCK_AES_CBC, Algorithm::Cipher(Cipher::AesCbc)),
    (LANELOCK_AES_CTR, Algorithm::Cipher(Cipher::AesCtr)),
    (LANELOCK_AES_CFB, Algorithm::Cipher(Cipher::AesCfb)),
    (LANELOCK_AES_OFB, Algorithm::Cipher(Cipher::AesOfb)),
    (LANELOCK_AES_ECB, Algorithm::Cipher(Cipher::AesEcb)),
    (LANELOCK_AES_XTS, Algorithm::Cipher(Cipher::AesXts)),
    (LANELOCK_AES_DOCSIS, Algorithm::Cipher(Cipher::AesDocsis)),
    (LANELOCK_3DES_CBC, Algorithm::Cipher(Cipher::TripleDesCbc)),
    (LANELOCK_3DES_CTR, Algorithm::Cipher(Cipher::TripleDesCtr)),
    (LANELOCK_DES_CBC, Algorithm::Cipher(Cipher::DesCbc)),
    (LANELOCK_DES_DOCSIS, Algorithm::Cipher(Cipher::DesDocsis)),
    (LANELOCK_CHACHA20, Algorithm::Cipher(Cipher::ChaCha20)),
    (
        LANELOCK_CAMELLIA_CBC,
        Algorithm::Cipher(Cipher::CamelliaCbc),
    ),
    (LANELOCK_HMAC_MD5, Algorithm::Mac(Mac::Hmac(Hash::Md5))),
    (LANELOCK_HMAC_SHA1, Algorithm::Mac(Mac::Hmac(Hash::Sha1))),
    (
        LANELOCK_HMAC_SHA224,
        Algorithm::Mac(Mac::Hmac(Hash::Sha224)),
    ),
    (
        LANELOCK_HMAC_SHA256,
        Algorithm::Mac(Mac::Hmac(Hash::Sha256)),
    ),
    (
        LANELOCK_HMAC_SHA384,
        Algorithm::Mac(Mac::Hmac(Hash::Sha384)),
    ),
    (
        LANELOCK_HMAC_SHA512,
        Algorithm::Mac(Mac::Hmac(Hash::Sha512)),
    ),
    (
        LANELOCK_HMAC_SHA3_224,
        Algorithm::Mac(Mac::Hmac(Hash::Sha3_224)),
    ),
    (
        LANELOCK_HMAC_SHA3_256,
        Algorithm::Mac(Mac::Hmac(Hash::Sha3_256)),
    ),
    (
        LANELOCK_HMAC_SHA3_384,
        Algorithm::Mac(Mac::Hmac(Hash::Sha3_384)),
    ),
    (
        LANELOCK_HMAC_SHA3_512,
        Algorithm::Mac(Mac::Hmac(Hash::Sha3_512)),
    ),
    (LANELOCK_AES_CMAC, Algorithm::Mac(Mac::AesCmac)),
    (LANELOCK_AES_GMAC, Algorithm::Mac(Mac::AesGmac)),
    (LANELOCK_POLY1305, Algorithm::Mac(Mac::Poly1305)),
    (LANELOCK_KMAC128, Algorithm::Mac(Mac::Kmac128)),
    (LANELOCK_KMAC256, Algorithm::Mac(Mac::Kmac256)),
    (LANELOCK_MD5, Algorithm::Hash(Hash::Md5)),
    (LANELOCK_SHA1, Algorithm::Hash(Hash::Sha1)),
    (LANELOCK_SHA224, Algorithm::Hash(Hash::Sha224)),
    (LANELOCK_SHA256, Algorithm::Hash(Hash::Sha256)),
    (LANELOCK_SHA384, Algorithm::Hash(Hash::Sha384)),
    (LANELOCK_SHA512, Algorithm::Hash(Hash::Sha512)),
    (LANELOCK_SHA3_224, Algorithm::Hash(Hash::Sha3_224)),
    (LANELOCK_SHA3_256, Algorithm::Hash(Hash::Sha3_256)),
    (LANELOCK_SHA3_384, Algorithm::Hash(Hash::Sha3_384)),
    (LANELOCK_SHA3_512, Algorithm::Hash(Hash::Sha3_512)),
    (LANELOCK_SHAKE128, Algorithm::Hash(Hash::Shake128)),
    (LANELOCK_SHAKE256, Algorithm::Hash(Hash::Shake256)),
    (LANELOCK_BLAKE2B_512, Algorithm::Hash(Hash::Blake2b512)),
    (LANELOCK_BLAKE2S_256, Algorithm::Hash(Hash::Blake2s256)),
    (LANELOCK_CSHAKE128, Algorithm::Hash(Hash::CShake128)),
    (LANELOCK_CSHAKE256, Algorithm::Hash(Hash::CShake256)),
    (LANELOCK_AES_GCM, Algorithm::Aead(Aead::AesGcm)),
    (LANELOCK_AES_CCM, Algorithm::Aead(Aead::AesCcm)),
    (LANELOCK_AES_GCM_SIV, Algorithm::Aead(Aead::AesGcmSiv)),
    (LANELOCK_AES_SIV, Algorithm::Aead(Aead::AesSiv)),
    (
        LANELOCK_CHACHA20_POLY1305,
        Algorithm::Aead(Aead::ChaCha20Poly1305),
    ),
    (
        LANELOCK_XCHACHA20_POLY1305,
        Algorithm::Aead(Aead::XChaCha20Poly1305),
    ),
];

/// The algorithm of these numbers: `mac` and `order` are 0 unless it is a chain.
pub(crate) fn from_numbers(algorithm: u32, mac: u32, order: u32) -> Result<Algorithm, Failure> {
    let first = of_number(algorithm)?;
    if mac == 0 && order == 0 {
        return Ok(first);
    }
    let order = match order {
        LANELOCK_ENCRYPT_THEN_MAC => Order::EncryptThenMac,
        LANELOCK_MAC_THEN_ENCRYPT => Order::MacThenEncrypt,
        _ => {
            let text = format!("order {order}: use 1 or 2 for a chain, and 0 without a MAC");
            return Err(Failure::unknown(text));
        }
    };
    match (first, of_number(mac)?) {
        (Algorithm::Cipher(cipher), Algorithm::Mac(mac)) => {
            Ok(Algorithm::Chain(order, cipher, mac))
        }
        _ => Err(Failure::unknown(format!(
            "chain of {algorithm:#x} and {mac:#x}: use a cipher and a MAC"
        ))),
    }
}

/// The numbers of an algorithm: itself, a chain's MAC and its order.
pub(crate) fn to_numbers(algorithm: Algorithm) -> Option<[u32; 3]> {
    let number_of = |algorithm| {
        let row = NUMBERS.iter().find(|(_, known)| *known == algorithm)?;
        Some(row.0)
    };
    let Algorithm::Chain(order, cipher, mac) = algorithm else {
        return Some([number_of(algorithm)?, 0, 0]);
    };
    let order = match order {
        Order::EncryptThenMac => LANELOCK_ENCRYPT_THEN_MAC,
        Order::MacThenEncrypt => LANELOCK_MAC_THEN_ENCRYPT,
    };
    let (cipher, mac) = (Algorithm::Cipher(cipher), Algorithm::Mac(mac));
    Some([number_of(cipher)?, number_of(mac)?, order])
}

fn of_number(number: u32) -> Result<Algorithm, Failure> {
    let row = NUMBERS.iter().find(|(known, _)| *known == number);
    row.map(|row| row.1)
        .ok_or_else(|| Failure::unknown(format!("algorithm {number:#x}: unknown")))
}

/// The hash of a number.
pub(crate) fn hash(number: u32) -> Result<Hash, Failure> {
    match of_number(number)? {
        Algorithm::Hash(hash) => Ok(hash),
        _ => Err(Failure::unknown(format!("hash {number:#x}: not a hash"))),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use lanelock::algorithm::Spec;

    use super::*;

    #[test]
    fn every_algorithm_has_a_number_of_its_own() {
        for spec in Spec::singles().into_iter().chain(Spec::chains()) {
            let [algorithm, mac, order] = to_numbers(spec.algorithm).expect("a number");
            let back = from_numbers(algorithm, mac, order).expect("the same");
            assert_eq!(back, spec.algorithm);
        }
        let numbers: HashSet<_> = NUMBERS.iter().map(|row| row.0).collect();
        assert_eq!(numbers.len(), NUMBERS.len());
    }

    #[test]
    fn what_is_no_algorithm_is_refused() {
        for (algorithm, mac, order) in [
            (0, 0, 0),
            (0x9999, 0, 0),
            (LANELOCK_AES_CBC, LANELOCK_HMAC_SHA1, 0),
            (LANELOCK_AES_CBC, LANELOCK_HMAC_SHA1, 3),
            (LANELOCK_AES_CBC, 0, 1),
            (LANELOCK_AES_CBC, LANELOCK_AES_CBC, 1),
            (LANELOCK_HMAC_SHA1, LANELOCK_HMAC_SHA1, 1),
        ] {
            assert!(
                from_numbers(algorithm, mac, order).is_err(),
                "{algorithm:#x}"
            );
        }
        assert!(hash(LANELOCK_AES_CBC).is_err());
        assert_eq!(hash(LANELOCK_SHA256).expect("known"), Hash::Sha256);
    }
}
