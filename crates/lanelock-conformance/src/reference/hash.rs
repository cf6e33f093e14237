//! Unkeyed hashes.

use lanelock_core::Hash;
use openssl::hash::{MessageDigest, hash_xof};
use sha3::digest::{ExtendableOutput, Update};
use sha3::{CShake128, CShake128Core, CShake256, CShake256Core};

/// The digest of `data`, of `len` bytes: a prefix, or of an extendable function that much output.
///
/// # Panics
/// If `len` is longer than the digest.
#[must_use]
pub fn hash(hash: Hash, customization: &[u8], len: usize, data: &[u8]) -> Vec<u8> {
    if matches!(hash, Hash::CShake128 | Hash::CShake256) {
        return cshake(hash, b"", customization, len, data);
    }
    let digest = message_digest(hash);
    if hash.is_xof() {
        let mut output = vec![0; len];
        hash_xof(digest, data, &mut output).expect("OpenSSL has SHAKE");
        return output;
    }
    let output = openssl::hash::hash(digest, data).expect("OpenSSL hashes");
    output[..len].to_vec()
}

/// cSHAKE with a function name.
pub(super) fn cshake(
    hash: Hash,
    name: &[u8],
    customization: &[u8],
    len: usize,
    data: &[u8],
) -> Vec<u8> {
    let mut output = vec![0; len];
    if hash == Hash::CShake128 {
        let core = CShake128Core::new_with_function_name(name, customization);
        CShake128::from_core(core)
            .chain(data)
            .finalize_xof_into(&mut output);
    } else {
        let core = CShake256Core::new_with_function_name(name, customization);
        CShake256::from_core(core)
            .chain(data)
            .finalize_xof_into(&mut output);
    }
    output
}

/// Bytes that the hash takes in at a time, to which HMAC pads its key.
pub(super) fn block_len(hash: Hash) -> usize {
    message_digest(hash).block_size()
}

fn message_digest(hash: Hash) -> MessageDigest {
    match hash {
        Hash::Md5 => MessageDigest::md5(),
        Hash::Sha1 => MessageDigest::sha1(),
        Hash::Sha224 => MessageDigest::sha224(),
        Hash::Sha256 => MessageDigest::sha256(),
        Hash::Sha384 => MessageDigest::sha384(),
        Hash::Sha512 => MessageDigest::sha512(),
        Hash::Sha3_224 => MessageDigest::sha3_224(),
        Hash::Sha3_256 => MessageDigest::sha3_256(),
        Hash::Sha3_384 => MessageDigest::sha3_384(),
        Hash::Sha3_512 => MessageDigest::sha3_512(),
        Hash::Shake128 => MessageDigest::shake_128(),
        Hash::Shake256 => MessageDigest::shake_256(),
        Hash::Blake2b512 => MessageDigest::from_name("BLAKE2b512").expect("OpenSSL has BLAKE2"),
        Hash::Blake2s256 => MessageDigest::from_name("BLAKE2s256").expect("OpenSSL has BLAKE2"),
        other => panic!("no reference for {other:?}"),
    }
}
