//! The components of keys, as engines read them. Integers are big-endian: public ones, and the
//! factors of an RSA modulus, without leading zeros; other secret ones as long as their bound.

use std::fmt;

use zeroize::Zeroizing;

use super::check::normal;

/// Components of a public key.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{KeyKind, PublicKey, PublicParts};
///
/// let key = PublicKey::raw(KeyKind::X25519, &[9; 32])?;
/// assert!(matches!(key.parts(), PublicParts::Raw(bytes) if bytes[..] == [9; 32]));
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone, Eq, PartialEq)]
pub enum PublicParts {
    /// RSA.
    Rsa(RsaPublic),
    /// A point (SEC 1, 2.3.3).
    Point(Vec<u8>),
    /// A byte string.
    Raw(Vec<u8>),
    /// Diffie-Hellman: group and public value.
    Dh(DomainParameters, Vec<u8>),
    /// DSA: group and public value.
    Dsa(DomainParameters, Vec<u8>),
}

/// Components of a secret key.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{Curve, SecretKey, SecretParts};
///
/// let key = SecretKey::ec(Curve::P256, &[7; 32], None)?;
/// assert!(matches!(key.parts(), SecretParts::Scalar(scalar) if scalar.len() == 32));
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone)]
pub enum SecretParts {
    /// RSA.
    Rsa(RsaSecret),
    /// A scalar, as long as the curve's field.
    Scalar(Zeroizing<Vec<u8>>),
    /// A string of bytes.
    Raw(Zeroizing<Vec<u8>>),
    /// Diffie-Hellman and DSA: group and secret exponent, as long as the group's order, or its
    /// prime where the order is unknown.
    Exponent(DomainParameters, Zeroizing<Vec<u8>>),
}

/// An RSA public key.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{PublicKey, PublicParts};
///
/// let mut modulus = [0xff; 256];
/// modulus[255] = 0xfd;
/// let key = PublicKey::rsa(&modulus, &[0, 1, 0, 1])?;
/// let PublicParts::Rsa(rsa) = key.parts() else { panic!("an RSA key") };
/// assert_eq!(rsa.e, [1, 0, 1]);
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct RsaPublic {
    /// Modulus.
    pub n: Vec<u8>,
    /// Public exponent.
    pub e: Vec<u8>,
}

/// An RSA secret key.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{SecretKey, SecretParts};
///
/// /// Whether a key is as fast as it can be.
/// fn has_factors(key: &SecretKey) -> bool {
///     matches!(key.parts(), SecretParts::Rsa(rsa) if rsa.crt.is_some())
/// }
/// ```
#[derive(Clone)]
pub struct RsaSecret {
    /// Modulus and public exponent.
    pub public: RsaPublic,
    /// Private exponent, as long as the modulus.
    pub d: Zeroizing<Vec<u8>>,
    /// The numbers for the Chinese remainder theorem, if they are known.
    pub crt: Option<RsaCrt>,
}

/// The five numbers for the Chinese remainder theorem (RFC 8017, 3.2, second form).
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{RsaCrt, SecretKey, SecretParts};
///
/// fn factors(key: &SecretKey) -> Option<&RsaCrt> {
///     match key.parts() {
///         SecretParts::Rsa(rsa) => rsa.crt.as_ref(),
///         _ => None,
///     }
/// }
/// ```
#[derive(Clone)]
pub struct RsaCrt {
    /// First factor.
    pub p: Zeroizing<Vec<u8>>,
    /// Second factor.
    pub q: Zeroizing<Vec<u8>>,
    /// d mod (p − 1), as long as p.
    pub dp: Zeroizing<Vec<u8>>,
    /// d mod (q − 1), as long as q.
    pub dq: Zeroizing<Vec<u8>>,
    /// q⁻¹ mod p, as long as p.
    pub qinv: Zeroizing<Vec<u8>>,
}

/// The group of a Diffie-Hellman or DSA key.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{DomainParameters, PublicKey, PublicParts};
///
/// fn group(key: &PublicKey) -> Option<&DomainParameters> {
///     match key.parts() {
///         PublicParts::Dh(group, _) | PublicParts::Dsa(group, _) => Some(group),
///         _ => None,
///     }
/// }
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct DomainParameters {
    /// Prime modulus.
    pub p: Vec<u8>,
    /// Order of the subgroup; empty if unknown, which Diffie-Hellman allows.
    pub q: Vec<u8>,
    /// Generator.
    pub g: Vec<u8>,
}

impl DomainParameters {
    pub(super) fn new(p: &[u8], q: &[u8], g: &[u8]) -> Self {
        Self {
            p: normal(p),
            q: normal(q),
            g: normal(g),
        }
    }
}

macro_rules! shows_its_name_alone {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

shows_its_name_alone!(
    PublicParts,
    SecretParts,
    RsaPublic,
    RsaSecret,
    RsaCrt,
    DomainParameters
);
