//! Keys of public-key algorithms.

use lanelock::Device;
use lanelock::public_key::KeyDevice;
use lanelock::public_key::{
    Curve, KeyError, KeyKind, MlDsa, MlKem, PublicKey, RsaNumbers, SecretKey,
};

use crate::boundary::{boundary, made};
use crate::device::lanelock_device;
use crate::error::{
    Failure, LANELOCK_ERROR_ENGINE, LANELOCK_ERROR_KEY, LANELOCK_ERROR_LENGTH,
    LANELOCK_ERROR_UNKNOWN, LANELOCK_ERROR_UNSUPPORTED, lanelock_error,
};
use crate::handle::{Handle, lend, take};
use crate::pointer::bytes;
use crate::sized::{self, Sized32};

/// RSA; its size is that of the modulus.
pub const LANELOCK_KEY_RSA: u32 = 1;
/// P-256: ECDSA, ECDH.
pub const LANELOCK_KEY_P256: u32 = 2;
/// P-384: ECDSA, ECDH.
pub const LANELOCK_KEY_P384: u32 = 3;
/// P-521: ECDSA, ECDH.
pub const LANELOCK_KEY_P521: u32 = 4;
/// SM2.
pub const LANELOCK_KEY_SM2: u32 = 5;
/// X25519.
pub const LANELOCK_KEY_X25519: u32 = 6;
/// X448.
pub const LANELOCK_KEY_X448: u32 = 7;
/// Ed25519.
pub const LANELOCK_KEY_ED25519: u32 = 8;
/// Ed448.
pub const LANELOCK_KEY_ED448: u32 = 9;
/// Finite-field Diffie-Hellman; its size is that of the prime.
pub const LANELOCK_KEY_DH: u32 = 10;
/// DSA; its size is that of the prime.
pub const LANELOCK_KEY_DSA: u32 = 11;
/// ML-KEM-512.
pub const LANELOCK_KEY_ML_KEM_512: u32 = 12;
/// ML-KEM-768.
pub const LANELOCK_KEY_ML_KEM_768: u32 = 13;
/// ML-KEM-1024.
pub const LANELOCK_KEY_ML_KEM_1024: u32 = 14;
/// ML-DSA-44.
pub const LANELOCK_KEY_ML_DSA_44: u32 = 15;
/// ML-DSA-65.
pub const LANELOCK_KEY_ML_DSA_65: u32 = 16;
/// ML-DSA-87.
pub const LANELOCK_KEY_ML_DSA_87: u32 = 17;

/// A secret or a public key. It is immutable; sessions keep what they need of it.
#[derive(Debug)]
pub struct lanelock_key {
    pub(crate) key: AnyKey,
}

#[derive(Debug)]
pub(crate) enum AnyKey {
    Secret(SecretKey),
    Public(PublicKey),
}

impl Handle for lanelock_key {
    const NAME: &'static str = "key";
}

/// Some bytes: a number in big-endian order, or an encoding.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_bytes {
    /// Where they are; may be NULL if there are none.
    pub data: *const u8,
    /// How many there are.
    pub len: usize,
}

/// The components of a key; those that its kind does not have are left empty. It is a secret key if
/// `secret` is given.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_key_parts {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// A LANELOCK_KEY number.
    pub kind: u32,
    /// RSA's private exponent; a curve's scalar; the exponent of Diffie-Hellman or DSA; the bytes of
    /// X25519 and similar keys, or a seed.
    pub secret: lanelock_bytes,
    /// A curve's point; the public value of Diffie-Hellman or DSA; the bytes of X25519 and similar
    /// keys.
    pub public_value: lanelock_bytes,
    /// RSA: the modulus.
    pub n: lanelock_bytes,
    /// RSA: the public exponent.
    pub e: lanelock_bytes,
    /// RSA: the first factor; Diffie-Hellman and DSA: the prime.
    pub p: lanelock_bytes,
    /// RSA: the second factor; Diffie-Hellman and DSA: the subgroup's order.
    pub q: lanelock_bytes,
    /// Diffie-Hellman and DSA: the generator.
    pub g: lanelock_bytes,
    /// RSA: d mod (p - 1).
    pub dp: lanelock_bytes,
    /// RSA: d mod (q - 1).
    pub dq: lanelock_bytes,
    /// RSA: the inverse of q mod p.
    pub qinv: lanelock_bytes,
}

