//! What a public-key session does, without its key: kind of key, scheme and operation, and the
//! names of their combinations.

use std::fmt;

use lanelock_core::Hash;

/// A kind of key with its size, which decides which operations can share lanes.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{KeyKind, SecretKey};
///
/// let key = SecretKey::raw(KeyKind::X25519, &[7; 32])?;
/// assert_eq!(key.kind(), KeyKind::X25519);
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum KeyKind {
    /// RSA (RFC 8017) with a modulus of this many bits.
    Rsa(u32),
    /// An elliptic curve in short Weierstrass form: ECDSA, ECDH, SM2.
    Ec(Curve),
    /// X25519 (RFC 7748).
    X25519,
    /// X448 (RFC 7748).
    X448,
    /// Ed25519 (RFC 8032).
    Ed25519,
    /// Ed448 (RFC 8032).
    Ed448,
    /// Finite-field Diffie-Hellman (SP 800-56A) with a prime of this many bits.
    Dh(u32),
    /// DSA (FIPS 186-4) with a prime of this many bits.
    Dsa(u32),
    /// ML-KEM (FIPS 203).
    MlKem(MlKem),
    /// ML-DSA (FIPS 204).
    MlDsa(MlDsa),
}

/// A curve in short Weierstrass form.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::Curve;
///
/// assert_eq!(Curve::P521.field_len(), 66); // bytes
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Curve {
    /// P-256 (SP 800-186).
    P256,
    /// P-384 (SP 800-186).
    P384,
    /// P-521 (SP 800-186).
    P521,
    /// The curve of SM2 (GB/T 32918.5).
    Sm2,
}

/// A parameter set of ML-KEM (FIPS 203, 8).
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::MlKem;
///
/// assert_eq!(MlKem::MlKem768.ciphertext_len(), 1088); // bytes
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum MlKem {
    /// ML-KEM-512.
    MlKem512,
    /// ML-KEM-768.
    MlKem768,
    /// ML-KEM-1024.
    MlKem1024,
}

/// A parameter set of ML-DSA (FIPS 204, 4).
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::MlDsa;
///
/// assert_eq!(MlDsa::MlDsa65.signature_len(), 3309); // bytes
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum MlDsa {
    /// ML-DSA-44.
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
    /// ML-DSA-87.
    MlDsa87,
}

/// What a session does with its key.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{KeyKind, KeyTransform, Operation};
///
/// let transform = KeyTransform::generate(KeyKind::Ed25519);
/// assert_eq!(transform.spec().operation, Operation::Generate);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Operation {
    /// Makes a signature, with a secret key.
    Sign,
    /// Checks a signature, with a public key.
    Verify,
    /// Encrypts, with a public key.
    Encrypt,
    /// Decrypts, with a secret key.
    Decrypt,
    /// Agrees on a shared secret, with a secret key and the peer's public key.
    Derive,
    /// Makes a key pair.
    Generate,
    /// Makes a shared secret and its ciphertext, with a public key.
    Encapsulate,
    /// Recovers the shared secret from a ciphertext, with a secret key.
    Decapsulate,
}

/// How a signature is made.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::Hash;
/// use lanelock::public_key::{Pss, SignatureScheme};
///
/// let of_tls = SignatureScheme::RsaPss(Pss::of(Hash::Sha256));
/// assert_eq!(of_tls.hash(), Some(Hash::Sha256));
/// assert_eq!(SignatureScheme::EdDsa.hash(), None);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum SignatureScheme {
    /// RSASSA-PKCS1-v1_5 (RFC 8017, 8.2).
    RsaPkcs1(Hash),
    /// RSASSA-PSS (RFC 8017, 8.1).
    RsaPss(Pss),
    /// ECDSA (FIPS 186-5, 6). Nonces are hedged, or random, as the engine says; a signature is
    /// DER (RFC 3279, 2.2.3) unless the transform asks for `r ‖ s`.
    Ecdsa(Hash),
    /// DSA (FIPS 186-4, 4); signatures as for ECDSA.
    Dsa(Hash),
    /// Ed25519 or Ed448 (RFC 8032) without prehash.
    EdDsa,
    /// SM2 with SM3 (GB/T 32918.2); signatures as for ECDSA.
    Sm2,
    /// ML-DSA (FIPS 204, 5.2), hedged.
    MlDsa,
}

