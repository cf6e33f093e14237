//! Unkeyed hashes.

use crate::sizes;
use crate::sizes::Sizes;

/// A hash or extendable-output function.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Hash {
    /// MD5 (RFC 1321).
    Md5,
    /// SHA-1 (FIPS 180-4).
    Sha1,
    /// SHA-224 (FIPS 180-4).
    Sha224,
    /// SHA-256 (FIPS 180-4).
    Sha256,
    /// SHA-384 (FIPS 180-4).
    Sha384,
    /// SHA-512 (FIPS 180-4).
    Sha512,
    /// SHA3-224 (FIPS 202).
    Sha3_224,
    /// SHA3-256 (FIPS 202).
    Sha3_256,
    /// SHA3-384 (FIPS 202).
    Sha3_384,
    /// SHA3-512 (FIPS 202).
    Sha3_512,
    /// SHAKE128 (FIPS 202): the digest length is the session's.
    Shake128,
    /// SHAKE256 (FIPS 202): the digest length is the session's.
    Shake256,
    /// BLAKE2b with 64 bytes of output (RFC 7693).
    Blake2b512,
    /// BLAKE2s with 32 bytes of output (RFC 7693).
    Blake2s256,
}

impl Hash {
    /// Every hash.
    pub const ALL: &'static [Self] = &[
        Self::Md5,
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
        Self::Shake128,
        Self::Shake256,
        Self::Blake2b512,
        Self::Blake2s256,
    ];

    /// The hash's own digest length, in bytes; for the SHAKEs the length that gives their full
    /// strength (FIPS 202, A.1), from which a session may depart.
    #[must_use]
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha224 | Self::Sha3_224 => 28,
            Self::Sha256 | Self::Sha3_256 | Self::Shake128 | Self::Blake2s256 => 32,
            Self::Sha384 | Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 | Self::Shake256 | Self::Blake2b512 => 64,
        }
    }

    /// Digest lengths a session may ask for, in bytes; a shorter one is a prefix.
    #[must_use]
    pub const fn digest_sizes(self) -> Sizes {
        match self {
            Self::Shake128 | Self::Shake256 => sizes![1..=65535],
            _ => match self.digest_len() {
                16 => sizes![1..=16],
                20 => sizes![1..=20],
                28 => sizes![1..=28],
                32 => sizes![1..=32],
                48 => sizes![1..=48],
                _ => sizes![1..=64],
            },
        }
    }

    /// Whether the digest length is free (SHAKE).
    #[must_use]
    pub const fn is_xof(self) -> bool {
        matches!(self, Self::Shake128 | Self::Shake256)
    }

    /// Whether HMAC is defined over it here.
    #[must_use]
    pub const fn has_hmac(self) -> bool {
        !matches!(
            self,
            Self::Shake128 | Self::Shake256 | Self::Blake2b512 | Self::Blake2s256
        )
    }
}
