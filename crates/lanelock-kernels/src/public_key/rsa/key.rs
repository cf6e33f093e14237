//! RSA keys, checked and prepared.

use core::fmt;

use super::modulus::{MODULUS_BITS, Modulus};
use super::number::Digits;
use crate::taint::declassify;

/// A public key whose modulus has `N` blocks of 512 bits.
#[derive(Clone, Debug)]
pub struct PublicKey<const N: usize> {
    pub(super) modulus: Modulus<N>,
    pub(super) exponent: u32,
}

/// A private key of two primes of `P` blocks of 512 bits; `N` = 2·`P`. Wiped when dropped.
#[derive(Clone)]
pub struct PrivateKey<const P: usize, const N: usize> {
    pub(super) public: PublicKey<N>,
    /// p and q, each with its exponent.
    pub(super) primes: [Prime<P>; 2],
    /// 1/q mod p, in Montgomery form.
    pub(super) coefficient: Digits<P>,
}

/// A prime and the private exponent modulo the prime less one.
#[derive(Clone)]
pub(super) struct Prime<const P: usize> {
    pub modulus: Modulus<P>,
    pub exponent: Digits<P>,
}

/// A public key as big-endian numbers; zeros may lead.
#[derive(Clone, Copy, Debug)]
pub struct PublicComponents<'k> {
    /// n
    pub modulus: &'k [u8],
    /// e
    pub exponent: &'k [u8],
}

/// A private key as big-endian numbers; zeros may lead (RFC 8017, section 3.2).
#[derive(Clone, Copy)]
pub struct PrivateComponents<'k> {
    /// n and e
    pub public: PublicComponents<'k>,
    /// p and q
    pub primes: [&'k [u8]; 2],
    /// dP and dQ
    pub exponents: [&'k [u8]; 2],
    /// qInv
    pub coefficient: &'k [u8],
}

/// Why a key is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyError {
    /// The modulus has more or fewer bits than the size says.
    ModulusSize,
    /// The modulus is even.
    EvenModulus,
    /// The public exponent is even, below 3, or not below 2³².
    PublicExponent,
    /// A prime has more or fewer bits than half the modulus.
    PrimeSize,
    /// A prime is even.
    EvenPrime,
    /// The primes are equal.
    EqualPrimes,
    /// The product of the primes is not the modulus.
    Product,
    /// dP or dQ is not the inverse of the public exponent, or not below the prime less one.
    PrivateExponent,
    /// qInv is not the inverse of q modulo p, or not below p.
    Coefficient,
}

impl<const N: usize> PublicKey<N> {
    /// Bytes of the modulus, and of every message and result.
    pub const BYTES: usize = MODULUS_BITS * N / 8;

    /// Checks and prepares a key.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(components: PublicComponents<'_>) -> Result<Self, KeyError> {
        let n = Digits::from_bytes(components.modulus).ok_or(KeyError::ModulusSize)?;
        if !n.is_odd() {
            return Err(KeyError::EvenModulus);
        }
        let modulus = Modulus::new(n).ok_or(KeyError::ModulusSize)?;
        let exponent = small(components.exponent)
            .filter(|e| *e >= 3 && e % 2 == 1)
            .ok_or(KeyError::PublicExponent)?;
        Ok(Self { modulus, exponent })
    }
}

impl<const P: usize, const N: usize> PrivateKey<P, N> {
    /// Bytes of the modulus, and of every message and result.
    pub const BYTES: usize = PublicKey::<N>::BYTES;

