//! Public-key sessions: a key, prepared once for one operation.

use std::ffi::c_char;

use lanelock::public_key::KeyDevice;
use lanelock::public_key::{
    EncryptionScheme, KeySession, KeyTransform, Oaep, Operation, Pss, Scheme, SignatureForm,
    SignatureScheme,
};

use crate::algorithm::hash;
use crate::boundary::{boundary, made};
use crate::device::{lanelock_device, small};
use crate::error::{Failure, copy_text, lanelock_error};
use crate::handle::{Handle, lend, take};
use crate::key::{AnyKey, kind, lanelock_key};
use crate::pointer::{bytes, text};
use crate::sized::{self, Sized32};

/// Makes a signature, with a secret key.
pub const LANELOCK_SIGN: u32 = 1;
/// Checks a signature, with a public key.
pub const LANELOCK_VERIFY: u32 = 2;
/// Encrypts, with a public key.
pub const LANELOCK_ENCRYPT: u32 = 3;
/// Decrypts, with a secret key.
pub const LANELOCK_DECRYPT: u32 = 4;
/// Agrees on a shared secret, with a secret key.
pub const LANELOCK_DERIVE: u32 = 5;
/// Makes a key pair, without a key.
pub const LANELOCK_GENERATE: u32 = 6;
/// Makes a shared secret and its ciphertext, with a public key.
pub const LANELOCK_ENCAPSULATE: u32 = 7;
/// Recovers the shared secret from a ciphertext, with a secret key.
pub const LANELOCK_DECAPSULATE: u32 = 8;

/// RSA with PKCS #1 v1.5 padding: signatures over `hash`, or encryption.
pub const LANELOCK_SCHEME_RSA_PKCS1: u32 = 1;
/// RSASSA-PSS over `hash`.
pub const LANELOCK_SCHEME_RSA_PSS: u32 = 2;
/// RSAES-OAEP with `hash`.
pub const LANELOCK_SCHEME_RSA_OAEP: u32 = 3;
/// RSA without padding, on blocks as long as the modulus.
pub const LANELOCK_SCHEME_RSA_RAW: u32 = 4;
/// ECDSA over `hash`.
pub const LANELOCK_SCHEME_ECDSA: u32 = 5;
/// DSA over `hash`.
pub const LANELOCK_SCHEME_DSA: u32 = 6;
/// Ed25519 or Ed448.
pub const LANELOCK_SCHEME_EDDSA: u32 = 7;
/// SM2 with SM3: signatures, or encryption.
pub const LANELOCK_SCHEME_SM2: u32 = 8;
/// ML-DSA.
pub const LANELOCK_SCHEME_ML_DSA: u32 = 9;

/// Operations are given the digest of the message instead of the message.
pub const LANELOCK_KEY_DIGEST: u32 = 1;
/// Signatures are r and s one after the other, each as long as the order, instead of DER.
pub const LANELOCK_KEY_FIXED: u32 = 2;
/// RSA's private operations need not be blinded: safe only if an attacker cannot choose the input
/// or cannot measure.
pub const LANELOCK_KEY_UNBLINDED: u32 = 4;

/// A salt of RSASSA-PSS as long as the digest.
pub const LANELOCK_SALT_DIGEST: u32 = 0xffff_ffff;

/// A key, prepared for one operation. It is immutable: any number of threads and queues can use it
/// at the same time.
#[derive(Debug)]
pub struct lanelock_key_session {
    pub(crate) session: KeySession,
}

impl Handle for lanelock_key_session {
    const NAME: &'static str = "key session";
}

