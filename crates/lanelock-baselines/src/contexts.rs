//! A session's contexts, and a message's way through them.

use std::ffi::CStr;

use lanelock_core::algorithm::{
    Aead, Algorithm, Cipher as Family, Hash, MAX_IV_LEN, Mac as MacFamily,
};
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_core::{SessionError, Transform};
use zeroize::Zeroizing;

use crate::ffi::{Cipher, CipherContext, Failed, Mac, MacContext};

/// What a transform needs of OpenSSL, with the keys.
#[derive(Debug)]
pub(crate) struct Recipe {
    mode: Mode,
    cipher: Option<(&'static CStr, Zeroizing<Vec<u8>>)>,
    mac: Option<(MacNames, Zeroizing<Vec<u8>>)>,
}

/// The MAC's name, then parameter and name of what it is built on.
type MacNames = (&'static CStr, (&'static CStr, &'static CStr));

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    Cipher,
    /// OpenSSL has no such mode: counter blocks are encrypted one by one, or many at a time.
    TripleDesCounter,
    Aead,
    Mac,
    Chain,
}

/// Keyed contexts.
#[derive(Debug)]
pub(crate) struct Contexts {
    cipher: Option<CipherContext>,
    mac: Option<MacContext>,
}

/// How a message's counter blocks are encrypted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Counting {
    /// One call for each.
    OneByOne,
    /// One call for many.
    Together,
}

impl Recipe {
    /// The recipe of a transform that protects messages.
    ///
    /// # Errors
    /// [`SessionError::Unsupported`] for what the tables of uplifts do not contain.
    pub(crate) fn of(transform: &Transform) -> Result<Self, SessionError> {
        let spec = transform.spec();
        let (mode, cipher, mac) = match spec.algorithm {
            Algorithm::Cipher(Family::TripleDesCtr) if spec.key_len == 24 => {
                (Mode::TripleDesCounter, Some(c"DES-EDE3-ECB"), None)
            }
            Algorithm::Cipher(cipher) => (Mode::Cipher, cbc(cipher, spec.key_len), None),
            Algorithm::Mac(family) => (Mode::Mac, None, mac(family, spec.key_len)),
            Algorithm::Aead(Aead::AesGcm) => (Mode::Aead, gcm(spec.key_len), None),
            Algorithm::Chain(lanelock_core::algorithm::Order::EncryptThenMac, cipher, family) => {
                let mac = mac(family, spec.mac_key_len);
                (Mode::Chain, cbc(cipher, spec.key_len), mac)
            }
            _ => (Mode::Cipher, None, None),
        };
        let complete = match mode {
            Mode::Mac => mac.is_some(),
            Mode::Chain => cipher.is_some() && mac.is_some(),
            _ => cipher.is_some(),
        };
        if !complete || transform.iv_length() > 16 {
            return Err(SessionError::Unsupported {
                what: spec,
                why: "no baseline was written for it".to_owned(),
            });
        }
        let mac_key = match mode {
            Mode::Mac => transform.key(),
            _ => transform.mac_key(),
        };
        Ok(Self {
            mode,
            cipher: cipher.map(|name| (name, Zeroizing::new(transform.key().to_vec()))),
            mac: mac.map(|names| (names, Zeroizing::new(mac_key.to_vec()))),
        })
    }

    /// Whether there is a cipher with a padding to turn off.
    pub(crate) fn pads(&self) -> bool {
        matches!(self.mode, Mode::Cipher | Mode::Chain)
    }

    /// Whether it is 3DES-CTR.
    pub(crate) fn counts(&self) -> bool {
        self.mode == Mode::TripleDesCounter
    }
}

impl Contexts {
    /// Contexts of their own, from the algorithms' names on.
    pub(crate) fn make(recipe: &Recipe) -> Result<Self, Failed> {
        Ok(Self {
            cipher: match &recipe.cipher {
                Some((name, key)) => Some(CipherContext::new(&Cipher::fetch(name)?, key)?),
                None => None,
            },
            mac: match &recipe.mac {
                Some(((name, under), key)) => {
                    Some(MacContext::new(&Mac::fetch(name)?, key, *under)?)
                }
                None => None,
            },
        })
    }

    /// Copies, ready for a message.
    pub(crate) fn dup(&self) -> Result<Self, Failed> {
        Ok(Self {
            cipher: self.cipher.as_ref().map(CipherContext::dup).transpose()?,
            mac: self.mac.as_ref().map(MacContext::dup).transpose()?,
        })
    }

    /// Looks every algorithm up again and sets it with its key.
    pub(crate) fn fetch_again(&mut self, recipe: &Recipe) -> Result<(), Failed> {
        if let (Some(context), Some((name, key))) = (&mut self.cipher, &recipe.cipher) {
            context.set_cipher(&Cipher::fetch(name)?, key)?;
        }
        if let (Some(context), Some(((name, under), key))) = (&mut self.mac, &recipe.mac) {
            let _looked_up = Mac::fetch(name)?;
            context.set_key(key, *under)?;
        }
        Ok(())
    }

