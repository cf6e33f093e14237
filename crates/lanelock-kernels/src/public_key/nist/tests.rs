//! Residues against OpenSSL's integers. Operations are tested in `lanelock-jobs`.

use std::vec::Vec;

use openssl::bn::{BigNum, BigNumContext};

use super::parameters::{Order256, Order384, Prime256, Prime384};
use crate::Digits;
use crate::arch::digits::{DigitLanes, MAX_LANES, Mask, Words};
use crate::arch::on;
use crate::public_key::digits::residue::{Modulus, Prime, Residue};
use crate::testing::{Random, machines};

const BYTES: [usize; 9] = [0, 0, 0, 0, 0, 32, 0, 0, 48];

/// Numbers of all lanes in both forms.
struct Numbers<const N: usize> {
    words: [Words; N],
    values: Vec<BigNum>,
}

fn value<const N: usize>(words: &[Words; N], lane: usize) -> BigNum {
    let mut value = integer(0);
    for digit in words.iter().rev() {
        let digit = BigNum::from_slice(&digit[lane].to_be_bytes()).unwrap();
        value = &(&value << 52) + &digit;
    }
    value
}

/// Numbers below `times` M, at the edges and between.
fn numbers<M: Modulus<N>, const N: usize>(random: &mut Random, times: u32) -> Numbers<N> {
    let m = modulus::<M, N>();
    let bound = &m * &integer(times);
    let mut words = [[0; MAX_LANES]; N];
    for lane in 0..MAX_LANES {
        let value = match random.below(8) {
            0 => integer(u32::try_from(random.below(3)).unwrap()),
            1 => &bound - &integer(1 + u32::try_from(random.below(3)).unwrap()),
            2 => &m - &integer(u32::try_from(random.below(3)).unwrap()),
            3 => &(&integer(1) << i32::try_from(random.below(8 * BYTES[N])).unwrap()) % &bound,
            _ => &BigNum::from_slice(&random.bytes(BYTES[N] + 8)).unwrap() % &bound,
        };
        let mut bytes = value.to_vec();
        bytes.reverse();
        bytes.resize(64, 0);
        for (i, words) in words.iter_mut().enumerate() {
            let from = |bit: usize| u64::from(bytes[bit / 8] >> (bit % 8) & 1);
            words[lane] = (0..52).fold(0, |word, bit| word | from(52 * i + bit) << bit);
        }
    }
    let values = (0..MAX_LANES).map(|lane| value(&words, lane)).collect();
    Numbers { words, values }
}

fn modulus<M: Modulus<N>, const N: usize>() -> BigNum {
    value(&M::M.map(|digit| [digit; MAX_LANES]), 0)
}

/// The lanes of `residue` are `expected`, modulo M, and below `times` M / 100.
fn check<V: DigitLanes, M: Modulus<N>, const N: usize>(
    name: &str,
    residue: Residue<V, M, N>,
    hundredths: u32,
    expected: impl Fn(usize) -> BigNum,
) {
    let m = modulus::<M, N>();
    let mut words = [[0; MAX_LANES]; N];
    residue.store(&mut words);
    for lane in 0..V::LANES {
        assert!(
            words.iter().all(|digit| digit[lane] < 1 << 52),
            "{name}: digits"
        );
        let found = value(&words, lane);
        assert!(
            &found * &integer(100) <= &m * &integer(hundredths),
            "{name}: too large"
        );
        let mut wanted = BigNum::new().unwrap();
        let mut context = BigNumContext::new().unwrap();
        wanted.nnmod(&expected(lane), &m, &mut context).unwrap();
        assert_eq!(&found % &m, wanted, "{name}");
    }
}

