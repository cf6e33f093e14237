//! Ed25519 (RFC 8032, section 5.1): the pure variant, without context or prehash.

mod digest;
mod sign;
mod verify;

pub use sign::{Sign, SigningKey, sign};
pub use verify::{Verify, VerifyingKey, verify};

/// Bytes of a private key (the seed), and of a public key.
pub const KEY_BYTES: usize = 32;
/// Bytes of a signature.
pub const SIGNATURE_BYTES: usize = 64;

use super::field::GROUPS;
use crate::arch::digits::MAX_LANES;

/// Most jobs that share an inversion: [`GROUPS`] for each lane.
const JOBS: usize = MAX_LANES * GROUPS;
