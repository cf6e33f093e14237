//! Digits, moduli and the arithmetic in lanes, against OpenSSL's integers. Operations are tested in
//! `lanelock-jobs`.

use std::format;
use std::prelude::v1::*;

use openssl::bn::{BigNum, BigNumContext, BigNumRef};

use crate::arch::digits::{DigitLanes, MAX_LANES};
use crate::arch::on;
use crate::public_key::rsa::modulus::Modulus;
use crate::public_key::rsa::montgomery::{Space, multiply_add};
use crate::public_key::rsa::number::Digits;
use crate::public_key::rsa::power::Powers;
use crate::public_key::rsa::wide::Wide;
use crate::testing::Random;
use crate::testing::machines;

/// Numbers of at most `bits` bits: the edges, and random ones of any length.
fn numbers(source: &mut Random, bits: usize, count: usize) -> Vec<BigNum> {
    let one = BigNum::from_u32(1).unwrap();
    let mut numbers = vec![BigNum::new().unwrap(), bit(0), bit(bits - 1)];
    numbers.push(&bit(bits) - &one);
    numbers.push(&bit(52) - &one);
    numbers.extend((5..count).map(|i| {
        let length = if i % 2 == 0 {
            bits
        } else {
            1 + source.below(bits)
        };
        random(source, length)
    }));
    numbers
}

/// An odd modulus of 512 bits a block: the edges, then random ones.
fn moduli<const B: usize>(source: &mut Random, count: usize) -> Vec<BigNum> {
    let one = BigNum::from_u32(1).unwrap();
    let top = bit(512 * B - 1);
    let mut moduli = vec![&top + &one, &bit(512 * B) - &one];
    moduli.extend((2..count).map(|_| {
        let mut modulus = random(source, 512 * B - 1);
        modulus.set_bit(0).unwrap();
        &top + &modulus
    }));
    moduli
}

#[test]
fn digits_are_numbers() {
    let mut source = Random::new(52);
    let numbers = numbers(&mut source, 1040, 60);
    for (i, a) in numbers.iter().enumerate() {
        let x: Digits<2> = digits(a);
        assert!(number(&x) == *a);
        let mut bytes = [0xff; 131];
        x.write_bytes(&mut bytes);
        assert!(BigNum::from_slice(&bytes).unwrap() == *a && bytes[0] == 0);
        assert_eq!(x.is_odd(), a.is_bit_set(0));
        for at in [0, 1, 3, 49, 51, 52, 103, 1036] {
            let window = &(a >> at) % &bit(4);
            let found = x.window(at.try_into().unwrap(), 4).to_be_bytes();
            assert!(BigNum::from_slice(&found).unwrap() == window);
        }
        let mut half = x.clone();
        half.halve();
        assert!(number(&half) == a >> 1);
        for b in &numbers[i..] {
            let y: Digits<2> = digits(b);
            let product: Digits<4> = x.product(&y);
            assert!(number(&product) == a * b);
            assert_eq!(x.is_below(&y), a < b);
            assert_eq!(x.equals(&y), a == b);
            let mut difference = x.clone();
            assert_eq!(difference.subtract(&y, u64::MAX), u64::from(a < b));
            assert!(number(&difference) == &(&(&bit(1040) + a) - b) % &bit(1040));
            assert_eq!(difference.subtract(&x, 0), 0);
        }
    }
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let mut bytes = [0; 70];
    bytes[4] = 1;
    assert!(Digits::<1>::from_bytes(&bytes).is_none());
    (bytes[4], bytes[5]) = (0, 0xff);
    assert!(number(&Digits::<1>::from_bytes(&bytes).unwrap()) == &bit(520) - &bit(512));
    assert!(Digits::<1>::from_bytes(&[]).unwrap().equals(&Digits::ZERO));
}

#[test]
fn digits_are_not_printed() {
    assert_eq!(format!("{:?}", Digits::<2>::small(7)), "Digits<2>(..)");
}

fn constants_and_products<const B: usize>() {
    let mut source = Random::new(B.try_into().unwrap());
    let r = bit(520 * B);
    for n in moduli::<B>(&mut source, 8) {
        let modulus = Modulus::<B>::new(digits(&n)).unwrap();
        assert!(number(&modulus.n) == n);
        assert!(number(&modulus.one) == &r % &n);
        assert!(number(&modulus.square) == &(&r * &r) % &n);
        let [low, high] = modulus.inverse.map(|digit| {
            assert!(digit < 1 << 52);
            BigNum::from_slice(&digit.to_be_bytes()).unwrap()
        });
        assert!(&(&number(&modulus.shift) << 520) % &n == BigNum::from_u32(1).unwrap());
        assert!(number(&modulus.shift) < n);
        let inverse = &(&high << 52) + &low;
        assert!(&(&(&inverse * &n) + &bit(0)) % &bit(104) == BigNum::new().unwrap());
        for a in numbers(&mut source, 512 * B, 7) {
            for b in numbers(&mut source, 512 * B - 1, 7) {
                let product = number(&modulus.multiply(&digits(&a), &digits(&b)));
                assert!(product < n);
                assert!(&(&product * &r) % &n == &(&a * &b) % &n);
            }
        }
    }
}

