//! Against OpenSSL's integers, with digits up to the bounds.

use std::prelude::v1::*;

use openssl::bn::{BigNum, BigNumContext};

use super::{DIGIT, DIGITS, Element, GROUPS, Wide};
use crate::arch::digits::{DigitLanes, MAX_LANES, Mask};
use crate::arch::on;
use crate::testing::Random;
use crate::testing::machines;

/// What no lane has is zero, or ignored.
type Rows = [[u64; DIGITS]; MAX_LANES];

/// The largest digit of an element.
const MOST: u64 = DIGIT + (1 << 16);

fn number(digits: &[u64]) -> BigNum {
    let mut sum = BigNum::new().unwrap();
    for digit in digits.iter().rev() {
        let mut shifted = BigNum::new().unwrap();
        shifted.lshift(&sum, 51).unwrap();
        sum = &shifted + &BigNum::from_slice(&digit.to_be_bytes()).unwrap();
    }
    sum
}

fn modulus() -> BigNum {
    number(&[DIGIT - 18, DIGIT, DIGIT, DIGIT, DIGIT])
}

fn element<V: DigitLanes>(proof: V::Proof, rows: &Rows) -> Element<V> {
    let mut element = Element::zero(proof);
    for i in 0..DIGITS {
        element.0[i] = V::load(proof, &rows.map(|row| row[i]));
    }
    element
}

fn rows<V: DigitLanes>(digits: [V; DIGITS]) -> Rows {
    let mut rows = [[0; DIGITS]; MAX_LANES];
    for (i, digit) in digits.into_iter().enumerate() {
        let mut words = [0; MAX_LANES];
        digit.store(&mut words);
        for (row, word) in rows.iter_mut().zip(words) {
            row[i] = word;
        }
    }
    rows
}

/// `found` is within its bound and equals `expected` modulo p, in each lane.
fn expect<V: DigitLanes>(found: Element<V>, expected: impl Fn(usize) -> BigNum) {
    for (lane, row) in rows(found.0).iter().enumerate().take(V::LANES) {
        assert!(
            row.iter().all(|digit| *digit <= MOST),
            "lane {lane}: {row:x?}"
        );
        let mut context = BigNumContext::new().unwrap();
        let mut difference = BigNum::new().unwrap();
        difference
            .mod_sub(&number(row), &expected(lane), &modulus(), &mut context)
            .unwrap();
        assert_eq!(difference, BigNum::new().unwrap(), "lane {lane}: {row:x?}");
    }
}

fn check<V: DigitLanes>(proof: V::Proof) {
    let p = modulus();
    let mut random = Random::new(3);
    for _ in 0..300 {
        let mut any = || -> Rows {
            core::array::from_fn(|_| {
                let shape = random.below(6);
                core::array::from_fn(|i| match (shape, random.below(4)) {
                    (0, _) => MOST,
                    (1, _) => 0,
                    // Around p.
                    (2, n) if i == 0 => DIGIT - 20 + n as u64,
                    (2, _) => DIGIT,
                    (_, 0) => [0, 1, DIGIT, MOST][random.below(4)],
                    _ => random.next() % (MOST + 1),
                })
            })
        };
        let (x, y) = (any(), any());
        let (a, b) = (element::<V>(proof, &x), element::<V>(proof, &y));
        let (m, n) = (x.map(|row| number(&row)), y.map(|row| number(&row)));
        expect(a.mul(b), |i| &m[i] * &n[i]);
        expect(a.square(), |i| &m[i] * &m[i]);
        expect(a.add(b), |i| &m[i] + &n[i]);
        expect(a.sub(b), |i| &(&m[i] + &(&p * &p)) - &n[i]);
        expect(a.mul_small((1 << 20) - 1, b.wide()).carry(), |i| {
            let factor = BigNum::from_u32((1 << 20) - 1).unwrap();
            &(&m[i] * &factor) + &n[i]
        });
        // Sums and differences of products, as wide as they come.
        let (ab, bb) = (a.mul_wide(b), b.square_wide());
        for row in rows(ab.0).iter().chain(&rows(bb.0)) {
            assert!(row.iter().all(|digit| *digit < Wide::<V>::PRODUCT));
        }
        expect(ab.add(ab).sub(bb).carry(), |i| {
            let two = BigNum::from_u32(2).unwrap();
            let p = &p * &p;
            &(&(&(&m[i] * &n[i]) * &two) + &(&p * &two)) - &(&n[i] * &n[i])
        });

        let reduced = rows(a.reduce().0);
        let mut words = [[0; 8]; 4];
        for (word, to) in a.to_words().into_iter().zip(&mut words) {
            word.store(to);
        }
        for lane in 0..V::LANES {
            assert_eq!(number(&reduced[lane]), &m[lane] % &p);
            let bytes: Vec<u8> = (0..4)
                .rev()
                .flat_map(|i| words[i][lane].to_be_bytes())
                .collect();
            assert_eq!(BigNum::from_slice(&bytes).unwrap(), &m[lane] % &p);
            let zero = (&m[lane] % &p).num_bits() == 0;
            assert_eq!(a.is_zero().bits() >> lane & 1 == 1, zero);
        }
        expect(Element::from_words(a.to_words()), |i| &m[i] % &p);
    }
}

/// Inverses, of one register and of several, with zeros among them.
fn check_inverses<V: DigitLanes>(proof: V::Proof) {
    let p = modulus();
    let mut random = Random::new(4);
    for count in 0..=GROUPS {
        let numbers: Vec<Rows> = (0..count)
            .map(|_| {
                core::array::from_fn(|_| match random.below(4) {
                    0 => [0; DIGITS],
                    1 => [DIGIT - 18, DIGIT, DIGIT, DIGIT, DIGIT],
                    _ => core::array::from_fn(|_| random.next() % (MOST + 1)),
                })
            })
            .collect();
        let mut inverses: Vec<_> = numbers
            .iter()
            .map(|rows| element::<V>(proof, rows))
            .collect();
        Element::invert_all(&mut inverses);
        for (rows, inverse) in numbers.iter().zip(inverses) {
            expect(inverse, |i| {
                let mut context = BigNumContext::new().unwrap();
                let mut expected = BigNum::new().unwrap();
                if (&number(&rows[i]) % &p).num_bits() > 0 {
                    expected
                        .mod_inverse(&number(&rows[i]), &p, &mut context)
                        .unwrap();
                }
                expected
            });
        }
    }
}

#[test]
fn every_register() {
    for machine in machines() {
        on!(machine.digits, |V, proof| {
            check::<V>(proof);
            check_inverses::<V>(proof);
        });
    }
}
