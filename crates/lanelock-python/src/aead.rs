//! `lanelock.Aead`: columns encrypted and decrypted.

use data_encoding::BASE64URL;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::call::Call;
use crate::cbc::{self, HeaderCheck, Wrap};
use crate::encoding::{Decode, Encode, Plain};
use crate::failure::NonceWarning;
use crate::keys::{Keys, Numbers};
use crate::nonces::{Counter, Limit};
use crate::output::Output;
use crate::scheme::{Request, Scheme};
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
/// :func:`fernet`, :func:`mongodb` and :func:`jwe` make the others. ``nonce_length`` is another length of nonces
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

impl Aead {
    /// Counts the messages that are about to be encrypted, for each key.
    fn count(&self, py: Python<'_>, call: &Call) -> PyResult<()> {
        let mut counts = vec![0_u64; self.counters.len()];
        match &call.keys {
            None => counts[self.scheme.primary()] = call.column.len() as u64,
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
        let request = Request {
            algorithm,
            keys: &keys,
            nonce_length,
            header: header.unwrap_or_default(),
            prefixes,
            primary,
        };
        let (layout_name, family, scheme) = request.scheme(layout)?;
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
        self.refuse_aad(aad)?;
        if nonce.is_none() {
            self.count(py, &call)?;
        }
        let large = call.column.ty.is_large();
        let binary = if large {
            Type::LargeBinary
        } else {
            Type::Binary
        };
        let text_type = if large { Type::LargeUtf8 } else { Type::Utf8 };
        let numbers = &self.numbers;
        match &self.scheme {
            Scheme::Stream {
                sealing,
                layout,
                jwe,
                ..
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
                if let Some(text) = jwe {
                    let work = Encode { inner: work, text };
                    return call.run(py, &work, numbers, &text_type);
                }
                call.run(py, &work, numbers, &binary)
            }
            Scheme::Cbc { keys, layout } => {
                let layout = &self.for_type(layout, &call.column.ty)?;
                let work = cbc::Seal { keys, layout };
                if layout.header_check == HeaderCheck::Fernet {
                    let work = Encode {
                        inner: work,
                        text: &FERNET,
                    };
                    return call.run(py, &work, numbers, &text_type);
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
        self.refuse_aad(aad)?;
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
                opening,
                layout,
                jwe,
                ..
            } => {
                let work = seal::Open {
                    keys: opening,
                    layout,
                };
                if let Some(text) = jwe {
                    let work = Decode { inner: work, text };
                    return call.run(py, &work, numbers, &ty);
                }
                call.run(py, &work, numbers, &ty)
            }
            Scheme::Cbc { keys, layout } => {
                let layout = &self.for_type(layout, &ty)?;
                let work = cbc::Open { keys, layout };
                if layout.header_check == HeaderCheck::Fernet {
                    let work = Decode {
                        inner: work,
                        text: &FERNET,
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
    fn refuse_aad(&self, aad: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let none = match &self.scheme {
            Scheme::Stream { jwe, .. } => jwe.is_some(),
            Scheme::Cbc { layout, .. } => layout.tag == 0 || !layout.header.is_empty(),
        };
        if aad.is_some() && none {
            return Err(PyValueError::new_err(format!(
                "aad: the layout {} has no additional data for {}",
                self.layout_name, self.name
            )));
        }
        Ok(())
    }
}

/// Of Fernet tokens.
static FERNET: Plain = Plain {
    encoding: BASE64URL,
    prefix: Vec::new(),
};
