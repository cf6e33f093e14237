//! Encryption and decryption.

use lanelock_core::Hash;
use lanelock_core::algorithm::MAX_TAG_LEN;
use lanelock_public_key::engine::ValidKeyOp;
use lanelock_public_key::implicit_rejection::{self, HmacSha256};
use lanelock_public_key::{EncryptionScheme, Key, KeyReason, PublicParts, RsaSecret, SecretParts};
use zeroize::{Zeroize, Zeroizing};

use super::fault::FaultCheck;
use super::session::Recipe;
use super::{import, names};
use crate::ffi::{self, Failed, KeyParams, PKeyContext, RawDigest};
use crate::hmac::Hmac;

pub(super) struct Encrypter {
    context: PKeyContext,
    /// The modulus, if blocks are compared with it.
    modulus: Option<Vec<u8>>,
}

pub(super) struct Decrypter {
    context: PKeyContext,
    /// For RSA, what becomes of the block.
    block: Option<Block>,
}

/// An RSA block on its way to a message.
struct Block {
    modulus: Vec<u8>,
    check: FaultCheck,
    padding: Padding,
}

enum Padding {
    None,
    /// With SHA-256 of the private exponent, from which malformed blocks get their messages.
    Pkcs1(Zeroizing<[u8; 32]>),
    Oaep(ffi::Oaep),
}

impl Encrypter {
    pub(super) fn new(recipe: &Recipe, scheme: EncryptionScheme) -> Result<Self, Failed> {
        let library = recipe.catalogue.library();
        let Key::Public(public) = recipe.transform.key() else {
            return Err(Failed::MISUSE);
        };
        let key = import::key(library, recipe.transform.key())?;
        let settings = match scheme {
            // Here libcrypto's own padding does: it only makes blocks.
            EncryptionScheme::RsaPkcs1 => KeyParams::new().text(c"pad-mode", c"pkcs1"),
            _ => settings(recipe, scheme)?,
        };
        let modulus = match public.parts() {
            PublicParts::Rsa(rsa) if scheme == EncryptionScheme::RsaRaw => Some(rsa.n.clone()),
            _ => None,
        };
        Ok(Self {
            context: PKeyContext::encrypter(library, &key, settings)?,
            modulus,
        })
    }

    pub(super) fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        let input = op.input();
        in_range(input, self.modulus.as_deref())?;
        let len = self.context.encrypt(input, op.output())?;
        op.succeed(len);
        Ok(())
    }
}

impl Decrypter {
    pub(super) fn new(recipe: &Recipe, scheme: EncryptionScheme) -> Result<Self, Failed> {
        let library = recipe.catalogue.library();
        let Key::Secret(secret) = recipe.transform.key() else {
            return Err(Failed::MISUSE);
        };
        let key = import::key(library, recipe.transform.key())?;
        let (block, settings) = match secret.parts() {
            SecretParts::Rsa(rsa) => {
                let block = Block {
                    modulus: rsa.public.n.clone(),
                    check: FaultCheck::new(&rsa.public)?,
                    padding: Padding::new(recipe, scheme, rsa)?,
                };
                (Some(block), unpadded())
            }
            _ => (None, settings(recipe, scheme)?),
        };
        Ok(Self {
            context: PKeyContext::decrypter(library, &key, settings)?,
            block,
        })
    }

    pub(super) fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        let ciphertext = op.input();
        let len = match &mut self.block {
            Some(block) => block.decrypt(&mut self.context, ciphertext, op.output())?,
            // SM2 authenticates.
            None => self
                .context
                .decrypt(ciphertext, op.output())
                .map_err(|_| KeyReason::WrongCiphertext)?,
        };
        op.succeed(len);
        Ok(())
    }
}

impl Block {
    fn decrypt(
        &mut self,
        context: &mut PKeyContext,
        ciphertext: &[u8],
        out: &mut [u8],
    ) -> Result<usize, KeyReason> {
        in_range(ciphertext, Some(&self.modulus))?;
        let result = self.decrypt_in_range(context, ciphertext, out);
        self.check.block().zeroize();
        result
    }

