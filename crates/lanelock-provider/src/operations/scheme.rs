//! What a context of the default provider is set to do, in lanelock's terms.

use std::ffi::{CStr, c_int, c_void};

use lanelock::Hash;
use lanelock::public_key::{Oaep, Pss, SignatureScheme};

use crate::ffi::OSSL_PARAM;
use crate::ffi::params::Request;

/// A function that fills an array from a context.
pub(super) type GetParams = unsafe extern "C" fn(*mut c_void, *mut OSSL_PARAM) -> c_int;

/// How RSA signs or decrypts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RsaSignature {
    Scheme(SignatureScheme),
    /// PKCS #1 v1.5 padding around whatever is signed, without a hash.
    Bare,
}

/// `RSA_*_PADDING` of openssl/rsa.h.
mod padding {
    pub(super) const PKCS1: i32 = 1;
    pub(super) const NONE: i32 = 3;
    pub(super) const OAEP: i32 = 4;
    pub(super) const PSS: i32 = 6;
}

/// `RSA_PSS_SALTLEN_DIGEST` of openssl/rsa.h.
const SALT_LIKE_DIGEST: i32 = -1;

const NAME_LEN: usize = 64;

/// Reads an RSA signature context; `None` if it does what has no lanes.
///
/// # Safety
/// `get` is the function of the context's table.
pub(super) unsafe fn rsa_signature(get: GetParams, context: *mut c_void) -> Option<RsaSignature> {
    let (mut mode, mut salt) = (0, i32::MIN);
    let (mut digest, mut mgf1) = ([0; NAME_LEN], [0; NAME_LEN]);
    let mut request = Request::<5>::new()
        .int(c"pad-mode", &mut mode)
        .int(c"saltlen", &mut salt)
        .text(c"digest", &mut digest)
        .text(c"mgf1-digest", &mut mgf1);
    // SAFETY: the caller's; the array is terminated and its places are there.
    if unsafe { get(context, request.as_mut_ptr()) } != 1 {
        return None;
    }
    let (digest, mgf1) = (name(&digest)?, name(&mgf1)?);
    match mode {
        padding::PKCS1 if digest.is_empty() => Some(RsaSignature::Bare),
        padding::PKCS1 => Some(RsaSignature::Scheme(SignatureScheme::RsaPkcs1(hash(
            digest,
        )?))),
        padding::PSS => {
            let hash = hash(digest)?;
            let salt_len = match salt {
                SALT_LIKE_DIGEST => hash.digest_len(),
                len => usize::try_from(len).ok()?,
            };
            let mgf1 = self::hash(mgf1)?;
            Some(RsaSignature::Scheme(SignatureScheme::RsaPss(Pss {
                hash,
                mgf1,
                salt_len,
            })))
        }
        _ => None,
    }
}

/// The hash of an ECDSA context: `Some(None)` if it has none, `None` if it does what has no lanes.
///
/// # Safety
/// As [`rsa_signature`].
pub(super) unsafe fn ecdsa_hash(get: GetParams, context: *mut c_void) -> Option<Option<Hash>> {
    let mut digest = [0; NAME_LEN];
    // Since OpenSSL 3.2; elsewhere it stays 0, which is a random nonce.
    let mut nonce: c_int = 0;
    let mut request = Request::<3>::new()
        .text(c"digest", &mut digest)
        .int(c"nonce-type", &mut nonce);
    // SAFETY: as above.
    if unsafe { get(context, request.as_mut_ptr()) } != 1 || nonce != 0 {
        return None;
    }
    match name(&digest)? {
        "" => Some(None),
        digest => hash(digest).map(Some),
    }
}

/// How RSA decrypts, in lanes.
pub(super) enum RsaDecryption {
    Raw,
    Oaep(Oaep),
}

/// Reads an RSA encryption context; `None` if it does what has no lanes: PKCS #1 v1.5, whose
/// answer to a malformed block is the default provider's matter, and OAEP with a label.
///
/// # Safety
/// As [`rsa_signature`].
pub(super) unsafe fn rsa_decryption(get: GetParams, context: *mut c_void) -> Option<RsaDecryption> {
    let mut mode = 0;
    let mut request = Request::<2>::new().int(c"pad-mode", &mut mode);
    // SAFETY: as above.
    if unsafe { get(context, request.as_mut_ptr()) } != 1 {
        return None;
    }
    match mode {
        padding::NONE => return Some(RsaDecryption::Raw),
        padding::OAEP => {}
        _ => return None,
    }
    let (mut digest, mut mgf1) = ([0; NAME_LEN], [0; NAME_LEN]);
    let mut request = Request::<3>::new()
        .text(c"digest", &mut digest)
        .text(c"mgf1-digest", &mut mgf1);
    // SAFETY: as above.
    if unsafe { get(context, request.as_mut_ptr()) } != 1 {
        return None;
    }
    // OAEP's own default.
    let digest = match name(&digest)? {
        "" => Hash::Sha1,
        digest => hash(digest)?,
    };
    let mgf1 = match name(&mgf1)? {
        "" => digest,
        mgf1 => hash(mgf1)?,
    };
    Some(RsaDecryption::Oaep(Oaep { hash: digest, mgf1 }))
}

/// Whether a key exchange derives nothing further from the shared secret.
///
/// # Safety
/// As [`rsa_signature`].
pub(super) unsafe fn is_bare(get: GetParams, context: *mut c_void) -> bool {
    let mut kdf = [0; NAME_LEN];
    let mut request = Request::<2>::new().text(c"kdf-type", &mut kdf);
    // SAFETY: as above.
    unsafe { get(context, request.as_mut_ptr()) == 1 && name(&kdf) == Some("") }
}

fn name(text: &[u8]) -> Option<&str> {
    CStr::from_bytes_until_nul(text).ok()?.to_str().ok()
}

/// A hash by libcrypto's names for it, those that lanes sign with.
fn hash(name: &str) -> Option<Hash> {
    let is = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let known: [(&[&str], Hash); 5] = [
        (&["SHA2-256", "SHA256", "SHA-256"], Hash::Sha256),
        (&["SHA2-384", "SHA384", "SHA-384"], Hash::Sha384),
        (&["SHA2-512", "SHA512", "SHA-512"], Hash::Sha512),
        (&["SHA1", "SHA-1"], Hash::Sha1),
        (&["SHA2-224", "SHA224", "SHA-224"], Hash::Sha224),
    ];
    let mut known = known.into_iter();
    known.find_map(|(names, hash)| is(names).then_some(hash))
}

/// The hash whose digests are this long, for ECDSA without one: it uses a digest as it is.
pub(super) fn hash_of_len(len: usize) -> Option<Hash> {
    let mut hashes = [
        Hash::Sha1,
        Hash::Sha224,
        Hash::Sha256,
        Hash::Sha384,
        Hash::Sha512,
    ]
    .into_iter();
    hashes.find(|hash| hash.digest_len() == len)
}
