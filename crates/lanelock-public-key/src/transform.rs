//! A description of a public-key session: operation, scheme and key.

use std::fmt;

use lanelock_core::Hash;

use super::algorithm::{
    Curve, EncryptionScheme, KeyKind, KeySpec, Operation, Pss, Scheme, SignatureScheme,
};
use super::error::KeyError;
use super::key::{PublicKey, SecretKey};

/// SM2's identifier where none is agreed on (GM/T 0009, 10).
const SM2_DEFAULT_ID: &[u8] = b"1234567812345678";

/// A description of a public-key session, with its key: the argument of
/// [`crate::KeyDevice::key_session`].
///
/// ```
/// use lanelock_core::Hash;
/// use lanelock_public_key::{KeyKind, KeyTransform, SecretKey, SignatureScheme};
/// let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
/// let transform = KeyTransform::sign(SignatureScheme::EdDsa, &key);
/// assert_eq!(transform.spec().to_string(), "ed25519-sign");
/// let mismatch = KeyTransform::sign(SignatureScheme::Ecdsa(Hash::Sha256), &key);
/// assert!(mismatch.validate().is_err());
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::Hash;
/// use lanelock::public_key::{Curve, KeyTransform, SecretKey, SignatureScheme};
///
/// let key = SecretKey::ec(Curve::P256, &[7; 32], None)?;
/// let transform = KeyTransform::sign(SignatureScheme::Ecdsa(Hash::Sha256), &key);
/// assert!(transform.validate().is_ok());
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone)]
pub struct KeyTransform {
    spec: KeySpec,
    key: Key,
    message: MessageForm,
    signature: SignatureForm,
    context: Option<Vec<u8>>,
    blinding: bool,
}

/// The key of a transform.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{Key, KeyKind, KeyTransform};
///
/// assert!(matches!(KeyTransform::generate(KeyKind::X448).key(), Key::None));
/// ```
#[derive(Clone, Debug)]
pub enum Key {
    /// The session generates keys.
    None,
    /// To sign, decrypt, derive or decapsulate.
    Secret(SecretKey),
    /// To verify, encrypt or encapsulate.
    Public(PublicKey),
}

/// What is signed or verified.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::Hash;
/// use lanelock::public_key::{Curve, KeyTransform, MessageForm, SecretKey, SignatureScheme};
///
/// let key = SecretKey::ec(Curve::P256, &[7; 32], None)?;
/// let transform = KeyTransform::sign(SignatureScheme::Ecdsa(Hash::Sha256), &key).digest();
/// assert_eq!(transform.message_form(), MessageForm::Digest);
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum MessageForm {
    /// The message; the engine hashes it.
    #[default]
    Message,
    /// The message's digest.
    Digest,
}

/// How a pair of integers r and s is written.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::Hash;
/// use lanelock::public_key::{Curve, KeyTransform, SecretKey, SignatureForm, SignatureScheme};
///
/// let key = SecretKey::ec(Curve::P256, &[7; 32], None)?;
/// let of_jose = KeyTransform::sign(SignatureScheme::Ecdsa(Hash::Sha256), &key)
///     .signature_form(SignatureForm::Fixed);
/// assert_eq!(of_jose.form(), SignatureForm::Fixed);
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum SignatureForm {
    /// DER `SEQUENCE { r, s }` (RFC 3279, 2.2.3), as in X.509 and TLS.
    #[default]
    Der,
    /// r and s one after the other, each as long as the order (IEEE P1363), as in JOSE.
    Fixed,
}

impl KeyTransform {
    /// Makes signatures.
    #[must_use]
    pub fn sign(scheme: SignatureScheme, key: &SecretKey) -> Self {
        let scheme = Scheme::Signature(scheme);
        Self::secret(Operation::Sign, scheme, key)
    }

    /// Checks signatures.
    #[must_use]
    pub fn verify(scheme: SignatureScheme, key: &PublicKey) -> Self {
        let scheme = Scheme::Signature(scheme);
        Self::public(Operation::Verify, scheme, key)
    }

    /// Encrypts.
    #[must_use]
    pub fn encrypt(scheme: EncryptionScheme, key: &PublicKey) -> Self {
        let scheme = Scheme::Encryption(scheme);
        Self::public(Operation::Encrypt, scheme, key)
    }

    /// Decrypts.
    #[must_use]
    pub fn decrypt(scheme: EncryptionScheme, key: &SecretKey) -> Self {
        let scheme = Scheme::Encryption(scheme);
        Self::secret(Operation::Decrypt, scheme, key)
    }

