//! Encryption and decryption.

use lanelock_core::Hash;
use lanelock_core::algorithm::MAX_TAG_LEN;
use lanelock_core::public_key::engine::ValidKeyOp;
use lanelock_core::public_key::implicit_rejection::{self, HmacSha256};
use lanelock_core::public_key::{EncryptionScheme, Key, KeyReason, PublicParts, SecretParts};
use zeroize::{Zeroize, Zeroizing};

use super::session::{Recipe, raw_padding};
use super::{import, names};
use crate::ffi::{Failed, KeyParams, PKeyContext, RawDigest};
use crate::hmac::Hmac;

pub(super) struct Encrypter {
    context: PKeyContext,
    /// The modulus, if blocks are compared with it.
    modulus: Option<Vec<u8>>,
}

pub(super) struct Decrypter {
    context: PKeyContext,
    /// The modulus, for RSA.
    modulus: Option<Vec<u8>>,
    /// Room for a block, for RSA: libcrypto wants it even where the message is shorter.
    block: Zeroizing<Vec<u8>>,
    /// For PKCS #1 v1.5, SHA-256 of the private exponent.
    rejection: Option<Zeroizing<[u8; 32]>>,
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
        let (modulus, rejection) = match secret.parts() {
            SecretParts::Rsa(rsa) => {
                let modulus = rsa.public.n.clone();
                let rejection = (scheme == EncryptionScheme::RsaPkcs1)
                    .then(|| key_digest(&rsa.d, modulus.len()))
                    .transpose()?;
                (Some(modulus), rejection)
            }
            _ => (None, None),
        };
        let room = modulus.as_ref().map_or(0, Vec::len);
        Ok(Self {
            context: PKeyContext::decrypter(library, &key, settings(recipe, scheme)?)?,
            modulus,
            block: Zeroizing::new(vec![0; room]),
            rejection,
        })
    }

    pub(super) fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        let ciphertext = op.input();
        in_range(ciphertext, self.modulus.as_deref())?;
        // OAEP and SM2 authenticate; a bare block has nothing to be wrong.
        let wrong = |_: Failed| KeyReason::WrongCiphertext;
        if self.block.is_empty() {
            let len = self
                .context
                .decrypt(ciphertext, op.output())
                .map_err(wrong)?;
            op.succeed(len);
            return Ok(());
        }
        let block = &mut self.block[..];
        let len = self.context.decrypt(ciphertext, block).map_err(wrong)?;
        let out = op.output();
        let len = match &self.rejection {
            Some(digest) => implicit_rejection::decode(block, ciphertext, digest, &mut Sha256, out),
            None => {
                let room = out.get_mut(..len).ok_or(KeyReason::Engine)?;
                room.copy_from_slice(&block[..len]);
                len
            }
        };
        block.zeroize();
        op.succeed(len);
        Ok(())
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

fn settings(recipe: &Recipe, scheme: EncryptionScheme) -> Result<KeyParams, Failed> {
    let none = KeyParams::new();
    if raw_padding(scheme) {
        return Ok(none.text(c"pad-mode", c"none"));
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
