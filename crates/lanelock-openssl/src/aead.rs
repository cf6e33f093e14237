//! AES-GCM, ChaCha20-Poly1305, XChaCha20-Poly1305, AES-CCM and AES-GCM-SIV.

use std::sync::Arc;

use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN};
use lanelock_core::engine::ValidOp;
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Cipher, Transform};
use zeroize::Zeroizing;

use crate::catalogue::Catalogue;
use crate::context::{Context, Failure, Maker};
use crate::ffi::{CipherContext, Failed};
use crate::gather::{gathered, room};
use crate::xchacha::{self, KeyDerivation};

/// A keyed AEAD for one direction.
pub(crate) struct AeadContext {
    context: CipherContext,
    /// XChaCha20: what makes the key of each message.
    derivation: Option<KeyDerivation>,
    style: Style,
    seal: bool,
    tag_len: usize,
    iv: [u8; MAX_IV_LEN],
}

/// How libcrypto wants a message.
enum Style {
    /// Additional data and payload in any number of updates.
    Updates,
    /// CCM: its length first, then each part in one update, so pieces are gathered.
    Whole {
        aad: Zeroizing<Vec<u8>>,
        payload: Zeroizing<Vec<u8>>,
    },
    /// GCM-SIV: the payload in one update, even if it is empty.
    WholePayload(Zeroizing<Vec<u8>>),
}

/// Makes contexts for a session of `aead`.
pub(crate) fn maker(catalogue: &Arc<Catalogue>, aead: Aead, transform: &Transform) -> Maker {
    let catalogue = catalogue.clone();
    let key = Zeroizing::new(transform.key().to_vec());
    let (iv_len, tag_len) = (transform.iv_length(), transform.tag_length());
    let seal = transform.direction() == Direction::Forward;
    let ccm_tag_len = (aead == Aead::AesCcm).then_some(tag_len);
    Box::new(move || {
        let algorithm = catalogue.aead(aead, key.len()).ok_or(Failed::MISUSE)?;
        let (derivation, iv_len) = if aead == Aead::XChaCha20Poly1305 {
            let cipher = catalogue
                .cipher(Cipher::ChaCha20, key.len())
                .ok_or(Failed::MISUSE)?;
            (
                Some(KeyDerivation::new(cipher, &key)?),
                xchacha::INNER_NONCE,
            )
        } else {
            (None, iv_len)
        };
        let context = CipherContext::new(algorithm, seal, &key, iv_len, ccm_tag_len)?;
        let style = match aead {
            Aead::AesCcm => Style::Whole {
                aad: Zeroizing::default(),
                payload: Zeroizing::default(),
            },
            Aead::AesGcmSiv => Style::WholePayload(Zeroizing::default()),
            _ => Style::Updates,
        };
        let iv = [0; MAX_IV_LEN];
        Ok(Context::Aead(AeadContext {
            context,
            derivation,
            style,
            seal,
            tag_len,
            iv,
        }))
    })
}

impl AeadContext {
    #[inline]
    pub(crate) fn run(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        if self.seal {
            self.seal(op)
        } else {
            self.open(op)
        }
    }

    /// Starts the message of `op`.
    #[inline]
    fn start(&mut self, op: &ValidOp<'_, '_>) -> Result<(), Failed> {
        let iv = op.iv(&mut self.iv);
        match &mut self.derivation {
            None => self.context.start(iv),
            Some(derivation) => derivation.start(&mut self.context, iv),
        }
    }

    #[inline]
    fn seal(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        self.start(op)?;
        self.message(op, Failure::Engine)?;
        self.finish()?;
        if let Some(tag) = op.tag_mut() {
            return Ok(self.context.tag(tag)?);
        }
        let mut tag = [0; MAX_TAG_LEN];
        self.context.tag(&mut tag[..self.tag_len])?;
        op.write_tag(&tag);
        Ok(())
    }

    /// Plaintext is written before the tag is compared, and wiped unless it matches.
    #[inline]
    fn open(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        let mut scratch = [0; MAX_TAG_LEN];
        let expected = op.expected_tag(&mut scratch);
        self.start(op)?;
        self.context.expect_tag(expected)?;
        let decrypted = self.message(op, Failure::Auth);
        let result = decrypted.and_then(|()| self.finish().map_err(|_| Failure::Auth));
        if result.is_err() {
            op.wipe_output();
        }
        result
    }

    #[inline]
    fn finish(&mut self) -> Result<(), Failed> {
        match self.style {
            Style::Updates | Style::WholePayload(_) => self.context.finish(),
            Style::Whole { .. } => Ok(()),
        }
    }

    /// Additional data and payload. CCM compares the tag in its one update of the payload, so that
    /// a failure there is `refused`; any other is the engine's.
    #[inline]
    fn message(&mut self, op: &mut ValidOp<'_, '_>, refused: Failure) -> Result<(), Failure> {
        let Self { context, style, .. } = self;
        match style {
            Style::Updates => {
                op.for_each_aad(|piece| context.aad(piece))?;
                op.payload()
                    .for_each_block_run(1, |mut run| context.update(&mut run))?;
                Ok(())
            }
            Style::WholePayload(payload) => {
                // The additional data of the message before goes with an empty piece.
                context.aad(&[])?;
                op.for_each_aad(|piece| context.aad(piece))?;
                gathered(op.payload(), payload, |mut run| {
                    Ok(context.update_whole(&mut run)?)
                })
            }
            Style::Whole { aad, payload } => {
                context.announce(op.payload_len())?;
                whole_aad(op, aad, |aad| context.aad(aad))?;
                gathered(op.payload(), payload, |mut run| {
                    context.update_whole(&mut run).map_err(|_| refused)
                })
            }
        }
    }
}

/// Hands the additional data to `f` in one piece, if there is any.
fn whole_aad(
    op: &ValidOp<'_, '_>,
    scratch: &mut Zeroizing<Vec<u8>>,
    mut f: impl FnMut(&[u8]) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let len = op.aad_len();
    let mut used = 0;
    op.for_each_aad(|piece| {
        if piece.len() == len {
            return f(piece);
        }
        room(scratch, len)?[used..used + piece.len()].copy_from_slice(piece);
        used += piece.len();
        if used == len {
            f(room(scratch, len)?)
        } else {
            Ok(())
        }
    })
}
