//! Authenticated encryption with additional data.

use crate::sizes;
use crate::sizes::Sizes;

/// An AEAD family; the key's length selects the member.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Aead {
    /// AES-GCM (NIST SP 800-38D). Never reuse an IV under one key.
    AesGcm,
    /// AES-CCM (NIST SP 800-38C, RFC 3610). Never reuse a nonce under one key.
    AesCcm,
    /// ChaCha20-Poly1305 (RFC 8439). Never reuse a nonce under one key.
    ChaCha20Poly1305,
    /// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03, 2): the nonce of 24 bytes is long enough to be
    /// drawn at random.
    XChaCha20Poly1305,
}

impl Aead {
    /// Every AEAD family.
    pub const ALL: &'static [Self] = &[
        Self::AesGcm,
        Self::AesCcm,
        Self::ChaCha20Poly1305,
        Self::XChaCha20Poly1305,
    ];

    /// Key lengths, in bytes.
    #[must_use]
    pub const fn key_sizes(self) -> Sizes {
        match self {
            Self::AesGcm | Self::AesCcm => sizes![16, 24, 32],
            Self::ChaCha20Poly1305 | Self::XChaCha20Poly1305 => sizes![32],
        }
    }

    /// IV (nonce) lengths, in bytes.
    #[must_use]
    pub const fn iv_sizes(self) -> Sizes {
        match self {
            Self::AesGcm => sizes![1..=128],
            Self::AesCcm => sizes![7..=13],
            Self::ChaCha20Poly1305 => sizes![12],
            Self::XChaCha20Poly1305 => sizes![24],
        }
    }

    /// IV length of a transform that does not state one, in bytes.
    #[must_use]
    pub const fn default_iv_len(self) -> usize {
        match self {
            Self::XChaCha20Poly1305 => 24,
            _ => 12,
        }
    }

    /// Tag lengths, in bytes.
    #[must_use]
    pub const fn tag_sizes(self) -> Sizes {
        match self {
            Self::AesGcm => sizes![4..=16],
            Self::AesCcm => sizes![4..=16; 2],
            Self::ChaCha20Poly1305 | Self::XChaCha20Poly1305 => sizes![16],
        }
    }

    /// Longest payload, in bytes, for an IV of `iv_len` bytes, where it is bounded below the 4 GiB
    /// of a buffer. CCM writes the length into the 15 - `iv_len` bytes that the nonce leaves (NIST
    /// SP 800-38C, A.1), and is bounded to 2 GiB - 1: OpenSSL takes a message of CCM in one call,
    /// whose length is an `int`, and a bound is the same for all engines.
    #[must_use]
    pub const fn max_payload(self, iv_len: usize) -> Option<u32> {
        match self {
            Self::AesCcm if iv_len == 13 => Some(u16::MAX as u32),
            Self::AesCcm if iv_len == 12 => Some((1 << 24) - 1),
            Self::AesCcm => Some(i32::MAX.unsigned_abs()),
            _ => None,
        }
    }
}
