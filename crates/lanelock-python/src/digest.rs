//! `lanelock.Mac` and `lanelock.Hash`: pseudonyms and fingerprints of columns.

use lanelock::algorithm::{Algorithm, Spec};
use lanelock::{Hash as Function, Mac as Family, Session, Transform};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::call::Call;
use crate::column::Column;
use crate::encoding::{self, Encode, Plain};
use crate::engine;
use crate::failure::session_error;
use crate::keys::{Keys, Numbers};
use crate::mac::Digest;
use crate::output::Output;
use crate::types::Type;

/// Computes a MAC of every value of a column: pseudonyms that only the key's owner can make.
///
/// ``algorithm`` is ``hmac-sha256`` or another HMAC over SHA-2 or SHA-3, or ``aes-cmac``
/// (``aes-128-cmac`` to ``aes-256-cmac``). ``key`` is ``bytes``, or a mapping from numbers to ``bytes``.
/// ``length`` truncates the result to so many bytes. ``encoding`` makes it text: ``"hex"``,
/// ``"base64"``, ``"base64url"`` or ``"base64url-nopad"``; ``prefix`` then stands before it.
///
/// >>> import lanelock
/// >>> mac = lanelock.Mac("hmac-sha256", bytes(32), length=8, encoding="hex", prefix="user_")
/// >>> mac.compute(["a@example.org", None]).to_pylist()
/// ['user_8a2b11ba402d9014', None]
#[pyclass(module = "lanelock", frozen)]
pub(crate) struct Mac {
    sessions: Vec<Session>,
    numbers: Numbers,
    form: Form,
}

/// Computes a hash of every value of a column.
///
/// ``algorithm`` is ``sha256`` or another of SHA-2, SHA-3 and SHAKE. A hash is no pseudonym: who can
/// guess a value can check the guess. For pseudonyms use :class:`Mac`. ``length``, ``encoding`` and
/// ``prefix`` are those of :class:`Mac`.
///
/// >>> import lanelock
/// >>> lanelock.Hash("sha256", length=4, encoding="hex").compute([b"abc"]).to_pylist()
/// ['ba7816bf']
#[pyclass(module = "lanelock", frozen)]
pub(crate) struct Hash {
    sessions: Vec<Session>,
    form: Form,
}

/// What becomes of the bytes of a digest.
struct Form {
    text: Option<Plain>,
}

impl Form {
    fn new(encoding: Option<&str>, prefix: &str) -> PyResult<Self> {
        let Some(name) = encoding else {
            return match prefix {
                "" => Ok(Self { text: None }),
                _ => Err(PyValueError::new_err(
                    "prefix: only text has one; set encoding",
                )),
            };
        };
        let encoding = encoding::named(name).ok_or_else(|| {
            PyValueError::new_err(format!("encoding {name:?}; allowed: {}", encoding::NAMES))
        })?;
        let text = Some(Plain {
            encoding,
            prefix: prefix.as_bytes().to_vec(),
        });
        Ok(Self { text })
    }

    fn run(
        &self,
        py: Python<'_>,
        call: &Call,
        keys: &[Session],
        numbers: &Numbers,
    ) -> PyResult<Output> {
        let inner = Digest { keys };
        match &self.text {
            None => call.run(
                py,
                &inner,
                numbers,
                &Type::FixedSizeBinary(keys[0].tag_len()),
            ),
            Some(text) => {
                let work = Encode { inner, text };
                let large = call.column.ty.is_large();
                let ty = if large { Type::LargeUtf8 } else { Type::Utf8 };
                call.run(py, &work, numbers, &ty)
            }
        }
    }
}

fn session(transform: Transform, length: Option<usize>) -> PyResult<Session> {
    let transform = match length {
        Some(length) => transform.tag_len(length),
        None => transform,
    };
    engine::session(transform).map_err(|error| session_error(&error))
}

#[pymethods]
impl Mac {
    #[new]
    #[pyo3(signature = (algorithm, key, *, length=None, encoding=None, prefix=""))]
    fn new(
        algorithm: &str,
        key: &Bound<'_, PyAny>,
        length: Option<usize>,
        encoding: Option<&str>,
        prefix: &str,
    ) -> PyResult<Self> {
        let keys = Keys::from_python(key)?;
        let form = Form::new(encoding, prefix)?;
        let named = Family::ALL
            .iter()
            .find(|mac| Algorithm::Mac(**mac).row().name == algorithm);
        let (family, key_len) = match (named, algorithm.parse::<Spec>()) {
            (Some(family), _) => (*family, None),
            (
                None,
                Ok(Spec {
                    algorithm: Algorithm::Mac(family),
                    key_len,
                    ..
                }),
            ) => (family, Some(key_len)),
            _ => return Err(unknown(algorithm)),
        };
        if !matches!(family, Family::Hmac(_) | Family::AesCmac) {
            return Err(unknown(algorithm));
        }
        let sessions = keys.keys.iter().map(|key| match key_len {
            Some(allowed) if key.len() != allowed => Err(PyValueError::new_err(format!(
                "{algorithm}: key of {} bytes; allowed: {allowed}",
                key.len()
            ))),
            _ => session(Transform::compute(family, key), length),
        });
        Ok(Self {
            sessions: sessions.collect::<PyResult<_>>()?,
            numbers: keys.numbers,
            form,
        })
    }

