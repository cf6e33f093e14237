//! Keys from PEM and DER, at a bounded cost: containers are not trusted.

use lanelock_public_key::KeyError;
use zeroize::Zeroizing;

use super::form::{Form, leading_sequence};
use crate::ffi::{Failed, Library, PKey, Pem};

/// Most bytes that are looked at: a file with a key may have certificates and text beside it.
const MAX_BYTES: usize = 1 << 20;

/// Most bytes of one key's DER: five times what RSA with 16,384 bits has.
const MAX_KEY: usize = 1 << 16;

const BEGIN: &[u8] = b"-----BEGIN ";

/// A secret key; `passphrase` opens an encrypted one.
pub(super) fn secret(
    library: &Library,
    bytes: &[u8],
    passphrase: Option<&[u8]>,
) -> Result<PKey, KeyError> {
    let is_secret = |label: &str| label.ends_with("PRIVATE KEY");
    let der = find(bytes, "secret", is_secret, passphrase)?;
    let form = Form::of(&der).map_err(refused)?;
    let Form::Encrypted { legacy } = form else {
        return read(library, &der, form, true);
    };
    let passphrase = passphrase.ok_or_else(needs_passphrase)?;
    let library = if legacy { Library::legacy() } else { None }.unwrap_or(library);
    let opened = PKey::open_pkcs8(library, &der, passphrase);
    let der = opened.map_err(cannot_decrypt)?;
    let form = Form::of(&der).map_err(refused)?;
    read(library, &der, form, true)
}

/// A public key.
pub(super) fn public(library: &Library, bytes: &[u8]) -> Result<PKey, KeyError> {
    let is_public = |label: &str| label.ends_with("PUBLIC KEY");
    let der = find(bytes, "public", is_public, None)?;
    let form = Form::of(&der).map_err(refused)?;
    read(library, &der, form, false)
}

/// The DER of the first key whose label is accepted, or `bytes` themselves if they are DER.
fn find(
    bytes: &[u8],
    which: &str,
    accepts: impl Fn(&str) -> bool,
    passphrase: Option<&[u8]>,
) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    if bytes.len() > MAX_BYTES {
        let len = bytes.len();
        return Err(refused(format!(
            "it has {len} bytes; at most {MAX_BYTES} are allowed"
        )));
    }
    // A text may start with the digit that a sequence's tag looks like.
    let is_pem = bytes.windows(BEGIN.len()).any(|at| at == BEGIN);
    let der = match leading_sequence(bytes) {
        Some(der) if !is_pem => Zeroizing::new(der.to_vec()),
        _ => find_in_pem(bytes, which, accepts, passphrase)?,
    };
    if der.len() > MAX_KEY {
        let len = der.len();
        return Err(refused(format!(
            "its key has {len} bytes; at most {MAX_KEY} are allowed"
        )));
    }
    Ok(der)
}

fn find_in_pem(
    bytes: &[u8],
    which: &str,
    accepts: impl Fn(&str) -> bool,
    passphrase: Option<&[u8]>,
) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let mut pem = Pem::new(bytes).map_err(|failed| refused(failed.to_string()))?;
    let mut labels = Vec::new();
    while let Some(block) = pem.next_block() {
        if !accepts(&block.label) {
            // Enough of them to tell what was given, and nothing that a terminal obeys.
            if labels.len() < 4 {
                labels.push(block.label.escape_default().to_string());
            }
            continue;
        }
        // The older forms are encrypted as a whole, with one iteration of MD5.
        let Some(header) = block.encryption else {
            return Ok(block.data);
        };
        let passphrase = passphrase.ok_or_else(needs_passphrase)?;
        let opened = header.open(block.data, passphrase);
        return opened.map_err(cannot_decrypt);
    }
    Err(refused(match labels.is_empty() {
        true => format!("no {which} key found: it is neither PEM nor DER"),
        false => format!("no {which} key found, only {}", labels.join(", ")),
    }))
}

fn read(library: &Library, der: &[u8], form: Form, secret: bool) -> Result<PKey, KeyError> {
    let which = if secret { "secret" } else { "public" };
    let structure = match (form, secret) {
        (Form::Pkcs8, true) => c"PrivateKeyInfo",
        (Form::Spki, false) => c"SubjectPublicKeyInfo",
        (Form::Other, _) => c"type-specific",
        (other, _) => {
            let what = match other {
                Form::Spki => "a public key",
                Form::Pkcs8 => "a secret key",
                _ => "an encrypted key",
            };
            return Err(refused(format!("it holds {what}, not a {which} one")));
        }
    };
    let key = PKey::read(library, der, structure, secret);
    key.map_err(|failed| refused(format!("its {which} key cannot be read: {failed}")))
}

fn needs_passphrase() -> KeyError {
    refused("it is encrypted; a passphrase is needed".to_owned())
}

fn cannot_decrypt(failed: Failed) -> KeyError {
    refused(format!("it cannot be decrypted: {failed}"))
}

fn refused(why: String) -> KeyError {
    KeyError::Container { why }
}