/// How a message is encrypted.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::Hash;
/// use lanelock::public_key::{EncryptionScheme, KeyTransform, Oaep, PublicKey};
///
/// let mut modulus = [0xff; 256];
/// modulus[255] = 0xfd;
/// let key = PublicKey::rsa(&modulus, &[1, 0, 1])?;
/// let scheme = EncryptionScheme::RsaOaep(Oaep::of(Hash::Sha256));
/// assert_eq!(KeyTransform::encrypt(scheme, &key).spec().kind, key.kind());
/// # Ok::<(), lanelock_public_key::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum EncryptionScheme {
    /// RSAES-PKCS1-v1_5 (RFC 8017, 7.2), decrypted with implicit rejection: a malformed ciphertext
    /// gives a random-looking message, always the same for the same key and ciphertext, and no
    /// error.
    RsaPkcs1,
    /// RSAES-OAEP (RFC 8017, 7.1).
    RsaOaep(Oaep),
    /// RSAEP and RSADP (RFC 8017, 5.1) on blocks as long as the modulus. Not an encryption scheme
    /// by itself: padding is the caller's.
    RsaRaw,
    /// SM2 (GB/T 32918.4) with SM3; ciphertexts are DER (GM/T 0009).
    Sm2,
}

/// Parameters of RSASSA-PSS.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::Hash;
/// use lanelock::public_key::Pss;
///
/// let pss = Pss { salt_len: 20, ..Pss::of(Hash::Sha256) };
/// assert_eq!((pss.mgf1, pss.salt_len), (Hash::Sha256, 20));
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Pss {
    /// Hash of the message.
    pub hash: Hash,
    /// Hash of the mask generation function MGF1.
    pub mgf1: Hash,
    /// Length of the salt, in bytes.
    pub salt_len: usize,
}

/// Parameters of RSAES-OAEP; the label is the transform's.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::Hash;
/// use lanelock::public_key::Oaep;
///
/// let oaep = Oaep { mgf1: Hash::Sha1, ..Oaep::of(Hash::Sha256) };
/// assert_eq!(oaep.hash, Hash::Sha256);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Oaep {
    /// Hash of the label.
    pub hash: Hash,
    /// Hash of the mask generation function MGF1.
    pub mgf1: Hash,
}

/// Scheme of a session; [`Scheme::Plain`] where the kind of key leaves no choice.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{KeyKind, KeyTransform, Scheme};
///
/// assert_eq!(KeyTransform::generate(KeyKind::X25519).spec().scheme, Scheme::Plain);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Scheme {
    /// Key agreement, key generation and encapsulation.
    Plain,
    /// A signature scheme.
    Signature(SignatureScheme),
    /// An encryption scheme.
    Encryption(EncryptionScheme),
}

/// Operation, kind of key and scheme: what a name such as `rsa-2048-pss-sign` stands for.
///
/// ```
/// # mod lanelock { pub use lanelock_core::*; pub use lanelock_public_key as public_key; }
/// use lanelock::public_key::{KeyKind, KeyTransform};
///
/// let spec = KeyTransform::generate(KeyKind::Ed25519).spec();
/// assert_eq!(spec.to_string(), "ed25519-generate");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct KeySpec {
    /// The operation.
    pub operation: Operation,
    /// The key's kind and size.
    pub kind: KeyKind,
    /// The scheme.
    pub scheme: Scheme,
}

impl Pss {
    /// The usual choice: one hash for both, and a salt as long as its digest.
    #[must_use]
    pub const fn of(hash: Hash) -> Self {
        Self {
            hash,
            mgf1: hash,
            salt_len: hash.digest_len(),
        }
    }
}

impl Oaep {
    /// The usual choice: one hash for both.
    #[must_use]
    pub const fn of(hash: Hash) -> Self {
        Self { hash, mgf1: hash }
    }
}

impl Curve {
    /// Every curve.
    pub const ALL: &'static [Self] = &[Self::P256, Self::P384, Self::P521, Self::Sm2];

    /// Bytes of a coordinate and of a scalar.
    #[must_use]
    pub const fn field_len(self) -> usize {
        match self {
            Self::P256 | Self::Sm2 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }
}

impl MlKem {
    /// Every parameter set.
    pub const ALL: &'static [Self] = &[Self::MlKem512, Self::MlKem768, Self::MlKem1024];

    /// Length of an encapsulation key, in bytes (FIPS 203, table 3).
    #[must_use]
    pub const fn public_len(self) -> usize {
        match self {
            Self::MlKem512 => 800,
            Self::MlKem768 => 1184,
            Self::MlKem1024 => 1568,
        }
    }

    /// Length of an expanded decapsulation key, in bytes (FIPS 203, table 3).
    #[must_use]
    pub const fn secret_len(self) -> usize {
        match self {
            Self::MlKem512 => 1632,
            Self::MlKem768 => 2400,
            Self::MlKem1024 => 3168,
        }
    }

    /// Length of a ciphertext, in bytes (FIPS 203, table 3).
    #[must_use]
    pub const fn ciphertext_len(self) -> usize {
        match self {
            Self::MlKem512 => 768,
            Self::MlKem768 => 1088,
            Self::MlKem1024 => 1568,
        }
    }
}

impl MlDsa {
    /// Every parameter set.
    pub const ALL: &'static [Self] = &[Self::MlDsa44, Self::MlDsa65, Self::MlDsa87];

