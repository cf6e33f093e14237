//! The contents of a container, read before libcrypto calculates with them.
//!
//! A container is not trusted, and determines what it costs to read: the iterations of the function
//! that makes its key from the passphrase, and the sizes of the numbers from which a public half is
//! computed. The reader here takes strict DER, of which the BER that libcrypto reads is a superset:
//! both find the same in what passes here, and what does not pass is never taken for an encrypted
//! key or for PKCS #8.

use spki::AlgorithmIdentifierRef;
use spki::der::asn1::{AnyRef, OctetStringRef, UintRef};
use spki::der::{self, Decode, Header, Reader, SliceReader, Tag};
use spki::{ObjectIdentifier, SubjectPublicKeyInfoRef};

/// Most iterations of PBKDF2 and its predecessors: some seconds' worth.
const MAX_ITERATIONS: u64 = 10_000_000;

/// Most bytes that scrypt mixes, 128·N·r·p: about a second's worth. libcrypto itself bounds the
/// memory, to 32 MiB.
const MAX_SCRYPT: u64 = 256 << 20;

/// Longest number in a Diffie-Hellman or DSA key whose public half libcrypto computes, in bytes: of
/// 10,000 bits, as the prime of a key may have.
const MAX_GROUP_NUMBER: usize = 10_000 / 8;

const PBES2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.13");
const PBKDF2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.12");
const SCRYPT: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.11591.4.11");
/// The arcs of PKCS #5 version 1.5 and PKCS #12, whose algorithms all take a salt and a number of
/// iterations.
const ITERATED: [ObjectIdentifier; 2] = [
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.5"),
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.1"),
];
/// PKCS #12 with triple DES, which needs no legacy provider.
const TRIPLE_DES: [ObjectIdentifier; 2] = [
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.1.3"),
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.1.4"),
];
/// Ciphers of PBES2 that do: single DES and RC2.
const LEGACY: [ObjectIdentifier; 2] = [
    ObjectIdentifier::new_unwrap("1.3.14.3.2.7"),
    ObjectIdentifier::new_unwrap("1.2.840.113549.3.2"),
];
/// DSA, and Diffie-Hellman of PKCS #3 and of X9.42.
const GROUPS: [ObjectIdentifier; 3] = [
    ObjectIdentifier::new_unwrap("1.2.840.10040.4.1"),
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.3.1"),
    ObjectIdentifier::new_unwrap("1.2.840.10046.2.1"),
];

/// The form of some DER.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// `EncryptedPrivateKeyInfo` (RFC 5958), perhaps with a cipher of the legacy provider.
    Encrypted { legacy: bool },
    /// `OneAsymmetricKey`, of PKCS #8 (RFC 5958).
    Pkcs8,
    /// `SubjectPublicKeyInfo` (RFC 5280).
    Spki,
    /// Perhaps a key's older form. From these libcrypto takes numbers, and computes none.
    Other,
}

/// The sequence that `bytes` start with, if they do.
pub(super) fn leading_sequence(bytes: &[u8]) -> Option<&[u8]> {
    let mut reader = SliceReader::new(bytes).ok()?;
    let header = Header::peek(&reader).ok()?;
    let value = reader.tlv_bytes().ok()?;
    (header.tag() == Tag::Sequence).then_some(value)
}

impl Form {
    /// # Errors
    /// Why reading the key might take too long.
    pub(super) fn of(der: &[u8]) -> Result<Self, String> {
        if let Ok(algorithm) = encrypted(der) {
            let legacy = bound_encryption(&algorithm)?;
            return Ok(Self::Encrypted { legacy });
        }
        if let Ok((algorithm, key)) = pkcs8(der) {
            if GROUPS.contains(&algorithm.oid) {
                bound_group(&algorithm, key)?;
            }
            return Ok(Self::Pkcs8);
        }
        Ok(match SubjectPublicKeyInfoRef::from_der(der) {
            Ok(_) => Self::Spki,
            Err(_) => Self::Other,
        })
    }
}

fn encrypted(der: &[u8]) -> der::Result<AlgorithmIdentifierRef<'_>> {
    AnyRef::from_der(der)?.sequence(|reader| {
        let algorithm = reader.decode()?;
        let _ciphertext: &OctetStringRef = reader.decode()?;
        Ok(algorithm)
    })
}

