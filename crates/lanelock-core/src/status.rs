//! The result of an operation, and why it was refused.

/// The result of one operation. One operation's failure never affects its neighbours.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Buffer, Hash, Op, Status, Transform};
///
/// let session = device.session(Transform::hash(Hash::Sha256))?;
/// let mut digest = [0; 32];
/// let mut burst = [Op::new(&session, Buffer::read_only(b"a message")).tag(&mut digest)];
/// assert_eq!(burst[0].status(), Status::NotProcessed);
/// let _ = device.queue_pair(1).process(&mut burst);
/// assert_eq!(burst[0].status(), Status::Success);
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(u8)]
pub enum Status {
    /// No queue pair has taken the operation yet; nothing was read or written.
    #[default]
    NotProcessed = 0,
    /// Done: output and tag are in place.
    Success = 1,
    /// The tag did not match. The output holds no plaintext: it is untouched or zeroed.
    AuthFailed = 2,
    /// The description was refused before any byte was touched; [`crate::Op::error`] says why.
    InvalidArgs = 3,
    /// The engine failed (out of memory, say). The output's content is unspecified, but holds no
    /// unauthenticated plaintext.
    EngineError = 4,
}

impl Status {
    /// Every status, in the order of its number.
    pub const ALL: [Self; 5] = [
        Self::NotProcessed,
        Self::Success,
        Self::AuthFailed,
        Self::InvalidArgs,
        Self::EngineError,
    ];

    /// A short name for tables and statistics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotProcessed => "not-processed",
            Self::Success => "success",
            Self::AuthFailed => "auth-failed",
            Self::InvalidArgs => "invalid-args",
            Self::EngineError => "engine-error",
        }
    }
}

/// Why an operation was refused with [`Status::InvalidArgs`].
///
/// [`crate::Op::error`] turns it into a sentence with the values involved.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Buffer, Cipher, InvalidReason, Op, Transform};
///
/// let session = device.session(Transform::encrypt(Cipher::AesCbc, &[7; 16]))?;
/// let mut message = [0; 20];
/// let mut burst = [Op::new(&session, Buffer::in_place(&mut message)).iv(&[0; 16])];
/// let _ = device.queue_pair(1).process(&mut burst);
/// let error = burst[0].error().expect("AES-CBC takes whole blocks");
/// assert_eq!(error.reason(), InvalidReason::BlockMultiple);
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[repr(u8)]
pub enum InvalidReason {
    /// A buffer or range is longer than 4 GiB - 2.
    TooLarge = 1,
    /// The session belongs to a different device than the queue pair.
    ForeignSession,
    /// The cipher range extends past the end of the input.
    CipherRange,
    /// The authenticated range extends past the end of the input.
    AuthRange,
    /// A cipher needs an output, but the buffer is read-only.
    OutputMissing,
    /// The payload does not fit the separate output at its output offset.
    OutputTooShort,
    /// An output offset was given without a separate output.
    OutputOffset,
    /// The payload is not a multiple of the cipher's block.
    BlockMultiple,
    /// The payload is shorter than the algorithm's minimum.
    PayloadTooShort,
    /// The payload is longer than the algorithm allows under one IV.
    PayloadTooLong,
    /// The algorithm needs an IV and none was given.
    IvMissing,
    /// The algorithm takes no IV.
    IvUnexpected,
    /// The IV's length is not the session's.
    IvLength,
    /// The inline IV extends past the end of the input.
    IvRange,
    /// The algorithm takes no additional data.
    AadUnexpected,
    /// The additional data is longer than the algorithm allows.
    AadTooLong,
    /// The inline additional data extends past the end of the input.
    AadRange,
    /// The algorithm needs room for a tag, or a tag to compare, and none was given.
    TagMissing,
    /// The algorithm takes no tag.
    TagUnexpected,
    /// The tag's length is not the session's.
    TagLength,
    /// The inline tag extends past the end of its buffer.
    TagRange,
    /// The session computes a tag, but the slice given is read-only.
    TagReadOnly,
    /// The tag overlaps bytes that the operation authenticates or writes.
    TagOverlap,
    /// The inline IV or additional data overlaps the payload, which is rewritten in place.
    HeaderOverlap,
    /// Input and output overlap without being the same bytes of the payload.
    BufferOverlap,
}

impl InvalidReason {
    /// Every reason, in the order of its number, which starts from 1.
    pub const ALL: &'static [Self] = &[
        Self::TooLarge,
        Self::ForeignSession,
        Self::CipherRange,
        Self::AuthRange,
        Self::OutputMissing,
        Self::OutputTooShort,
        Self::OutputOffset,
        Self::BlockMultiple,
        Self::PayloadTooShort,
        Self::PayloadTooLong,
        Self::IvMissing,
        Self::IvUnexpected,
        Self::IvLength,
        Self::IvRange,
        Self::AadUnexpected,
        Self::AadTooLong,
        Self::AadRange,
        Self::TagMissing,
        Self::TagUnexpected,
        Self::TagLength,
        Self::TagRange,
        Self::TagReadOnly,
        Self::TagOverlap,
        Self::HeaderOverlap,
        Self::BufferOverlap,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_listed_by_number() {
        for (number, &reason) in (1..).zip(InvalidReason::ALL) {
            assert_eq!(reason as u8, number, "{reason:?}");
        }
        assert_eq!(
            InvalidReason::ALL.last(),
            Some(&InvalidReason::BufferOverlap)
        );
    }
}
