//! RSAES-PKCS1-v1_5 decryption that never reveals that a ciphertext is malformed.
//!
//! A malformed ciphertext yields a message that looks random and is a function of key and
//! ciphertext, so that an attacker who submits ciphertexts learns nothing from it (Bleichenbacher
//! 1998). The construction is that of draft-irtf-cfrg-rsa-guidance and of OpenSSL from 3.2 on:
//! every implementation of it gives the same message.

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater};
use zeroize::{Zeroize, Zeroizing};

/// HMAC-SHA-256 (RFC 2104) as an engine has it.
pub trait HmacSha256 {
    /// The tag of the concatenation of `parts` under `key`.
    fn tag(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; 32];
}

/// Candidates for the length of a synthetic message.
const CANDIDATES: usize = 128;

/// Least length of the padding string (RFC 8017, 7.2.1).
const MIN_PADDING: usize = 8;

/// Takes the message out of the decrypted block `block` (RFC 8017, 7.2.2, step 3), or makes one,
/// in time and with addresses that depend only on the length of the block. Returns the length of
/// the message, which is at the front of `out`; the rest of `out` is zeroed.
///
/// `key_digest` is SHA-256 of the private exponent, padded to the length of the modulus.
///
/// # Panics
/// If block and ciphertext differ in length, or are shorter than 11 bytes or longer than 8,191, or
/// if `out` is not exactly 11 bytes shorter.
pub fn decode(
    block: &[u8],
    ciphertext: &[u8],
    key_digest: &[u8; 32],
    hmac: &mut impl HmacSha256,
    out: &mut [u8],
) -> usize {
    let k = block.len();
    let longest = k - 3 - MIN_PADDING;
    assert!(
        ciphertext.len() == k && k < 1 << 13 && out.len() == longest,
        "the lengths are those of the modulus"
    );
    let derived = Zeroizing::new(hmac.tag(key_digest, &[ciphertext]));
    let mut lengths = Zeroizing::new([0; 2 * CANDIDATES]);
    expand(hmac, &derived, b"length", &mut lengths[..]);
    // Keys of up to 4,096 bits need no allocation.
    let mut short = Zeroizing::new([0; 512]);
    let mut long = Zeroizing::new(Vec::new());
    let message = match short.get_mut(..k) {
        Some(message) => message,
        None => {
            long.resize(k, 0);
            &mut long[..]
        }
    };
    expand(hmac, &derived, b"message", message);

    let (valid, found) = parse(block);
    let length = u32::conditional_select(&synthetic_length(&lengths[..], k), &found, valid);
    for (byte, real) in message.iter_mut().zip(block) {
        byte.conditional_assign(real, valid);
    }
    // Both kinds of message end with their block.
    out.copy_from_slice(&message[k - longest..]);
    shift_left(out, number(longest) - length);
    length as usize
}

/// Whether `block` is 0 2 PS 0 M with a PS of at least 8 bytes, and the length of M.
fn parse(block: &[u8]) -> (Choice, u32) {
    let mut looking = Choice::from(1);
    let mut zero_at = 0_u32;
    for (index, byte) in (0_u32..).zip(block).skip(2) {
        let is_first = looking & byte.ct_eq(&0);
        zero_at.conditional_assign(&index, is_first);
        looking &= !is_first;
    }
    let long_enough = zero_at.ct_gt(&number(1 + MIN_PADDING));
    let valid = block[0].ct_eq(&0) & block[1].ct_eq(&2) & !looking & long_enough;
    // Where there is no zero byte the length means nothing, and must only not wrap.
    (valid, number(block.len() - 1) - zero_at)
}

/// The last candidate that leaves room for the padding; 0 if none does.
fn synthetic_length(lengths: &[u8], k: usize) -> u32 {
    let bound = number(k - 2 - MIN_PADDING);
    let mask = bound.next_power_of_two() - 1;
    // For a power of two the mask takes the bit of the bound as well.
    let mask = mask | bound;
    let mut length = 0;
    for pair in lengths.chunks_exact(2) {
        let candidate = u32::from(u16::from_be_bytes([pair[0], pair[1]])) & mask;
        length.conditional_assign(&candidate, bound.ct_gt(&candidate));
    }
    length
}

