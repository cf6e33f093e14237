//! A row of the table of algorithms.

use super::MAX_AAD_LEN;
use crate::sizes;
use crate::sizes::Sizes;

/// What a standard says of one family of algorithms; of a chain, what its halves' rows say. All
/// lengths are in bytes.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::{Aead, Algorithm};
///
/// let row = Algorithm::Aead(Aead::AesGcm).row();
/// assert!(row.encrypts);
/// assert_eq!(row.key.to_string(), "16, 24 or 32");
/// assert_eq!(row.default_tag, 16);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The family's name, `aes-cbc`; of a chain, its cipher's.
    pub name: &'static str,
    /// The name of each member, `aes-128-cbc`, in the order of [`Row::key`]; empty if all have the
    /// family's.
    pub members: &'static [&'static str],
    /// Key lengths; those of a chain's cipher.
    pub key: Sizes,
    /// Key lengths of a chain's MAC; elsewhere 0.
    pub mac_key: Sizes,
    /// IV lengths.
    pub iv: Sizes,
    /// IV length of a transform that does not set one; 0 for none.
    pub default_iv: usize,
    /// Tag or digest lengths.
    pub tag: Sizes,
    /// Tag or digest length of a transform that does not set one; 0 for none.
    pub default_tag: usize,
    /// Lengths of a session's customization string.
    pub customization: Sizes,
    /// Payload lengths are multiples of this; 1 for any length.
    pub block: usize,
    /// The cipher's own block: the unit of chaining or of the keystream; 1 without a cipher.
    pub native_block: usize,
    /// Shortest payload.
    pub min_payload: usize,
    /// Longest payload, if the algorithm limits it to less than a buffer's 4 GiB.
    pub max_payload: Option<u32>,
    /// IV lengths that allow less, each with the longest payload.
    pub max_payload_by_iv: &'static [(usize, u32)],
    /// Longest additional data; 0 for none.
    pub max_aad: usize,
    /// Whether a payload is encrypted.
    pub encrypts: bool,
    /// Whether a range of the input is authenticated or hashed; an AEAD authenticates its payload.
    pub authenticates: bool,
}

impl Row {
    /// The name of the member with a key of `key_len` bytes; the family's if there is none.
    #[must_use]
    pub fn member(&self, key_len: usize) -> &'static str {
        let mut members = self.key.iter().zip(self.members);
        members
            .find(|(len, _)| *len == key_len)
            .map_or(self.name, |(_, name)| name)
    }

    /// Longest payload for an IV of `iv_len` bytes, if the algorithm limits it to less than a
    /// buffer's 4 GiB.
    #[must_use]
    pub const fn max_payload_with(&self, iv_len: usize) -> Option<u32> {
        let mut i = 0;
        while i < self.max_payload_by_iv.len() {
            let (len, bound) = self.max_payload_by_iv[i];
            if len == iv_len {
                return Some(bound);
            }
            i += 1;
        }
        self.max_payload
    }

    /// The row of a chain of this cipher and `mac`.
    pub(super) const fn chained(self, mac: Self) -> Self {
        Self {
            mac_key: mac.key,
            tag: mac.tag,
            default_tag: mac.default_tag,
            max_aad: mac.max_aad,
            authenticates: true,
            ..self
        }
    }
}

/// What most hashes have in common.
pub(super) const HASH: Row = Row {
    name: "",
    members: &[],
    key: Sizes::NONE,
    mac_key: Sizes::NONE,
    iv: Sizes::NONE,
    default_iv: 0,
    tag: Sizes::NONE,
    default_tag: 0,
    customization: Sizes::NONE,
    block: 1,
    native_block: 1,
    min_payload: 0,
    max_payload: None,
    max_payload_by_iv: &[],
    max_aad: 0,
    encrypts: false,
    authenticates: true,
};

/// What most MACs have in common: a tag of one AES block, or a prefix of it. Guessing a tag below 4
/// bytes is too easy for any protocol.
pub(super) const MAC: Row = Row {
    tag: sizes![4..=16],
    default_tag: 16,
    max_aad: MAX_AAD_LEN,
    ..HASH
};

/// HMAC over any hash.
pub(super) const HMAC: Row = Row {
    key: sizes![1..=65535],
    ..MAC
};

/// What most ciphers have in common: blocks and an IV of 16 bytes.
pub(super) const CIPHER: Row = Row {
    iv: sizes![16],
    default_iv: 16,
    native_block: 16,
    encrypts: true,
    authenticates: false,
    ..HASH
};

/// What most AEADs have in common: a nonce of 12 bytes and a tag of 16.
pub(super) const AEAD: Row = Row {
    iv: sizes![12],
    default_iv: 12,
    tag: sizes![16],
    default_tag: 16,
    max_aad: MAX_AAD_LEN,
    ..CIPHER
};
