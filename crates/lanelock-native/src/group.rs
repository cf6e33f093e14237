//! Numbers of groups: operations that may share the lanes of one kernel call have the same one.
//!
//! A number names everything that a call has in common: families, key sizes, and for kernels that
//! run one way only the direction. It also names the type of the session.

use lanelock_core::algorithm::Order;
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Cipher, Hash, Mac};

/// A group's number under construction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Group(u16);

impl Group {
    /// Ciphers and AEADs below 16, MACs and hashes above, chains in the sum of both.
    const MAC: u16 = 4;
    const KEY: u16 = 9;
    const MAC_KEY: u16 = 11;
    const DIRECTION: u16 = 13;
    const ORDER: u16 = 14;

    pub(crate) fn of_cipher(cipher: Cipher, key_len: usize) -> Self {
        let family = match cipher {
            Cipher::AesCbc => 1,
            Cipher::AesCtr => 2,
            Cipher::AesEcb => 3,
            Cipher::AesXts => 4,
            Cipher::ChaCha20 => 5,
            Cipher::AesCfb => 6,
            Cipher::AesOfb => 7,
            _ => 0,
        };
        Self(family | size(key_len) << Self::KEY)
    }

    pub(crate) fn of_aead(aead: Aead, key_len: usize) -> Self {
        let family = match aead {
            Aead::AesGcm => 8,
            Aead::AesCcm => 9,
            Aead::ChaCha20Poly1305 => 10,
            Aead::XChaCha20Poly1305 => 11,
            Aead::AesGcmSiv => 12,
            Aead::AesSiv => 13,
            _ => 0,
        };
        // A key of AES-SIV is two of one size.
        let keys = if aead == Aead::AesSiv { 2 } else { 1 };
        Self(family | size(key_len / keys) << Self::KEY)
    }

    pub(crate) fn of_mac(mac: Mac, key_len: usize) -> Self {
        match mac {
            Mac::Hmac(hash) => Self((of_hash(hash) + HMAC) << Self::MAC),
            Mac::AesCmac => Self(16 << Self::MAC | size(key_len) << Self::MAC_KEY),
            Mac::AesGmac => Self(17 << Self::MAC | size(key_len) << Self::MAC_KEY),
            Mac::Kmac128 => Self(14 << Self::MAC),
            Mac::Kmac256 => Self(15 << Self::MAC),
            _ => Self(0),
        }
    }

    pub(crate) fn of_hash(hash: Hash) -> Self {
        Self(of_hash(hash) << Self::MAC)
    }

    /// A chain of both.
    pub(crate) fn chained(self, mac: Self, order: Order) -> Self {
        let order = u16::from(order == Order::MacThenEncrypt);
        Self(self.0 | mac.0 | order << Self::ORDER)
    }

    /// Only operations of one direction run together.
    pub(crate) fn one_way(self, direction: Direction) -> Self {
        Self(self.0 | u16::from(direction == Direction::Reverse) << Self::DIRECTION)
    }

    /// Messages that run in place, of AES-GCM: their sessions are of another type.
    pub(crate) fn in_place(self) -> Self {
        Self(self.0 | IN_PLACE)
    }

    /// The number.
    pub(crate) fn number(self) -> u16 {
        self.0
    }
}

/// AES-GCM's family becomes 14, which is no other's.
const IN_PLACE: u16 = 6;

/// What HMAC adds to the number of its hash: none of the sums is that of a hash or another MAC.
const HMAC: u16 = 8;

/// 1 to 5 and, above the other MACs, 18 to 25: with [`HMAC`], where there is one, below 32.
fn of_hash(hash: Hash) -> u16 {
    match hash {
        Hash::Sha1 => 1,
        Hash::Sha224 => 2,
        Hash::Sha256 => 3,
        Hash::Sha384 => 4,
        Hash::Sha512 => 5,
        Hash::Sha3_224 => 18,
        Hash::Sha3_256 => 19,
        Hash::Sha3_384 => 20,
        Hash::Sha3_512 => 21,
        Hash::Shake128 => 22,
        Hash::Shake256 => 23,
        Hash::CShake128 => 24,
        Hash::CShake256 => 25,
        _ => 0,
    }
}

/// Key lengths in two bits; 0 for the two halves of an XTS key of 256 bits each.
fn size(key_len: usize) -> u16 {
    match key_len {
        16 => 1,
        24 => 2,
        32 => 3,
        _ => 0,
    }
}
