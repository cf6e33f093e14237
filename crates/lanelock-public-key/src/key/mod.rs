//! Secret and public keys as components, independent of any container.

mod check;
mod parts;
mod secret;

use std::fmt;

use zeroize::Zeroizing;

pub use parts::{DomainParameters, PublicParts, RsaCrt, RsaPublic, RsaSecret, SecretParts};

use super::algorithm::{Curve, KeyKind};
use super::error::KeyError;
use check::{bits, normal};

/// A public key: it verifies, encrypts and encapsulates.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{Curve, KeyKind, PublicKey};
///
/// let mut point = [7; 33];
/// point[0] = 2; // compressed
/// let key = PublicKey::ec(Curve::P256, &point)?;
/// assert_eq!(key.kind(), KeyKind::Ec(Curve::P256));
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct PublicKey {
    kind: KeyKind,
    parts: PublicParts,
}

/// A secret key: it signs, decrypts, derives and decapsulates. Its bytes are wiped on drop and
/// never shown. The bit lengths of an RSA key's p and q count as public.
///
/// Every constructor refuses keys of the wrong form (sizes, parity, ranges); what takes arithmetic
/// (p·q = n, a point on its curve) is checked when a session is made.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{Curve, SecretKey};
///
/// let key = SecretKey::ec(Curve::P384, &[1; 48], None)?;
/// assert!(key.public_key().is_none()); // `KeyDevice::public_key` computes it
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone)]
pub struct SecretKey {
    kind: KeyKind,
    parts: SecretParts,
    public: Option<PublicParts>,
}

/// The numbers of an RSA secret key (RFC 8017, 3.2), each big-endian. The five numbers for the
/// Chinese remainder theorem may be left empty; the key is then several times slower.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{KeyError, RsaNumbers, SecretKey};
///
/// let none: &[u8] = &[];
/// let numbers = RsaNumbers { n: &[0x0f; 16], e: &[3], d: &[3], p: none, q: none, dp: none, dq: none, qinv: none };
/// assert!(matches!(SecretKey::rsa(&numbers), Err(KeyError::Length { .. }))); // 124 bits
/// ```
#[derive(Clone, Copy)]
pub struct RsaNumbers<'a> {
    /// Modulus.
    pub n: &'a [u8],
    /// Public exponent.
    pub e: &'a [u8],
    /// Private exponent.
    pub d: &'a [u8],
    /// First factor.
    pub p: &'a [u8],
    /// Second factor.
    pub q: &'a [u8],
    /// d mod (p − 1).
    pub dp: &'a [u8],
    /// d mod (q − 1).
    pub dq: &'a [u8],
    /// q⁻¹ mod p.
    pub qinv: &'a [u8],
}

impl PublicKey {
    /// An RSA key from modulus and exponent, both big-endian.
    ///
    /// # Errors
    /// [`KeyError::Length`] for a modulus of less than 512 or more than 16,384 bits;
    /// [`KeyError::Refused`] for an even modulus or an exponent that is even, below 3 or not below
    /// the modulus.
    pub fn rsa(n: &[u8], e: &[u8]) -> Result<Self, KeyError> {
        let public = RsaPublic {
            n: normal(n),
            e: normal(e),
        };
        let kind = KeyKind::Rsa(bits(&public.n));
        check::rsa_public(kind, &public)?;
        Ok(Self {
            kind,
            parts: PublicParts::Rsa(public),
        })
    }

    /// A point of `curve`, uncompressed or compressed (SEC 1, 2.3.3).
    ///
    /// # Errors
    /// [`KeyError::Length`] or [`KeyError::Refused`] if it does not encode a finite point.
    pub fn ec(curve: Curve, point: &[u8]) -> Result<Self, KeyError> {
        check::point(curve, point)?;
        Ok(Self {
            kind: KeyKind::Ec(curve),
            parts: PublicParts::Point(point.to_vec()),
        })
    }

    /// A key that is a byte string: X25519, X448, Ed25519, Ed448, ML-KEM, ML-DSA.
    ///
    /// # Errors
    /// [`KeyError::Length`] if the length is not that of keys of this kind;
    /// [`KeyError::Mismatch`] for another kind.
    pub fn raw(kind: KeyKind, bytes: &[u8]) -> Result<Self, KeyError> {
        check::raw_length(kind, "public key", bytes.len(), false)?;
        Ok(Self {
            kind,
            parts: PublicParts::Raw(bytes.to_vec()),
        })
    }

    /// A Diffie-Hellman key: the group's prime p, the order q of its subgroup (empty if unknown)
    /// and generator g, and the public value y, all big-endian.
    ///
    /// # Errors
    /// [`KeyError::Length`] or [`KeyError::Refused`], naming the number that is out of range.
    pub fn dh(p: &[u8], q: &[u8], g: &[u8], y: &[u8]) -> Result<Self, KeyError> {
        let domain = DomainParameters::new(p, q, g);
        let kind = KeyKind::Dh(bits(&domain.p));
        check::domain(kind, &domain)?;
        let y = normal(y);
        check::element(kind, &domain, &y)?;
        Ok(Self {
            kind,
            parts: PublicParts::Dh(domain, y),
        })
    }

    /// A DSA key: prime p, order q, generator g and public value y, all big-endian.
    ///
    /// # Errors
    /// [`KeyError::Length`] or [`KeyError::Refused`], naming the number that is out of range.
    pub fn dsa(p: &[u8], q: &[u8], g: &[u8], y: &[u8]) -> Result<Self, KeyError> {
        let domain = DomainParameters::new(p, q, g);
        let kind = KeyKind::Dsa(bits(&domain.p));
        check::dsa_domain(kind, &domain)?;
        let y = normal(y);
        check::element(kind, &domain, &y)?;
        Ok(Self {
            kind,
            parts: PublicParts::Dsa(domain, y),
        })
    }