// SAFETY: `repr(C)`, integers and pointers without padding, the size first.
unsafe impl Sized32 for lanelock_key_parts {
    const NAME: &'static str = "lanelock_key_parts";
    const FIRST: usize = 168;
}

const _: () = assert!(size_of::<lanelock_key_parts>() == 168);

/// What a key is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_key_info {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// A LANELOCK_KEY number.
    pub kind: u32,
    /// Bits of an RSA modulus, or of a Diffie-Hellman or DSA prime; 0 for other kinds.
    pub bits: u32,
    /// 1 for a secret key, 0 for a public one.
    pub secret: u32,
}

// SAFETY: `repr(C)`, integers without padding, the size first.
unsafe impl Sized32 for lanelock_key_info {
    const NAME: &'static str = "lanelock_key_info";
    const FIRST: usize = 16;
}

/// Makes a key from its components, which are copied. Sizes, parity and ranges are checked here; what
/// takes arithmetic is checked when a session is made. Threads: any.
///
/// # Safety
/// `parts` is NULL or valid for reads of the size that it begins with, and its pointers for their
/// lengths; `key` and `error` are NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_new(
    parts: *const lanelock_key_parts,
    key: *mut *mut lanelock_key,
    error: *mut lanelock_error,
) -> i32 {
    // SAFETY: the caller's promises.
    unsafe {
        made(key, error, || {
            let parts = sized::read(parts)?;
            let key = from_parts(&parts)?;
            Ok(lanelock_key { key })
        })
    }
}

/// Reads a secret key from PEM or DER: PKCS #8, or the older forms of RSA and EC. `passphrase` opens
/// an encrypted one; if it is NULL, no passphrase is tried. Threads: any.
///
/// # Safety
/// No thread frees the device meanwhile; `container` and `passphrase` are valid for reads of their
/// lengths; `key` and `error` are NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_read_secret(
    device: *const lanelock_device,
    container: *const u8,
    container_len: usize,
    passphrase: *const u8,
    passphrase_len: usize,
    key: *mut *mut lanelock_key,
    error: *mut lanelock_error,
) -> i32 {
    // SAFETY: the caller's promises.
    unsafe {
        made(key, error, || {
            let device = &lend(device)?.device;
            let container = bytes(container, container_len, "container")?;
            let phrase = match passphrase.is_null() {
                true => None,
                false => Some(bytes(passphrase, passphrase_len, "passphrase")?),
            };
            let key = AnyKey::Secret(device.read_secret_key(container, phrase)?);
            Ok(lanelock_key { key })
        })
    }
}

/// Reads a public key from PEM or DER: SubjectPublicKeyInfo, or RSA's older form. Threads: any.
///
/// # Safety
/// No thread frees the device meanwhile; `container` is valid for reads of its length; `key` and
/// `error` are NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_read_public(
    device: *const lanelock_device,
    container: *const u8,
    container_len: usize,
    key: *mut *mut lanelock_key,
    error: *mut lanelock_error,
) -> i32 {
    // SAFETY: the caller's promises.
    unsafe {
        made(key, error, || {
            let device = &lend(device)?.device;
            let container = bytes(container, container_len, "container")?;
            let key = AnyKey::Public(device.read_public_key(container)?);
            Ok(lanelock_key { key })
        })
    }
}

/// The public half of a key, computed if it did not come with it. Threads: any.
///
/// # Safety
/// No thread frees the device or the secret key meanwhile; `key` and `error` are NULL or valid for
/// writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_public(
    device: *const lanelock_device,
    secret: *const lanelock_key,
    key: *mut *mut lanelock_key,
    error: *mut lanelock_error,
) -> i32 {
    // SAFETY: the caller's promises.
    unsafe {
        made(key, error, || {
            let (device, secret) = (&lend(device)?.device, lend(secret)?);
            let key = AnyKey::Public(public_of(device, &secret.key)?);
            Ok(lanelock_key { key })
        })
    }
}

