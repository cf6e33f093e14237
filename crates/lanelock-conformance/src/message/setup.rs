//! What a session is made of.

use lanelock_core::Transform;
use lanelock_core::algorithm::{Algorithm, Spec};
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
}

impl Setup {
    pub(crate) fn transform(&self) -> Transform {
        Transform::new(self.algorithm, self.direction, &self.key, &self.mac_key)
            .iv_len(self.iv_len)
            .tag_len(self.tag_len)
    }

    pub(crate) fn spec(&self) -> Spec {
        self.transform().spec()
    }

    pub(crate) fn is_forward(&self) -> bool {
        self.direction == Direction::Forward
    }

    /// Whether operations have a payload that is encrypted or decrypted.
    pub(crate) fn ciphers(&self) -> bool {
        self.algorithm.row().encrypts
    }

    /// Whether operations have an authenticated range.
    pub(crate) fn authenticates(&self) -> bool {
        self.algorithm.row().authenticates
    }

    /// Whether operations may have additional data.
    pub(crate) fn takes_aad(&self) -> bool {
        self.algorithm.row().max_aad > 0
    }

    /// The same keys and lengths, the other way round.
    pub(crate) fn with_direction(&self, direction: Direction) -> Self {
        Self {
            direction,
            ..self.clone()
        }
    }
}