    /// Agrees on shared secrets: X25519, X448, ECDH or Diffie-Hellman, as the key says.
    #[must_use]
    pub fn derive(key: &SecretKey) -> Self {
        Self::secret(Operation::Derive, Scheme::Plain, key)
    }

    /// Generates key pairs. RSA keys have the exponent 65537; Diffie-Hellman keys are of the
    /// ffdhe group of their size (RFC 7919).
    #[must_use]
    pub fn generate(kind: KeyKind) -> Self {
        Self::new(Operation::Generate, kind, Scheme::Plain, Key::None)
    }

    /// Makes shared secrets and their ciphertexts.
    #[must_use]
    pub fn encapsulate(key: &PublicKey) -> Self {
        Self::public(Operation::Encapsulate, Scheme::Plain, key)
    }

    /// Recovers shared secrets. A malformed ciphertext gives another secret and no error (FIPS
    /// 203, 6.3).
    #[must_use]
    pub fn decapsulate(key: &SecretKey) -> Self {
        Self::secret(Operation::Decapsulate, Scheme::Plain, key)
    }

    fn secret(operation: Operation, scheme: Scheme, key: &SecretKey) -> Self {
        Self::new(operation, key.kind(), scheme, Key::Secret(key.clone()))
    }

    fn public(operation: Operation, scheme: Scheme, key: &PublicKey) -> Self {
        Self::new(operation, key.kind(), scheme, Key::Public(key.clone()))
    }

    fn new(operation: Operation, kind: KeyKind, scheme: Scheme, key: Key) -> Self {
        Self {
            spec: KeySpec {
                operation,
                kind,
                scheme,
            },
            key,
            message: MessageForm::Message,
            signature: SignatureForm::Der,
            context: None,
            blinding: true,
        }
    }

    /// Operations are given the digest of the message instead of the message.
    #[must_use]
    pub fn digest(mut self) -> Self {
        self.message = MessageForm::Digest;
        self
    }

    /// ECDSA, DSA and SM2: how signatures are written.
    #[must_use]
    pub fn signature_form(mut self, form: SignatureForm) -> Self {
        self.signature = form;
        self
    }

    /// OAEP's label, SM2's identifier of the signer, or ML-DSA's context (up to 255 bytes). The
    /// default is none; for SM2 `1234567812345678`.
    #[must_use]
    pub fn context(mut self, context: &[u8]) -> Self {
        self.context = Some(context.to_vec());
        self
    }

    /// RSA: whether private operations are blinded by a random factor, which hides the base from
    /// timing measurements. On by default. Without it an operation is a few percent faster, but
    /// safe only if an attacker cannot choose the input or cannot measure. An engine that cannot
    /// turn it off keeps blinding.
    #[must_use]
    pub fn blinding(mut self, on: bool) -> Self {
        self.blinding = on;
        self
    }

    /// Operation, kind of key and scheme.
    #[must_use]
    pub fn spec(&self) -> KeySpec {
        self.spec
    }

    /// The key; for an engine.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Message or digest.
    #[must_use]
    pub fn message_form(&self) -> MessageForm {
        self.message
    }

    /// How r and s are written.
    #[must_use]
    pub fn form(&self) -> SignatureForm {
        self.signature
    }

    /// Label, identifier or context, with SM2's default.
    #[must_use]
    pub fn context_bytes(&self) -> &[u8] {
        match (&self.context, self.spec.scheme) {
            (Some(context), _) => context,
            (None, Scheme::Signature(SignatureScheme::Sm2)) => SM2_DEFAULT_ID,
            (None, _) => &[],
        }
    }

    /// Whether RSA's private operations are to be blinded.
    #[must_use]
    pub fn is_blinded(&self) -> bool {
        self.blinding
    }

    /// Checks that the parts go together.
    ///
    /// # Errors
    /// [`KeyError::Mismatch`] for a scheme or option that does not go with this key;
    /// [`KeyError::Length`] for a modulus too short for hash, salt or padding, or a context that is
    /// too long.
    pub fn validate(&self) -> Result<(), KeyError> {
        let KeySpec {
            operation,
            kind,
            scheme,
        } = self.spec;
        if !goes_with(operation, kind, scheme) {
            let scheme = match scheme {
                Scheme::Plain => String::new(),
                Scheme::Signature(scheme) => format!(" with {scheme:?}"),
                Scheme::Encryption(scheme) => format!(" with {scheme:?}"),
            };
            let operation = operation.name();
            return self.mismatch(&format!("keys of this kind cannot {operation}{scheme}"));
        }
        self.check_hashes()?;
        self.check_modulus()?;
        let signature = match scheme {
            Scheme::Signature(signature) => Some(signature),
            _ => None,
        };
        if self.message == MessageForm::Digest && signature.is_none_or(|s| s.hash().is_none()) {
            return self.mismatch("it signs messages, not digests");
        }
        if self.signature == SignatureForm::Fixed
            && !matches!(kind, KeyKind::Ec(_) | KeyKind::Dsa(_))
        {
            return self.mismatch("its signatures are not (r, s) pairs");
        }
        let longest = match (scheme, self.spec.kind) {
            (Scheme::Encryption(EncryptionScheme::RsaOaep(_)), _) => usize::MAX,
            (Scheme::Signature(SignatureScheme::Sm2), _) => 8191,
            (Scheme::Signature(SignatureScheme::MlDsa), _) => 255,
            _ => 0,
        };
        match self.context.as_ref().map_or(0, Vec::len) {
            0 => Ok(()),
            _ if longest == 0 => self.mismatch("it takes no label or context"),
            given if given > longest => {
                let allowed = format!("at most {longest} bytes");
                Err(KeyError::length(self.spec, "context", given, allowed))
            }
            _ => Ok(()),
        }
    }

