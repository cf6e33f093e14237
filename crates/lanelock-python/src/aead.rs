//! `lanelock.Aead`: columns encrypted and decrypted.

use data_encoding::BASE64URL;
use lanelock::algorithm::{Algorithm, Spec};
use lanelock::{Aead as Family, Cipher, Hash, Mac, Session, Transform};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::call::Call;
use crate::cbc::{self, HeaderCheck, Wrap};
use crate::encoding::{Decode, Encode};
use crate::engine;
use crate::failure::{NonceWarning, session_error};
use crate::keys::{Keys, Numbers};
use crate::nonces::{Counter, Limit};
use crate::output::Output;
use crate::seal;
use crate::types::Type;

/// Encrypts and decrypts columns with an AEAD.
///
/// ``algorithm`` is ``aes-256-gcm-siv`` (recommended), ``xchacha20-poly1305`` (recommended where AES
/// is not wanted), ``aes-siv`` (keys of 32, 48 or 64 bytes) for deterministic encryption, which can
/// be joined on, ``aes-256-gcm``, ``chacha20-poly1305``, or ``aes-256-cbc-hmac-sha512`` (RFC 7518).
/// Names without the key's size, as ``aes-gcm-siv``, take any size that the algorithm has.
///
/// ``key`` is ``bytes``, or a mapping from numbers to ``bytes``; methods then take a column of each
/// row's key number as ``keys``.
///
/// ``messages`` says how many values the key has encrypted before: random nonces allow so many
/// messages under one key (``bound``), a warning comes at a quarter of them, and more are refused.
///
/// ``layout`` is ``raw``: nonce, ciphertext, tag (for AES-SIV the synthetic IV, then the ciphertext), or
/// ``spark``: what Spark's ``aes_encrypt`` makes in the modes GCM and CBC. :func:`tink`,
/// :func:`fernet` and :func:`mongodb` make the others. ``nonce_length`` is another length of nonces
/// where the algorithm leaves a choice (AES-GCM, AES-CCM, AES-SIV).
///
/// >>> import lanelock
/// >>> aead = lanelock.Aead("aes-256-gcm-siv", bytes(32))
/// >>> column = aead.encrypt([b"one", None, b"three"])
/// >>> aead.decrypt(column).to_pylist()
/// [b'one', None, b'three']
#[pyclass(module = "lanelock", frozen)]
pub(crate) struct Aead {
    name: String,
    layout_name: &'static str,
    scheme: Scheme,
    numbers: Numbers,
    bound: Limit,
    counters: Vec<Counter>,
}

enum Scheme {
    Stream {
        sealing: Vec<Session>,
        opening: Vec<Session>,
        layout: seal::Layout,
    },
    Cbc {
        keys: Vec<cbc::Key>,
        layout: cbc::Layout,
    },
}

/// AES-CBC with HMAC by name: the hash, the bytes of each of the two keys, and of the tag.
const CBC_HMAC: &[(&str, Hash, usize)] = &[
    ("aes-128-cbc-hmac-sha256", Hash::Sha256, 16),
    ("aes-192-cbc-hmac-sha384", Hash::Sha384, 24),
    ("aes-256-cbc-hmac-sha512", Hash::Sha512, 32),
];

impl Aead {
    fn stream(
        family: Family,
        keys: &Keys,
        prefixes: Vec<Vec<u8>>,
        primary: usize,
        nonce: Option<usize>,
    ) -> PyResult<Scheme> {
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
        Ok(Scheme::Stream {
            sealing,
            opening,
            layout,
        })
    }

