//! Public-key operations of an algorithm in lockstep, one per lane, each with its own key.

pub mod curve25519;
pub mod ml_kem;
pub mod nist;
pub mod rsa;

mod digits;
