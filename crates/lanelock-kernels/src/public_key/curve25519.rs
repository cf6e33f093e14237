//! X25519 (RFC 7748) and Ed25519 (RFC 8032).
//!
//! Jobs run eight at a time, each lane with a key of its own; up to 32 share the inversion that
//! ends every operation, so bursts are best handed over whole.

mod base;
pub mod ed25519;
mod field;
mod number;
mod point;
mod scalar;
mod single;
mod words;
pub mod x25519;