/// Fills `out` from HMAC(`key`, i ‖ `label` ‖ bits of output) for i = 0, 1, …
fn expand(hmac: &mut impl HmacSha256, key: &[u8; 32], label: &[u8], out: &mut [u8]) {
    let bits = wide(out.len() * 8).to_be_bytes();
    for (block, index) in out.chunks_mut(32).zip(0_usize..) {
        let mut tag = hmac.tag(key, &[&wide(index).to_be_bytes(), label, &bits]);
        block.copy_from_slice(&tag[..block.len()]);
        tag.zeroize();
    }
}

/// Moves bytes `by` places to the front and fills up with zeros; `by` is secret.
fn shift_left(bytes: &mut [u8], by: u32) {
    for bit in 0..usize::BITS {
        let step = 1_usize << bit;
        if step > bytes.len() {
            return;
        }
        let on = Choice::from((by >> bit & 1) as u8);
        for at in 0..bytes.len() {
            let from = bytes.get(at + step).copied().unwrap_or(0);
            bytes[at].conditional_assign(&from, on);
        }
    }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// As the 16 bits of the construction.
fn wide(n: usize) -> u16 {
    u16::try_from(n).expect("a modulus has fewer than 65,536 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No HMAC, but a function of everything it is given.
    struct Mix;

    impl HmacSha256 for Mix {
        fn tag(&mut self, key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
            let mut state = 0x6c07_8965_u64;
            for &byte in key.iter().chain(parts.iter().flat_map(|part| part.iter())) {
                state = (state ^ u64::from(byte)).wrapping_mul(0x5851_f42d_4c95_7f2d);
                state ^= state >> 29;
            }
            std::array::from_fn(|i| (state.rotate_left(u32::try_from(i).unwrap() * 7) & 0xff) as u8)
        }
    }

    const K: usize = 96;

    fn decoded(block: &[u8; K], ciphertext: &[u8; K]) -> Vec<u8> {
        let mut out = [0xee; K - 11];
        let len = decode(block, ciphertext, &[7; 32], &mut Mix, &mut out);
        assert!(out[len..].iter().all(|&byte| byte == 0), "zeros follow");
        out[..len].to_vec()
    }

    /// 0 2 PS 0 M with `message` of this many bytes.
    fn padded(message: usize) -> [u8; K] {
        let mut block = [0xa5; K];
        (block[0], block[1]) = (0, 2);
        block[K - message - 1] = 0;
        for (byte, value) in block[K - message..].iter_mut().zip(0..) {
            *byte = value;
        }
        block
    }

    #[test]
    fn well_formed_blocks_give_their_message_at_every_length() {
        for len in 0..=K - 11 {
            let expected: Vec<u8> = (0..).take(len).collect();
            assert_eq!(decoded(&padded(len), &[1; K]), expected, "{len}");
        }
    }

    #[test]
    fn malformed_blocks_all_give_the_same_message_of_a_ciphertext() {
        let mut no_zero = [0xa5; K];
        (no_zero[0], no_zero[1]) = (0, 2);
        let mut first = padded(20);
        first[0] = 1;
        let mut second = padded(20);
        second[1] = 1;
        let mut short = padded(20);
        short[9] = 0;
        let mut shortest = padded(20);
        shortest[2] = 0;
        let expected = decoded(&no_zero, &[1; K]);
        for block in [first, second, short, shortest] {
            assert_eq!(decoded(&block, &[1; K]), expected);
        }
        assert_ne!(decoded(&no_zero, &[2; K]), expected);
        let mut exact = padded(20);
        exact[10] = 0;
        assert_eq!(
            decoded(&exact, &[1; K]).len(),
            K - 11,
            "8 bytes of padding are enough"
        );
    }

    #[test]
    fn shifts_of_every_distance() {
        for by in 0..=9_u32 {
            let mut bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
            shift_left(&mut bytes, by);
            let mut expected: Vec<u8> = (1..=9).skip(by as usize).collect();
            expected.resize(9, 0);
            assert_eq!(bytes[..], expected);
        }
    }
}
