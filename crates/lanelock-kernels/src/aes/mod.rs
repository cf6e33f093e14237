//! AES: key schedules, the block cipher on vectors, and the modes built from it.
//!
//! Each mode is written once over `Vector` (one, two or four blocks per register) and
//! instantiated per instruction set. [`reference`](mod@reference) is AES on one block in plain
//! integers, of which the tests build the modes that every instantiation is compared with.

#![allow(clippy::precedence)] // shifts before xor, as in every description of these algorithms
#![allow(clippy::needless_range_loop)] // the index of a register is its place in all arrays

pub mod cbc;
pub mod ccm;
pub mod cfb;
mod chain;
pub mod ctr;
pub mod ecb;
mod expand;
mod fed;
mod feedback;
pub mod gcm;
pub mod interleave;
pub mod key;
pub mod mac;
mod message;
pub mod ofb;
pub mod reference;
pub(crate) mod rounds;
pub mod siv;
mod sweep;
mod unchain;
pub mod xts;

pub use key::{DecryptKey, EncryptKey, KeySize};
pub use message::{Message, Part, Piece, Records};

/// Bytes in a block.
pub const BLOCK: usize = 16;

/// The product with x in the field of CMAC (SP 800-38B, section 6.1) and of AES-SIV (RFC 5297,
/// section 2.3).
fn double(block: [u8; BLOCK]) -> [u8; BLOCK] {
    let value = u128::from_be_bytes(block);
    (value << 1 ^ (value >> 127) * 0x87).to_be_bytes()
}

fn xor(a: [u8; BLOCK], b: [u8; BLOCK]) -> [u8; BLOCK] {
    (u128::from_le_bytes(a) ^ u128::from_le_bytes(b)).to_le_bytes()
}

/// Makes the compiler believe that what `written` points to is read: the wiping of memory that
/// is about to go stays.
#[inline(always)]
fn keep(written: *const u8) {
    // SAFETY: no instructions; the pointer is only named.
    unsafe { core::arch::asm!("/* {} */", in(reg) written, options(nostack, preserves_flags)) }
}