#[test]
fn constants_of_a_modulus() {
    constants_and_products::<1>();
    constants_and_products::<2>();
    constants_and_products::<3>();
    constants_and_products::<4>();
    constants_and_products::<6>();
    constants_and_products::<8>();
}

#[test]
fn moduli_of_other_sizes_are_refused() {
    let one = BigNum::from_u32(1).unwrap();
    for n in [
        bit(1023),                         // even
        &bit(1023) - &one,                 // a bit less
        &bit(1024) + &one,                 // a bit more
        &bit(1039) + &(&bit(1023) + &one), // many more
        BigNum::from_u32(1).unwrap(),
    ] {
        assert!(Modulus::<2>::new(digits(&n)).is_none());
    }
}

fn wide<L: DigitLanes, const B: usize>(proof: L::Proof, numbers: &[BigNum]) -> Wide<L, B> {
    let lanes: [Digits<B>; MAX_LANES] = core::array::from_fn(|lane| digits(&numbers[lane]));
    Wide::gather(proof, lanes.each_ref().map(|number| &number.blocks()[..]))
}

/// The number of each lane, if no digit is too long.
fn lanes<L: DigitLanes, const B: usize>(wide: &Wide<L, B>) -> Vec<BigNum> {
    let lanes = wide.scatter();
    let digits = lanes.iter().flat_map(|number| number.digits());
    assert!(digits.into_iter().all(|digit| *digit < 1 << 52));
    lanes.iter().take(L::LANES).map(number).collect()
}

/// Products in lanes: any number below R times one below n, and squares of numbers below 3n.
fn products<L: DigitLanes, const B: usize>(proof: L::Proof) {
    let mut source = Random::new(77 + u64::try_from(B).unwrap());
    let r = bit(520 * B);
    let three = BigNum::from_u32(3).unwrap();
    let one = BigNum::from_u32(1).unwrap();
    for round in 0..6 {
        let n = moduli::<B>(&mut source, MAX_LANES + round);
        let n = &n[round..];
        let moduli: [_; MAX_LANES] = core::array::from_fn(|i| Modulus::new(digits(&n[i])).unwrap());
        let powers = Powers::<L, B>::gather(proof, moduli.each_ref());
        let mut space = Space::new(proof);
        let mut a = numbers(&mut source, 520 * B, MAX_LANES + 5);
        let mut b: Vec<_> = (0..MAX_LANES)
            .map(|i| &random(&mut source, 520 * B) % &n[i])
            .collect();
        a.rotate_left(round);
        b[round] = &n[round] - &one;
        // The largest differences of halves, of either sign.
        for upper in [false, true] {
            let lane = (round + 1 + usize::from(upper)) % MAX_LANES;
            a[lane] = half_blocks(B, 520 * B, upper);
            b[lane] = half_blocks(B, 512 * B - 1, round % 2 == 0);
        }

        let mut product = wide::<L, B>(proof, &a);
        let factor = wide::<L, B>(proof, &b);
        powers.moduli.multiply(&mut space, &mut product, &factor);
        for (i, product) in lanes(&product).iter().enumerate() {
            assert!(*product < &n[i] * &three, "lane {i}");
            assert!(
                &(product * &r) % &n[i] == &(&a[i] * &b[i]) % &n[i],
                "lane {i}"
            );
        }

        let mut c: Vec<_> = (0..MAX_LANES)
            .map(|i| &random(&mut source, 520 * B) % &(&n[i] * &three))
            .collect();
        c[round] = &(&n[round] * &three) - &one;
        c[(round + 1) % MAX_LANES] = copy(&n[(round + 1) % MAX_LANES]);
        let mut square = wide::<L, B>(proof, &c);
        powers.moduli.square(&mut space, &mut square, 2);
        for (i, square) in lanes(&square).iter().enumerate() {
            assert!(*square < &n[i] * &three, "lane {i}");
            let fourth = power(&c[i], &BigNum::from_u32(4).unwrap(), &n[i]);
            let weight = &(&(&r * &r) * &r) % &n[i];
            assert!(&(square * &weight) % &n[i] == fourth, "lane {i}");
        }
        square.reduce(&powers.moduli.n.number);
        assert!(lanes(&square).iter().zip(n).all(|(square, n)| square < n));
        let mut zero = wide::<L, B>(proof, n);
        zero.reduce(&powers.moduli.n.number);
        assert!(lanes(&zero).iter().all(|zero| zero.num_bits() == 0));
    }
}

/// The largest columns there are: all digits at their maximum.
fn full_products<L: DigitLanes, const P: usize, const N: usize>(proof: L::Proof) {
    let mut source = Random::new(9);
    let [a, b, c] = [0, 1, 2].map(|shift| {
        let mut numbers = numbers(&mut source, 520 * P, MAX_LANES);
        numbers.rotate_left(3 * shift % 5);
        numbers[7] = &bit(520 * P) - &bit(0);
        numbers
    });
    let mut result = Wide::<L, N>::zero(proof);
    let [x, y, z] = [&a, &b, &c].map(|numbers| wide::<L, P>(proof, numbers));
    multiply_add(&mut result, &x, &y, &z);
    for (i, result) in lanes(&result).iter().enumerate() {
        assert!(*result == &(&a[i] * &b[i]) + &c[i], "lane {i}");
    }
}

