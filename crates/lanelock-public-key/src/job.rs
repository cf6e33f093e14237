//! A public-key operation that owns its memory, for the queue's `enqueue` and `dequeue`.

use lanelock_core::Status;
use lanelock_core::job::OwnedBuffer;
use smallvec::SmallVec;

use super::algorithm::Operation;
use super::op::{KeyOp, KeyOpError};
use super::session::KeySession;
use super::status::KeyReason;

/// One operation with the memory it needs, handed over by value and given back in every outcome.
///
/// A job that came back can be enqueued again after [`KeyJob::rearm`].
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// # use lanelock_public_key::{FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey, SignatureScheme};
/// # let device = lanelock_testkit::key_device();
/// # let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
/// # let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
/// use lanelock::public_key::KeyJob;
///
/// let job = KeyJob::sign(&session, b"a message".to_vec(), vec![0; 64]).user_data(42);
/// assert_eq!(job.data(), 42);
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Debug)]
pub struct KeyJob<B: OwnedBuffer = Vec<u8>> {
    session: KeySession,
    operation: Operation,
    buffers: KeyBuffers<B>,
    user_data: u64,
    pub(super) outcome: Outcome,
}

/// The memory of a job.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// # use lanelock_public_key::{FlushPolicy, KeyDevice, KeyKind, KeyTransform, SecretKey, SignatureScheme};
/// # let device = lanelock_testkit::key_device();
/// # let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
/// # let session = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
/// use lanelock::public_key::{KeyBuffers, KeyJob};
///
/// let buffers = KeyBuffers {
///     input: Some(b"a message".to_vec()),
///     output: Some(vec![0; 64]),
///     ..KeyBuffers::default()
/// };
/// let back = KeyJob::of(&session, buffers).into_buffers();
/// assert_eq!(back.input.as_deref(), Some(&b"a message"[..]));
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Debug, Default)]
pub struct KeyBuffers<B> {
    /// Message, digest, plaintext, ciphertext or peer's public key.
    pub input: Option<B>,
    /// The signature to check.
    pub signature: Option<B>,
    /// Signature, ciphertext, plaintext, shared secret or generated secret key.
    pub output: Option<B>,
    /// Generated public key, or encapsulated secret.
    pub second: Option<B>,
}

/// The outcome of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    status: Status,
    error: Option<KeyOpError>,
    written: usize,
    second_written: usize,
}

/// Those of the jobs of a batch.
pub(super) type Outcomes = SmallVec<[Outcome; 8]>;

impl<B: OwnedBuffer> KeyJob<B> {
    /// As [`KeyOp::of`].
    #[must_use]
    pub fn of(session: &KeySession, buffers: KeyBuffers<B>) -> Self {
        let mut job = Self::new(session, session.spec().operation, None, None);
        job.buffers = buffers;
        job
    }

    /// As [`KeyOp::sign`].
    #[must_use]
    pub fn sign(session: &KeySession, message: B, signature: B) -> Self {
        Self::new(session, Operation::Sign, Some(message), Some(signature))
    }

    /// As [`KeyOp::verify`].
    #[must_use]
    pub fn verify(session: &KeySession, message: B, signature: B) -> Self {
        let mut job = Self::new(session, Operation::Verify, Some(message), None);
        job.buffers.signature = Some(signature);
        job
    }

    /// As [`KeyOp::encrypt`].
    #[must_use]
    pub fn encrypt(session: &KeySession, plaintext: B, output: B) -> Self {
        Self::new(session, Operation::Encrypt, Some(plaintext), Some(output))
    }

    /// As [`KeyOp::decrypt`].
    #[must_use]
    pub fn decrypt(session: &KeySession, ciphertext: B, output: B) -> Self {
        Self::new(session, Operation::Decrypt, Some(ciphertext), Some(output))
    }

    /// As [`KeyOp::derive`].
    #[must_use]
    pub fn derive(session: &KeySession, peer: B, secret: B) -> Self {
        Self::new(session, Operation::Derive, Some(peer), Some(secret))
    }

    /// As [`KeyOp::generate`].
    #[must_use]
    pub fn generate(session: &KeySession, secret: B, public: B) -> Self {
        let mut job = Self::new(session, Operation::Generate, None, Some(secret));
        job.buffers.second = Some(public);
        job
    }

