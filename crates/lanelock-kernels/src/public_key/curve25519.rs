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
#[cfg(test)]
mod testing;
mod words;
pub mod x25519;

use crate::cpu;

/// The instructions that run the jobs.
#[derive(Clone, Copy, Debug)]
pub enum Kernel {
    /// AVX-512 IFMA.
    Ifma(cpu::Ifma),
    /// Plain integers, on any CPU: the reference of the tests. One operation at a time by other
    /// means is faster.
    Portable,
}