/// Powers: secret exponents of every kind, and public ones that differ between lanes.
fn powers<L: DigitLanes, const B: usize>(proof: L::Proof) {
    let mut source = Random::new(5);
    let one = BigNum::from_u32(1).unwrap();
    let n = moduli::<B>(&mut source, MAX_LANES);
    let moduli: [_; MAX_LANES] = core::array::from_fn(|i| Modulus::new(digits(&n[i])).unwrap());
    let powers = Powers::<L, B>::gather(proof, moduli.each_ref());
    let mut space = Space::new(proof);
    let x: Vec<_> = (0..MAX_LANES)
        .map(|i| match i {
            2 => BigNum::new().unwrap(),
            3 => &n[i] - &one,
            _ => &random(&mut source, 520 * B) % &n[i],
        })
        .collect();

    let mut exponents = numbers(&mut source, 512 * B, MAX_LANES);
    exponents.rotate_left(2);
    let secret: [Digits<B>; MAX_LANES] = core::array::from_fn(|i| digits(&exponents[i]));
    let mut power_of = wide::<L, B>(proof, &x);
    powers
        .moduli
        .multiply(&mut space, &mut power_of, &powers.square);
    powers.raise_secret(&mut power_of, secret.each_ref());
    powers.moduli.multiply(
        &mut space,
        &mut power_of,
        &wide(proof, &[(); MAX_LANES].map(|()| bit(0))),
    );
    power_of.reduce(&powers.moduli.n.number);
    for (i, found) in lanes(&power_of).iter().enumerate() {
        assert!(*found == power(&x[i], &exponents[i], &n[i]), "lane {i}");
    }

    for exponents in [
        [65537; MAX_LANES],
        [3; MAX_LANES],
        [u32::MAX; MAX_LANES],
        [3, 5, 17, 257, 65537, 0x8000_0001, u32::MAX, 0x1234_5679],
    ] {
        let mut power_of = wide::<L, B>(proof, &x);
        powers.raise(&mut power_of, &exponents);
        for (i, found) in lanes(&power_of).iter().enumerate() {
            let exponent = BigNum::from_u32(exponents[i]).unwrap();
            assert!(*found == power(&x[i], &exponent, &n[i]), "lane {i}");
        }
    }
}

fn all<L: DigitLanes>(proof: L::Proof) {
    products::<L, 2>(proof);
    products::<L, 3>(proof);
    products::<L, 4>(proof);
    products::<L, 6>(proof);
    products::<L, 8>(proof);
    full_products::<L, 2, 4>(proof);
    full_products::<L, 3, 6>(proof);
    full_products::<L, 4, 8>(proof);
    powers::<L, 2>(proof);
    powers::<L, 3>(proof);
    powers::<L, 4>(proof);
}

#[test]
fn every_register() {
    for machine in machines() {
        on!(machine.digits, |V, proof| all::<V>(proof));
    }
}

fn copy(number: &BigNum) -> BigNum {
    BigNumRef::to_owned(number).unwrap()
}

/// x^e mod n
fn power(x: &BigNum, e: &BigNum, n: &BigNum) -> BigNum {
    let mut power = BigNum::new().unwrap();
    let mut context = BigNumContext::new().unwrap();
    power.mod_exp(x, e, n, &mut context).unwrap();
    power
}

/// A random number of at most `bits` bits.
fn random(random: &mut Random, bits: usize) -> BigNum {
    let mut number = BigNum::from_slice(&random.bytes(bits.div_ceil(8))).unwrap();
    let _ = number.mask_bits(bits.try_into().unwrap()); // an error if it has fewer bits
    number
}

/// 2^bits
fn bit(bits: usize) -> BigNum {
    let mut number = BigNum::new().unwrap();
    number.set_bit(bits.try_into().unwrap()).unwrap();
    number
}

/// Ones in the lower half of each block, or in the upper one, zeros in the other, cut to `bits`.
fn half_blocks(blocks: usize, bits: usize, upper: bool) -> BigNum {
    let half = &bit(260) - &bit(0);
    let shift = |block: usize| i32::try_from(520 * block + 260 * usize::from(upper)).unwrap();
    let number = (0..blocks).fold(BigNum::new().unwrap(), |sum, block| {
        &sum + &(&half << shift(block))
    });
    &number % &bit(bits)
}

fn digits<const B: usize>(number: &BigNum) -> Digits<B> {
    Digits::from_bytes(&number.to_vec()).unwrap()
}

fn number<const B: usize>(digits: &Digits<B>) -> BigNum {
    let mut bytes = [[0; 65]; B];
    digits.write_bytes(bytes.as_flattened_mut());
    BigNum::from_slice(bytes.as_flattened()).unwrap()
}
