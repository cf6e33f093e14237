//! The portable reference: AES on one block, all sixteen bytes of the state at once in a `u128`,
//! without tables, secret-dependent branches or addresses. Slow, simple, and independent of the
//! vector kernels, which are tested against it.

use super::{BLOCK, EncryptKey};

/// Encrypts one block.
pub fn encrypt_block(key: &EncryptKey, block: [u8; BLOCK]) -> [u8; BLOCK] {
    let keys = key.round_keys();
    let last = keys.len() - 1;
    let mut state = u128::from_le_bytes(block) ^ u128::from_le_bytes(keys[0]);
    for round_key in &keys[1..last] {
        state = round(state) ^ u128::from_le_bytes(*round_key);
    }
    (last_round(state) ^ u128::from_le_bytes(keys[last])).to_le_bytes()
}

/// Decrypts one block by the straightforward inverse cipher.
pub fn decrypt_block(key: &EncryptKey, block: [u8; BLOCK]) -> [u8; BLOCK] {
    let keys = key.round_keys();
    let last = keys.len() - 1;
    let mut state = u128::from_le_bytes(block) ^ u128::from_le_bytes(keys[last]);
    for round_key in keys[1..last].iter().rev() {
        state = inverse_mix(inverse_last_round(state) ^ u128::from_le_bytes(*round_key));
    }
    (inverse_last_round(state) ^ u128::from_le_bytes(keys[0])).to_le_bytes()
}

/// A round but for its key.
pub(crate) fn round(state: u128) -> u128 {
    mix_columns(last_round(state))
}

/// The last round but for its key: no MixColumns.
pub(crate) fn last_round(state: u128) -> u128 {
    shift_rows(sub_bytes(state))
}

/// A round of the equivalent inverse cipher but for its key.
pub(crate) fn inverse_round(state: u128) -> u128 {
    inverse_mix(inverse_last_round(state))
}

/// The last round of the equivalent inverse cipher but for its key.
pub(crate) fn inverse_last_round(state: u128) -> u128 {
    inverse_sub_bytes(inverse_shift_rows(state))
}

/// InvMixColumns of a round key.
pub(crate) fn inverse_mix_columns(round_key: [u8; BLOCK]) -> [u8; BLOCK] {
    inverse_mix(u128::from_le_bytes(round_key)).to_le_bytes()
}

/// The S-box on each byte of a word.
pub(crate) fn sub_word(word: u32) -> u32 {
    let bytes = sub_bytes(u128::from(word)).to_le_bytes();
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn sub_bytes(state: u128) -> u128 {
    let x = invert(state);
    let circled = x ^ rotate(x, 1) ^ rotate(x, 2) ^ rotate(x, 3) ^ rotate(x, 4);
    circled ^ 0x63 * ONES
}

fn inverse_sub_bytes(state: u128) -> u128 {
    invert(rotate(state, 1) ^ rotate(state, 3) ^ rotate(state, 6) ^ 0x05 * ONES)
}

/// Rotates each byte to the left.
fn rotate(x: u128, by: u32) -> u128 {
    let low = ONES * (0xff >> by);
    (x & low) << by | (x & !low) >> (8 - by)
}

/// Doubles each byte in GF(2⁸).
fn double(x: u128) -> u128 {
    (x & 0x7f * ONES) << 1 ^ whole_bytes(x >> 7) & 0x1b * ONES
}

/// Multiplies byte by byte in GF(2⁸).
fn multiply(mut a: u128, b: u128) -> u128 {
    let mut product = 0;
    for bit in 0..8 {
        product ^= a & whole_bytes(b >> bit);
        a = double(a);
    }
    product
}

/// The inverse of each byte in GF(2⁸), zero for zero: x²⁵⁴. Powers of two of x are linear in it.
fn invert(x: u128) -> u128 {
    let x2 = map(x, [0x01, 0x04, 0x10, 0x40, 0x1b, 0x6c, 0xab, 0x9a]);
    let x3 = multiply(x2, x);
    let x12 = map(x3, [0x01, 0x10, 0x1b, 0xab, 0x5e, 0x97, 0xb3, 0xc5]);
    let x15 = multiply(x12, x3);
    let x240 = map(x15, [0x01, 0x5e, 0xe4, 0xe8, 0x4d, 0x91, 0x1d, 0x6c]);
    multiply(multiply(x240, x12), x2)
}

/// The linear map of each byte that turns bit `i` into `images[i]`.
fn map(x: u128, images: [u8; 8]) -> u128 {
    let image = |bit: usize| whole_bytes(x >> bit) & ONES * u128::from(images[bit]);
    (0..8).fold(0, |sum, bit| sum ^ image(bit))
}

/// Each byte all ones or all zeros, as its lowest bit is.
fn whole_bytes(x: u128) -> u128 {
    let bits = x & ONES;
    (bits << 8).wrapping_sub(bits)
}

/// Row `r` turns to the left by `r` columns.
fn shift_rows(state: u128) -> u128 {
    let bytes = state.to_le_bytes();
    u128::from_le_bytes(core::array::from_fn(|i| bytes[(i + 4 * (i % 4)) % BLOCK]))
}

fn inverse_shift_rows(state: u128) -> u128 {
    let bytes = state.to_le_bytes();
    u128::from_le_bytes(core::array::from_fn(|i| bytes[(i + 12 * (i % 4)) % BLOCK]))
}

fn mix_columns(state: u128) -> u128 {
    let next = turn_columns(state, 8);
    double(state ^ next) ^ next ^ turn_columns(state, 16) ^ turn_columns(state, 24)
}

/// InvMixColumns = MixColumns after multiplying each column by 4y² + 5.
fn inverse_mix(state: u128) -> u128 {
    let opposite = turn_columns(state, 16);
    mix_columns(state ^ double(double(state ^ opposite)))
}

/// Rotates the four bytes of each column: byte `r` becomes byte `r + bits / 8`.
fn turn_columns(state: u128, bits: u32) -> u128 {
    let mut turned = 0;
    for column in (0..128).step_by(32) {
        let word = (state >> column) & 0xffff_ffff;
        turned |= ((word >> bits | word << (32 - bits)) & 0xffff_ffff) << column;
    }
    turned
}

/// One in each byte.
const ONES: u128 = u128::MAX / 0xff;

#[cfg(test)]
mod tests;
