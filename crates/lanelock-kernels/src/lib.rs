//! SIMD kernels: many messages in lockstep, one per lane. Slices and expanded keys in, nothing
//! allocated, no operations and no sessions.

#![no_std]

#[cfg(test)]
extern crate std;

pub mod aes;
pub mod chacha;
pub mod hash;
pub mod keccak;
pub mod public_key;
pub mod taint;

mod ahead;
mod arch;
mod arrays;
mod bytes;
mod lockstep;
mod machine;
mod parts;
mod poly1305;
mod wipe;

pub use machine::{Digits, Machine, Tier};

#[cfg(test)]
mod testing;