    fn check_hashes(&self) -> Result<(), KeyError> {
        let (hash, mgf1) = match self.spec.scheme {
            Scheme::Signature(SignatureScheme::RsaPss(Pss { hash, mgf1, .. })) => (hash, mgf1),
            Scheme::Signature(signature) => match signature.hash() {
                Some(hash) => (hash, hash),
                None => return Ok(()),
            },
            Scheme::Encryption(EncryptionScheme::RsaOaep(oaep)) => (oaep.hash, oaep.mgf1),
            _ => return Ok(()),
        };
        // Those that have an HMAC are those that have an object identifier for signatures.
        match [hash, mgf1].into_iter().find(|hash| !hash.has_hmac()) {
            Some(hash) => self.mismatch(&format!("no signature scheme is defined over {hash:?}")),
            None => Ok(()),
        }
    }

    /// Refuses an RSA modulus too short for its padding.
    fn check_modulus(&self) -> Result<(), KeyError> {
        let KeyKind::Rsa(bits) = self.spec.kind else {
            return Ok(());
        };
        let needed = match self.spec.scheme {
            // RFC 8017, 9.2: 11 bytes of padding and the DigestInfo.
            Scheme::Signature(SignatureScheme::RsaPkcs1(hash)) => 8 * (11 + digest_info_len(hash)),
            // RFC 8017, 9.1.1: emBits = modBits − 1 ≥ 8·hLen + 8·sLen + 9.
            Scheme::Signature(SignatureScheme::RsaPss(pss)) => pss
                .salt_len
                .saturating_add(pss.hash.digest_len())
                .saturating_mul(8)
                .saturating_add(10),
            Scheme::Encryption(EncryptionScheme::RsaPkcs1) => 8 * 12,
            // RFC 8017, 7.1.1: room for a message of one byte.
            Scheme::Encryption(EncryptionScheme::RsaOaep(oaep)) => {
                8 * (2 * oaep.hash.digest_len() + 3)
            }
            _ if self.spec.operation == Operation::Generate => 512,
            _ => 0,
        };
        // Bytes count where the padding is made of bytes.
        let given = match self.spec.scheme {
            Scheme::Signature(SignatureScheme::RsaPss(_)) => bits as usize,
            _ => bits.div_ceil(8) as usize * 8,
        };
        if given >= needed {
            return Ok(());
        }
        let allowed = format!("at least {needed} bits with this hash and salt");
        Err(KeyError::length(
            self.spec,
            "modulus",
            bits as usize,
            allowed,
        ))
    }

    fn mismatch<T>(&self, why: &str) -> Result<T, KeyError> {
        Err(KeyError::Mismatch {
            what: self.spec.to_string(),
            why: why.to_owned(),
        })
    }
}

/// Whether keys of this kind do this.
fn goes_with(operation: Operation, kind: KeyKind, scheme: Scheme) -> bool {
    use EncryptionScheme as E;
    use SignatureScheme as S;
    match (scheme, kind) {
        (Scheme::Signature(S::RsaPkcs1(_) | S::RsaPss(_)), KeyKind::Rsa(_))
        | (Scheme::Signature(S::Dsa(_)), KeyKind::Dsa(_))
        | (Scheme::Signature(S::EdDsa), KeyKind::Ed25519 | KeyKind::Ed448)
        | (Scheme::Signature(S::Sm2), KeyKind::Ec(Curve::Sm2))
        | (Scheme::Signature(S::MlDsa), KeyKind::MlDsa(_))
        | (Scheme::Encryption(E::RsaPkcs1 | E::RsaOaep(_) | E::RsaRaw), KeyKind::Rsa(_))
        | (Scheme::Encryption(E::Sm2), KeyKind::Ec(Curve::Sm2)) => true,
        (Scheme::Signature(S::Ecdsa(_)), KeyKind::Ec(curve)) => curve != Curve::Sm2,
        (Scheme::Plain, _) => match operation {
            Operation::Generate => !matches!(kind, KeyKind::Dsa(_)),
            Operation::Derive => match kind {
                KeyKind::Ec(curve) => curve != Curve::Sm2,
                _ => matches!(kind, KeyKind::X25519 | KeyKind::X448 | KeyKind::Dh(_)),
            },
            Operation::Encapsulate | Operation::Decapsulate => matches!(kind, KeyKind::MlKem(_)),
            _ => false,
        },
        _ => false,
    }
}

