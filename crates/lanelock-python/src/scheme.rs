//! The sessions and the layout behind a name and a layout's name.

use lanelock::algorithm::{Algorithm, Spec};
use lanelock::{Aead as Family, Cipher, Hash, Mac, Session, Transform};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::cbc::{self, HeaderCheck, Wrap};
use crate::engine;
use crate::failure::session_error;
use crate::jwe::Compact;
use crate::keys::Keys;
use crate::seal;

/// How values are encrypted: the sessions of every key, and where a value's parts are.
pub(crate) enum Scheme {
    Stream {
        sealing: Vec<Session>,
        opening: Vec<Session>,
        layout: seal::Layout,
        /// What ciphertexts are written in, if not as they are.
        jwe: Option<Compact>,
    },
    Cbc {
        keys: Vec<cbc::Key>,
        layout: cbc::Layout,
    },
}

/// What `Aead` was asked for.
pub(crate) struct Request<'a, 'py> {
    pub(crate) algorithm: &'a str,
    pub(crate) keys: &'a Keys,
    pub(crate) nonce_length: Option<usize>,
    /// What a value begins with.
    pub(crate) header: Vec<u8>,
    /// What a value begins with, by the number of its key.
    pub(crate) prefixes: Option<&'a Bound<'py, PyDict>>,
    /// The number of the key that encrypts.
    pub(crate) primary: Option<i64>,
}

/// AES-CBC with HMAC by name: the hash, the bytes of each of the two keys, and of the tag.
const CBC_HMAC: &[(&str, Hash, usize)] = &[
    ("aes-128-cbc-hmac-sha256", Hash::Sha256, 16),
    ("aes-192-cbc-hmac-sha384", Hash::Sha384, 24),
    ("aes-256-cbc-hmac-sha512", Hash::Sha512, 32),
];

impl Request<'_, '_> {
    /// The layout's name, the family if the algorithm is one of the table's, and the scheme.
    pub(crate) fn scheme(self, layout: &str) -> PyResult<(&'static str, Option<Family>, Scheme)> {
        let family = family(self.algorithm, self.keys)?;
        let cbc_hmac = CBC_HMAC.iter().find(|(name, ..)| *name == self.algorithm);
        let plain = cbc::Layout {
            header: self.header.clone(),
            header_check: HeaderCheck::None,
            tag: 0,
            length: true,
            wrap: Wrap::None,
        };
        let primary = match self.primary {
            None => 0,
            Some(number) => self.keys.numbers.find(number).ok_or_else(|| {
                PyValueError::new_err(format!("primary={number}: no key has that number"))
            })?,
        };
        let (name, scheme) = match (layout, family, cbc_hmac) {
            ("raw", Some(family), _) => (
                "raw",
                Scheme::stream(family, self.keys, Vec::new(), primary, self.nonce_length)?,
            ),
            ("spark", Some(Family::AesGcm), _) => (
                "spark",
                Scheme::stream(Family::AesGcm, self.keys, Vec::new(), primary, None)?,
            ),
            ("jwe", Some(Family::AesGcm), _) => {
                ("jwe", Scheme::jwe(self.keys, &self.header, primary)?)
            }
            ("spark", None, None)
                if ["aes-cbc", "aes-128-cbc", "aes-192-cbc", "aes-256-cbc"]
                    .contains(&self.algorithm) =>
            {
                ("spark", Scheme::cbc(self.keys)?)
            }
            (
                "tink",
                Some(
                    family @ (Family::AesGcm
                    | Family::AesGcmSiv
                    | Family::AesSiv
                    | Family::ChaCha20Poly1305
                    | Family::XChaCha20Poly1305),
                ),
                _,
            ) => {
                let mut all = vec![Vec::new(); self.keys.keys.len()];
                for (number, prefix) in self.prefixes.map(|p| p.iter()).into_iter().flatten() {
                    let number: i64 = number.extract()?;
                    let position = self.keys.numbers.find(number).ok_or_else(|| {
                        PyValueError::new_err(format!("prefixes: no key has the number {number}"))
                    })?;
                    all[position] = prefix.extract()?;
                }
                (
                    "tink",
                    Scheme::stream(family, self.keys, all, primary, None)?,
                )
            }
            ("raw", None, Some((name, hash, half))) => {
                let layout = cbc::Layout {
                    tag: *half,
                    ..plain
                };
                (
                    "raw",
                    Scheme::cbc_hmac(name, (*hash, *half, *half), self.keys, layout, None)?,
                )
            }
            ("fernet", None, Some((name, hash @ Hash::Sha256, half))) => {
                let layout = cbc::Layout {
                    header: [&[0x80][..], &[0; 8]].concat(),
                    header_check: HeaderCheck::Fernet,
                    tag: 32,
                    length: false,
                    ..plain
                };
                (
                    "fernet",
                    Scheme::cbc_hmac(name, (*hash, *half, 32), self.keys, layout, None)?,
                )
            }
            ("mongodb", None, Some((name, hash @ Hash::Sha512, half))) => {
                let [kind @ (1 | 2), id @ ..] = &self.header[..] else {
                    return Err(PyValueError::new_err(
                        "header: the kind (1 or 2) is missing",
                    ));
                };
                if id.len() != 16 {
                    return Err(PyValueError::new_err(
                        "header: the key's identifier has 16 bytes",
                    ));
                }
                let layout = cbc::Layout {
                    header: [&self.header[..], &[0]].concat(),
                    header_check: HeaderCheck::MongoDb,
                    tag: 32,
                    ..plain
                };
                let deterministic = Some(*kind == 1);
                (
                    "mongodb",
                    Scheme::cbc_hmac(name, (*hash, *half, 32), self.keys, layout, deterministic)?,
                )
            }
            _ => return Err(unknown(self.algorithm, layout)),
        };
        Ok((name, family, scheme))
    }
}

