//! Unkeyed digests and extendable-output functions.

use std::sync::Arc;

use lanelock_core::algorithm::MAX_TAG_LEN;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_core::{Hash, Transform};

use crate::catalogue::Catalogue;
use crate::context::{Context, Failure, Maker};
use crate::ffi::{DigestContext, Failed, RawDigest};

/// A digest's state.
pub(crate) enum HashContext {
    /// One whose state can be saved.
    Raw(Box<RawHash>),
    /// One of fixed length.
    Fixed(DigestContext),
    /// An extendable-output function, with what all its messages begin with and room for its output.
    Extendable {
        digest: DigestContext,
        prefix: Vec<u8>,
        output: Vec<u8>,
    },
}

/// The state before any message, and the running one.
pub(crate) struct RawHash {
    initial: RawDigest,
    running: RawDigest,
}

/// Makes contexts for a session of `hash`.
pub(crate) fn maker(catalogue: &Arc<Catalogue>, hash: Hash, transform: &Transform) -> Maker {
    let catalogue = catalogue.clone();
    let output_len = transform.tag_length();
    let (hash, prefix) = customized(hash, transform.customization_string());
    Box::new(move || {
        if let Some(initial) = RawDigest::new(hash) {
            let running = initial.clone();
            let raw = RawHash { initial, running };
            return Ok(Context::Hash(HashContext::Raw(Box::new(raw))));
        }
        let digest = DigestContext::new(catalogue.hash(hash).ok_or(Failed::MISUSE)?)?;
        Ok(Context::Hash(if hash.is_xof() {
            HashContext::Extendable {
                digest,
                prefix: prefix.clone(),
                output: vec![0; output_len],
            }
        } else {
            HashContext::Fixed(digest)
        }))
    })
}

/// The function that is cSHAKE with this customization string, and what its messages begin with (SP
/// 800-185, section 3.3): without one, cSHAKE is SHAKE.
fn customized(hash: Hash, customization: &[u8]) -> (Hash, Vec<u8>) {
    let (shake, rate) = match hash {
        Hash::CShake128 => (Hash::Shake128, 168),
        Hash::CShake256 => (Hash::Shake256, 136),
        _ => return (hash, Vec::new()),
    };
    if customization.is_empty() {
        return (shake, Vec::new());
    }
    let bits = 8 * customization.len() as u64;
    let digits = bits.to_be_bytes();
    let digits = &digits[bits.leading_zeros() as usize / 8..];
    let count = digits.len().to_le_bytes()[0];
    // The rate and the empty function name, each behind the number of its bytes.
    let mut prefix = [&[1, rate, 1, 0, count], digits, customization].concat();
    prefix.resize(prefix.len().next_multiple_of(rate.into()), 0);
    (hash, prefix)
}

impl HashContext {
    #[inline]
    pub(crate) fn run(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        let input = Ciphertext::InInput;
        let mut fixed = [0; MAX_TAG_LEN];
        match self {
            Self::Raw(raw) => {
                let RawHash { initial, running } = &mut **raw;
                running.restore(initial);
                op.for_each_authenticated(input, |piece| {
                    running.update(piece);
                    Ok::<_, Failed>(())
                })?;
                running.finish(&mut fixed);
                op.write_tag(&fixed);
            }
            Self::Fixed(digest) => {
                digest.restart()?;
                op.for_each_authenticated(input, |piece| digest.update(piece))?;
                digest.finish(&mut fixed)?;
                op.write_tag(&fixed);
            }
            Self::Extendable {
                digest,
                prefix,
                output,
            } => {
                digest.restart()?;
                if !prefix.is_empty() {
                    digest.update(prefix)?;
                }
                op.for_each_authenticated(input, |piece| digest.update(piece))?;
                digest.squeeze(output)?;
                op.write_tag(output);
            }
        }
        Ok(())
    }
}
