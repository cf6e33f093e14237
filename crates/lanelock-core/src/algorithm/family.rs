//! Accessors for a family's row of the table.

use super::row::Row;
use super::{Aead, Algorithm, Cipher, Hash, Mac};
use crate::sizes::Sizes;

impl Cipher {
    /// Key lengths, in bytes. AES-XTS counts both halves.
    #[must_use]
    pub const fn key_sizes(self) -> Sizes {
        self.facts().key
    }

    /// Length of the IV, in bytes; 0 for none.
    #[must_use]
    pub const fn iv_len(self) -> usize {
        self.facts().default_iv
    }

    /// The underlying block, in bytes: the unit of chaining or of the keystream.
    #[must_use]
    pub const fn native_block_len(self) -> usize {
        self.facts().native_block
    }

    /// Payload lengths are multiples of this many bytes; 1 for any length.
    #[must_use]
    pub const fn block_len(self) -> usize {
        self.facts().block
    }

    /// Shortest payload, in bytes.
    #[must_use]
    pub const fn min_payload(self) -> usize {
        self.facts().min_payload
    }

    /// Longest payload, in bytes, if the algorithm limits it to less than a buffer's 4 GiB.
    #[must_use]
    pub const fn max_payload(self) -> Option<u32> {
        self.facts().max_payload
    }
}

impl Mac {
    /// Key lengths, in bytes.
    #[must_use]
    pub const fn key_sizes(self) -> Sizes {
        self.facts().key
    }

    /// IV lengths, in bytes.
    #[must_use]
    pub const fn iv_sizes(self) -> Sizes {
        self.facts().iv
    }

    /// IV length unless the session asks for another, in bytes; 0 for none.
    #[must_use]
    pub const fn default_iv_len(self) -> usize {
        self.facts().default_iv
    }

    /// Length of the untruncated tag, in bytes; of KMAC the one that gives its full strength.
    #[must_use]
    pub const fn tag_len(self) -> usize {
        self.facts().default_tag
    }

    /// Tag lengths a session may ask for, in bytes; a shorter one is a prefix, except of KMAC.
    #[must_use]
    pub const fn tag_sizes(self) -> Sizes {
        self.facts().tag
    }

    /// Whether it can be half of a chain. GMAC and Poly1305 have a nonce or a key per message,
    /// which the AEADs manage; no protocol has a chain with KMAC.
    #[must_use]
    pub const fn chains(self) -> bool {
        matches!(self, Self::Hmac(_) | Self::AesCmac)
    }
}

impl Hash {
    /// The hash's own digest length, in bytes; for SHAKE and cSHAKE the length that gives their full
    /// strength (FIPS 202, A.1); a session may choose another.
    #[must_use]
    pub const fn digest_len(self) -> usize {
        self.facts().digest.default_tag
    }

    /// Digest lengths a session may ask for, in bytes; a shorter one is a prefix.
    #[must_use]
    pub const fn digest_sizes(self) -> Sizes {
        self.facts().digest.tag
    }

    /// Whether a session can choose any digest length (SHAKE, cSHAKE).
    #[must_use]
    pub const fn is_xof(self) -> bool {
        self.facts().digest.tag.max() > self.digest_len()
    }

    /// Whether HMAC is defined over it here.
    #[must_use]
    pub const fn has_hmac(self) -> bool {
        self.facts().has_hmac
    }
}

impl Aead {
    /// Key lengths, in bytes.
    #[must_use]
    pub const fn key_sizes(self) -> Sizes {
        self.facts().key
    }

    /// IV (nonce) lengths, in bytes.
    #[must_use]
    pub const fn iv_sizes(self) -> Sizes {
        self.facts().iv
    }

    /// IV length of a transform that does not state one, in bytes.
    #[must_use]
    pub const fn default_iv_len(self) -> usize {
        self.facts().default_iv
    }

    /// Tag lengths, in bytes.
    #[must_use]
    pub const fn tag_sizes(self) -> Sizes {
        self.facts().tag
    }

    /// Longest payload, in bytes, for an IV of `iv_len` bytes, if the algorithm limits it to less
    /// than a buffer's 4 GiB.
    #[must_use]
    pub const fn max_payload(self, iv_len: usize) -> Option<u32> {
        self.facts().max_payload_with(iv_len)
    }
}

impl Algorithm {
    /// Every family: ciphers, MACs, hashes, AEADs. Chains are made of them.
    pub fn families() -> impl Iterator<Item = Self> {
        let ciphers = Cipher::ALL.iter().map(|&cipher| Self::Cipher(cipher));
        let macs = Mac::ALL.iter().map(|&mac| Self::Mac(mac));
        let hashes = Hash::ALL.iter().map(|&hash| Self::Hash(hash));
        let aeads = Aead::ALL.iter().map(|&aead| Self::Aead(aead));
        ciphers.chain(macs).chain(hashes).chain(aeads)
    }

    /// Its row in the table.
    #[must_use]
    pub const fn row(self) -> Row {
        match self {
            Self::Cipher(cipher) => cipher.facts(),
            Self::Mac(mac) => mac.facts(),
            Self::Hash(hash) => hash.facts().digest,
            Self::Aead(aead) => aead.facts(),
            Self::Chain(_, cipher, mac) => cipher.facts().chained(mac.facts()),
        }
    }
}
