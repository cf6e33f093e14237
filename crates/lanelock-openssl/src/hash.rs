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
    /// An extendable-output function, with room for its output.
    Extendable {
        digest: DigestContext,
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
                output: vec![0; output_len],
            }
        } else {
            HashContext::Fixed(digest)
        }))
    })
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
            Self::Extendable { digest, output } => {
                digest.restart()?;
                op.for_each_authenticated(input, |piece| digest.update(piece))?;
                digest.squeeze(output)?;
                op.write_tag(output);
            }
        }
        Ok(())
    }
}
