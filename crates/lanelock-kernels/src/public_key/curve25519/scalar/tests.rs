//! Against OpenSSL's integers, with numbers around the multiples of L.

use std::prelude::v1::*;

use openssl::bn::BigNum;

use super::{Scalar, is_reduced};
use crate::arch::digits::{DigitLanes, MAX_LANES, Mask};
use crate::arch::on;
use crate::testing::Random;
use crate::testing::machines;

/// RFC 8032, section 5.1: 2²⁵² + 27742317777372353535851937790883648493.
fn order() -> BigNum {
    let tail = BigNum::from_dec_str("27742317777372353535851937790883648493").unwrap();
    let mut order = BigNum::new().unwrap();
    order.lshift(&BigNum::from_u32(1).unwrap(), 252).unwrap();
    &order + &tail
}

fn words<const N: usize>(number: &BigNum) -> [u64; N] {
    let bytes = number.to_vec_padded(8 * i32::try_from(N).unwrap()).unwrap();
    core::array::from_fn(|i| {
        let from = 8 * (N - 1 - i);
        u64::from_be_bytes(bytes[from..from + 8].try_into().unwrap())
    })
}

fn load<V: DigitLanes, const N: usize>(proof: V::Proof, numbers: &[BigNum]) -> [V; N] {
    let rows: Vec<[u64; N]> = numbers.iter().map(words).collect();
    core::array::from_fn(|i| V::load(proof, &core::array::from_fn(|lane| rows[lane][i])))
}

fn expect<V: DigitLanes>(found: Scalar<V>, expected: impl Fn(usize) -> BigNum) {
    let mut columns = [[0; MAX_LANES]; 4];
    for (word, column) in found.to_words().into_iter().zip(&mut columns) {
        word.store(column);
    }
    for lane in 0..V::LANES {
        let found: [u64; 4] = columns.map(|column| column[lane]);
        assert_eq!(found, words(&(&expected(lane) % &order())), "lane {lane}");
        assert!(is_reduced(&found));
    }
}

/// Numbers of `bits` bits or fewer: random ones, the largest, and those around multiples of L.
fn numbers(random: &mut Random, bits: usize) -> Vec<BigNum> {
    let mut end = BigNum::new().unwrap();
    end.set_bit(i32::try_from(bits).unwrap()).unwrap();
    let one = BigNum::from_u32(1).unwrap();
    (0..MAX_LANES)
        .map(|_| {
            let any = BigNum::from_slice(&random.bytes(bits / 8)).unwrap();
            let multiple = &(&any / &order()) * &order();
            match random.below(7) {
                0 => &end - &one,
                1 => multiple,
                2 => &(&multiple + &order()) - &one,
                3 => BigNum::from_u32(u32::try_from(random.below(2)).unwrap()).unwrap(),
                _ => any,
            }
        })
        .map(|number| &number % &end)
        .collect()
}

fn check<V: DigitLanes>(proof: V::Proof) {
    let mut random = Random::new(5);
    for _ in 0..200 {
        let wide = numbers(&mut random, 512);
        expect(Scalar::<V>::from_wide_words(load(proof, &wide)), |i| {
            wide[i].to_owned().unwrap()
        });
        let (x, y) = (numbers(&mut random, 256), numbers(&mut random, 256));
        let a = Scalar::<V>::from_words(load(proof, &x));
        let b = Scalar::<V>::from_words(load(proof, &y));
        expect(a, |i| x[i].to_owned().unwrap());
        expect(a.add(b), |i| &x[i] + &y[i]);
        expect(a.mul_montgomery(b.to_montgomery()), |i| &x[i] * &y[i]);
        let even = (0..V::LANES).fold(0, |bits, i| {
            bits | u8::from(!(&x[i] % &order()).is_bit_set(0)) << i
        });
        assert_eq!(a.is_even().bits(), even);

        // The signed digits add up to the scalar, or to the order more.
        let mut sums: Vec<_> = (0..V::LANES).map(|_| BigNum::new().unwrap()).collect();
        let mut reversed: Vec<Vec<(u64, bool)>> = Vec::new();
        let (mut up, mut down) = (a.odd_digits(), a.odd_digits());
        let mut digits = Vec::new();
        for _ in 0..51 {
            for (digits, (place, negative)) in [
                (&mut digits, down.take_highest()),
                (&mut reversed, up.take_lowest()),
            ] {
                let mut places = [0; MAX_LANES];
                place.store(&mut places);
                let negative = |lane: usize| negative.bits() >> lane & 1 == 1;
                digits.push((0..V::LANES).map(|i| (places[i], negative(i))).collect());
            }
        }
        reversed.reverse();
        assert_eq!(digits, reversed);
        for row in digits {
            for (sum, (place, negative)) in sums.iter_mut().zip(row) {
                assert!(place < 16);
                let mut shifted = BigNum::new().unwrap();
                shifted.lshift(sum, 5).unwrap();
                let digit = BigNum::from_u32(u32::try_from(2 * place + 1).unwrap()).unwrap();
                *sum = if negative {
                    &shifted - &digit
                } else {
                    &shifted + &digit
                };
            }
        }
        expect(a, |i| sums[i].to_owned().unwrap());
    }
}

#[test]
fn every_register() {
    for machine in machines() {
        on!(machine.digits, |V, proof| check::<V>(proof));
    }
}

#[test]
fn reduced_numbers() {
    let one = BigNum::from_u32(1).unwrap();
    assert!(is_reduced(&[0; 4]));
    assert!(is_reduced(&words(&(&order() - &one))));
    assert!(!is_reduced(&words(&order())));
    assert!(!is_reduced(&words(&(&order() + &one))));
    assert!(!is_reduced(&[u64::MAX; 4]));
    assert!(!is_reduced(&[0, 0, 1, 1 << 60]));
}
