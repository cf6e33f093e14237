//! MACs, alone or as half of a chain.

use std::sync::Arc;

use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN};
use lanelock_core::engine::{Ciphertext, ValidOp, Wiped};
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Cipher, Mac, Transform};
use zeroize::Zeroizing;

use crate::catalogue::{Catalogue, hash_name};
use crate::cmac::Cmac;
use crate::context::{Context, Failure, Maker};
use crate::ffi::{CipherContext, Failed, MacContext};
use crate::hmac::Hmac;

/// The MAC of a session without a cipher.
pub(crate) struct MacOnly {
    mac: MacHalf,
    verify: bool,
}

/// A keyed MAC.
pub(crate) enum MacHalf {
    /// HMAC over a hash whose state can be saved.
    Hmac(Box<Wiped<Hmac>>),
    Cmac(Box<Wiped<Cmac>>),
    /// HMAC over other hashes, and KMAC: each message starts from the keyed state.
    Restarts(MacContext),
    /// Poly1305: each message sets the key again.
    Rekeys(MacContext, Zeroizing<Vec<u8>>),
    /// GMAC: AES-GCM over additional data alone, which restarts with an IV.
    Gmac(Box<Wiped<Gmac>>),
}

/// GMAC's context, and room for an IV that lies across segments.
pub(crate) struct Gmac {
    context: CipherContext,
    iv: [u8; MAX_IV_LEN],
}

/// Makes contexts for a session of `mac`.
pub(crate) fn maker(catalogue: &Arc<Catalogue>, mac: Mac, transform: &Transform) -> Maker {
    let half = half(catalogue, mac, transform.key(), transform);
    let verify = transform.direction() == Direction::Reverse;
    Box::new(move || {
        Ok(Context::Mac(MacOnly {
            mac: half()?,
            verify,
        }))
    })
}

/// Makes the MAC of a session of `transform`, alone or in a chain, with its key.
pub(crate) fn half(
    catalogue: &Arc<Catalogue>,
    mac: Mac,
    key: &[u8],
    transform: &Transform,
) -> impl Fn() -> Result<MacHalf, Failed> + Send + Sync + use<> {
    let catalogue = catalogue.clone();
    let key = Zeroizing::new(key.to_vec());
    let (iv_len, tag_len) = (transform.iv_length(), transform.tag_length());
    let customization = transform.customization_string().to_vec();
    move || {
        let have = Failed::MISUSE;
        Ok(match mac {
            Mac::Hmac(hash) => {
                if let Some(hmac) = Hmac::new(hash, &key) {
                    return Ok(MacHalf::Hmac(Box::new(Wiped::new(hmac))));
                }
                let hash = hash_name(hash).ok_or(have)?;
                let hmac = catalogue.hmac().ok_or(have)?;
                MacHalf::Restarts(MacContext::new(hmac, &key, Some(hash))?)
            }
            Mac::AesCmac => {
                let cbc = catalogue.cipher(Cipher::AesCbc, key.len()).ok_or(have)?;
                let context = CipherContext::new(cbc, true, &key, 16, None)?;
                MacHalf::Cmac(Box::new(Wiped::new(Cmac::new(context)?)))
            }
            Mac::AesGmac => {
                let gcm = catalogue.aead(Aead::AesGcm, key.len()).ok_or(have)?;
                let context = CipherContext::new(gcm, true, &key, iv_len, None)?;
                MacHalf::Gmac(Box::new(Wiped::new(Gmac {
                    context,
                    iv: [0; MAX_IV_LEN],
                })))
            }
            Mac::Poly1305 => {
                let poly1305 = catalogue.poly1305().ok_or(have)?;
                MacHalf::Rekeys(MacContext::new(poly1305, &key, None)?, key.clone())
            }
            Mac::Kmac128 | Mac::Kmac256 => {
                let kmac = catalogue.kmac(mac).ok_or(have)?;
                let context = MacContext::kmac(kmac, &key, &customization, tag_len)?;
                MacHalf::Restarts(context)
            }
            _ => return Err(have),
        })
    }
}

impl MacOnly {
    #[inline]
    pub(crate) fn run(&mut self, op: &mut ValidOp<'_, '_>) -> Result<(), Failure> {
        let mut tag = [0; MAX_TAG_LEN];
        self.mac.tag(op, Ciphertext::InInput, &mut tag)?;
        if !self.verify {
            op.write_tag(&tag);
            return Ok(());
        }
        if op.tag_matches(&tag) {
            Ok(())
        } else {
            Err(Failure::Auth)
        }
    }
}

impl MacHalf {
    /// Computes the untruncated tag of an operation.
    #[inline]
    pub(crate) fn tag(
        &mut self,
        op: &ValidOp<'_, '_>,
        ciphertext: Ciphertext,
        tag: &mut [u8; MAX_TAG_LEN],
    ) -> Result<(), Failed> {
        let mac = match self {
            Self::Hmac(hmac) => {
                hmac.start();
                op.for_each_authenticated(ciphertext, |piece| {
                    hmac.update(piece);
                    Ok::<_, Failed>(())
                })?;
                hmac.finish(tag);
                return Ok(());
            }
            Self::Cmac(cmac) => {
                cmac.start();
                op.for_each_authenticated(ciphertext, |piece| cmac.update(piece))?;
                return cmac.finish(tag);
            }
            Self::Restarts(mac) => {
                mac.restart()?;
                mac
            }
            Self::Rekeys(mac, key) => {
                mac.rekey(key)?;
                mac
            }
            Self::Gmac(gmac) => return gmac.tag(op, ciphertext, tag),
        };
        op.for_each_authenticated(ciphertext, |piece| mac.update(piece))?;
        mac.finish(tag)
    }
}

impl Gmac {
    fn tag(
        &mut self,
        op: &ValidOp<'_, '_>,
        ciphertext: Ciphertext,
        tag: &mut [u8; MAX_TAG_LEN],
    ) -> Result<(), Failed> {
        let Self { context, iv } = self;
        context.start(op.iv(iv))?;
        op.for_each_authenticated(ciphertext, |piece| context.aad(piece))?;
        context.finish()?;
        context.tag(&mut tag[..16])
    }
}
