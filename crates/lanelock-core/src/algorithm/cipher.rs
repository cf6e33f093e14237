//! Ciphers without authentication.

use crate::sizes;
use crate::sizes::Sizes;

/// A cipher family; the key's length selects the member.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Cipher {
    /// AES in cipher block chaining mode (NIST SP 800-38A, 6.2), without padding.
    AesCbc,
    /// AES in counter mode (NIST SP 800-38A, 6.5); the IV is the whole first counter block and is
    /// incremented as a 128-bit big-endian number.
    AesCtr,
    /// AES in electronic codebook mode (NIST SP 800-38A, 6.1).
    AesEcb,
    /// AES-XTS (IEEE 1619, NIST SP 800-38E) with ciphertext stealing; one operation is one data
    /// unit, and the IV is its tweak.
    AesXts,
    /// AES-CBC with residual block termination (DOCSIS Baseline Privacy): any length.
    AesDocsis,
    /// Triple DES (NIST SP 800-67) in CBC mode; a key of 16 bytes is two-key triple DES.
    TripleDesCbc,
    /// Triple DES in counter mode; the IV is a 64-bit big-endian counter block.
    TripleDesCtr,
    /// Single DES in CBC mode.
    DesCbc,
    /// Single DES-CBC with residual block termination (DOCSIS Baseline Privacy): any length.
    DesDocsis,
    /// ChaCha20 (RFC 8439, 2.4); the IV is the 32-bit little-endian counter, then the nonce. A
    /// counter that wraps carries into the nonce's first word, as in OpenSSL: a 64-bit counter.
    ChaCha20,
    /// Camellia (RFC 3713) in CBC mode.
    CamelliaCbc,
}

impl Cipher {
    /// Every cipher family.
    pub const ALL: &'static [Self] = &[
        Self::AesCbc,
        Self::AesCtr,
        Self::AesEcb,
        Self::AesXts,
        Self::AesDocsis,
        Self::TripleDesCbc,
        Self::TripleDesCtr,
        Self::DesCbc,
        Self::DesDocsis,
        Self::ChaCha20,
        Self::CamelliaCbc,
    ];

    /// Key lengths, in bytes. AES-XTS counts both halves.
    #[must_use]
    pub const fn key_sizes(self) -> Sizes {
        match self {
            Self::AesCbc | Self::AesCtr | Self::AesEcb | Self::CamelliaCbc => sizes![16, 24, 32],
            Self::AesXts => sizes![32, 64],
            Self::AesDocsis => sizes![16, 32],
            Self::TripleDesCbc | Self::TripleDesCtr => sizes![16, 24],
            Self::DesCbc | Self::DesDocsis => sizes![8],
            Self::ChaCha20 => sizes![32],
        }
    }

    /// Length of the IV, in bytes; 0 for none.
    #[must_use]
    pub const fn iv_len(self) -> usize {
        match self {
            Self::AesEcb => 0,
            Self::TripleDesCbc | Self::TripleDesCtr | Self::DesCbc | Self::DesDocsis => 8,
            _ => 16,
        }
    }

    /// The underlying block, in bytes: the unit of chaining or of the keystream.
    #[must_use]
    pub const fn native_block_len(self) -> usize {
        match self {
            Self::TripleDesCbc | Self::TripleDesCtr | Self::DesCbc | Self::DesDocsis => 8,
            Self::ChaCha20 => 64,
            _ => 16,
        }
    }

    /// Payload lengths are multiples of this many bytes; 1 for any length.
    #[must_use]
    pub const fn block_len(self) -> usize {
        match self {
            Self::AesCbc | Self::AesEcb | Self::CamelliaCbc => 16,
            Self::TripleDesCbc | Self::DesCbc => 8,
            _ => 1,
        }
    }

    /// Shortest payload, in bytes.
    #[must_use]
    pub const fn min_payload(self) -> usize {
        match self {
            Self::AesXts => 16,
            _ => 0,
        }
    }

    /// Longest payload, in bytes, where the algorithm bounds it below the 4 GiB of a buffer.
    #[must_use]
    pub const fn max_payload(self) -> Option<u32> {
        match self {
            // 2^20 blocks in one data unit: IEEE 1619, 5.1.
            Self::AesXts => Some(16 << 20),
            _ => None,
        }
    }
}
