//! How long the inputs and outputs of a session's operations are.

use super::algorithm::{Curve, EncryptionScheme, KeyKind, KeySpec, Operation, Scheme};
use super::status::KeyReason;
use super::transform::{KeyTransform, MessageForm, SignatureForm};

/// Lengths of a session's operations, in bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Shape {
    pub(crate) input: InputLen,
    /// Why an input of another length is refused.
    pub(crate) reason: KeyReason,
    pub(crate) output: OutputLen,
    /// Of the second output.
    pub(crate) second: usize,
}

/// Lengths an input can have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum InputLen {
    Any,
    Exactly(usize),
    AtMost(usize),
    From(usize, usize),
    Either(usize, usize),
}

/// Room that an output needs: for the longest result, so that it does not depend on a secret
/// length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OutputLen {
    Fixed(usize),
    /// The input's length and this many more.
    InputAnd(usize),
}

impl Shape {
    pub(crate) fn of(transform: &KeyTransform) -> Self {
        let KeySpec {
            operation,
            kind,
            scheme,
        } = transform.spec();
        let (input, reason) = input(transform);
        let fixed = OutputLen::Fixed;
        let (output, second) = match operation {
            Operation::Verify => (fixed(0), 0),
            Operation::Sign => (fixed(signature_len(kind, transform.form())), 0),
            Operation::Encrypt => match scheme {
                // C1 is two integers of up to 33 bytes, C3 a digest; headers of up to 6 bytes.
                Scheme::Encryption(EncryptionScheme::Sm2) => (OutputLen::InputAnd(120), 0),
                _ => (fixed(modulus_len(kind)), 0),
            },
            Operation::Decrypt => match scheme {
                Scheme::Encryption(EncryptionScheme::Sm2) => (OutputLen::InputAnd(0), 0),
                Scheme::Encryption(scheme) => (fixed(longest_plaintext(kind, scheme)), 0),
                _ => (fixed(0), 0),
            },
            Operation::Derive => (fixed(shared_secret_len(kind)), 0),
            Operation::Generate => {
                let (secret, public) = generated_lens(kind);
                (fixed(secret), public)
            }
            Operation::Encapsulate | Operation::Decapsulate => match (kind, operation) {
                (KeyKind::MlKem(set), Operation::Encapsulate) => (fixed(set.ciphertext_len()), 32),
                _ => (fixed(32), 0),
            },
        };
        Self {
            input,
            reason,
            output,
            second,
        }
    }
}

impl InputLen {
    pub(crate) fn allows(self, len: usize) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(exact) => len == exact,
            Self::AtMost(most) => len <= most,
            Self::From(least, most) => (least..=most).contains(&len),
            Self::Either(one, other) => len == one || len == other,
        }
    }
}

impl OutputLen {
    /// Room needed with an input of `input` bytes.
    pub(crate) fn needed(self, input: usize) -> usize {
        match self {
            Self::Fixed(len) => len,
            Self::InputAnd(more) => input.saturating_add(more),
        }
    }
}

impl std::fmt::Display for InputLen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("any length"),
            Self::Exactly(len) => write!(f, "{len} bytes"),
            Self::AtMost(len) => write!(f, "at most {len} bytes"),
            Self::From(least, most) => write!(f, "{least} to {most} bytes"),
            Self::Either(one, other) => write!(f, "{one} or {other} bytes"),
        }
    }
}

/// Bytes of an RSA or finite-field modulus.
pub(crate) fn modulus_len(kind: KeyKind) -> usize {
    match kind {
        KeyKind::Rsa(bits) | KeyKind::Dh(bits) | KeyKind::Dsa(bits) => bits.div_ceil(8) as usize,
        _ => 0,
    }
}

fn input(transform: &KeyTransform) -> (InputLen, KeyReason) {
    let KeySpec {
        operation,
        kind,
        scheme,
    } = transform.spec();
    let k = modulus_len(kind);
    match (operation, scheme) {
        (Operation::Sign | Operation::Verify, Scheme::Signature(signature)) => {
            let digest = signature.hash().map(lanelock_core::Hash::digest_len);
            match (transform.message_form(), digest) {
                (MessageForm::Digest, Some(len)) => {
                    (InputLen::Exactly(len), KeyReason::DigestLength)
                }
                _ => (InputLen::Any, KeyReason::DigestLength),
            }
        }
        (Operation::Encrypt, Scheme::Encryption(EncryptionScheme::Sm2)) => {
            (InputLen::From(1, 1 << 20), KeyReason::PlaintextLength)
        }
        (Operation::Encrypt, Scheme::Encryption(EncryptionScheme::RsaRaw)) => {
            (InputLen::Exactly(k), KeyReason::PlaintextLength)
        }
        (Operation::Encrypt, Scheme::Encryption(scheme)) => {
            let most = longest_plaintext(kind, scheme);
            (InputLen::AtMost(most), KeyReason::PlaintextLength)
        }
        (Operation::Decrypt, Scheme::Encryption(EncryptionScheme::Sm2)) => {
            (InputLen::Any, KeyReason::CiphertextLength)
        }
        (Operation::Decrypt, _) => (InputLen::Exactly(k), KeyReason::CiphertextLength),
        (Operation::Derive, _) => (peer_len(kind), KeyReason::PeerLength),
        (Operation::Decapsulate, _) => match kind {
            KeyKind::MlKem(set) => {
                let len = set.ciphertext_len();
                (InputLen::Exactly(len), KeyReason::CiphertextLength)
            }
            _ => (InputLen::Any, KeyReason::CiphertextLength),
        },
        _ => (InputLen::Exactly(0), KeyReason::WrongOperation),
    }
}

