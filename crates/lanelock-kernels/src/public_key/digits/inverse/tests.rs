//! Quotients against OpenSSL's integers, of moduli of every length. Inverses in lanes are tested with
//! the residues of the curves and with the field of curve25519.

use std::prelude::v1::*;

use openssl::bn::{BigNum, BigNumContext};

use super::{Inverter, LIMB, regroup};
use crate::testing::Random;

fn number(digits: &[u64], radix: u32) -> BigNum {
    let mut number = BigNum::new().unwrap();
    for digit in digits.iter().rev() {
        assert_eq!(digit >> radix, 0);
        let shifted = &number << i32::try_from(radix).unwrap();
        number = &shifted + &BigNum::from_slice(&digit.to_be_bytes()).unwrap();
    }
    number
}

/// `bits` bits, the top one set.
fn digits<const N: usize>(random: &mut Random, radix: u32, bits: u32) -> [u64; N] {
    let mut digits = [0; N];
    for bit in 0..bits {
        let is_set = bit + 1 == bits || random.below(2) == 1;
        digits[usize::try_from(bit / radix).unwrap()] |= u64::from(is_set) << (bit % radix);
    }
    digits
}

fn check<const N: usize, const RADIX: u32>(most: u32) {
    let mut random = Random::new(most.into());
    let mut context = BigNumContext::new().unwrap();
    let nothing = BigNum::new().unwrap();
    for bits in 4..=most {
        let mut modulus = digits::<N>(&mut random, RADIX, bits);
        modulus[0] |= 1;
        let m = number(&modulus, RADIX);
        let numerator = digits::<N>(&mut random, RADIX, bits - 1);
        let inverter = Inverter::<N, RADIX>::new(&modulus, &numerator);
        let mut one_less = modulus;
        one_less[0] -= 1;
        let mut one = [0; N];
        one[0] = 1;
        let any = digits::<N>(&mut random, RADIX, 1 + bits / 2);
        let large = digits::<N>(&mut random, RADIX, bits - 1);
        for divisor in [[0; N], one, one_less, any, large] {
            let quotient = number(&inverter.divide_by(&divisor), RADIX);
            let divisor = number(&divisor, RADIX);
            let mut common = BigNum::new().unwrap();
            common.gcd(&divisor, &m, &mut context).unwrap();
            if common.num_bits() == 1 {
                let mut product = BigNum::new().unwrap();
                product
                    .mod_mul(&quotient, &divisor, &m, &mut context)
                    .unwrap();
                assert_eq!(product, &number(&numerator, RADIX) % &m, "{bits} bits");
                assert!(quotient < m, "{bits} bits");
            } else if common == m {
                assert_eq!(quotient, nothing, "{bits} bits");
            }
        }
    }
}

#[test]
fn quotients() {
    check::<5, 52>(256);
    check::<5, 51>(255);
    check::<8, 52>(400);
}

#[test]
fn groups_of_bits() {
    let mut random = Random::new(9);
    let digits: [u64; 8] = digits(&mut random, 52, 416);
    let limbs = regroup::<8, 52, LIMB>(&digits);
    assert_eq!(number(&limbs, LIMB), number(&digits, 52));
    assert_eq!(regroup::<8, LIMB, 52>(&limbs), digits);
}
