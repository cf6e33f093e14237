//! What is refused as a key, and why.

use lanelock_kernels::public_key::rsa::{KeyError, PrivateKey, PublicComponents, PublicKey};
use openssl::bn::BigNum;

use super::{Numbers, bit, copy, pairs};

type Change = fn(&mut Numbers);

fn small(number: u32) -> BigNum {
    BigNum::from_u32(number).unwrap()
}

fn refusals<const P: usize, const N: usize>() {
    let changes: [(&str, KeyError, Change); 25] = [
        ("no modulus", KeyError::EvenModulus, |key| key.n = small(0)),
        ("even modulus", KeyError::EvenModulus, |key| {
            key.n = &key.n - &small(1)
        }),
        ("longer modulus", KeyError::ModulusSize, |key| {
            key.n = &key.n + &bit(key.n.num_bits().try_into().unwrap());
        }),
        ("much longer modulus", KeyError::ModulusSize, |key| {
            key.n = &(&key.n << 100) + &small(1)
        }),
        ("shorter modulus", KeyError::ModulusSize, |key| {
            let bits = key.n.num_bits();
            key.n.clear_bit(bits - 1).unwrap();
        }),
        ("another modulus", KeyError::Product, |key| {
            key.n = &key.n - &small(2)
        }),
        ("no exponent", KeyError::PublicExponent, |key| {
            key.e = small(0)
        }),
        ("exponent 1", KeyError::PublicExponent, |key| {
            key.e = small(1)
        }),
        ("exponent 2", KeyError::PublicExponent, |key| {
            key.e = small(2)
        }),
        ("even exponent", KeyError::PublicExponent, |key| {
            key.e = small(65536)
        }),
        ("exponent above 32 bits", KeyError::PublicExponent, |key| {
            key.e = &bit(32) + &small(1)
        }),
        ("another exponent", KeyError::PrivateExponent, |key| {
            key.e = &key.e + &small(2)
        }),
        ("even p", KeyError::EvenPrime, |key| {
            key.primes[0] = &key.primes[0] - &small(1)
        }),
        ("even q", KeyError::EvenPrime, |key| {
            key.primes[1] = &key.primes[1] - &small(1)
        }),
        ("shorter q", KeyError::PrimeSize, |key| {
            let bits = key.primes[1].num_bits();
            key.primes[1].clear_bit(bits - 1).unwrap();
        }),
        ("longer p", KeyError::PrimeSize, |key| {
            key.primes[0] = &key.primes[0] + &bit(key.primes[0].num_bits().try_into().unwrap());
        }),
        ("p for q", KeyError::EqualPrimes, |key| {
            key.primes[1] = copy(&key.primes[0]);
            key.exponents[1] = copy(&key.exponents[0]);
        }),
        ("another p", KeyError::Product, |key| {
            key.primes[0] = &key.primes[0] - &small(4)
        }),
        ("no dP", KeyError::PrivateExponent, |key| {
            key.exponents[0] = small(0)
        }),
        ("another dP", KeyError::PrivateExponent, |key| {
            key.exponents[0] = &key.exponents[0] - &small(2);
        }),
        ("dP of another period", KeyError::PrivateExponent, |key| {
            key.exponents[0] = &(&key.exponents[0] + &key.primes[0]) - &small(1);
        }),
        ("d for dQ", KeyError::PrivateExponent, |key| {
            key.exponents[1] = copy(&key.d)
        }),
        ("no coefficient", KeyError::Coefficient, |key| {
            key.coefficient = small(0)
        }),
        ("another coefficient", KeyError::Coefficient, |key| {
            key.coefficient = &key.coefficient - &small(1);
        }),
        ("coefficient above p", KeyError::Coefficient, |key| {
            key.coefficient = &key.coefficient + &key.primes[0];
        }),
    ];
    for pair in pairs::<P, N>().into_iter().take(4) {
        for (name, error, change) in &changes {
            let mut key = pair.numbers.copy();
            change(&mut key);
            let refused = key.with(PrivateKey::<P, N>::new).unwrap_err();
            assert_eq!(refused, *error, "{name}");
        }
    }
}

#[test]
fn degenerate_keys_are_refused() {
    refusals::<2, 4>();
    refusals::<3, 6>();
    refusals::<4, 8>();
}

#[test]
fn primes_in_either_order_make_a_key() {
    for pair in pairs::<2, 4>() {
        let [p, q] = pair.numbers.primes.each_ref().map(|prime| prime.to_vec());
        let e = pair.numbers.e.to_dec_str().unwrap().parse().unwrap();
        let swapped = Numbers::new(&q, &p, e).unwrap();
        assert!(swapped.with(PrivateKey::<2, 4>::new).is_ok());
    }
}

#[test]
fn zeros_may_lead() {
    for pair in pairs::<2, 4>() {
        let mut modulus = vec![0; 9];
        modulus.extend(pair.numbers.n.to_vec());
        let mut exponent = vec![0; 9];
        exponent.extend(pair.numbers.e.to_vec());
        let key = PublicKey::<4>::new(PublicComponents {
            modulus: &modulus,
            exponent: &exponent,
        });
        let printed = format!("{:?}", key.unwrap());
        let exponent = format!("exponent: {} ", pair.numbers.e.to_dec_str().unwrap());
        assert!(printed.contains(&exponent), "{printed}");
        assert_eq!(printed, format!("{:?}", pair.key.public()));
    }
}

#[test]
fn nothing_secret_is_printed() {
    let pair = &pairs::<2, 4>()[0];
    assert_eq!(format!("{:?}", pair.key), "PrivateKey { .. }");
    let components = pair.numbers.with(|components| format!("{components:?}"));
    assert_eq!(components, "PrivateComponents { .. }");
}