    /// The MAC of every value that is not null: fixed-size binary, or text if there is an encoding.
    #[pyo3(signature = (column, *, keys=None, on_error="raise", threads=None, progress=None))]
    fn compute(
        &self,
        py: Python<'_>,
        column: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyAny>>,
        on_error: &str,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Output> {
        let several = self.sessions.len() > 1;
        let call =
            Call::new(column, threads, progress, on_error)?.keys(keys, &self.numbers, several)?;
        self.form.run(py, &call, &self.sessions, &self.numbers)
    }

    /// Whether ``tags`` has the MAC of each value, as :meth:`compute` makes it: a column of booleans,
    /// null where the value or its tag is. Tags are compared in constant time. A row whose key number is
    /// wrong raises :class:`RowError`, or becomes null with ``on_error="null"``.
    ///
    /// >>> import lanelock
    /// >>> mac = lanelock.Mac("hmac-sha256", bytes(32), length=16)
    /// >>> tags = mac.compute([b"one", b"two"])
    /// >>> mac.verify([b"one", b"three"], tags).to_pylist()
    /// [True, False]
    #[pyo3(signature = (column, tags, *, keys=None, on_error="raise", threads=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn verify(
        &self,
        py: Python<'_>,
        column: &Bound<'_, PyAny>,
        tags: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyAny>>,
        on_error: &str,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Output> {
        let several = self.sessions.len() > 1;
        let call =
            Call::new(column, threads, progress, on_error)?.keys(keys, &self.numbers, several)?;
        let tags = Column::new(tags, "tags")?;
        call.as_long(&tags, "tags")?;
        if let Type::Fixed { format, .. } = &tags.ty {
            return Err(PyValueError::new_err(format!(
                "tags has the Arrow format {format:?}; allowed: binary, fixed-size binary, string"
            )));
        }
        let computed = self.form.run(py, &call, &self.sessions, &self.numbers)?;
        Ok(py.detach(|| computed.verdicts(&tags)))
    }

    /// The algorithm's name.
    #[getter]
    fn algorithm(&self) -> String {
        self.sessions[0].spec().to_string()
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(pyo3::exceptions::PyTypeError::new_err(
            "a Mac holds a key and is not pickled: send a reference to its key (lanelock.KeyRef)",
        ))
    }
}

fn unknown(algorithm: &str) -> PyErr {
    PyValueError::new_err(format!(
        "algorithm {algorithm:?}; allowed: hmac-sha1, hmac-sha224, hmac-sha256, hmac-sha384, \
         hmac-sha512, hmac-sha3-224, hmac-sha3-256, hmac-sha3-384, hmac-sha3-512, aes-cmac"
    ))
}

#[pymethods]
impl Hash {
    #[new]
    #[pyo3(signature = (algorithm, *, length=None, encoding=None, prefix=""))]
    fn new(
        algorithm: &str,
        length: Option<usize>,
        encoding: Option<&str>,
        prefix: &str,
    ) -> PyResult<Self> {
        let form = Form::new(encoding, prefix)?;
        let named = Function::ALL
            .iter()
            .find(|hash| Algorithm::Hash(**hash).row().name == algorithm);
        let hash = named.ok_or_else(|| {
            PyValueError::new_err(format!(
                "algorithm {algorithm:?}; allowed: sha1, sha224, sha256, sha384, sha512, sha3-224, \
                 sha3-256, sha3-384, sha3-512, shake128, shake256"
            ))
        })?;
        Ok(Self {
            sessions: vec![session(Transform::hash(*hash), length)?],
            form,
        })
    }

    /// The hash of every value that is not null: fixed-size binary, or text if there is an encoding.
    #[pyo3(signature = (column, *, on_error="raise", threads=None, progress=None))]
    fn compute(
        &self,
        py: Python<'_>,
        column: &Bound<'_, PyAny>,
        on_error: &str,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Output> {
        let call = Call::new(column, threads, progress, on_error)?;
        self.form
            .run(py, &call, &self.sessions, &Numbers::default())
    }

    /// The algorithm's name.
    #[getter]
    fn algorithm(&self) -> String {
        self.sessions[0].spec().to_string()
    }
}