/// What a public-key session does. `lanelock_key_transform_init` fills it in; fields that it leaves
/// zero may be set afterwards.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_key_transform {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// LANELOCK_SIGN to LANELOCK_DECAPSULATE.
    pub operation: u32,
    /// A LANELOCK_SCHEME number; 0 to derive, generate, encapsulate and decapsulate.
    pub scheme: u32,
    /// The number of a hash; 0 for a scheme without one.
    pub hash: u32,
    /// PSS and OAEP: the hash of the mask generation function; 0 for the same.
    pub mgf1_hash: u32,
    /// PSS: length of the salt, in bytes, or LANELOCK_SALT_DIGEST.
    pub salt_len: u32,
    /// LANELOCK_KEY_DIGEST, LANELOCK_KEY_FIXED, LANELOCK_KEY_UNBLINDED.
    pub flags: u32,
    /// To generate: a LANELOCK_KEY number.
    pub kind: u32,
    /// To generate RSA or Diffie-Hellman keys: their size, in bits.
    pub bits: u32,
    /// Zero.
    pub reserved: u32,
    /// The key; NULL to generate.
    pub key: *const lanelock_key,
    /// OAEP's label, SM2's identifier of the signer, or ML-DSA's context; NULL for the usual one.
    pub context: *const u8,
    /// Its length, in bytes.
    pub context_len: usize,
    /// Name of the engine that is to run the session; NULL lets the device choose, and run batches
    /// of too few operations for that engine's lanes on the next one.
    pub engine: *const c_char,
}

// SAFETY: `repr(C)`, integers and pointers without padding, the size first.
unsafe impl Sized32 for lanelock_key_transform {
    const NAME: &'static str = "lanelock_key_transform";
    const FIRST: usize = 72;
}

/// The properties of a public-key session.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_key_session_info {
    /// The size of this structure, in bytes.
    pub size: u32,
    /// Operations that run in lockstep; 1 if they run one at a time.
    pub lanes: u32,
    /// Room that an operation's output needs, in bytes. For encryption and decryption with SM2, add
    /// the length of the input.
    pub output_len: u32,
    /// Room that an operation's second output needs, in bytes; 0 if there is none.
    pub second_len: u32,
    /// Bytes of memory that the session holds.
    pub memory: u64,
    /// In addition, for each queue that has used the session.
    pub memory_per_queue: u64,
    /// Name of the engine that runs it.
    pub engine: [c_char; 24],
    /// Name of the algorithm, such as "rsa-2048-pss-sign".
    pub name: [c_char; 40],
}

// SAFETY: `repr(C)`, integers without padding, the size first.
unsafe impl Sized32 for lanelock_key_session_info {
    const NAME: &'static str = "lanelock_key_session_info";
    const FIRST: usize = 96;
}

const _: () = assert!(size_of::<lanelock_key_transform>() == 72);
const _: () = assert!(size_of::<lanelock_key_session_info>() == 96);

/// Prepares a key for one operation. The session runs on every key queue of its device. Threads: any.
///
/// # Safety
/// No thread frees the device or the key meanwhile. `transform` is NULL or valid for reads of the size
/// that it begins with, and its pointers for their lengths; `session` and `error` are NULL or valid
/// for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_session_new(
    device: *const lanelock_device,
    transform: *const lanelock_key_transform,
    session: *mut *mut lanelock_key_session,
    error: *mut lanelock_error,
) -> i32 {
    // SAFETY: the caller's promises.
    unsafe {
        made(session, error, || {
            let device = &lend(device)?.device;
            let from = sized::read(transform)?;
            let transform = described(&from)?;
            let session = match text(from.engine, "engine")? {
                Some(engine) => device.key_session_on(engine, &transform),
                None => device.key_session(&transform),
            };
            let session = session?;
            Ok(lanelock_key_session { session })
        })
    }
}

/// Frees a session; NULL is allowed. Its key is wiped when none of its operations is enqueued any
/// more. Threads: any, and none may use the handle meanwhile.
///
/// # Safety
/// No thread is inside a function with this handle or an operation of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_session_free(session: *mut lanelock_key_session) -> i32 {
    // SAFETY: the caller's promise.
    boundary(|| unsafe { take(session) }.map(drop))
}

