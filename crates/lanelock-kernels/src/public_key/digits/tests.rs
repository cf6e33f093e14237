//! Plain digits against OpenSSL's integers. What is built on them is tested where it is used: moduli
//! and powers of RSA, residues of the curves, and scalars.

use std::prelude::v1::*;

use openssl::bn::BigNum;

use super::{
    DIGIT, double, from_bytes, from_words, get, is_below, negative_inverse, power_of_two, put,
    reduce_once, subtract, to_bytes,
};
use crate::arch::digits::MAX_LANES;
use crate::testing::Random;

/// 2⁴⁴ − 17, whose upper digits are zero.
const SMALL: [u64; 5] = [(1 << 44) - 17, 0, 0, 0, 0];
/// 2²⁵⁵ − 19
const LARGE: [u64; 5] = from_words(&[u64::MAX >> 1, u64::MAX, u64::MAX, u64::MAX - 18]);

fn number(digits: &[u64]) -> BigNum {
    let mut number = BigNum::new().unwrap();
    for digit in digits.iter().rev() {
        assert!(*digit <= DIGIT);
        number = &(&number << 52) + &BigNum::from_slice(&digit.to_be_bytes()).unwrap();
    }
    number
}

fn one() -> BigNum {
    BigNum::from_u32(1).unwrap()
}

#[test]
fn bytes_to_digits_and_back() {
    let mut random = Random::new(5);
    for length in 0..=60 {
        let bytes = random.bytes(length);
        let mut digits = [u64::MAX; 10];
        from_bytes(&mut digits, &bytes);
        assert_eq!(number(&digits), BigNum::from_slice(&bytes).unwrap());
        // Zeros lead, and what has no room is left out.
        for room in [0, 1, length, length + 1, 80] {
            let mut written = vec![0xff; room];
            to_bytes(&digits, &mut written);
            let mut expected = vec![0; room.saturating_sub(length)];
            expected.extend(&bytes[length.saturating_sub(room)..]);
            assert_eq!(written, expected, "{length} bytes to {room}");
        }
        // An odd number of digits is half a pair short.
        let mut few = [u64::MAX; 5];
        from_bytes(&mut few, &bytes);
        assert_eq!(few[..], digits[..5]);
        let mut written = [0xff; 40];
        to_bytes(&few, &mut written);
        let expected = number(&few).to_vec_padded(40).unwrap();
        assert_eq!(written[..], expected);
    }
}

#[test]
fn bytes_to_lanes_and_back() {
    let mut random = Random::new(6);
    let mut columns = [[DIGIT; MAX_LANES]; 8];
    for lane in [3, 0, 7] {
        let before = columns;
        let bytes = random.bytes(48);
        put(&mut columns, lane, &bytes);
        let digits = columns.map(|column| column[lane]);
        assert_eq!(number(&digits), BigNum::from_slice(&bytes).unwrap());
        let mut stored = [0; 48];
        get(&columns, lane, &mut stored);
        assert_eq!(stored[..], bytes);
        for (column, before) in columns.iter().zip(before) {
            assert!((0..MAX_LANES).all(|other| other == lane || column[other] == before[other]));
        }
    }
    // Fewer bytes are the lower ones.
    let mut columns = [[0; MAX_LANES]; 5];
    put(&mut columns, 3, &[1, 2, 3]);
    assert_eq!(columns[0], [0, 0, 0, 0x1_0203, 0, 0, 0, 0]);
    assert_eq!(columns[1..], [[0; MAX_LANES]; 4]);
}

#[test]
fn words_to_digits() {
    assert_eq!(
        number(&LARGE),
        &(&one() << 255) - &BigNum::from_u32(19).unwrap()
    );
    let digits: [u64; 3] = from_words(&[0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210]);
    let expected = BigNum::from_hex_str("0123456789abcdeffedcba9876543210").unwrap();
    assert_eq!(number(&digits), expected);
}

#[test]
fn differences() {
    let mut random = Random::new(7);
    let mut any = || -> [u64; 5] { core::array::from_fn(|_| random.next() & DIGIT) };
    let (a, b) = (any(), any());
    let mut near = a;
    near[0] ^= 1;
    let numbers = [a, b, near, SMALL, LARGE, [0; 5], [DIGIT; 5]];
    for a in &numbers {
        for b in &numbers {
            let below = u64::from(number(a) < number(b));
            assert_eq!(is_below(a, b), below);
            let mut difference = *a;
            assert_eq!(subtract(&mut difference, b, DIGIT), below);
            let expected = &(&(&one() << 260) + &number(a)) - &number(b);
            assert_eq!(number(&difference), &expected % &(&one() << 260));
            let mut same = *a;
            assert_eq!(subtract(&mut same, b, 0), 0);
            assert_eq!(same, *a);
            let mut reduced = *a;
            reduce_once(&mut reduced, b);
            assert_eq!(reduced, if below == 1 { *a } else { difference });
        }
    }
}

#[test]
fn doubles_and_powers_of_two() {
    for modulus in [SMALL, LARGE] {
        let m = number(&modulus);
        let mut power = [1, 0, 0, 0, 0];
        for exponent in 0..600 {
            assert_eq!(number(&power), &(&one() << exponent) % &m);
            if exponent % 97 == 0 {
                let at = exponent.try_into().unwrap();
                assert_eq!(power_of_two(&modulus, at), power);
            }
            double(&mut power, &modulus);
        }
    }
}

#[test]
fn inverses() {
    let mut random = Random::new(8);
    for odd in [1, 3, DIGIT, random.next() | 1, random.next() | 1] {
        let inverse = negative_inverse(odd & DIGIT);
        assert!(inverse <= DIGIT);
        assert_eq!(inverse.wrapping_mul(odd).wrapping_add(1) & DIGIT, 0);
    }
}