impl Scheme {
    /// The position of the key that encrypts where rows name none.
    pub(crate) fn primary(&self) -> usize {
        match self {
            Self::Stream { layout, .. } => layout.primary,
            Self::Cbc { .. } => 0,
        }
    }

    fn stream(
        family: Family,
        keys: &Keys,
        prefixes: Vec<Vec<u8>>,
        primary: usize,
        nonce: Option<usize>,
    ) -> PyResult<Self> {
        let nonce = nonce.unwrap_or(family.default_iv_len());
        let layout = seal::Layout {
            nonce,
            tag_first: family == Family::AesSiv,
            prefixes,
            primary,
        };
        let transforms = keys.keys.iter().map(|key| {
            (
                Transform::seal(family, key).iv_len(nonce),
                Transform::open(family, key).iv_len(nonce),
            )
        });
        let (sealing, opening) =
            seal::sessions(transforms).map_err(|error| session_error(&error))?;
        Ok(Self::Stream {
            sealing,
            opening,
            layout,
            jwe: None,
        })
    }

    /// JWE tokens: AES-GCM with nonces of 12 bytes, and keys of one length, which the header names.
    fn jwe(keys: &Keys, header: &[u8], primary: usize) -> PyResult<Self> {
        let len = keys.keys[0].len();
        if let Some(other) = keys.keys.iter().find(|key| key.len() != len) {
            return Err(PyValueError::new_err(format!(
                "layout jwe: keys of {len} and {} bytes; allowed: one length",
                other.len()
            )));
        }
        let compact = Compact::new(header, len)
            .map_err(|why| PyValueError::new_err(format!("header: {why}")))?;
        let mut scheme = Self::stream(Family::AesGcm, keys, Vec::new(), primary, None)?;
        if let Self::Stream { jwe, .. } = &mut scheme {
            *jwe = Some(compact);
        }
        Ok(scheme)
    }

