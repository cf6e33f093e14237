//! The standard's definitions of what the kernels compute in another way. Operations are tested in
//! `lanelock-jobs`.

use super::code::{compress, decode};
use super::parameters::{N, POLY, Q};
use super::poly::{Inverse, Ntt, Poly, Step, multiply_add};
use crate::arch::Integers;
use crate::testing::Random;

/// Of every number below q and every length, and of numbers that are not reduced.
#[test]
fn compression_rounds_to_the_nearest() {
    fn check<const D: usize>() {
        for value in i16::MIN..=i16::MAX {
            let x = i64::from(value).rem_euclid(i64::from(Q));
            let q = i64::from(Q);
            let nearest = ((x << (D + 1)) + q) / (2 * q) % (1 << D);
            assert_eq!(
                i64::from(compress::<D>(value)),
                nearest,
                "{value}, {D} bits"
            );
        }
    }
    check::<1>();
    check::<4>();
    check::<5>();
    check::<10>();
    check::<11>();
}

/// Products by transforms are those modulo X²⁵⁶ + 1, of the largest coefficients too.
#[test]
fn transforms_multiply() {
    let mut random = Random::new(9);
    for round in 0..20 {
        let mut poly = || {
            let mut poly = Poly::ZERO;
            for value in &mut poly.0 {
                let number = i16::try_from(random.below(2 * usize::from(Q.cast_unsigned()) - 1));
                *value = match round {
                    0 => Q - 1,
                    1 => 1 - Q,
                    _ => number.unwrap() - (Q - 1),
                };
            }
            poly
        };
        let (a, b) = (poly(), poly());
        let mut expected = [0_i64; N];
        for i in 0..N {
            for j in 0..N {
                let product = i64::from(a.0[i]) * i64::from(b.0[j]);
                let sign = if i + j < N { 1 } else { -1 };
                expected[(i + j) % N] += sign * product;
            }
        }
        let mut both = [a, b];
        Ntt(&mut both).run::<Integers>(());
        let mut product = [Poly::ZERO];
        multiply_add(&mut product[0], &both[0], &both[1]);
        Inverse(&mut product).run::<Integers>(());
        for (found, expected) in product[0].0.iter().zip(expected) {
            let difference = i64::from(*found) - expected;
            assert_eq!(difference.rem_euclid(i64::from(Q)), 0, "round {round}");
        }
    }
}

#[test]
fn a_coefficient_of_q_is_too_large() {
    let mut poly = Poly::ZERO;
    for (value, is_valid) in [(0, true), (Q - 1, true), (Q, false), (4095, false)] {
        for i in 0..N {
            let mut bytes = [0; POLY + 2];
            let [low, high] = value.to_le_bytes();
            let place = &mut bytes[i / 2 * 3..][..3];
            match i % 2 {
                0 => place[..2].copy_from_slice(&[low, high]),
                _ => place[1..].copy_from_slice(&[low << 4, low >> 4 | high << 4]),
            }
            assert_eq!(decode(&bytes, &mut poly), is_valid, "{value} at {i}");
        }
    }
}
