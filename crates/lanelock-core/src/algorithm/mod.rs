//! The algorithms that lanelock knows, with the sizes their standards allow.
//!
//! A family covers every key length (`Cipher::AesCbc` is AES-128, -192 and -256): the key given
//! to a [`crate::Transform`] selects the member. [`Spec`] is a family plus its key lengths, the
//! thing that a name such as `aes-128-cbc+hmac-sha1` stands for. Everything known about a family is
//! in one place, its [`Row`] of the table.

mod family;
mod name;
mod row;
mod table;

pub use name::{Spec, UnknownAlgorithm};
pub use row::Row;
pub use table::{Aead, Cipher, Hash, Mac};

/// Longest IV of any algorithm, in bytes (AES-GCM as OpenSSL bounds it).
pub const MAX_IV_LEN: usize = 128;

/// Longest tag that is ever compared, in bytes (SHA-512 and SHA3-512).
pub const MAX_TAG_LEN: usize = 64;

/// Longest additional data of one operation, in bytes.
pub const MAX_AAD_LEN: usize = 1 << 20;

/// What a session does, without its keys.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::algorithm::Order;
/// use lanelock::{Algorithm, Cipher, Hash, Mac};
///
/// let chain = Algorithm::Chain(Order::EncryptThenMac, Cipher::AesCbc, Mac::Hmac(Hash::Sha1));
/// assert_eq!(chain.row().tag.max(), 20); // bytes
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Algorithm {
    /// Encryption without authentication.
    Cipher(Cipher),
    /// A keyed tag over a message.
    Mac(Mac),
    /// An unkeyed digest.
    Hash(Hash),
    /// Authenticated encryption with additional data.
    Aead(Aead),
    /// A cipher and a MAC over independent ranges of one message.
    Chain(Order, Cipher, Mac),
}

/// Which half of a chain comes first when it protects a message; the reverse session works in the
/// opposite order.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::algorithm::{Algorithm, Order, Spec};
///
/// let spec: Spec = "hmac-sha1+aes-128-cbc".parse()?;
/// assert!(matches!(spec.algorithm, Algorithm::Chain(Order::MacThenEncrypt, ..)));
/// # Ok::<(), lanelock::algorithm::UnknownAlgorithm>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Order {
    /// The tag covers the ciphertext (IPsec ESP, RFC 7366). The reverse verifies, then decrypts.
    EncryptThenMac,
    /// The tag covers the plaintext (TLS before RFC 7366). The reverse decrypts, then verifies.
    MacThenEncrypt,
}