fn residues<V: DigitLanes, M: Modulus<N>, const N: usize>(proof: V::Proof, rounds: usize) {
    let m = modulus::<M, N>();
    let mut random = Random::new(N as u64);
    let mut context = BigNumContext::new().unwrap();
    let r = &integer(1) << i32::try_from(52 * N).unwrap();
    let mut inverse_r = BigNum::new().unwrap();
    inverse_r.mod_inverse(&r, &m, &mut context).unwrap();
    for _ in 0..rounds {
        // α β ≤ 16
        let [a, b] = [4, 4].map(|times| numbers::<M, N>(&mut random, times));
        let [c, d] = [2, 2].map(|times| numbers::<M, N>(&mut random, times));
        let load = |numbers: &Numbers<N>| Residue::<V, M, N>::load(proof, &numbers.words);
        let product = |a: &BigNum, b: &BigNum| &(a * b) * &inverse_r;
        check("mul", load(&a).mul(load(&b)), 200, |i| {
            product(&a.values[i], &b.values[i])
        });
        check("square", load(&a).square(), 200, |i| {
            product(&a.values[i], &a.values[i])
        });
        let e = numbers::<M, N>(&mut random, 2);
        let f = numbers::<M, N>(&mut random, 2);
        let sum = load(&c).mul_add(load(&d), load(&e), load(&f));
        check("mul_add", sum, 200, |i| {
            &product(&c.values[i], &d.values[i]) + &product(&e.values[i], &f.values[i])
        });
        check("add", load(&a).add(load(&b)), 800, |i| {
            &a.values[i] + &b.values[i]
        });
        check("to", load(&a).to_montgomery(), 200, |i| &a.values[i] * &r);
        check("from", load(&c).to_plain(), 100, |i| {
            &c.values[i] * &inverse_r
        });
        check("canonical", load(&c).canonical(), 100, |i| {
            c.values[i].to_owned().unwrap()
        });
        let reduced = numbers::<M, N>(&mut random, 1);
        check("negative", load(&reduced).negative(), 100, |i| {
            &m - &reduced.values[i]
        });
        let bits = |test: &dyn Fn(&BigNum) -> bool| {
            (0..V::LANES).fold(0, |bits, i| bits | u8::from(test(&c.values[i])) << i)
        };
        assert_eq!(load(&c).is_reduced().bits(), bits(&|c| *c < m));
        assert_eq!(load(&c).is_zero().bits(), bits(&|c| c.num_bits() == 0));
        assert_eq!(load(&c).is_odd().bits(), bits(&|c| c.is_bit_set(0)));
        check("invert", load(&c).invert(), 200, |i| {
            let mut inverse = BigNum::new().unwrap();
            let mut context = BigNumContext::new().unwrap();
            let value = &c.values[i] % &m;
            if value.num_bits() == 0 {
                return value;
            }
            inverse.mod_inverse(&value, &m, &mut context).unwrap();
            &(&inverse * &r) * &r
        });
    }
}

fn fields<V: DigitLanes, M: Prime<N>, const N: usize>(proof: V::Proof, rounds: usize) {
    let mut random = Random::new(N as u64 + 100);
    for _ in 0..rounds {
        let [a, b] = [(); 2].map(|()| numbers::<M, N>(&mut random, 2));
        let load = |numbers: &Numbers<N>| Residue::<V, M, N>::load(proof, &numbers.words);
        let (x, y) = (load(&a), load(&b));
        check("sub", x.sub(y), 101, |i| &a.values[i] - &b.values[i]);
        check("opposite", x.opposite(), 101, |i| {
            -a.values[i].to_owned().unwrap()
        });
        // Close to ± 16 M, where the values are.
        let far = Residue::<V, M, N>::folded(|i| x.digit(i).sub(y.digit(i).shift_left::<3>()));
        check("folded", far, 101, |i| &a.values[i] - &(&b.values[i] << 3));
        let far = Residue::<V, M, N>::folded(|i| x.digit(i).shift_left::<3>().sub(y.digit(i)));
        check("folded", far, 101, |i| &(&a.values[i] << 3) - &b.values[i]);
    }
}

fn all<V: DigitLanes>(proof: V::Proof, rounds: usize) {
    residues::<V, Prime256, 5>(proof, rounds);
    residues::<V, Order256, 5>(proof, rounds);
    residues::<V, Prime384, 8>(proof, rounds);
    residues::<V, Order384, 8>(proof, rounds);
    fields::<V, Prime256, 5>(proof, rounds);
    fields::<V, Prime384, 8>(proof, rounds);
}

#[test]
fn every_register() {
    for machine in machines() {
        let rounds = if machine.digits() > Digits::Plain {
            1000
        } else {
            200
        };
        on!(machine.digits, |V, proof, rounds: usize| all::<V>(
            proof, rounds
        ));
    }
}

fn integer(value: u32) -> BigNum {
    BigNum::from_u32(value).unwrap()
}