    /// AES-CBC with PKCS #7 padding, as Spark has it: nothing authenticates it.
    fn cbc(keys: &Keys) -> PyResult<Self> {
        let keys = keys.keys.iter().map(|key| {
            Ok(cbc::Key {
                seal: engine::session(Transform::encrypt(Cipher::AesCbc, key))?,
                open: engine::session(Transform::decrypt(Cipher::AesCbc, key))?,
                derive_iv: None,
            })
        });
        Ok(Self::Cbc {
            keys: keys
                .collect::<Result<_, _>>()
                .map_err(|error| session_error(&error))?,
            layout: cbc::Layout {
                header: Vec::new(),
                header_check: HeaderCheck::None,
                tag: 0,
                length: false,
                wrap: Wrap::None,
            },
        })
    }

    /// AES-CBC and HMAC: of each key the first bytes are the MAC's, the next the cipher's, and any
    /// that are left derive IVs.
    fn cbc_hmac(
        name: &str,
        (hash, half, tag): (Hash, usize, usize),
        keys: &Keys,
        layout: cbc::Layout,
        deterministic: Option<bool>,
    ) -> PyResult<Self> {
        let allowed = if deterministic.is_some() {
            3 * half
        } else {
            2 * half
        };
        let keys = keys.keys.iter().map(|key| {
            if key.len() != allowed {
                return Err(PyValueError::new_err(format!(
                    "{name}: key of {} bytes; allowed: {allowed}",
                    key.len()
                )));
            }
            let (mac_key, rest) = key.split_at(half);
            let (cipher_key, iv_key) = rest.split_at(half);
            let mac = Mac::Hmac(hash);
            let cipher = Cipher::AesCbc;
            let open = Transform::verify_then_decrypt(cipher, cipher_key, mac, mac_key);
            let seal = Transform::encrypt_then_mac(cipher, cipher_key, mac, mac_key);
            let derive = Transform::compute(mac, iv_key).tag_len(16);
            let session = |transform| engine::session(transform).map_err(|e| session_error(&e));
            Ok(cbc::Key {
                seal: session(seal.tag_len(tag))?,
                open: session(open.tag_len(tag))?,
                derive_iv: match deterministic {
                    Some(true) => Some(session(derive)?),
                    _ => None,
                },
            })
        });
        Ok(Self::Cbc {
            keys: keys.collect::<PyResult<_>>()?,
            layout,
        })
    }
}

/// The family of a name with or without the key's bits, which must then be those of the keys.
fn family(name: &str, keys: &Keys) -> PyResult<Option<Family>> {
    if let Some(family) = Family::ALL
        .iter()
        .find(|family| Algorithm::Aead(**family).row().name == name)
    {
        return Ok(Some(*family));
    }
    let Ok(Spec {
        algorithm: Algorithm::Aead(family),
        key_len,
        ..
    }) = name.parse::<Spec>()
    else {
        return Ok(None);
    };
    match keys.keys.iter().find(|key| key.len() != key_len) {
        None => Ok(Some(family)),
        Some(key) => Err(PyValueError::new_err(format!(
            "{name}: key of {} bytes; allowed: {key_len}",
            key.len()
        ))),
    }
}

fn unknown(algorithm: &str, layout: &str) -> PyErr {
    PyValueError::new_err(format!(
        "algorithm {algorithm:?} in the layout {layout:?}; allowed: raw has aes-gcm, aes-gcm-siv, \
         aes-siv, aes-ccm (each also with the bits of its key, as aes-256-gcm), chacha20-poly1305, \
         xchacha20-poly1305, aes-128-cbc-hmac-sha256, aes-192-cbc-hmac-sha384, \
         aes-256-cbc-hmac-sha512; spark has aes-gcm, aes-cbc; tink has aes-gcm, aes-gcm-siv, aes-siv, \
         chacha20-poly1305, xchacha20-poly1305; jwe has aes-gcm; \
         fernet has aes-128-cbc-hmac-sha256; mongodb has \
         aes-256-cbc-hmac-sha512"
    ))
}