/// Algorithm and key.
fn pkcs8(der: &[u8]) -> der::Result<(AlgorithmIdentifierRef<'_>, &[u8])> {
    AnyRef::from_der(der)?.sequence(|reader| {
        let _version: UintRef<'_> = reader.decode()?;
        let algorithm = reader.decode()?;
        let key: &OctetStringRef = reader.decode()?;
        // Attributes and a public half.
        skip(reader)?;
        Ok((algorithm, key.as_bytes()))
    })
}

/// Whether the encryption needs the legacy provider, if its key is not derived too slowly.
fn bound_encryption(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<bool, String> {
    let oid = algorithm.oid;
    let parameters = algorithm.parameters.unwrap_or(AnyRef::NULL);
    let malformed =
        |_: der::Error| format!("the parameters of its encryption ({oid}) are malformed");
    if oid != PBES2 {
        if !oid.parent().is_some_and(|arc| ITERATED.contains(&arc)) {
            return Err(format!("its encryption ({oid}) is unknown; use PBES2"));
        }
        let [iterations] = after_salt(parameters).map_err(malformed)?;
        bound_iterations(iterations)?;
        return Ok(!TRIPLE_DES.contains(&oid));
    }
    let halves = parameters.sequence(|reader| Ok((reader.decode()?, reader.decode()?)));
    let (derivation, cipher): (AlgorithmIdentifierRef<'_>, AlgorithmIdentifierRef<'_>) =
        halves.map_err(malformed)?;
    let parameters = derivation.parameters.unwrap_or(AnyRef::NULL);
    match derivation.oid {
        PBKDF2 => {
            let [iterations] = after_salt(parameters).map_err(malformed)?;
            bound_iterations(iterations)?;
        }
        SCRYPT => bound_scrypt(after_salt(parameters).map_err(malformed)?)?,
        other => {
            return Err(format!(
                "its key derivation ({other}) is unknown; use PBKDF2 or scrypt"
            ));
        }
    }
    Ok(LEGACY.contains(&cipher.oid))
}

/// The numbers that follow the salt; more may follow them.
fn after_salt<const N: usize>(parameters: AnyRef<'_>) -> der::Result<[u64; N]> {
    parameters.sequence(|reader| {
        let _salt: AnyRef<'_> = reader.decode()?;
        let mut numbers = [0; N];
        for number in &mut numbers {
            let digits: UintRef<'_> = reader.decode()?;
            // What does not fit is beyond every bound.
            *number = match digits.as_bytes() {
                bytes if bytes.len() > 8 => u64::MAX,
                bytes => bytes.iter().fold(0, |n, &byte| n << 8 | u64::from(byte)),
            };
        }
        skip(reader)?;
        Ok(numbers)
    })
}

fn bound_iterations(iterations: u64) -> Result<(), String> {
    if iterations <= MAX_ITERATIONS {
        return Ok(());
    }
    Err(format!(
        "its key derivation takes {iterations} iterations; at most {MAX_ITERATIONS} are allowed"
    ))
}

fn bound_scrypt([n, r, p]: [u64; 3]) -> Result<(), String> {
    let mixed = [n, r, p].into_iter().fold(128, u64::saturating_mul);
    if mixed <= MAX_SCRYPT {
        return Ok(());
    }
    Err(format!(
        "its key derivation is scrypt with N = {n}, r = {r}, p = {p}; 128·N·r·p may be at most \
         {MAX_SCRYPT}"
    ))
}

/// Bounds the cost of computing the public half, a power.
fn bound_group(algorithm: &AlgorithmIdentifierRef<'_>, key: &[u8]) -> Result<(), String> {
    let malformed = |_: der::Error| format!("a number of its key ({}) is malformed", algorithm.oid);
    let exponent = UintRef::from_der(key).map_err(malformed)?;
    let mut longest = exponent.as_bytes().len();
    let group = algorithm.parameters.unwrap_or(AnyRef::NULL);
    group
        .sequence(|reader| {
            while !reader.is_finished() {
                let part: AnyRef<'_> = reader.decode()?;
                let len = match part.decode_as::<UintRef<'_>>() {
                    Ok(number) => number.as_bytes().len(),
                    // Seed and counter of the group's generation.
                    Err(_) => part.value().len(),
                };
                longest = longest.max(len);
            }
            Ok(())
        })
        .map_err(malformed)?;
    if longest <= MAX_GROUP_NUMBER {
        return Ok(());
    }
    Err(format!(
        "a number of its key has {longest} bytes; at most {MAX_GROUP_NUMBER} are allowed"
    ))
}

fn skip<'r>(reader: &mut impl Reader<'r>) -> der::Result<()> {
    while !reader.is_finished() {
        let _part: AnyRef<'_> = reader.decode()?;
    }
    Ok(())
}
