//! The modes of AES, in place on one message.

mod block;
pub mod cbc;
pub mod ccm;
pub mod cfb;
pub mod ctr;
pub mod gcm;
pub mod mac;
pub mod ofb;
pub mod siv;
#[cfg(test)]
mod vectors;
pub mod xts;

pub use block::{decrypt_block, encrypt_block};

use lanelock_kernels::aes::BLOCK;

fn xor(a: [u8; BLOCK], b: [u8; BLOCK]) -> [u8; BLOCK] {
    (u128::from_le_bytes(a) ^ u128::from_le_bytes(b)).to_le_bytes()
}
