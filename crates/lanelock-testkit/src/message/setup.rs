//! What a session is made of.

use lanelock_core::Transform;
use lanelock_core::algorithm::{Algorithm, Order, Spec};
use lanelock_core::transform::Direction;

/// Algorithm, direction, keys and lengths of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Setup {
    /// The algorithm family.
    pub algorithm: Algorithm,
    /// Whether it protects messages or opens them.
    pub direction: Direction,
    /// The cipher's, AEAD's or MAC's key.
    pub key: Vec<u8>,
    /// The key of a chain's MAC.
    pub mac_key: Vec<u8>,
    /// IV length, in bytes; 0 for none.
    pub iv_len: usize,
    /// Tag or digest length, in bytes; 0 for none.
    pub tag_len: usize,
    /// The customization string; empty for none.
    pub customization: Vec<u8>,
}

impl Setup {
    /// The transform of its session.
    #[must_use]
    pub fn transform(&self) -> Transform {
        Transform::new(self.algorithm, self.direction, &self.key, &self.mac_key)
            .iv_len(self.iv_len)
            .tag_len(self.tag_len)
            .customization(&self.customization)
    }

    /// The algorithm with its key lengths.
    #[must_use]
    pub fn spec(&self) -> Spec {
        self.transform().spec()
    }

    /// Whether it protects, or computes a tag or digest.
    #[must_use]
    pub fn is_forward(&self) -> bool {
        self.direction == Direction::Forward
    }

    /// Whether operations have a payload that is encrypted or decrypted.
    #[must_use]
    pub fn ciphers(&self) -> bool {
        self.algorithm.row().encrypts
    }

    /// Whether it is a hash, which has no reverse.
    #[must_use]
    pub fn is_one_way(&self) -> bool {
        matches!(self.algorithm, Algorithm::Hash(_))
    }

    /// Whether the MAC comes first and is encrypted, or may be.
    #[must_use]
    pub fn is_mac_first(&self) -> bool {
        matches!(self.algorithm, Algorithm::Chain(Order::MacThenEncrypt, ..))
    }

    /// Whether operations have an authenticated range.
    #[must_use]
    pub fn authenticates(&self) -> bool {
        self.algorithm.row().authenticates
    }

    /// Whether operations may have additional data.
    #[must_use]
    pub fn takes_aad(&self) -> bool {
        self.algorithm.row().max_aad > 0
    }

    /// The same keys and lengths in this direction.
    #[must_use]
    pub fn with_direction(&self, direction: Direction) -> Self {
        Self {
            direction,
            ..self.clone()
        }
    }
}