    /// Checks and prepares a key. That the primes are prime is not checked here: with others, the
    /// check of each result fails.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(components: PrivateComponents<'_>) -> Result<Self, KeyError> {
        let key = Self::unchecked(components)?;
        let [p, q] = &key.primes;
        if declassify(p.modulus.n.equals(&q.modulus.n)) {
            return Err(KeyError::EqualPrimes);
        }
        let product: Digits<N> = p.modulus.n.product(&q.modulus.n);
        if !declassify(product.equals(&key.public.modulus.n)) {
            return Err(KeyError::Product);
        }
        for prime in &key.primes {
            if !declassify(prime.is_inverse::<N>(key.public.exponent)) {
                return Err(KeyError::PrivateExponent);
            }
        }
        let mut q = q.modulus.n.clone();
        q.reduce_once(&p.modulus.n); // both have the same top bit
        let unit = p.modulus.multiply(&key.coefficient, &q);
        if !declassify(unit.equals(&Digits::small(1))) {
            return Err(KeyError::Coefficient);
        }
        Ok(key)
    }

    /// The public half.
    pub fn public(&self) -> &PublicKey<N> {
        &self.public
    }

    /// A key whose numbers have the right sizes, whatever their relations. For tests of what becomes of
    /// wrong results.
    ///
    /// # Errors
    /// Which number has another size.
    #[doc(hidden)]
    pub fn unchecked(components: PrivateComponents<'_>) -> Result<Self, KeyError> {
        const { assert!(N == 2 * P) };
        let public = PublicKey::new(components.public)?;
        let prime = |i: usize| {
            let n = Digits::from_bytes(components.primes[i]).ok_or(KeyError::PrimeSize)?;
            if !declassify(n.is_odd()) {
                return Err(KeyError::EvenPrime);
            }
            let modulus = Modulus::new(n).ok_or(KeyError::PrimeSize)?;
            let exponent = Digits::from_bytes(components.exponents[i])
                .filter(|exponent| declassify(exponent.is_below(&modulus.n)))
                .ok_or(KeyError::PrivateExponent)?;
            Ok(Prime { modulus, exponent })
        };
        let primes = [prime(0)?, prime(1)?];
        let p = &primes[0].modulus;
        let coefficient = Digits::from_bytes(components.coefficient)
            .filter(|coefficient| declassify(coefficient.is_below(&p.n)))
            .ok_or(KeyError::Coefficient)?;
        Ok(Self {
            public,
            coefficient: p.multiply(&coefficient, &p.square),
            primes,
        })
    }
}

impl<const P: usize> Prime<P> {
    /// Whether the exponent is below the prime less one, and its product with `e` is 1 modulo that.
    /// `N` blocks hold the product.
    fn is_inverse<const N: usize>(&self, e: u32) -> bool {
        let mut order = self.modulus.n.clone();
        order.digits_mut()[0] -= 1; // odd
        if !declassify(self.exponent.is_below(&order)) {
            return false;
        }
        let mut rest: Digits<N> = self.exponent.product(&Digits::<1>::small(u64::from(e)));
        let mut multiple: Digits<N> = order.product(&Digits::<1>::small(1 << 32));
        for _ in 0..=32 {
            rest.reduce_once(&multiple);
            multiple.halve();
        }
        rest.equals(&Digits::small(1))
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ModulusSize => "the modulus has not as many bits as the key's size says",
            Self::EvenModulus => "the modulus is even",
            Self::PublicExponent => "the public exponent is even, below 3 or not below 2^32",
            Self::PrimeSize => "a prime has not half as many bits as the modulus",
            Self::EvenPrime => "a prime is even",
            Self::EqualPrimes => "the primes are equal",
            Self::Product => "the product of the primes is not the modulus",
            Self::PrivateExponent => {
                "a private exponent is not the inverse of the public one modulo the prime less one"
            }
            Self::Coefficient => "the coefficient is not the inverse of q modulo p",
        })
    }
}

impl core::error::Error for KeyError {}

impl<const P: usize, const N: usize> fmt::Debug for PrivateKey<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey").finish_non_exhaustive()
    }
}

impl fmt::Debug for PrivateComponents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateComponents").finish_non_exhaustive()
    }
}

/// The number in `bytes`, most significant first, if it has at most 32 bits.
fn small(bytes: &[u8]) -> Option<u32> {
    let (lead, last) = bytes.split_at(bytes.len().saturating_sub(4));
    if lead.iter().any(|byte| *byte != 0) {
        return None;
    }
    Some(
        last.iter()
            .fold(0, |number, byte| number << 8 | u32::from(*byte)),
    )
}
