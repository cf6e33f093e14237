//! The parameter sets (FIPS 203, section 8).

use super::SECRET;

/// The modulus.
pub(super) const Q: i16 = 3329;

/// Coefficients of a polynomial.
pub(super) const N: usize = 256;

/// Most polynomials of a vector.
pub(super) const MAX_K: usize = 4;

/// Bytes of a polynomial's coefficients with twelve bits each.
pub(super) const POLY: usize = 384;

/// Most bytes of a ciphertext.
pub(super) const MAX_CIPHERTEXT: usize = 1568;

/// A parameter set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Parameters {
    name: &'static str,
    k: usize,
    /// η₁; η₂ is 2 in every set.
    eta: usize,
    /// Bits of a coefficient of the vector in a ciphertext.
    du: usize,
    /// Bits of a coefficient of the polynomial that follows it.
    dv: usize,
}

impl Parameters {
    /// ML-KEM-512.
    pub const ML_KEM_512: Self = Self::new("ML-KEM-512", 2, 3, 10, 4);
    /// ML-KEM-768.
    pub const ML_KEM_768: Self = Self::new("ML-KEM-768", 3, 2, 10, 4);
    /// ML-KEM-1024.
    pub const ML_KEM_1024: Self = Self::new("ML-KEM-1024", 4, 2, 11, 5);

    /// All of them.
    pub const ALL: [Self; 3] = [Self::ML_KEM_512, Self::ML_KEM_768, Self::ML_KEM_1024];

    const fn new(name: &'static str, k: usize, eta: usize, du: usize, dv: usize) -> Self {
        Self {
            name,
            k,
            eta,
            du,
            dv,
        }
    }

    /// Its name as in the standard.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Bytes of an encapsulation key.
    #[must_use]
    pub const fn encapsulation_key_len(self) -> usize {
        POLY * self.k + 32
    }

    /// Bytes of a decapsulation key.
    #[must_use]
    pub const fn decapsulation_key_len(self) -> usize {
        POLY * self.k + self.encapsulation_key_len() + 64
    }

    /// Bytes of a ciphertext.
    #[must_use]
    pub const fn ciphertext_len(self) -> usize {
        32 * (self.du * self.k + self.dv)
    }

    /// The encapsulation key that a decapsulation key contains.
    ///
    /// # Panics
    /// If the key is shorter than [`Self::decapsulation_key_len`].
    #[must_use]
    pub fn encapsulation_key_of(self, decapsulation_key: &[u8]) -> &[u8] {
        &decapsulation_key[POLY * self.k..][..self.encapsulation_key_len()]
    }

    /// Polynomials of a vector.
    pub(super) const fn k(self) -> usize {
        self.k
    }

    /// η₁
    pub(super) const fn eta(self) -> usize {
        self.eta
    }

    /// Bits of a coefficient of the vector in a ciphertext.
    pub(super) const fn du(self) -> usize {
        self.du
    }

    /// Bits of a coefficient of the polynomial that follows it.
    pub(super) const fn dv(self) -> usize {
        self.dv
    }

    /// Asserts that a key or a ciphertext has its length.
    #[track_caller]
    pub(super) fn expect(self, what: &str, len: usize, expected: usize) {
        let name = self.name;
        assert!(
            len == expected,
            "{what} of {name} has {expected} bytes, not {len}"
        );
    }
}

const _: () = {
    assert!(Parameters::ML_KEM_1024.ciphertext_len() == MAX_CIPHERTEXT);
    assert!(SECRET == 32);
};
