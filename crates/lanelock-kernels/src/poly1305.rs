//! Poly1305 (RFC 8439, section 2.5) over many messages, one per lane.
//!
//! Numbers modulo 2¹³⁰ − 5 are held in limbs of 44, 44 and 42 bits, which fit the 52-bit
//! multiply-add of AVX-512 IFMA and leave room for sums. Registers that multiply 32 by 32 bits turn
//! them into five limbs of 26 bits while they run. A message by itself has three of 64 bits in plain
//! integers. All messages are whole 16-byte blocks, as ChaCha20-Poly1305 pads them.

mod absorb;
mod authenticator;
mod factor;
mod field;
mod lanes;
mod narrow;
mod running;
mod spread;

pub(crate) use authenticator::{Authenticator, Shape, absorb_run, authenticate};
pub(crate) use field::{Element, Secret};
pub(crate) use lanes::{Item, RUNS};
pub(crate) use running::Running;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;

#[cfg(test)]
mod tests;