    /// AES-CBC with PKCS #7 padding, as Spark has it: nothing authenticates it.
    fn cbc(keys: &Keys) -> PyResult<Scheme> {
        let keys = keys.keys.iter().map(|key| {
            Ok(cbc::Key {
                seal: engine::session(Transform::encrypt(Cipher::AesCbc, key))?,
                open: engine::session(Transform::decrypt(Cipher::AesCbc, key))?,
                derive_iv: None,
            })
        });
        Ok(Scheme::Cbc {
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
    ) -> PyResult<Scheme> {
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
        Ok(Scheme::Cbc {
            keys: keys.collect::<PyResult<_>>()?,
            layout,
        })
    }

    /// Counts the messages that are about to be encrypted, for each key.
    fn count(&self, py: Python<'_>, call: &Call) -> PyResult<()> {
        let mut counts = vec![0_u64; self.counters.len()];
        match &call.keys {
            None => counts[self.primary()] = call.column.len() as u64,
            Some(keys) => {
                for chunk in &keys.chunks {
                    for row in (0..chunk.len()).filter(|row| !chunk.is_null(*row)) {
                        let number = chunk.integer(row);
                        if let Some(key) = number.and_then(|number| self.numbers.find(number)) {
                            counts[key] += 1;
                        }
                    }
                }
            }
        }
        for (position, (counter, add)) in self.counters.iter().zip(counts).enumerate() {
            let which = match self.numbers.at(position) {
                Some(number) => format!("key {number}"),
                None => "the key".to_owned(),
            };
            let before = counter.add(add, self.bound).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "{}: {which} has encrypted {} messages; with {add} more it would exceed the {} \
                     that random nonces allow ({}): use a new key",
                    self.name,
                    counter.get(),
                    self.bound.most,
                    self.bound.source
                ))
            })?;
            if before < self.bound.warn_from() && before + add >= self.bound.warn_from() {
                let text = format!(
                    "{}: {which} has encrypted {} of the {} messages that random nonces allow ({}): \
                     change the key soon",
                    self.name,
                    before + add,
                    self.bound.most,
                    self.bound.source
                );
                let text = std::ffi::CString::new(text)?;
                PyErr::warn(py, &py.get_type::<NonceWarning>(), &text, 2)?;
            }
        }
        Ok(())
    }

    fn primary(&self) -> usize {
        match &self.scheme {
            Scheme::Stream { layout, .. } => layout.primary,
            Scheme::Cbc { .. } => 0,
        }
    }

    /// Whether each row must name its key: there are several, and ciphertexts do not say which.
    fn needs_numbers(&self) -> bool {
        let named =
            matches!(&self.scheme, Scheme::Stream { layout, .. } if !layout.prefixes.is_empty());
        self.counters.len() > 1 && !named
    }

    /// The layout for values of a type: MongoDB's says which BSON type it is.
    fn for_type(&self, layout: &cbc::Layout, ty: &Type) -> PyResult<cbc::Layout> {
        let mut layout = layout.clone();
        match layout.header_check {
            HeaderCheck::None => {}
            HeaderCheck::Fernet => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                let seconds = now.map_or(0, |now| now.as_secs());
                layout.header[1..9].copy_from_slice(&seconds.to_be_bytes());
            }
            HeaderCheck::MongoDb => {
                let fixed = match ty {
                    Type::Fixed { format, .. } => format.split(':').next(),
                    _ => None,
                };
                let (number, wrap) = match (ty, fixed) {
                    (Type::Utf8 | Type::LargeUtf8 | Type::Utf8View, _) => (2, Wrap::BsonString),
                    (_, Some("i")) => (16, Wrap::None),
                    (_, Some("l")) => (18, Wrap::None),
                    (_, Some("g")) => (1, Wrap::None),
                    (_, Some("tsm")) => (9, Wrap::None),
                    (_, Some(other)) => {
                        return Err(PyValueError::new_err(format!(
                            "layout mongodb: the Arrow format {other:?} has no BSON type; allowed: \
                             binary, string, int32, int64, float64, timestamp[ms]"
                        )));
                    }
                    _ => (5, Wrap::BsonBinary),
                };
                layout.header[17] = number;
                layout.wrap = wrap;
            }
        }
        Ok(layout)
    }
}

