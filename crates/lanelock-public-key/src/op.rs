//! One public-key operation on borrowed memory.

use std::fmt;

use lanelock_core::Status;

use super::algorithm::Operation;
use super::session::{KeySession, KeySessionInner};
use super::status::KeyReason;

/// An operation on borrowed memory, for [`super::KeyQueue::process`].
///
/// Inputs are only read; an output is written from its start, and has room for the longest result
/// ([`KeySession::output_len`]) even where the result is shorter. A refused operation is untouched,
/// and a failed one leaves no part of a result.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// # use lanelock_public_key::{FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey, SignatureScheme};
/// # let device = lanelock_testkit::key_device();
/// # let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
/// # let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
/// use lanelock::public_key::KeyOp;
///
/// let mut signature = vec![0; session.output_len(0)];
/// let mut burst = [KeyOp::sign(&session, b"a message", &mut signature)];
/// let mut queue = device.key_queue(8, FlushPolicy::default());
/// assert_eq!(queue.process(&mut burst).succeeded, 1);
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
pub struct KeyOp<'a> {
    pub(super) session: &'a KeySessionInner,
    operation: Operation,
    pub(super) input: &'a [u8],
    pub(super) signature: &'a [u8],
    pub(super) output: &'a mut [u8],
    pub(super) second: &'a mut [u8],
    pub(super) written: usize,
    pub(super) second_written: usize,
    pub(super) status: Status,
    pub(super) reason: Option<KeyReason>,
}

/// The memory of an operation of any kind; parts that its kind does not have are empty, or not
/// used.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// # use lanelock_public_key::{FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey, SignatureScheme};
/// # let device = lanelock_testkit::key_device();
/// # let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
/// # let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
/// use lanelock::public_key::{KeyOp, KeyParts};
///
/// let mut signature = [0; 64];
/// let parts = KeyParts { input: b"a message", output: &mut signature, ..KeyParts::default() };
/// let op = KeyOp::of(&session, parts);
/// assert_eq!(op.written(), 0);
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Debug, Default)]
pub struct KeyParts<'a> {
    /// Message, digest, plaintext, ciphertext or peer's public key.
    pub input: &'a [u8],
    /// The signature to check.
    pub signature: &'a [u8],
    /// Signature, ciphertext, plaintext, shared secret or generated secret key.
    pub output: &'a mut [u8],
    /// Generated public key, or encapsulated secret.
    pub second: &'a mut [u8],
}

/// Why an operation did not succeed, with the values involved.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// # use lanelock_public_key::{FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey, SignatureScheme};
/// # let device = lanelock_testkit::key_device();
/// # let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
/// # let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
/// use lanelock::public_key::{KeyOp, KeyReason};
///
/// let mut too_short = [0; 63];
/// let mut burst = [KeyOp::sign(&session, b"a message", &mut too_short)];
/// let _ = device.key_queue(8, FlushPolicy::default()).process(&mut burst);
/// let error = burst[0].error().expect("a signature has 64 bytes");
/// assert_eq!(error.reason(), KeyReason::OutputTooShort);
/// assert!(error.to_string().contains("63"));
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyOpError {
    reason: KeyReason,
    message: String,
}

impl<'a> KeyOp<'a> {
    /// An operation of the kind that `session` was made for.
    #[must_use]
    pub fn of(session: &'a KeySession, parts: KeyParts<'a>) -> Self {
        let KeyParts {
            input,
            signature,
            output,
            second,
        } = parts;
        Self {
            signature,
            second,
            ..Self::new(session, session.spec().operation, input, output)
        }
    }

    /// Signs `message` (its digest, if the transform says so).
    #[must_use]
    pub fn sign(session: &'a KeySession, message: &'a [u8], signature: &'a mut [u8]) -> Self {
        Self::new(session, Operation::Sign, message, signature)
    }

    /// Checks `signature` over `message` (its digest, if the transform says so).
    #[must_use]
    pub fn verify(session: &'a KeySession, message: &'a [u8], signature: &'a [u8]) -> Self {
        let op = Self::new(session, Operation::Verify, message, &mut []);
        Self { signature, ..op }
    }

    /// Encrypts `plaintext`.
    #[must_use]
    pub fn encrypt(session: &'a KeySession, plaintext: &'a [u8], output: &'a mut [u8]) -> Self {
        Self::new(session, Operation::Encrypt, plaintext, output)
    }

    /// Decrypts `ciphertext`.
    #[must_use]
    pub fn decrypt(session: &'a KeySession, ciphertext: &'a [u8], output: &'a mut [u8]) -> Self {
        Self::new(session, Operation::Decrypt, ciphertext, output)
    }

    /// Agrees on a shared secret with the owner of `peer`: a byte string (X25519, X448), a
    /// point (SEC 1, 2.3.3), or a big-endian number (Diffie-Hellman). The secret is the bare
    /// x-coordinate or number, padded to full length: pass it through a key derivation function.
    #[must_use]
    pub fn derive(session: &'a KeySession, peer: &'a [u8], secret: &'a mut [u8]) -> Self {
        Self::new(session, Operation::Derive, peer, secret)
    }