    fn decrypt_in_range(
        &mut self,
        context: &mut PKeyContext,
        ciphertext: &[u8],
        out: &mut [u8],
    ) -> Result<usize, KeyReason> {
        let len = context.decrypt(ciphertext, self.check.block())?;
        if len != self.modulus.len() || !self.check.passes(ciphertext)? {
            return Err(KeyReason::Fault);
        }
        let block = self.check.block();
        match &self.padding {
            Padding::None => {
                out.get_mut(..len)
                    .ok_or(KeyReason::Engine)?
                    .copy_from_slice(block);
                Ok(len)
            }
            Padding::Pkcs1(digest) => {
                let digest = &**digest;
                Ok(implicit_rejection::decode(
                    block,
                    ciphertext,
                    digest,
                    &mut Sha256,
                    out,
                ))
            }
            Padding::Oaep(oaep) => {
                let message = oaep.decode(block, out);
                message.map_err(|_| KeyReason::WrongCiphertext)
            }
        }
    }
}

impl Padding {
    fn new(recipe: &Recipe, scheme: EncryptionScheme, rsa: &RsaSecret) -> Result<Self, Failed> {
        Ok(match scheme {
            EncryptionScheme::RsaRaw => Self::None,
            EncryptionScheme::RsaPkcs1 => Self::Pkcs1(key_digest(&rsa.d, rsa.public.n.len())?),
            EncryptionScheme::RsaOaep(oaep) => {
                let hash = |hash| recipe.catalogue.hash(hash).ok_or(Failed::MISUSE);
                let label = recipe.transform.context_bytes();
                Self::Oaep(ffi::Oaep::new(hash(oaep.hash)?, hash(oaep.mgf1)?, label))
            }
            _ => return Err(Failed::MISUSE),
        })
    }
}

/// SHA-256 of the private exponent `d`, padded to `k` bytes.
fn key_digest(d: &[u8], k: usize) -> Result<Zeroizing<[u8; 32]>, Failed> {
    let mut padded = Zeroizing::new(vec![0; k]);
    let start = k.checked_sub(d.len()).ok_or(Failed::MISUSE)?;
    padded[start..].copy_from_slice(d);
    let mut digest = Zeroizing::new([0; MAX_TAG_LEN]);
    let mut running = RawDigest::new(Hash::Sha256).ok_or(Failed::MISUSE)?;
    running.update(&padded);
    running.finish(&mut digest);
    let mut short = Zeroizing::new([0; 32]);
    short.copy_from_slice(&digest[..32]);
    Ok(short)
}

/// HMAC-SHA-256 by saved states.
struct Sha256;

impl HmacSha256 for Sha256 {
    fn tag(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
        let mut hmac = Hmac::new(Hash::Sha256, key).expect("SHA-256 has a raw digest");
        let mut tag = Zeroizing::new([0; MAX_TAG_LEN]);
        hmac.start();
        for part in parts {
            hmac.update(part);
        }
        hmac.finish(&mut tag);
        let mut short = [0; 32];
        short.copy_from_slice(&tag[..32]);
        short
    }
}

/// Refuses a block that is not below the modulus; both are public and of one length.
fn in_range(block: &[u8], modulus: Option<&[u8]>) -> Result<(), KeyReason> {
    match modulus {
        Some(modulus) if block >= modulus => Err(KeyReason::OutOfRange),
        _ => Ok(()),
    }
}

fn unpadded() -> KeyParams {
    KeyParams::new().text(c"pad-mode", c"none")
}

fn settings(recipe: &Recipe, scheme: EncryptionScheme) -> Result<KeyParams, Failed> {
    let none = KeyParams::new();
    if scheme == EncryptionScheme::RsaRaw {
        return Ok(unpadded());
    }
    let EncryptionScheme::RsaOaep(oaep) = scheme else {
        return Ok(none.text(c"digest", c"SM3"));
    };
    let name = |hash: Hash| names::hash(hash).ok_or(Failed::MISUSE);
    let settings = none
        .text(c"pad-mode", c"oaep")
        .text(c"digest", name(oaep.hash)?)
        .text(c"mgf1-digest", name(oaep.mgf1)?);
    Ok(match recipe.transform.context_bytes() {
        [] => settings,
        label => settings.octets(c"oaep-label", label),
    })
}
