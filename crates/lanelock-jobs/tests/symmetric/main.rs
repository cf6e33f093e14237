//! What the table does not say of the symmetric kernels: published vectors, messages in parts, and
//! edges of single algorithms.

#![allow(clippy::unwrap_used, reason = "a test")]

mod aes;
mod chacha;
mod hash;
mod keccak;