    /// Length of a public key, in bytes (FIPS 204, table 2).
    #[must_use]
    pub const fn public_len(self) -> usize {
        match self {
            Self::MlDsa44 => 1312,
            Self::MlDsa65 => 1952,
            Self::MlDsa87 => 2592,
        }
    }

    /// Length of an expanded private key, in bytes (FIPS 204, table 2).
    #[must_use]
    pub const fn secret_len(self) -> usize {
        match self {
            Self::MlDsa44 => 2560,
            Self::MlDsa65 => 4032,
            Self::MlDsa87 => 4896,
        }
    }

    /// Length of a signature, in bytes (FIPS 204, table 2).
    #[must_use]
    pub const fn signature_len(self) -> usize {
        match self {
            Self::MlDsa44 => 2420,
            Self::MlDsa65 => 3309,
            Self::MlDsa87 => 4627,
        }
    }
}

impl Operation {
    /// Every operation.
    pub const ALL: &'static [Self] = &[
        Self::Sign,
        Self::Verify,
        Self::Encrypt,
        Self::Decrypt,
        Self::Derive,
        Self::Generate,
        Self::Encapsulate,
        Self::Decapsulate,
    ];

    /// The last part of a name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Derive => "derive",
            Self::Generate => "generate",
            Self::Encapsulate => "encapsulate",
            Self::Decapsulate => "decapsulate",
        }
    }
}

impl SignatureScheme {
    /// The hash of the message, where the scheme leaves a choice: the one whose digest a session
    /// may be given instead of the message.
    #[must_use]
    pub const fn hash(self) -> Option<Hash> {
        match self {
            Self::RsaPkcs1(hash)
            | Self::RsaPss(Pss { hash, .. })
            | Self::Ecdsa(hash)
            | Self::Dsa(hash) => Some(hash),
            Self::EdDsa | Self::Sm2 | Self::MlDsa => None,
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa(bits) => write!(f, "rsa-{bits}"),
            Self::Ec(Curve::P256) => f.write_str("p256"),
            Self::Ec(Curve::P384) => f.write_str("p384"),
            Self::Ec(Curve::P521) => f.write_str("p521"),
            Self::Ec(Curve::Sm2) => f.write_str("sm2"),
            Self::X25519 => f.write_str("x25519"),
            Self::X448 => f.write_str("x448"),
            Self::Ed25519 => f.write_str("ed25519"),
            Self::Ed448 => f.write_str("ed448"),
            Self::Dh(bits) => write!(f, "dh-{bits}"),
            Self::Dsa(bits) => write!(f, "dsa-{bits}"),
            Self::MlKem(MlKem::MlKem512) => f.write_str("ml-kem-512"),
            Self::MlKem(MlKem::MlKem768) => f.write_str("ml-kem-768"),
            Self::MlKem(MlKem::MlKem1024) => f.write_str("ml-kem-1024"),
            Self::MlDsa(MlDsa::MlDsa44) => f.write_str("ml-dsa-44"),
            Self::MlDsa(MlDsa::MlDsa65) => f.write_str("ml-dsa-65"),
            Self::MlDsa(MlDsa::MlDsa87) => f.write_str("ml-dsa-87"),
        }
    }
}

/// `rsa-2048-sign` is PKCS #1 v1.5 and `rsa-2048-encrypt` likewise; the other paddings are named.
impl fmt::Display for KeySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let padding = match self.scheme {
            Scheme::Signature(SignatureScheme::RsaPss(_)) => "-pss",
            Scheme::Encryption(EncryptionScheme::RsaOaep(_)) => "-oaep",
            Scheme::Encryption(EncryptionScheme::RsaRaw) => "-raw",
            _ => "",
        };
        write!(f, "{}{padding}-{}", self.kind, self.operation.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_kind_padding_and_operation() {
        let spec = |operation, kind, scheme| {
            KeySpec {
                operation,
                kind,
                scheme,
            }
            .to_string()
        };
        let hash = Hash::Sha256;
        let pss = Scheme::Signature(SignatureScheme::RsaPss(Pss::of(hash)));
        let pkcs1 = Scheme::Signature(SignatureScheme::RsaPkcs1(hash));
        assert_eq!(
            spec(Operation::Sign, KeyKind::Rsa(2048), pss),
            "rsa-2048-pss-sign"
        );
        assert_eq!(
            spec(Operation::Sign, KeyKind::Rsa(2048), pkcs1),
            "rsa-2048-sign"
        );
        assert_eq!(
            spec(Operation::Derive, KeyKind::X25519, Scheme::Plain),
            "x25519-derive"
        );
    }
}
