//! Message authentication codes.

use crate::algorithm::Hash;
use crate::sizes;
use crate::sizes::Sizes;

/// A MAC family.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Mac {
    /// HMAC (RFC 2104, FIPS 198-1) over a hash with [`Hash::has_hmac`].
    Hmac(Hash),
    /// AES-CMAC (RFC 4493, NIST SP 800-38B).
    AesCmac,
    /// AES-GMAC (NIST SP 800-38D): GCM over additional data alone. Never reuse an IV.
    AesGmac,
    /// Poly1305 (RFC 8439, 2.5). Its key is for one message: a session that authenticates two
    /// messages with it reveals the key, so make a session per message or use an AEAD.
    Poly1305,
}

impl Mac {
    /// Every MAC, HMAC once for each hash.
    pub const ALL: &'static [Self] = &[
        Self::Hmac(Hash::Md5),
        Self::Hmac(Hash::Sha1),
        Self::Hmac(Hash::Sha224),
        Self::Hmac(Hash::Sha256),
        Self::Hmac(Hash::Sha384),
        Self::Hmac(Hash::Sha512),
        Self::Hmac(Hash::Sha3_224),
        Self::Hmac(Hash::Sha3_256),
        Self::Hmac(Hash::Sha3_384),
        Self::Hmac(Hash::Sha3_512),
        Self::AesCmac,
        Self::AesGmac,
        Self::Poly1305,
    ];

    /// Key lengths, in bytes.
    #[must_use]
    pub const fn key_sizes(self) -> Sizes {
        match self {
            Self::Hmac(_) => sizes![1..=65535],
            Self::AesCmac | Self::AesGmac => sizes![16, 24, 32],
            Self::Poly1305 => sizes![32],
        }
    }

    /// IV lengths, in bytes.
    #[must_use]
    pub const fn iv_sizes(self) -> Sizes {
        match self {
            Self::AesGmac => sizes![1..=128],
            _ => Sizes::NONE,
        }
    }

    /// IV length unless the session asks for another, in bytes; 0 for none.
    #[must_use]
    pub const fn default_iv_len(self) -> usize {
        match self {
            Self::AesGmac => 12,
            _ => 0,
        }
    }

    /// Length of the untruncated tag, in bytes.
    #[must_use]
    pub const fn tag_len(self) -> usize {
        match self {
            Self::Hmac(hash) => hash.digest_len(),
            _ => 16,
        }
    }

    /// Tag lengths a session may ask for, in bytes; a shorter one is a prefix. Below 4 bytes
    /// guessing is too easy for any protocol, so none is offered.
    #[must_use]
    pub const fn tag_sizes(self) -> Sizes {
        match self {
            Self::Poly1305 => sizes![16],
            _ => match self.tag_len() {
                16 => sizes![4..=16],
                20 => sizes![4..=20],
                28 => sizes![4..=28],
                32 => sizes![4..=32],
                48 => sizes![4..=48],
                _ => sizes![4..=64],
            },
        }
    }

    /// Whether it can be half of a chain. GMAC and Poly1305 have a nonce or a key per message,
    /// which the AEADs manage.
    #[must_use]
    pub const fn chains(self) -> bool {
        matches!(self, Self::Hmac(_) | Self::AesCmac)
    }
}