/// Frees a key and wipes it; NULL is allowed. Sessions that were made from it stay usable. Threads:
/// any, and none may use the handle meanwhile.
///
/// # Safety
/// No thread is inside a function with this handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_free(key: *mut lanelock_key) -> i32 {
    // SAFETY: the caller's promise.
    boundary(|| unsafe { take(key) }.map(drop))
}

/// Describes a key. Set `info->size` before the call. Threads: any.
///
/// # Safety
/// No thread frees the key meanwhile; `info` is NULL or valid for reads and writes of the size that it
/// begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_describe(
    key: *const lanelock_key,
    info: *mut lanelock_key_info,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let (kind, secret) = match &lend(key)?.key {
            AnyKey::Secret(key) => (key.kind(), 1),
            AnyKey::Public(key) => (key.kind(), 0),
        };
        let bits = bits(kind);
        let kind = number_of(kind)
            .ok_or_else(|| Failure::unknown("kind of key: this interface has no number for it"))?;
        let value = lanelock_key_info {
            size: 0,
            kind,
            bits,
            secret,
        };
        sized::write(&value, info)
    })
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        let code = match error {
            KeyError::Length { .. } => LANELOCK_ERROR_LENGTH,
            KeyError::Refused { .. } | KeyError::Mismatch { .. } | KeyError::Container { .. } => {
                LANELOCK_ERROR_KEY
            }
            KeyError::Unsupported { .. } => LANELOCK_ERROR_UNSUPPORTED,
            KeyError::NoSuchEngine { .. } => LANELOCK_ERROR_UNKNOWN,
            _ => LANELOCK_ERROR_ENGINE,
        };
        Self::new(code, error.to_string())
    }
}

/// Kinds of keys by number; `bits` is the size of those that have one.
pub(crate) fn kind(number: u32, bits: u32) -> Result<KeyKind, Failure> {
    let found = KINDS.iter().find(|(known, _)| *known == number);
    match found.map(|row| row.1) {
        Some(KeyKind::Rsa(_)) => Ok(KeyKind::Rsa(bits)),
        Some(KeyKind::Dh(_)) => Ok(KeyKind::Dh(bits)),
        Some(KeyKind::Dsa(_)) => Ok(KeyKind::Dsa(bits)),
        Some(kind) => Ok(kind),
        None => Err(Failure::unknown(format!("kind of key {number}: unknown"))),
    }
}

/// The number of a kind of key.
pub(crate) fn number_of(kind: KeyKind) -> Option<u32> {
    let alike = |other: KeyKind| {
        std::mem::discriminant(&kind) == std::mem::discriminant(&other)
            && (kind == other || matches!(kind, KeyKind::Rsa(_) | KeyKind::Dh(_) | KeyKind::Dsa(_)))
    };
    let found = KINDS.iter().find(|row| alike(row.1));
    found.map(|row| row.0)
}

/// The size of those that have one.
pub(crate) fn bits(kind: KeyKind) -> u32 {
    match kind {
        KeyKind::Rsa(bits) | KeyKind::Dh(bits) | KeyKind::Dsa(bits) => bits,
        _ => 0,
    }
}

