//! JSON Web Encryption (RFC 7516) in the compact serialization, with a key that is agreed on (`dir`)
//! and AES-GCM: header, nonce, ciphertext and tag in base64url. The header is the additional data.

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value};

use crate::encoding::{Decoded, Text};
use crate::failure::Reason;

const NONCE: usize = 12;
const TAG: usize = 16;

/// Tokens over what [`crate::seal`] makes: nonce, ciphertext, tag.
pub(crate) struct Compact {
    /// In base64url.
    header: Vec<u8>,
    /// The name of the algorithm, as `A256GCM`.
    enc: String,
}

impl Compact {
    /// Tokens with a header in JSON, for keys of so many bytes; or why that is no such header.
    pub(crate) fn new(header: &[u8], key_len: usize) -> Result<Self, &'static str> {
        let enc = format!("A{}GCM", 8 * key_len);
        check(header, &enc)?;
        let header = BASE64URL_NOPAD.encode(header).into_bytes();
        Ok(Self { header, enc })
    }
}

impl Text for Compact {
    fn encoded_len(&self, raw: usize) -> usize {
        let parts = [NONCE, raw - NONCE - TAG, TAG];
        let parts = parts.map(|len| BASE64URL_NOPAD.encode_len(len));
        self.header.len() + 4 + parts.iter().sum::<usize>()
    }

    fn encode(&self, raw: &[u8], text: &mut [u8]) {
        let (head, mut rest) = text.split_at_mut(self.header.len());
        head.copy_from_slice(&self.header);
        let (nonce, raw) = raw.split_at(NONCE);
        let (ciphertext, tag) = raw.split_at(raw.len() - TAG);
        // With `dir` the second part, an encrypted key, is empty.
        for part in [&[], nonce, ciphertext, tag] {
            let part_len = BASE64URL_NOPAD.encode_len(part.len());
            let (encoded, others) = rest.split_at_mut(1 + part_len);
            encoded[0] = b'.';
            BASE64URL_NOPAD.encode_mut(part, &mut encoded[1..]);
            rest = others;
        }
    }

    fn decoded_len(&self, text: usize) -> Option<usize> {
        // All that is no dot, which also bounds every part by itself.
        Some(text / 4 * 3 + 3)
    }

    fn decode<'t>(&self, text: &'t [u8], raw: &mut [u8]) -> Result<Decoded<'t>, Reason> {
        let mut parts = text.split(|byte| *byte == b'.');
        let mut part = || parts.next().ok_or(NOT_COMPACT);
        let (header, key) = (part()?, part()?);
        let sealed = [part()?, part()?, part()?];
        if parts.next().is_some() {
            return Err(NOT_COMPACT);
        }
        if header != self.header {
            let header = BASE64URL_NOPAD.decode(header).map_err(|_| NOT_COMPACT)?;
            check(&header, &self.enc).map_err(Reason::Layout)?;
        }
        if !key.is_empty() {
            return Err(Reason::Layout("a token of `dir` with an encrypted key"));
        }
        let mut len = 0;
        for (part, expected) in sealed.iter().zip([Some(NONCE), None, Some(TAG)]) {
            let part_len = BASE64URL_NOPAD.decode_len(part.len());
            let part_len = part_len.map_err(|_| NOT_COMPACT)?;
            if expected.is_some_and(|expected| expected != part_len) {
                return Err(Reason::Layout(
                    "a token whose nonce or tag has another length",
                ));
            }
            let target = raw.get_mut(len..len + part_len).ok_or(NOT_COMPACT)?;
            BASE64URL_NOPAD
                .decode_mut(part, target)
                .map_err(|_| NOT_COMPACT)?;
            len += part_len;
        }
        let aad = Some(header);
        Ok(Decoded { len, aad })
    }

    fn aad(&self) -> Option<&[u8]> {
        Some(&self.header)
    }
}

const NOT_COMPACT: Reason = Reason::Layout("not a JWE in the compact serialization");

/// Whether a header in JSON is one that this layout has.
fn check(header: &[u8], enc: &str) -> Result<(), &'static str> {
    let header: Map<String, Value> =
        serde_json::from_slice(header).map_err(|_| "a token whose header is not a JSON object")?;
    let is = |name: &str, value: &str| header.get(name).and_then(Value::as_str) == Some(value);
    if !is("alg", "dir") || !is("enc", enc) {
        return Err("a token of another algorithm than `dir` and AES-GCM with this key's length");
    }
    // Extensions that must be understood, and compression.
    if header.contains_key("crit") || header.contains_key("zip") {
        return Err("a token with `crit` or `zip` in its header");
    }
    Ok(())
}