/// Length of the DER `DigestInfo` around a digest (RFC 8017, 9.2, note 1; RFC 8702 for SHA-3).
fn digest_info_len(hash: Hash) -> usize {
    let prefix = match hash {
        Hash::Md5 => 18,
        Hash::Sha1 => 15,
        _ => 19,
    };
    prefix + hash.digest_len()
}

/// Shows everything but the key.
impl fmt::Debug for KeyTransform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyTransform")
            .field("spec", &self.spec.to_string())
            .field("message", &self.message)
            .field("signature", &self.signature)
            .field("blinding", &self.blinding)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Oaep;

    fn rsa(bits: usize) -> PublicKey {
        let mut n = vec![0xff; bits / 8];
        n[0] |= 0x80;
        PublicKey::rsa(&n, &[1, 0, 1]).expect("the form of a key")
    }

    fn message(transform: &KeyTransform) -> String {
        transform.validate().expect_err("refused").to_string()
    }

    #[test]
    fn a_modulus_too_short_for_its_padding_is_refused() {
        let pss = |bits, salt_len| {
            let pss = Pss {
                salt_len,
                ..Pss::of(Hash::Sha512)
            };
            KeyTransform::verify(SignatureScheme::RsaPss(pss), &rsa(bits)).validate()
        };
        // emLen = 128 for 1024 bits: hash 64, salt 62, and two bytes.
        assert!(pss(1024, 62).is_ok() && pss(1024, 63).is_err());
        assert!(pss(1024, usize::MAX).is_err());
        let pkcs1 = |bits| {
            KeyTransform::verify(SignatureScheme::RsaPkcs1(Hash::Sha512), &rsa(bits)).validate()
        };
        assert!(pkcs1(752).is_ok() && pkcs1(744).is_err());
        let oaep = |bits| {
            let scheme = EncryptionScheme::RsaOaep(Oaep::of(Hash::Sha256));
            KeyTransform::encrypt(scheme, &rsa(bits)).validate()
        };
        assert!(oaep(536).is_ok() && oaep(528).is_err());
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let key = SecretKey::ec(Curve::P256, &[1], None).expect("a key");
        let ecdsa = SignatureScheme::Ecdsa(Hash::Sha256);
        KeyTransform::sign(ecdsa, &key)
            .digest()
            .validate()
            .expect("ECDSA");
        assert_eq!(
            message(&KeyTransform::sign(SignatureScheme::EdDsa, &key)),
            "p256-sign: keys of this kind cannot sign with EdDsa"
        );
        let shake = SignatureScheme::Ecdsa(Hash::Shake128);
        assert!(message(&KeyTransform::sign(shake, &key)).contains("Shake128"));
        assert!(message(&KeyTransform::sign(ecdsa, &key).context(b"x")).contains("label"));
        assert!(message(&KeyTransform::decapsulate(&key)).contains("cannot decapsulate"));
        let sm2 = SecretKey::ec(Curve::Sm2, &[1], None).expect("a key");
        assert!(message(&KeyTransform::sign(ecdsa, &sm2)).contains("cannot sign"));
        assert!(message(&KeyTransform::derive(&sm2)).contains("cannot derive"));
        let ed = SecretKey::raw(KeyKind::Ed25519, &[1; 32]).expect("a key");
        let ed = KeyTransform::sign(SignatureScheme::EdDsa, &ed);
        assert!(message(&ed.clone().digest()).contains("not digests"));
        assert!(message(&ed.signature_form(SignatureForm::Fixed)).contains("not (r, s) pairs"));
    }

    #[test]
    fn sm2_has_its_identifier_and_others_none() {
        let key = SecretKey::ec(Curve::Sm2, &[1], None).expect("a key");
        let sm2 = KeyTransform::sign(SignatureScheme::Sm2, &key);
        assert_eq!(sm2.context_bytes(), b"1234567812345678");
        assert_eq!(sm2.context(b"me").context_bytes(), b"me");
    }
}
