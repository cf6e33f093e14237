//! SIMD kernels: many messages in lockstep, one per lane. Slices and expanded keys in, nothing
//! allocated, no operations and no sessions.

#![no_std]
// Only x86-64 has kernels on registers so far; elsewhere, what they share is unused.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]

#[cfg(test)]
extern crate std;

pub mod aes;
pub mod chacha;
pub mod cpu;
pub mod hash;
pub mod public_key;
pub mod taint;

mod arrays;
mod bytes;
mod frame;
mod lanes;
mod poly1305;
mod wipe;

#[cfg(test)]
mod testing;
