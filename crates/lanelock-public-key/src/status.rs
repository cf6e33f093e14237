//! Why an operation was refused or failed.

use lanelock_core::Status;

/// Why a public-key operation did not succeed; [`super::KeyOp::error`] turns it into a sentence
/// with the values involved.
///
/// With [`Status::InvalidArgs`] nothing was written; with [`Status::AuthFailed`] a signature or
/// ciphertext is not the key's; with [`Status::EngineError`] the outputs hold zeros.
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
    /// The session belongs to another device than the queue.
    ForeignSession,
    /// The session does something else.
    WrongOperation,
    /// The output is shorter than the longest result.
    OutputTooShort,
    /// The second output is shorter than its result.
    SecondOutputTooShort,
    /// The digest is not as long as the session's hash makes it.
    DigestLength,
    /// The plaintext is longer than the padding leaves room for, or no raw block.
    PlaintextLength,
    /// The ciphertext is not as long as the key makes it.
    CiphertextLength,
    /// The peer's public key is not as long as keys of this kind.
    PeerLength,
    /// The peer's public key is no point of the curve, or no element of the group; for
    /// Diffie-Hellman of the subgroup, if its order is known.
    InvalidPeer,
    /// The shared secret is zero: the peer's public key is of small order.
    ZeroSharedSecret,
    /// The block is a number that is not below the modulus.
    OutOfRange,
    /// The signature is malformed, or one of its numbers is out of range.
    MalformedSignature,
    /// The signature is not the key's over this message.
    WrongSignature,
    /// The ciphertext was not made with this key, or was changed.
    WrongCiphertext,
    /// The result failed its check with the public key: CPU or memory returned a wrong result, or
    /// the numbers of the key do not belong together.
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
