//! Why an operation was refused or failed.

use lanelock_core::Status;

/// Why a public-key operation did not succeed; [`super::KeyOp::error`] turns it into a sentence
/// with the values involved.
///
/// With [`Status::InvalidArgs`] nothing was written; with [`Status::AuthFailed`] a signature or
/// ciphertext does not match the key; with [`Status::EngineError`] the outputs hold zeros.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::Status;
/// use lanelock::public_key::KeyReason;
///
/// assert_eq!(KeyReason::WrongSignature.status(), Status::AuthFailed);
/// assert_eq!(KeyReason::PeerLength.status(), Status::InvalidArgs);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[repr(u8)]
pub enum KeyReason {
    /// The session belongs to a different device than the queue.
    ForeignSession,
    /// The session was made for another operation.
    WrongOperation,
    /// The output is shorter than the longest result.
    OutputTooShort,
    /// The second output is shorter than its result.
    SecondOutputTooShort,
    /// The length of the digest is not that of the session's hash.
    DigestLength,
    /// The plaintext is longer than the padding leaves room for, or is not a raw block.
    PlaintextLength,
    /// The length of the ciphertext does not fit the key.
    CiphertextLength,
    /// The length of the peer's public key is not that of keys of this kind.
    PeerLength,
    /// The peer's public key is not a point of the curve, or not an element of the group; for
    /// Diffie-Hellman, of the subgroup, if its order is known.
    InvalidPeer,
    /// The shared secret is zero: the peer's public key has a small order.
    ZeroSharedSecret,
    /// The block is a number that is not below the modulus.
    OutOfRange,
    /// The signature is malformed, or one of its numbers is out of range.
    MalformedSignature,
    /// The signature does not match the key and the message.
    WrongSignature,
    /// The ciphertext was not made with this key, or was modified.
    WrongCiphertext,
    /// The result failed its check with the public key: the CPU or memory returned a wrong result,
    /// or the numbers of the key do not belong together.
    Fault,
    /// The engine failed (out of memory, say).
    Engine,
}

impl KeyReason {
    /// The status that goes with it.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::MalformedSignature | Self::WrongSignature | Self::WrongCiphertext => {
                Status::AuthFailed
            }
            Self::Fault | Self::Engine => Status::EngineError,
            _ => Status::InvalidArgs,
        }
    }
}