const KINDS: &[(u32, KeyKind)] = &[
    (LANELOCK_KEY_RSA, KeyKind::Rsa(0)),
    (LANELOCK_KEY_P256, KeyKind::Ec(Curve::P256)),
    (LANELOCK_KEY_P384, KeyKind::Ec(Curve::P384)),
    (LANELOCK_KEY_P521, KeyKind::Ec(Curve::P521)),
    (LANELOCK_KEY_SM2, KeyKind::Ec(Curve::Sm2)),
    (LANELOCK_KEY_X25519, KeyKind::X25519),
    (LANELOCK_KEY_X448, KeyKind::X448),
    (LANELOCK_KEY_ED25519, KeyKind::Ed25519),
    (LANELOCK_KEY_ED448, KeyKind::Ed448),
    (LANELOCK_KEY_DH, KeyKind::Dh(0)),
    (LANELOCK_KEY_DSA, KeyKind::Dsa(0)),
    (LANELOCK_KEY_ML_KEM_512, KeyKind::MlKem(MlKem::MlKem512)),
    (LANELOCK_KEY_ML_KEM_768, KeyKind::MlKem(MlKem::MlKem768)),
    (LANELOCK_KEY_ML_KEM_1024, KeyKind::MlKem(MlKem::MlKem1024)),
    (LANELOCK_KEY_ML_DSA_44, KeyKind::MlDsa(MlDsa::MlDsa44)),
    (LANELOCK_KEY_ML_DSA_65, KeyKind::MlDsa(MlDsa::MlDsa65)),
    (LANELOCK_KEY_ML_DSA_87, KeyKind::MlDsa(MlDsa::MlDsa87)),
];

fn public_of(device: &Device, key: &AnyKey) -> Result<PublicKey, Failure> {
    match key {
        AnyKey::Secret(key) => Ok(device.public_key(key)?),
        AnyKey::Public(key) => Ok(key.clone()),
    }
}

/// # Safety
/// The pointers are valid for their lengths.
unsafe fn from_parts(parts: &lanelock_key_parts) -> Result<AnyKey, Failure> {
    // SAFETY: the caller's promise.
    let part = |from: lanelock_bytes, what| unsafe { bytes(from.data, from.len, what) };
    let (secret, value) = (
        part(parts.secret, "secret")?,
        part(parts.public_value, "public value")?,
    );
    let (n, e) = (part(parts.n, "n")?, part(parts.e, "e")?);
    let (p, q, g) = (
        part(parts.p, "p")?,
        part(parts.q, "q")?,
        part(parts.g, "g")?,
    );
    let is_secret = parts.secret.len != 0;
    Ok(match kind(parts.kind, 0)? {
        KeyKind::Rsa(_) if is_secret => AnyKey::Secret(SecretKey::rsa(&RsaNumbers {
            n,
            e,
            d: secret,
            p,
            q,
            dp: part(parts.dp, "dp")?,
            dq: part(parts.dq, "dq")?,
            qinv: part(parts.qinv, "qinv")?,
        })?),
        KeyKind::Rsa(_) => AnyKey::Public(PublicKey::rsa(n, e)?),
        KeyKind::Ec(curve) if is_secret => {
            let point = (!value.is_empty()).then_some(value);
            AnyKey::Secret(SecretKey::ec(curve, secret, point)?)
        }
        KeyKind::Ec(curve) => AnyKey::Public(PublicKey::ec(curve, value)?),
        KeyKind::Dh(_) if is_secret => AnyKey::Secret(SecretKey::dh(p, q, g, value, secret)?),
        KeyKind::Dh(_) => AnyKey::Public(PublicKey::dh(p, q, g, value)?),
        KeyKind::Dsa(_) if is_secret => AnyKey::Secret(SecretKey::dsa(p, q, g, value, secret)?),
        KeyKind::Dsa(_) => AnyKey::Public(PublicKey::dsa(p, q, g, value)?),
        kind if is_secret => AnyKey::Secret(SecretKey::raw(kind, secret)?),
        kind => AnyKey::Public(PublicKey::raw(kind, value)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_number_of_its_own() {
        let numbers: std::collections::HashSet<_> = KINDS.iter().map(|row| row.0).collect();
        assert_eq!(numbers.len(), KINDS.len());
        for &(number, known) in KINDS {
            assert_eq!(number_of(known), Some(number));
            assert_eq!(kind(number, 0).expect("known"), known);
        }
        assert_eq!(number_of(KeyKind::Rsa(2048)), Some(LANELOCK_KEY_RSA));
        assert_eq!(
            kind(LANELOCK_KEY_DH, 3072).expect("known"),
            KeyKind::Dh(3072)
        );
        assert!(kind(0, 0).is_err() && kind(18, 0).is_err());
        for &curve in Curve::ALL {
            assert!(number_of(KeyKind::Ec(curve)).is_some(), "{curve:?}");
        }
    }
}
