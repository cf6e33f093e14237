//! What each algorithm makes of one message, in the words of its standard. Slow, and independent of
//! the kernels but for AES on one block.

#![allow(clippy::precedence)] // shifts before xor, as in every description of these algorithms

pub mod aes;
pub mod chacha;
pub mod hash;
pub mod keccak;