/// Describes a session. Set `info->size` before the call. Threads: any.
///
/// # Safety
/// No thread frees the session meanwhile; `info` is NULL or valid for reads and writes of the size
/// that it begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanelock_key_session_describe(
    session: *const lanelock_key_session,
    info: *mut lanelock_key_session_info,
) -> i32 {
    // SAFETY: the caller's promises.
    boundary(|| unsafe {
        let session = &lend(session)?.session;
        let memory = session.memory();
        let mut value = lanelock_key_session_info {
            size: 0,
            lanes: small(session.lanes()),
            output_len: small(session.output_len(0)),
            second_len: small(session.second_output_len()),
            memory: memory.session as u64,
            memory_per_queue: memory.per_queue_pair as u64,
            engine: [0; _],
            name: [0; _],
        };
        copy_text(session.engine(), &mut value.engine);
        copy_text(&session.spec().to_string(), &mut value.name);
        sized::write(&value, info)
    })
}

/// # Safety
/// The key is NULL or not freed meanwhile; the context is valid for its length.
unsafe fn described(from: &lanelock_key_transform) -> Result<KeyTransform, Failure> {
    const KNOWN: u32 = LANELOCK_KEY_DIGEST | LANELOCK_KEY_FIXED | LANELOCK_KEY_UNBLINDED;
    if from.flags & !KNOWN != 0 || from.reserved != 0 {
        let text = format!(
            "flags {:#x}, reserved {}: a flag is unknown, or reserved is not 0",
            from.flags, from.reserved
        );
        return Err(Failure::unknown(text));
    }
    // SAFETY: the caller's promise.
    let mut transform = unsafe { operation(from)? };
    if from.flags & LANELOCK_KEY_DIGEST != 0 {
        transform = transform.digest();
    }
    if from.flags & LANELOCK_KEY_FIXED != 0 {
        transform = transform.signature_form(SignatureForm::Fixed);
    }
    transform = transform.blinding(from.flags & LANELOCK_KEY_UNBLINDED == 0);
    if !from.context.is_null() {
        // SAFETY: the caller's promise.
        transform = transform.context(unsafe { bytes(from.context, from.context_len, "context")? });
    }
    Ok(transform)
}

/// # Safety
/// The key is NULL or not freed meanwhile.
unsafe fn operation(from: &lanelock_key_transform) -> Result<KeyTransform, Failure> {
    if from.operation == LANELOCK_GENERATE {
        return Ok(KeyTransform::generate(kind(from.kind, from.bits)?));
    }
    // SAFETY: the caller's promise.
    let key = unsafe { &lend(from.key)?.key };
    let plain = |transform| match from.scheme {
        0 => Ok(transform),
        other => Err(Failure::unknown(format!(
            "scheme {other}: this operation takes none; use 0"
        ))),
    };
    match (from.operation, key) {
        (LANELOCK_SIGN, AnyKey::Secret(key)) => Ok(KeyTransform::sign(signature(from)?, key)),
        (LANELOCK_VERIFY, AnyKey::Public(key)) => Ok(KeyTransform::verify(signature(from)?, key)),
        (LANELOCK_ENCRYPT, AnyKey::Public(key)) => {
            Ok(KeyTransform::encrypt(encryption(from)?, key))
        }
        (LANELOCK_DECRYPT, AnyKey::Secret(key)) => {
            Ok(KeyTransform::decrypt(encryption(from)?, key))
        }
        (LANELOCK_DERIVE, AnyKey::Secret(key)) => plain(KeyTransform::derive(key)),
        (LANELOCK_ENCAPSULATE, AnyKey::Public(key)) => plain(KeyTransform::encapsulate(key)),
        (LANELOCK_DECAPSULATE, AnyKey::Secret(key)) => plain(KeyTransform::decapsulate(key)),
        (LANELOCK_SIGN..=LANELOCK_DECAPSULATE, AnyKey::Secret(_)) => Err(Failure::unknown(
            "key: secret, but the operation takes a public one",
        )),
        (LANELOCK_SIGN..=LANELOCK_DECAPSULATE, AnyKey::Public(_)) => Err(Failure::unknown(
            "key: public, but the operation takes a secret one",
        )),
        (other, _) => Err(Failure::unknown(format!("operation {other}: unknown"))),
    }
}

