//! Public-key operations: eight of an algorithm in lockstep, one per lane, each with its own key.

mod lanes;
pub mod rsa;
