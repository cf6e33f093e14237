//! Unkeyed digests and extendable-output functions.

use std::sync::Arc;

use lanelock_core::algorithm::MAX_TAG_LEN;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_core::{Hash, Transform};

use crate::catalogue::Catalogue;
use crate::context::{Context, Failure, Maker};
use crate::ffi::{DigestContext, Failed};

/// A digest's state, and for an extendable-output function room for its output.
pub(crate) struct HashContext {
    digest: DigestContext,
    output: Vec<u8>,
}

/// Makes contexts for a session of `hash`.
pub(crate) fn maker(catalogue: &Arc<Catalogue>, hash: Hash, transform: &Transform) -> Maker {
    let catalogue = catalogue.clone();
    let output_len = if hash.is_xof() {
        transform.tag_length()
    } else {
        0
    };
    Box::new(move || {
        let digest = DigestContext::new(catalogue.hash(hash).ok_or(Failed::MISUSE)?)?;
        Ok(Context::Hash(HashContext {
            digest,
            output: vec![0; output_len],
        }))
    })
}

impl HashContext {
    #[inline]
    pub(crate) fn run(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        let Self { digest, output } = self;
        digest.restart()?;
        op.for_each_authenticated(Ciphertext::InInput, |piece| digest.update(piece))?;
        if output.is_empty() {
            let mut fixed = [0; MAX_TAG_LEN];
            digest.finish(&mut fixed)?;
            op.write_tag(&fixed);
        } else {
            digest.squeeze(output)?;
            op.write_tag(output);
        }
        Ok(())
    }
}