/// The number of a scheme; 0 where the kind of key leaves no choice.
pub(crate) fn scheme_number(scheme: Scheme) -> Option<u32> {
    Some(match scheme {
        Scheme::Plain => 0,
        Scheme::Signature(SignatureScheme::RsaPkcs1(_))
        | Scheme::Encryption(EncryptionScheme::RsaPkcs1) => LANELOCK_SCHEME_RSA_PKCS1,
        Scheme::Signature(SignatureScheme::RsaPss(_)) => LANELOCK_SCHEME_RSA_PSS,
        Scheme::Signature(SignatureScheme::Ecdsa(_)) => LANELOCK_SCHEME_ECDSA,
        Scheme::Signature(SignatureScheme::Dsa(_)) => LANELOCK_SCHEME_DSA,
        Scheme::Signature(SignatureScheme::EdDsa) => LANELOCK_SCHEME_EDDSA,
        Scheme::Signature(SignatureScheme::Sm2) | Scheme::Encryption(EncryptionScheme::Sm2) => {
            LANELOCK_SCHEME_SM2
        }
        Scheme::Signature(SignatureScheme::MlDsa) => LANELOCK_SCHEME_ML_DSA,
        Scheme::Encryption(EncryptionScheme::RsaOaep(_)) => LANELOCK_SCHEME_RSA_OAEP,
        Scheme::Encryption(EncryptionScheme::RsaRaw) => LANELOCK_SCHEME_RSA_RAW,
        _ => return None,
    })
}

/// The number of an operation.
pub(crate) fn operation_number(operation: Operation) -> u32 {
    match operation {
        Operation::Sign => LANELOCK_SIGN,
        Operation::Verify => LANELOCK_VERIFY,
        Operation::Encrypt => LANELOCK_ENCRYPT,
        Operation::Decrypt => LANELOCK_DECRYPT,
        Operation::Derive => LANELOCK_DERIVE,
        Operation::Generate => LANELOCK_GENERATE,
        Operation::Encapsulate => LANELOCK_ENCAPSULATE,
        Operation::Decapsulate => LANELOCK_DECAPSULATE,
    }
}

fn signature(from: &lanelock_key_transform) -> Result<SignatureScheme, Failure> {
    Ok(match from.scheme {
        LANELOCK_SCHEME_RSA_PKCS1 => SignatureScheme::RsaPkcs1(hash(from.hash)?),
        LANELOCK_SCHEME_RSA_PSS => {
            let hash = hash(from.hash)?;
            SignatureScheme::RsaPss(Pss {
                mgf1: mgf1(from)?,
                salt_len: match from.salt_len {
                    LANELOCK_SALT_DIGEST => hash.digest_len(),
                    len => len as usize,
                },
                hash,
            })
        }
        LANELOCK_SCHEME_ECDSA => SignatureScheme::Ecdsa(hash(from.hash)?),
        LANELOCK_SCHEME_DSA => SignatureScheme::Dsa(hash(from.hash)?),
        LANELOCK_SCHEME_EDDSA => SignatureScheme::EdDsa,
        LANELOCK_SCHEME_SM2 => SignatureScheme::Sm2,
        LANELOCK_SCHEME_ML_DSA => SignatureScheme::MlDsa,
        other => {
            return Err(Failure::unknown(format!(
                "scheme {other}: not a signature scheme"
            )));
        }
    })
}

fn encryption(from: &lanelock_key_transform) -> Result<EncryptionScheme, Failure> {
    Ok(match from.scheme {
        LANELOCK_SCHEME_RSA_PKCS1 => EncryptionScheme::RsaPkcs1,
        LANELOCK_SCHEME_RSA_OAEP => EncryptionScheme::RsaOaep(Oaep {
            hash: hash(from.hash)?,
            mgf1: mgf1(from)?,
        }),
        LANELOCK_SCHEME_RSA_RAW => EncryptionScheme::RsaRaw,
        LANELOCK_SCHEME_SM2 => EncryptionScheme::Sm2,
        other => {
            return Err(Failure::unknown(format!(
                "scheme {other}: not an encryption scheme"
            )));
        }
    })
}

fn mgf1(from: &lanelock_key_transform) -> Result<lanelock::Hash, Failure> {
    hash(match from.mgf1_hash {
        0 => from.hash,
        other => other,
    })
}