    /// Kind and size.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The components.
    #[must_use]
    pub fn parts(&self) -> &PublicParts {
        &self.parts
    }
}

impl SecretKey {
    /// An RSA key from its numbers.
    ///
    /// # Errors
    /// As [`PublicKey::rsa`], and [`KeyError::Refused`] for a private exponent that is 0 or not
    /// below the modulus, for factors that are equal or even or whose bit lengths do not add up to
    /// the modulus's, for remainders out of range, and if only some of the five numbers are given.
    pub fn rsa(numbers: &RsaNumbers<'_>) -> Result<Self, KeyError> {
        let public = PublicKey::rsa(numbers.n, numbers.e)?;
        let PublicParts::Rsa(rsa) = public.parts else {
            unreachable!("just made")
        };
        let secret = RsaSecret {
            d: check::rsa_exponent(public.kind, &rsa, numbers.d)?,
            crt: check::rsa_crt(public.kind, &rsa, numbers)?,
            public: rsa,
        };
        let public_parts = PublicParts::Rsa(secret.public.clone());
        Ok(Self {
            kind: public.kind,
            parts: SecretParts::Rsa(secret),
            public: Some(public_parts),
        })
    }

    /// A scalar of `curve`, big-endian, with its point if that is known.
    ///
    /// # Errors
    /// [`KeyError::Refused`] for 0, [`KeyError::Length`] for a number longer than the curve's
    /// order; for the point as [`PublicKey::ec`]. A session refuses a scalar that is not below the
    /// order, and a point that does not belong to the scalar.
    pub fn ec(curve: Curve, scalar: &[u8], point: Option<&[u8]>) -> Result<Self, KeyError> {
        let kind = KeyKind::Ec(curve);
        let scalar = secret::fixed(scalar, curve.field_len()).ok_or_else(|| {
            let most = format!("at most {} bytes", curve.field_len());
            KeyError::length(kind, "scalar", scalar.len(), most)
        })?;
        if secret::is_zero(&scalar) {
            return Err(KeyError::refused(kind, "the scalar is 0"));
        }
        let public = match point {
            Some(point) => Some(PublicKey::ec(curve, point)?.parts),
            None => None,
        };
        Ok(Self {
            kind,
            parts: SecretParts::Scalar(scalar),
            public,
        })
    }

    /// A key that is a byte string: X25519, X448, the seed of Ed25519 or Ed448, the seed or the
    /// expanded form of ML-KEM or ML-DSA.
    ///
    /// # Errors
    /// As [`PublicKey::raw`].
    pub fn raw(kind: KeyKind, bytes: &[u8]) -> Result<Self, KeyError> {
        check::raw_length(kind, "secret key", bytes.len(), true)?;
        Ok(Self {
            kind,
            parts: SecretParts::Raw(Zeroizing::new(bytes.to_vec())),
            public: None,
        })
    }

    /// A Diffie-Hellman key: as [`PublicKey::dh`], with the secret exponent x.
    ///
    /// # Errors
    /// [`KeyError::Length`] or [`KeyError::Refused`], naming the number that is out of range.
    pub fn dh(p: &[u8], q: &[u8], g: &[u8], y: &[u8], x: &[u8]) -> Result<Self, KeyError> {
        let public = PublicKey::dh(p, q, g, y)?;
        let PublicParts::Dh(domain, _) = &public.parts else {
            unreachable!("just made")
        };
        let x = check::exponent(public.kind, domain, x)?;
        Ok(Self {
            kind: public.kind,
            parts: SecretParts::Exponent(domain.clone(), x),
            public: Some(public.parts),
        })
    }

    /// A DSA key: as [`PublicKey::dsa`], with the secret exponent x.
    ///
    /// # Errors
    /// [`KeyError::Length`] or [`KeyError::Refused`], naming the number that is out of range.
    pub fn dsa(p: &[u8], q: &[u8], g: &[u8], y: &[u8], x: &[u8]) -> Result<Self, KeyError> {
        let public = PublicKey::dsa(p, q, g, y)?;
        let PublicParts::Dsa(domain, _) = &public.parts else {
            unreachable!("just made")
        };
        let x = check::exponent(public.kind, domain, x)?;
        Ok(Self {
            kind: public.kind,
            parts: SecretParts::Exponent(domain.clone(), x),
            public: Some(public.parts),
        })
    }

    /// Kind and size.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The components; for an engine.
    #[must_use]
    pub fn parts(&self) -> &SecretParts {
        &self.parts
    }

    /// The public key, if it came with the secret one: always for RSA, DH and DSA, and for keys
    /// read from a container. [`crate::KeyDevice::public_key`] computes it for the others.
    #[must_use]
    pub fn public_key(&self) -> Option<PublicKey> {
        let parts = self.public.clone()?;
        Some(PublicKey {
            kind: self.kind,
            parts,
        })
    }

    /// The same key with its public half.
    ///
    /// # Errors
    /// [`KeyError::Mismatch`] if `public` is of another kind. Whether it belongs to this key is
    /// checked when a session is made.
    pub fn with_public(mut self, public: &PublicKey) -> Result<Self, KeyError> {
        if public.kind != self.kind {
            return Err(KeyError::Mismatch {
                what: self.kind.to_string(),
                why: format!("its public key is of another kind: {}", public.kind),
            });
        }
        self.public = Some(public.parts.clone());
        Ok(self)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicKey")
            .field(&self.kind.to_string())
            .finish()
    }
}

/// Shows the kind alone.
impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SecretKey")
            .field(&self.kind.to_string())
            .finish()
    }
}

/// Shows nothing.
impl fmt::Debug for RsaNumbers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RsaNumbers").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
