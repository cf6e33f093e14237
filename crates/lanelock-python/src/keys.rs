//! Keys as Python gives them: one, or several with numbers.

use std::collections::HashMap;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMapping};
use zeroize::Zeroizing;

/// Keys with their numbers, in the order given.
pub(crate) struct Keys {
    pub(crate) keys: Vec<Zeroizing<Vec<u8>>>,
    pub(crate) numbers: Numbers,
}

/// The position of each key number.
#[derive(Default)]
pub(crate) struct Numbers {
    all: Vec<i64>,
    /// Of numbers below [`Numbers::SMALL`]: the position and one, or zero.
    small: Vec<u32>,
    others: HashMap<i64, usize>,
}

impl Keys {
    /// A key as `bytes`, or a mapping from numbers to keys.
    pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(key) = key_bytes(object) {
            return Ok(Self {
                keys: vec![key],
                numbers: Numbers::default(),
            });
        }
        let mapping = object.cast::<PyMapping>().map_err(|_| {
            PyTypeError::new_err("key: allowed are bytes, or a mapping from numbers to bytes")
        })?;
        let (mut keys, mut numbers) = (Vec::new(), Numbers::default());
        for item in mapping.items()?.iter() {
            let (number, key): (i64, Bound<'_, PyAny>) = item.extract()?;
            let key = key_bytes(&key)
                .ok_or_else(|| PyTypeError::new_err(format!("key {number} is not bytes")))?;
            numbers.push(number);
            keys.push(key);
        }
        if keys.is_empty() {
            return Err(PyValueError::new_err("key: the mapping has no key"));
        }
        Ok(Self { keys, numbers })
    }
}

impl Numbers {
    const SMALL: usize = 1 << 16;

    fn push(&mut self, number: i64) {
        let position = self.all.len();
        self.all.push(number);
        match usize::try_from(number) {
            Ok(small) if small < Self::SMALL => {
                if self.small.len() <= small {
                    self.small.resize(small + 1, 0);
                }
                self.small[small] = u32::try_from(position + 1).unwrap_or(0);
            }
            _ => {
                self.others.insert(number, position);
            }
        }
    }

    /// Whether keys have numbers at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The number of the key at a position.
    pub(crate) fn at(&self, position: usize) -> Option<i64> {
        self.all.get(position).copied()
    }

    /// The position of the key with a number.
    #[inline]
    pub(crate) fn find(&self, number: i64) -> Option<usize> {
        match usize::try_from(number) {
            Ok(small) if small < Self::SMALL => (*self.small.get(small)? as usize).checked_sub(1),
            _ => self.others.get(&number).copied(),
        }
    }
}

fn key_bytes(object: &Bound<'_, PyAny>) -> Option<Zeroizing<Vec<u8>>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Some(Zeroizing::new(bytes.as_bytes().to_vec()));
    }
    let bytes = object.cast::<PyByteArray>().ok()?;
    Some(Zeroizing::new(bytes.to_vec()))
}
