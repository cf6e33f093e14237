//! A server's key, and a certificate that it signs itself.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use clap::ValueEnum;
use openssl::asn1::Asn1Time;
use openssl::bn::{BigNum, MsbOption};
use openssl::ec::{EcGroup, EcKey};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Private};
use openssl::rsa::Rsa;
use openssl::x509::extension::SubjectAlternativeName;
use openssl::x509::{X509, X509Builder, X509NameBuilder};

use crate::failure::Failure;

/// Kinds of keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum KeyKind {
    #[value(name = "rsa-2048")]
    Rsa2048,
    #[value(name = "rsa-3072")]
    Rsa3072,
    #[value(name = "rsa-4096")]
    Rsa4096,
    #[value(name = "p256")]
    P256,
    #[value(name = "p384")]
    P384,
    #[value(name = "ed25519")]
    Ed25519,
}

/// A key and its certificate.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// What the server shows.
    pub certificate: X509,
    key: PKey<Private>,
}

impl KeyKind {
    /// Its name on the command line and in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rsa2048 => "rsa-2048",
            Self::Rsa3072 => "rsa-3072",
            Self::Rsa4096 => "rsa-4096",
            Self::P256 => "p256",
            Self::P384 => "p384",
            Self::Ed25519 => "ed25519",
        }
    }

    /// Why something with such a key does not work.
    pub(super) fn failure(self, error: &impl Display) -> Failure {
        Failure::Failed(format!("{}: {error}", self.name()))
    }

    fn generate(self) -> Result<PKey<Private>, ErrorStack> {
        let curve = |nid| {
            let group = EcGroup::from_curve_name(nid)?;
            PKey::from_ec_key(EcKey::generate(&group)?)
        };
        match self {
            Self::Rsa2048 => PKey::from_rsa(Rsa::generate(2048)?),
            Self::Rsa3072 => PKey::from_rsa(Rsa::generate(3072)?),
            Self::Rsa4096 => PKey::from_rsa(Rsa::generate(4096)?),
            Self::P256 => curve(Nid::X9_62_PRIME256V1),
            Self::P384 => curve(Nid::SECP384R1),
            Self::Ed25519 => PKey::generate_ed25519(),
        }
    }
}

impl Credentials {
    /// A key of this kind, and a certificate for `localhost` that is valid for a day.
    ///
    /// # Errors
    /// OpenSSL's.
    pub fn generate(kind: KeyKind) -> Result<Self, ErrorStack> {
        let key = kind.generate()?;
        let mut name = X509NameBuilder::new()?;
        name.append_entry_by_nid(Nid::COMMONNAME, "localhost")?;
        let name = name.build();
        let mut serial = BigNum::new()?;
        serial.rand(127, MsbOption::MAYBE_ZERO, false)?;

        let mut builder = X509Builder::new()?;
        builder.set_version(2)?; // version 3
        builder.set_serial_number(&*serial.to_asn1_integer()?)?;
        builder.set_subject_name(&name)?;
        builder.set_issuer_name(&name)?;
        builder.set_not_before(&*Asn1Time::days_from_now(0)?)?;
        builder.set_not_after(&*Asn1Time::days_from_now(1)?)?;
        builder.set_pubkey(&key)?;
        let names = SubjectAlternativeName::new()
            .dns("localhost")
            .ip("127.0.0.1")
            .build(&builder.x509v3_context(None, None))?;
        builder.append_extension(names)?;
        let digest = match kind {
            KeyKind::Ed25519 => MessageDigest::null(),
            _ => MessageDigest::sha256(),
        };
        builder.sign(&key, digest)?;
        Ok(Self {
            certificate: builder.build(),
            key,
        })
    }

    /// The certificate, as DER.
    ///
    /// # Errors
    /// [`Failure::Failed`] with OpenSSL's.
    pub(super) fn shown(&self) -> Result<Vec<u8>, Failure> {
        let der = self.certificate.to_der();
        der.map_err(|error| Failure::Failed(format!("certificate: {error}")))
    }

    /// Writes certificate and key to one file that its owner alone may read.
    ///
    /// # Errors
    /// OpenSSL's and the file system's.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(path)?;
        file.write_all(&self.certificate.to_pem()?)?;
        file.write_all(&self.key.private_key_to_pem_pkcs8()?)
    }
}

/// Reads a certificate: as DER, and the kind of its key.
///
/// # Errors
/// [`Failure::Usage`] if the file does not hold one.
pub(super) fn read_certificate(path: &Path) -> Result<(Vec<u8>, String), Failure> {
    let read = || -> io::Result<_> {
        let certificate = X509::from_pem(&fs::read(path)?)?;
        let key = certificate.public_key()?;
        let kind = match key.id() {
            Id::RSA => format!("rsa-{}", key.bits()),
            Id::EC => format!("p{}", key.bits()),
            Id::ED25519 => "ed25519".to_owned(),
            other => format!("key-{}", other.as_raw()),
        };
        Ok((certificate.to_der()?, kind))
    };
    read().map_err(|error| {
        Failure::Usage(format!(
            "--certificate {}: {error}; name a file with the server's certificate in PEM",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_signed_by_its_own_key() {
        for kind in [KeyKind::P256, KeyKind::Ed25519] {
            let made = Credentials::generate(kind).expect("a certificate");
            assert!(made.certificate.verify(&made.key).expect("a verdict"));
            let other = Credentials::generate(kind).expect("a certificate");
            assert!(!made.certificate.verify(&other.key).expect("a verdict"));
        }
    }
}