fn unknown(algorithm: &str, layout: &str) -> PyErr {
    PyValueError::new_err(format!(
        "algorithm {algorithm:?} in the layout {layout:?}; allowed: raw has aes-gcm, aes-gcm-siv, \
         aes-siv, aes-ccm (each also with the bits of its key, as aes-256-gcm), chacha20-poly1305, \
         xchacha20-poly1305, aes-128-cbc-hmac-sha256, aes-192-cbc-hmac-sha384, \
         aes-256-cbc-hmac-sha512; spark has aes-gcm, aes-cbc; tink has aes-gcm, aes-gcm-siv, aes-siv, \
         chacha20-poly1305, xchacha20-poly1305; fernet has aes-128-cbc-hmac-sha256; mongodb has \
         aes-256-cbc-hmac-sha512"
    ))
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

#[pymethods]
impl Aead {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    #[pyo3(signature = (algorithm, key, *, layout="raw", messages=0, nonce_length=None, header=None, prefixes=None, primary=None))]
    fn new(
        algorithm: &str,
        key: &Bound<'_, PyAny>,
        layout: &str,
        messages: u64,
        nonce_length: Option<usize>,
        header: Option<Vec<u8>>,
        prefixes: Option<&Bound<'_, PyDict>>,
        primary: Option<i64>,
    ) -> PyResult<Self> {
        let keys = Keys::from_python(key)?;
        let family = family(algorithm, &keys)?;
        let cbc_hmac = CBC_HMAC.iter().find(|(name, ..)| *name == algorithm);
        let header = header.unwrap_or_default();
        let plain = cbc::Layout {
            header: header.clone(),
            header_check: HeaderCheck::None,
            tag: 0,
            length: true,
            wrap: Wrap::None,
        };
        let primary = match primary {
            None => 0,
            Some(number) => keys.numbers.find(number).ok_or_else(|| {
                PyValueError::new_err(format!("primary={number}: no key has that number"))
            })?,
        };
        let (layout_name, scheme) = match (layout, family, cbc_hmac) {
            ("raw", Some(family), _) => (
                "raw",
                Self::stream(family, &keys, Vec::new(), primary, nonce_length)?,
            ),
            ("spark", Some(Family::AesGcm), _) => (
                "spark",
                Self::stream(Family::AesGcm, &keys, Vec::new(), primary, None)?,
            ),
            ("spark", None, None)
                if ["aes-cbc", "aes-128-cbc", "aes-192-cbc", "aes-256-cbc"]
                    .contains(&algorithm) =>
            {
                ("spark", Self::cbc(&keys)?)
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
                let mut all = vec![Vec::new(); keys.keys.len()];
                for (number, prefix) in prefixes.map(|p| p.iter()).into_iter().flatten() {
                    let number: i64 = number.extract()?;
                    let position = keys.numbers.find(number).ok_or_else(|| {
                        PyValueError::new_err(format!("prefixes: no key has the number {number}"))
                    })?;
                    all[position] = prefix.extract()?;
                }
                ("tink", Self::stream(family, &keys, all, primary, None)?)
            }
            ("raw", None, Some((name, hash, half))) => {
                let layout = cbc::Layout {
                    tag: *half,
                    ..plain
                };
                (
                    "raw",
                    Self::cbc_hmac(name, (*hash, *half, *half), &keys, layout, None)?,
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
                    Self::cbc_hmac(name, (*hash, *half, 32), &keys, layout, None)?,
                )
            }
            ("mongodb", None, Some((name, hash @ Hash::Sha512, half))) => {
                let [kind @ (1 | 2), id @ ..] = &header[..] else {
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
                    header: [&header[..], &[0]].concat(),
                    header_check: HeaderCheck::MongoDb,
                    tag: 32,
                    ..plain
                };
                let deterministic = Some(*kind == 1);
                (
                    "mongodb",
                    Self::cbc_hmac(name, (*hash, *half, 32), &keys, layout, deterministic)?,
                )
            }
            _ => return Err(unknown(algorithm, layout)),
        };
        let (bound, name) = match (&scheme, family) {
            (Scheme::Stream { sealing, .. }, Some(family)) => {
                (Limit::of(family), sealing[0].spec().to_string())
            }
            _ => (Limit::CBC, algorithm.to_owned()),
        };
        Ok(Self {
            name,
            layout_name,
            scheme,
            counters: keys.keys.iter().map(|_| Counter::new(messages)).collect(),
            numbers: keys.numbers,
            bound,
        })
    }

    /// Encrypts every value of a column that is not null.
    ///
    /// ``aad`` is additional data that is authenticated with each value: ``bytes`` for all rows, or
    /// a column of each row's own. ``nonce`` is ``"random"``, or a column of nonces, none of which
    /// may be used twice with one key. ``keys`` is a column of key numbers.
    ///
    /// Returns a column of binary values with 64-bit offsets if the input's are, otherwise with
    /// 32-bit offsets; numbers are encrypted as Arrow stores them, in little-endian bytes. A row that
    /// fails raises :class:`RowError`; with ``on_error="null"`` it becomes null, and is listed in
    /// ``failures`` of the result.
    #[pyo3(signature = (column, aad=None, nonce=None, *, keys=None, on_error="raise", threads=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn encrypt(
        &self,
        py: Python<'_>,
        column: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
        nonce: Option<&Bound<'_, PyAny>>,
        keys: Option<&Bound<'_, PyAny>>,
        on_error: &str,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Output> {
        let random =
            |nonce: &&Bound<'_, PyAny>| nonce.extract::<String>().is_ok_and(|n| n == "random");
        let nonce = nonce.filter(|nonce| !nonce.is_none() && !random(nonce));
        let call = Call::new(column, threads, progress, on_error)?
            .aad(aad)?
            .keys(keys, &self.numbers, self.needs_numbers())?
            .nonces(nonce)?;
        if nonce.is_none() {
            self.count(py, &call)?;
        }
        let large = call.column.ty.is_large();
        let binary = if large {
            Type::LargeBinary
        } else {
            Type::Binary
        };
        let numbers = &self.numbers;
        match &self.scheme {
            Scheme::Stream {
                sealing, layout, ..
            } => {
                if nonce.is_some() && layout.nonce == 0 {
                    return Err(PyValueError::new_err(format!(
                        "nonce: {} is deterministic and takes none",
                        self.name
                    )));
                }
                if nonce.is_none() && (1..12).contains(&layout.nonce) {
                    return Err(PyValueError::new_err(format!(
                        "nonce: {} bytes are too few to be random; pass a column of nonces",
                        layout.nonce
                    )));
                }
                let work = seal::Seal {
                    keys: sealing,
                    layout,
                };
                call.run(py, &work, numbers, &binary)
            }
            Scheme::Cbc { keys, layout } => {
                self.refuse_aad(layout, aad)?;
                let layout = &self.for_type(layout, &call.column.ty)?;
                let work = cbc::Seal { keys, layout };
                if layout.header_check == HeaderCheck::Fernet {
                    let work = Encode {
                        inner: work,
                        encoding: BASE64URL,
                        prefix: Vec::new(),
                    };
                    let text = if large { Type::LargeUtf8 } else { Type::Utf8 };
                    return call.run(py, &work, numbers, &text);
                }
                call.run(py, &work, numbers, &binary)
            }
        }
    }

    /// Decrypts every value of a column that is not null.
    ///
    /// ``type`` is the type of the result: a name as ``"string"``, ``"int64"`` or
    /// ``"timestamp[us]"``, an Arrow type such as ``pyarrow.int64()``, or ``None`` for binary.
    ///
    /// No plaintext of a row that fails is ever in the output. See :meth:`encrypt` for the rest.
    #[pyo3(signature = (column, aad=None, *, keys=None, r#type=None, on_error="raise", threads=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn decrypt(
        &self,
        py: Python<'_>,
        column: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
        keys: Option<&Bound<'_, PyAny>>,
        r#type: Option<&Bound<'_, PyAny>>,
        on_error: &str,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Output> {
        let call = Call::new(column, threads, progress, on_error)?
            .aad(aad)?
            .keys(keys, &self.numbers, self.needs_numbers())?;
        let ty = match r#type {
            Some(ty) => Type::from_python(ty)?,
            None if call.column.ty.is_large() => Type::LargeBinary,
            None => Type::Binary,
        };
        // Views are written as values with offsets.
        let ty = match ty {
            Type::BinaryView => Type::LargeBinary,
            Type::Utf8View => Type::LargeUtf8,
            ty => ty,
        };
        let numbers = &self.numbers;
        match &self.scheme {
            Scheme::Stream {
                opening, layout, ..
            } => {
                let work = seal::Open {
                    keys: opening,
                    layout,
                };
                call.run(py, &work, numbers, &ty)
            }
            Scheme::Cbc { keys, layout } => {
                self.refuse_aad(layout, aad)?;
                let layout = &self.for_type(layout, &ty)?;
                let work = cbc::Open { keys, layout };
                if layout.header_check == HeaderCheck::Fernet {
                    let work = Decode {
                        inner: work,
                        encoding: BASE64URL,
                    };
                    return call.run(py, &work, numbers, &ty);
                }
                call.run(py, &work, numbers, &ty)
            }
        }
    }

    /// The algorithm's name with the bits of its key.
    #[getter]
    fn algorithm(&self) -> &str {
        &self.name
    }

    /// The layout of ciphertexts.
    #[getter]
    fn layout(&self) -> &str {
        self.layout_name
    }

    /// The most messages that one key may encrypt with random nonces.
    #[getter]
    fn bound(&self) -> u64 {
        self.bound.most
    }

    /// The messages encrypted so far with random nonces, of the key that has encrypted most.
    #[getter]
    fn messages(&self) -> u64 {
        self.counters.iter().map(Counter::get).max().unwrap_or(0)
    }

    fn __repr__(&self) -> String {
        format!(
            "<lanelock.Aead {} in the layout {}, {} key(s)>",
            self.name,
            self.layout_name,
            self.counters.len()
        )
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(pyo3::exceptions::PyTypeError::new_err(
            "an Aead holds a key and is not pickled: send a reference to its key (lanelock.KeyRef)",
        ))
    }
}

impl Aead {
    fn refuse_aad(&self, layout: &cbc::Layout, aad: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        if aad.is_some() && (layout.tag == 0 || !layout.header.is_empty()) {
            return Err(PyValueError::new_err(format!(
                "aad: the layout {} has no additional data for {}",
                self.layout_name, self.name
            )));
        }
        Ok(())
    }
}
