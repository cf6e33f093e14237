//! Keys that are strings of 32 bytes.

use lanelock_public_key::{
    Key, KeyError, KeyTransform, PublicKey, PublicParts, SecretKey, SecretParts,
};

/// Bytes of a key.
pub(super) const BYTES: usize = 32;

/// The secret key of a transform.
pub(super) fn secret(transform: &KeyTransform) -> Result<(&SecretKey, &[u8; BYTES]), KeyError> {
    if let Key::Secret(key) = transform.key()
        && let SecretParts::Raw(bytes) = key.parts()
        && let Some(bytes) = bytes.first_chunk()
    {
        return Ok((key, bytes));
    }
    Err(mismatch(transform))
}

/// The public key of a transform.
pub(super) fn public(transform: &KeyTransform) -> Result<(&PublicKey, &[u8; BYTES]), KeyError> {
    if let Key::Public(key) = transform.key()
        && let PublicParts::Raw(bytes) = key.parts()
        && let Some(bytes) = bytes.first_chunk()
    {
        return Ok((key, bytes));
    }
    Err(mismatch(transform))
}

/// Refuses a key that came with a public half other than what `compute` gives.
pub(super) fn check_public_half(
    key: &SecretKey,
    compute: impl FnOnce() -> [u8; BYTES],
) -> Result<(), KeyError> {
    match key.public_key().as_ref().map(PublicKey::parts) {
        Some(PublicParts::Raw(given)) if given[..] != compute()[..] => Err(KeyError::refused(
            key.kind(),
            "the public half is another key's",
        )),
        _ => Ok(()),
    }
}

/// Refuses a key of a form that its kind does not have.
pub(super) fn mismatch(transform: &KeyTransform) -> KeyError {
    KeyError::Mismatch {
        what: transform.spec().to_string(),
        why: "its key is of another form".to_owned(),
    }
}