fn peer_len(kind: KeyKind) -> InputLen {
    match kind {
        KeyKind::X25519 => InputLen::Exactly(32),
        KeyKind::X448 => InputLen::Exactly(56),
        KeyKind::Ec(curve) => {
            let len = curve.field_len();
            InputLen::Either(1 + 2 * len, 1 + len)
        }
        _ => InputLen::From(1, modulus_len(kind)),
    }
}

/// The longest message that padding leaves room for.
fn longest_plaintext(kind: KeyKind, scheme: EncryptionScheme) -> usize {
    let k = modulus_len(kind);
    match scheme {
        EncryptionScheme::RsaPkcs1 => k.saturating_sub(11),
        EncryptionScheme::RsaOaep(oaep) => k.saturating_sub(2 * oaep.hash.digest_len() + 2),
        EncryptionScheme::RsaRaw | EncryptionScheme::Sm2 => k,
    }
}

/// Length of the longest signature.
fn signature_len(kind: KeyKind, form: SignatureForm) -> usize {
    let pair = |order: usize| match form {
        SignatureForm::Fixed => 2 * order,
        SignatureForm::Der => {
            // Each integer: tag, length, perhaps a zero byte; the sequence's length takes another
            // byte from 128 on.
            let content = 2 * (order + 3);
            content + if content < 128 { 2 } else { 3 }
        }
    };
    match kind {
        KeyKind::Rsa(_) => modulus_len(kind),
        KeyKind::Ec(curve) => pair(curve.field_len()),
        KeyKind::Dsa(_) => pair(32),
        KeyKind::Ed25519 => 64,
        KeyKind::Ed448 => 114,
        KeyKind::MlDsa(set) => set.signature_len(),
        _ => 0,
    }
}

fn shared_secret_len(kind: KeyKind) -> usize {
    match kind {
        KeyKind::X25519 => 32,
        KeyKind::X448 => 56,
        KeyKind::Ec(curve) => curve.field_len(),
        KeyKind::MlKem(_) => 32,
        _ => modulus_len(kind),
    }
}

/// Room for a secret and a public key as [`Operation::Generate`] writes them.
fn generated_lens(kind: KeyKind) -> (usize, usize) {
    let k = modulus_len(kind);
    match kind {
        KeyKind::Ec(curve) => (curve.field_len(), 1 + 2 * curve.field_len()),
        KeyKind::X25519 | KeyKind::Ed25519 => (32, 32),
        KeyKind::X448 => (56, 56),
        KeyKind::Ed448 => (57, 57),
        KeyKind::MlKem(set) => (set.secret_len(), set.public_len()),
        KeyKind::MlDsa(set) => (set.secret_len(), set.public_len()),
        // PKCS #8 holds n, d and five numbers of half their length, or p, q, g and x.
        KeyKind::Rsa(_) => (9 * k / 2 + 128, k + 64),
        KeyKind::Dh(_) | KeyKind::Dsa(_) => (4 * k + 128, 4 * k + 128),
    }
}

impl KeyTransform {
    /// Bytes of r and of s in this session's signatures, where they are a pair.
    #[must_use]
    pub fn order_len(&self) -> usize {
        use super::key::{PublicParts, SecretParts};
        use super::transform::Key;
        match (self.spec().kind, self.key()) {
            (KeyKind::Ec(curve), _) => Curve::field_len(curve),
            (KeyKind::Dsa(_), Key::Secret(key)) => match key.parts() {
                SecretParts::Exponent(domain, _) => domain.q.len(),
                _ => 0,
            },
            (KeyKind::Dsa(_), Key::Public(key)) => match key.parts() {
                PublicParts::Dsa(domain, _) => domain.q.len(),
                _ => 0,
            },
            _ => 0,
        }
    }

    /// Length of the longest signature or plaintext, and so on, that an operation writes when its
    /// input has `input_len` bytes: the room that its output needs.
    #[must_use]
    pub fn output_len(&self, input_len: usize) -> usize {
        Shape::of(self).output.needed(input_len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SecretKey, SignatureScheme};
    use lanelock_core::Hash;

    #[test]
    fn the_longest_ecdsa_signatures_are_as_rfc_3279_writes_them() {
        let len = |curve| signature_len(KeyKind::Ec(curve), SignatureForm::Der);
        assert_eq!(
            [Curve::P256, Curve::P384, Curve::P521].map(len),
            [72, 104, 141]
        );
        assert_eq!(
            signature_len(KeyKind::Ec(Curve::P521), SignatureForm::Fixed),
            132
        );
    }

    #[test]
    fn a_digest_has_its_hash_s_length() {
        let key = SecretKey::ec(Curve::P256, &[1], None).expect("a key");
        let transform = KeyTransform::sign(SignatureScheme::Ecdsa(Hash::Sha384), &key);
        assert_eq!(Shape::of(&transform).input, InputLen::Any);
        assert_eq!(Shape::of(&transform.digest()).input, InputLen::Exactly(48));
    }
}