    /// As [`KeyOp::encapsulate`].
    #[must_use]
    pub fn encapsulate(session: &KeySession, ciphertext: B, secret: B) -> Self {
        let mut job = Self::new(session, Operation::Encapsulate, None, Some(ciphertext));
        job.buffers.second = Some(secret);
        job
    }

    /// As [`KeyOp::decapsulate`].
    #[must_use]
    pub fn decapsulate(session: &KeySession, ciphertext: B, secret: B) -> Self {
        let output = Some(secret);
        Self::new(session, Operation::Decapsulate, Some(ciphertext), output)
    }

    fn new(
        session: &KeySession,
        operation: Operation,
        input: Option<B>,
        output: Option<B>,
    ) -> Self {
        Self {
            session: session.clone(),
            operation,
            buffers: KeyBuffers {
                input,
                signature: None,
                output,
                second: None,
            },
            user_data: 0,
            outcome: Outcome::default(),
        }
    }

    /// A number for the caller's own use, which stays with the job.
    #[must_use]
    pub fn user_data(mut self, data: u64) -> Self {
        self.user_data = data;
        self
    }

    /// The number given with [`KeyJob::user_data`].
    #[must_use]
    pub fn data(&self) -> u64 {
        self.user_data
    }

    /// Makes a finished job ready to be enqueued again.
    pub fn rearm(&mut self) {
        self.outcome = Outcome::default();
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &KeySession {
        &self.session
    }

    /// The result of the job.
    #[must_use]
    pub fn status(&self) -> Status {
        self.outcome.status
    }

    /// Why it did not succeed.
    #[must_use]
    pub fn error(&self) -> Option<&KeyOpError> {
        self.outcome.error.as_ref()
    }

    /// The result: the part of the output that was written; empty if a shorter buffer has taken
    /// the output's place since.
    #[must_use]
    pub fn result(&self) -> &[u8] {
        part(self.buffers.output.as_ref(), self.outcome.written)
    }

    /// The second result: the part of the second output that was written; empty if a shorter
    /// buffer has taken its place since.
    #[must_use]
    pub fn second_result(&self) -> &[u8] {
        part(self.buffers.second.as_ref(), self.outcome.second_written)
    }

    /// The memory, to refill it.
    #[must_use]
    pub fn buffers_mut(&mut self) -> &mut KeyBuffers<B> {
        &mut self.buffers
    }

    /// Gives the memory back.
    #[must_use]
    pub fn into_buffers(self) -> KeyBuffers<B> {
        self.buffers
    }

    /// The operation over this memory.
    pub(super) fn op(&mut self) -> KeyOp<'_> {
        let KeyBuffers {
            input,
            signature,
            output,
            second,
        } = &mut self.buffers;
        let mut op = KeyOp::new(
            &self.session,
            self.operation,
            input.as_ref().map_or(&[], AsRef::as_ref),
            output.as_mut().map_or(&mut [], AsMut::as_mut),
        );
        op.signature = signature.as_ref().map_or(&[], AsRef::as_ref);
        op.second = second.as_mut().map_or(&mut [], AsMut::as_mut);
        op.status = self.outcome.status;
        op
    }

    /// Refuses the job if its operation would be refused.
    pub(super) fn check(&mut self, device: u32) -> bool {
        let mut op = self.op();
        let checked = op.check(device);
        if let Err(reason) = checked {
            op.status = reason.status();
            op.reason = Some(reason);
            self.outcome = Outcome::of(&op);
        }
        checked.is_ok()
    }

    /// What stays if the job's memory panics before there is an outcome: it has failed and is not
    /// run again.
    pub(super) fn presume_failed(&mut self) {
        self.outcome.status = KeyReason::Engine.status();
    }
}

impl Outcome {
    pub(super) fn of(op: &KeyOp<'_>) -> Self {
        Self {
            status: op.status(),
            error: op.error(),
            written: op.written(),
            second_written: op.second_written(),
        }
    }
}

fn part<B: OwnedBuffer>(buffer: Option<&B>, len: usize) -> &[u8] {
    let written = buffer.and_then(|buffer| buffer.as_ref().get(..len));
    written.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_does_not_outlive_its_buffer() {
        for (buffer, len, expected) in [
            (None, 2, &[][..]),
            (Some(vec![1, 2, 3]), 2, &[1, 2]),
            (Some(vec![1, 2]), 2, &[1, 2]),
            (Some(vec![1]), 2, &[]),
        ] {
            assert_eq!(part(buffer.as_ref(), len), expected, "{buffer:?}");
        }
    }
}
