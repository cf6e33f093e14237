//! Public-key operations through their entry points, on every kind of register.

#![allow(clippy::unwrap_used, reason = "a test")]

mod ed25519;
mod edwards;
mod ml_kem;
mod nist;
mod rsa;
mod x25519;