    /// Sets the cipher's key again.
    pub(crate) fn rekey(&mut self, recipe: &Recipe) -> Result<(), Failed> {
        match (&mut self.cipher, &recipe.cipher) {
            (Some(context), Some((_, key))) => context.set_key(key),
            _ => Ok(()),
        }
    }

    /// Turns the cipher's padding off, which it is.
    pub(crate) fn padding_off(&mut self) -> Result<(), Failed> {
        self.cipher
            .as_mut()
            .map_or(Ok(()), CipherContext::padding_off)
    }

    /// Starts the MAC from its keyed state.
    pub(crate) fn restart(&mut self) -> Result<(), Failed> {
        self.mac.as_mut().map_or(Ok(()), MacContext::restart)
    }

    /// Runs a message through contexts that are ready for it.
    pub(crate) fn run(
        &mut self,
        recipe: &Recipe,
        counting: Counting,
        op: &mut ValidOp<'_, '_>,
    ) -> Result<(), Failed> {
        if let Some(context) = &mut self.cipher {
            let (mut scratch, mut iv) = ([0; MAX_IV_LEN], [0; 16]);
            let given = op.iv(&mut scratch);
            iv[..given.len()].copy_from_slice(given);
            match (recipe.mode, counting) {
                (Mode::TripleDesCounter, Counting::OneByOne) => count::<8>(context, iv, op)?,
                (Mode::TripleDesCounter, Counting::Together) => count::<4096>(context, iv, op)?,
                _ => {
                    context.set_iv(&iv)?;
                    if recipe.mode == Mode::Aead {
                        op.for_each_aad(|piece| context.aad(piece))?;
                    }
                    encrypt(context, op)?;
                }
            }
            if recipe.mode == Mode::Aead {
                let mut tag = [0; 16];
                context.tag(&mut tag)?;
                op.write_tag(&tag);
            }
        }
        if let Some(context) = &mut self.mac {
            op.for_each_authenticated(Ciphertext::InOutput, |piece| context.update(piece))?;
            let mut tag = [0; 64];
            context.tag(&mut tag)?;
            op.write_tag(&tag);
        }
        Ok(())
    }
}

#[allow(unsafe_code)]
fn encrypt(context: &mut CipherContext, op: &mut ValidOp<'_, '_>) -> Result<(), Failed> {
    let mut payload = op.payload();
    while let Some(run) = payload.next_run(usize::MAX) {
        // SAFETY: a run's input and output are valid for its length, the same or disjoint.
        unsafe { context.update(run.input(), run.output(), run.len())? };
    }
    Ok(())
}

/// Counter mode over a block cipher of 8 bytes, up to `ROOM` bytes of counter blocks a call.
#[allow(unsafe_code)]
fn count<const ROOM: usize>(
    context: &mut CipherContext,
    iv: [u8; 16],
    op: &mut ValidOp<'_, '_>,
) -> Result<(), Failed> {
    let mut counter = u64::from_be_bytes(iv[..8].try_into().expect("half of it"));
    let mut keystream = [0; ROOM];
    let mut payload = op.payload();
    let mut left = payload.remaining();
    while left > 0 {
        let len = left.min(ROOM);
        let blocks = &mut keystream[..len.next_multiple_of(8)];
        for block in blocks.chunks_exact_mut(8) {
            block.copy_from_slice(&counter.to_be_bytes());
            counter = counter.wrapping_add(1);
        }
        // SAFETY: one slice is both, in whole blocks.
        unsafe { context.update(blocks.as_ptr(), blocks.as_mut_ptr(), blocks.len())? };
        let mut used = 0;
        while used < len {
            let Some(mut run) = payload.next_run(len - used) else {
                return Err(Failed);
            };
            run.xor_through(&keystream[used..used + run.len()]);
            used += run.len();
        }
        left -= len;
    }
    Ok(())
}

fn cbc(cipher: Family, key_len: usize) -> Option<&'static CStr> {
    match (cipher, key_len) {
        (Family::AesCbc, 16) => Some(c"AES-128-CBC"),
        (Family::AesCbc, 24) => Some(c"AES-192-CBC"),
        (Family::AesCbc, 32) => Some(c"AES-256-CBC"),
        _ => None,
    }
}

fn gcm(key_len: usize) -> Option<&'static CStr> {
    match key_len {
        16 => Some(c"AES-128-GCM"),
        24 => Some(c"AES-192-GCM"),
        32 => Some(c"AES-256-GCM"),
        _ => None,
    }
}

fn mac(family: MacFamily, key_len: usize) -> Option<MacNames> {
    match family {
        MacFamily::Hmac(Hash::Sha1) => Some((c"HMAC", (c"digest", c"SHA1"))),
        MacFamily::Hmac(Hash::Sha256) => Some((c"HMAC", (c"digest", c"SHA256"))),
        MacFamily::Hmac(Hash::Sha512) => Some((c"HMAC", (c"digest", c"SHA512"))),
        MacFamily::AesCmac => cbc(Family::AesCbc, key_len).map(|name| (c"CMAC", (c"cipher", name))),
        _ => None,
    }
}
