//! X25519 (RFC 7748) and Ed25519 (RFC 8032).
//!
//! Jobs run one per lane, each with a key of its own; those of up to four registers share the inversion
//! that ends every operation, so bursts are best handed over whole.

mod base;
pub mod ed25519;
mod field;
mod number;
mod point;
mod scalar;
mod single;
mod words;
pub mod x25519;
