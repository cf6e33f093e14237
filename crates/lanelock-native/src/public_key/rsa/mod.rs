//! RSA (RFC 8017) with moduli of 2048, 3072 and 4096 bits and public exponents below 2^32.
//!
//! Padding is done here, one block at a time; powers are taken of as many blocks in lockstep as a register
//! has digits, of any keys of one size. Private powers are blinded by pairs that each queue keeps for each session,
//! and checked with the public exponent.

mod eme_pkcs1;
mod emsa_pkcs1;
mod encrypt;
mod exponent;
mod hasher;
mod import;
mod mgf1;
mod oaep;
mod private;
mod pss;
mod sign;

#[cfg(test)]
mod tests;

use lanelock_core::Hash;
use lanelock_kernels::public_key::rsa::{Failure, PrivateKey, PrivateSize, PublicKey, PublicSize};
use lanelock_public_key::{
    EncryptionScheme, KeyKind, KeyReason, KeySpec, Oaep, Operation, Pss, Scheme, SignatureScheme,
};

use super::session::LANES;
use super::{Open, Row};
use encrypt::{Decrypter, Encrypter};
use sign::{Signer, Verifier};

/// A block of each lane, as bytes of a modulus of `N` times 512 bits.
type Blocks<const N: usize> = [[[u8; 64]; N]; LANES];

/// The rows of each size.
pub(super) const ROWS: [&[Row]; 3] = [
    &rows::<2, 4>(KeyKind::Rsa(2048)),
    &rows::<3, 6>(KeyKind::Rsa(3072)),
    &rows::<4, 8>(KeyKind::Rsa(4096)),
];

const fn rows<const P: usize, const N: usize>(kind: KeyKind) -> [Row; 10]
where
    PrivateKey<P, N>: PrivateSize<P, N>,
    PublicKey<N>: PublicSize<N>,
{
    use Operation::{Decrypt, Encrypt, Sign, Verify};
    let pkcs1 = SignatureScheme::RsaPkcs1(Hash::Sha256);
    let pss = SignatureScheme::RsaPss(Pss::of(Hash::Sha256));
    let oaep = EncryptionScheme::RsaOaep(Oaep::of(Hash::Sha256));
    let (implicit, raw) = (EncryptionScheme::RsaPkcs1, EncryptionScheme::RsaRaw);
    [
        Row::signature(Sign, kind, pkcs1, Signer::<P, N>::open),
        Row::signature(Verify, kind, pkcs1, Verifier::<N>::open),
        Row::signature(Sign, kind, pss, Signer::<P, N>::open),
        Row::signature(Verify, kind, pss, Verifier::<N>::open),
        encryption(Encrypt, kind, implicit, Encrypter::<N>::open),
        encryption(Decrypt, kind, implicit, Decrypter::<P, N>::open),
        encryption(Encrypt, kind, oaep, Encrypter::<N>::open),
        encryption(Decrypt, kind, oaep, Decrypter::<P, N>::open),
        encryption(Encrypt, kind, raw, Encrypter::<N>::open),
        encryption(Decrypt, kind, raw, Decrypter::<P, N>::open),
    ]
}

const fn encryption(
    operation: Operation,
    kind: KeyKind,
    scheme: EncryptionScheme,
    open: Open,
) -> Row {
    let scheme = Scheme::Encryption(scheme);
    Row {
        spec: KeySpec {
            operation,
            kind,
            scheme,
        },
        open,
    }
}

/// A kernel's failure as an operation's.
fn reason(failure: Failure) -> KeyReason {
    match failure {
        Failure::OutOfRange => KeyReason::OutOfRange,
        Failure::Fault => KeyReason::Fault,
        Failure::Length => KeyReason::Engine,
    }
}