    /// Makes a key pair. Keys are byte strings as [`super::SecretKey::raw`] takes them, for
    /// curves a scalar and an uncompressed point, and for RSA and Diffie-Hellman the DER of PKCS
    /// #8 and of `SubjectPublicKeyInfo`.
    #[must_use]
    pub fn generate(session: &'a KeySession, secret: &'a mut [u8], public: &'a mut [u8]) -> Self {
        let op = Self::new(session, Operation::Generate, &[], secret);
        Self {
            second: public,
            ..op
        }
    }

    /// Makes a shared secret and the ciphertext that carries it.
    #[must_use]
    pub fn encapsulate(
        session: &'a KeySession,
        ciphertext: &'a mut [u8],
        secret: &'a mut [u8],
    ) -> Self {
        let op = Self::new(session, Operation::Encapsulate, &[], ciphertext);
        Self {
            second: secret,
            ..op
        }
    }

    /// Recovers the shared secret from `ciphertext`.
    #[must_use]
    pub fn decapsulate(
        session: &'a KeySession,
        ciphertext: &'a [u8],
        secret: &'a mut [u8],
    ) -> Self {
        Self::new(session, Operation::Decapsulate, ciphertext, secret)
    }

    pub(super) fn new(
        session: &'a KeySession,
        operation: Operation,
        input: &'a [u8],
        output: &'a mut [u8],
    ) -> Self {
        Self {
            session: session.inner(),
            operation,
            input,
            signature: &[],
            output,
            second: &mut [],
            written: 0,
            second_written: 0,
            status: Status::NotProcessed,
            reason: None,
        }
    }

    /// The result of the operation.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// Length of the result in the output, in bytes; 0 unless the operation succeeded.
    #[must_use]
    pub fn written(&self) -> usize {
        self.written
    }

    /// Length of the second result, in bytes; 0 unless the operation succeeded.
    #[must_use]
    pub fn second_written(&self) -> usize {
        self.second_written
    }

    /// The result: signature, ciphertext, plaintext, shared secret or secret key.
    #[must_use]
    pub fn result(&self) -> &[u8] {
        &self.output[..self.written]
    }

    /// Why the operation did not succeed, as a sentence with the values involved.
    #[must_use]
    pub fn error(&self) -> Option<KeyOpError> {
        let reason = self.reason?;
        Some(KeyOpError {
            reason,
            message: self.message(reason),
        })
    }

    /// Checks everything that can be checked without the key; refuses without touching anything.
    pub(super) fn check(&self, device: u32) -> Result<(), KeyReason> {
        let shape = &self.session.shape;
        if self.session.group.device != device {
            return Err(KeyReason::ForeignSession);
        }
        if self.session.spec().operation != self.operation {
            return Err(KeyReason::WrongOperation);
        }
        if !shape.input.allows(self.input.len()) {
            return Err(shape.reason);
        }
        if self.output.len() < shape.output.needed(self.input.len()) {
            return Err(KeyReason::OutputTooShort);
        }
        if self.second.len() < shape.second {
            return Err(KeyReason::SecondOutputTooShort);
        }
        Ok(())
    }

    fn message(&self, reason: KeyReason) -> String {
        let spec = self.session.spec();
        let shape = &self.session.shape;
        let given = self.input.len();
        let length = |what: &str| {
            let allowed = shape.input;
            format!("{what}: {given} bytes given; {spec} takes {allowed}")
        };
        match reason {
            KeyReason::ForeignSession => {
                "session: made by a different device than the queue; use one device for both"
                    .to_owned()
            }
            KeyReason::WrongOperation => {
                let asked = self.operation.name();
                format!("operation: {asked} given; the session was made for {spec}")
            }
            KeyReason::OutputTooShort => format!(
                "output: {} bytes given; {spec} needs {}",
                self.output.len(),
                shape.output.needed(given)
            ),
            KeyReason::SecondOutputTooShort => format!(
                "second output: {} bytes given; {spec} needs {}",
                self.second.len(),
                shape.second
            ),
            KeyReason::DigestLength => length("digest"),
            KeyReason::PlaintextLength => length("plaintext"),
            KeyReason::CiphertextLength => length("ciphertext"),
            KeyReason::PeerLength => length("peer's public key"),
            KeyReason::InvalidPeer => {
                format!("peer's public key: not a valid {} key", spec.kind)
            }
            KeyReason::ZeroSharedSecret => {
                "peer's public key: has a small order; the shared secret would be zero".to_owned()
            }
            KeyReason::OutOfRange => "input: must be a number below the modulus".to_owned(),
            KeyReason::MalformedSignature => {
                format!(
                    "signature of {} bytes: malformed or out of range for {spec}",
                    self.signature.len()
                )
            }
            KeyReason::WrongSignature => {
                "signature: does not match this key and message".to_owned()
            }
            KeyReason::WrongCiphertext => {
                "ciphertext: not made with this key, or modified".to_owned()
            }
            KeyReason::Fault => {
                "fault: the result failed its check with the public key and was discarded"
                    .to_owned()
            }
            KeyReason::Engine => format!("engine: {spec} failed"),
        }
    }
}

impl KeyOpError {
    /// The reason alone, to match on.
    #[must_use]
    pub fn reason(&self) -> KeyReason {
        self.reason
    }
}

impl fmt::Display for KeyOpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for KeyOpError {}

impl fmt::Debug for KeyOp<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyOp")
            .field("session", &self.session.spec().to_string())
            .field("operation", &self.operation)
            .field("input_len", &self.input.len())
            .field("status", &self.status)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}
