//! Columns that go out.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList, PyString};
use subtle::ConstantTimeEq;

use crate::arrow::{Ours, export, export_stream, export_type};
use crate::buffer::Buffer;
use crate::column::{Chunk, Column};
use crate::failure::Reason;
use crate::offsets;
use crate::run::Values;
use crate::types::Type;

/// Arrow's format of booleans.
const BOOLEANS: &str = "b";

/// A column of results.
///
/// It has the Arrow PyCapsule interface: ``pyarrow.array(column)`` or
/// ``pyarrow.chunked_array(column)``, ``polars.Series(column)``, and everything else that reads
/// Arrow takes it without a copy. ``column.to_pylist()`` gives Python objects.
#[pyclass(name = "Column", module = "lanelock", frozen)]
pub(crate) struct Output {
    ty: Type,
    chunks: Vec<Ours>,
    failures: Vec<(usize, Reason)>,
}

impl Output {
    /// The results of `inputs` as values of `ty`. What is not of that type fails.
    pub(crate) fn new(ty: &Type, inputs: &Column, values: Vec<Values>) -> Self {
        let (mut chunks, mut failures) = (Vec::new(), Vec::new());
        let mut first = 0;
        for (chunk, values) in inputs.chunks.iter().zip(values) {
            let (array, failed) = finish(ty, chunk, values);
            failures.extend(
                failed
                    .into_iter()
                    .map(|(row, reason)| (first + row, reason)),
            );
            first += chunk.len();
            chunks.push(array);
        }
        Self {
            ty: ty.clone(),
            chunks,
            failures,
        }
    }

    /// The first row that failed, and how many did.
    pub(crate) fn first_failure(&self) -> Option<(usize, &Reason, usize)> {
        let (row, reason) = self.failures.first()?;
        Some((*row, reason, self.failures.len()))
    }

    fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len).sum()
    }
}

/// The kind of type whose values this crate writes: with offsets, or of one width.
fn finish(ty: &Type, chunk: &Chunk, mut values: Values) -> (Ours, Vec<(usize, Reason)>) {
    let len = values.len;
    let large = ty.is_large();
    let mut failures = std::mem::take(&mut values.failures);
    if ty.is_text() {
        not_utf8(&values, large, &mut failures);
    }
    failures.sort_by_key(|(row, _)| *row);
    failures.dedup_by_key(|(row, _)| *row);
    let mut nulls = 0;
    let validity = (chunk.has_nulls() || !failures.is_empty()).then(|| {
        let mut bits = Buffer::new(len.div_ceil(8));
        chunk.copy_validity(bits.bytes_mut());
        for (row, _) in &failures {
            bits.bytes_mut()[row / 8] &= !(1 << (row % 8));
            // What is null is not plaintext either. In slots of one width there are zeros already.
            if values.offsets.is_some() {
                let range = values.range(*row, large);
                values.data.bytes_mut()[range].fill(0);
            }
        }
        let valid: u32 = bits.bytes().iter().map(|byte| byte.count_ones()).sum();
        nulls = len - valid as usize;
        Arc::new(bits)
    });
    let mut buffers = vec![validity];
    buffers.extend(values.offsets.map(|offsets| Some(Arc::new(offsets))));
    buffers.push(Some(Arc::new(values.data)));
    let array = Ours {
        format: ty.format(),
        len,
        nulls,
        buffers,
    };
    (array, failures)
}

fn not_utf8(values: &Values, large: bool, failures: &mut Vec<(usize, Reason)>) {
    let whole = std::str::from_utf8(values.data.bytes());
    for row in 0..values.len {
        let range = values.range(row, large);
        let good = match whole {
            Ok(text) => text.is_char_boundary(range.start) && text.is_char_boundary(range.end),
            Err(_) => std::str::from_utf8(&values.data.bytes()[range]).is_ok(),
        };
        if !good {
            failures.push((row, Reason::Type("the value is not UTF-8".to_owned())));
        }
    }
}

impl Values {
    /// The bytes of a row, in a column that has offsets.
    pub(crate) fn range(&self, row: usize, large: bool) -> std::ops::Range<usize> {
        let offsets = self.offsets.as_ref().map_or(&[][..], Buffer::bytes);
        offsets::read(offsets, large, row)..offsets::read(offsets, large, row + 1)
    }
}

#[pymethods]
impl Output {
    fn __len__(&self) -> usize {
        self.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "<lanelock.Column of {} rows, Arrow format {:?}, {} null>",
            self.len(),
            self.ty.format(),
            self.null_count()
        )
    }

    /// How many rows are null: those that were null before, and those that failed.
    #[getter]
    fn null_count(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.nulls).sum()
    }

    /// The rows that failed, each with the reason: ``[(row, reason), ...]``.
    #[getter]
    fn failures(&self) -> Vec<(usize, String)> {
        let text = |(row, reason): &(usize, Reason)| (*row, reason.to_string());
        self.failures.iter().map(text).collect()
    }

    /// A column of booleans: whether each row failed.
    #[getter]
    fn failed(&self) -> Self {
        let len = self.len();
        let mut bits = Buffer::zeroed(len.div_ceil(8));
        for (row, _) in &self.failures {
            bits.bytes_mut()[row / 8] |= 1 << (row % 8);
        }
        let chunk = Ours {
            format: BOOLEANS.to_owned(),
            len,
            nulls: 0,
            buffers: vec![None, Some(Arc::new(bits))],
        };
        Self::booleans(vec![chunk], Vec::new())
    }

    /// The type, as an Arrow schema capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_type(py, &self.ty.format())
    }

    /// The column as one Arrow array, if it has one chunk.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema); // a wish that the interface lets us ignore
        match self.chunks.as_slice() {
            [array] => export(py, array),
            [] => {
                let empty = Arc::new(Buffer::zeroed(8));
                let buffers = vec![None, Some(empty.clone()), Some(empty)];
                let array = Ours {
                    format: self.ty.format(),
                    len: 0,
                    nulls: 0,
                    buffers: buffers.into_iter().take(self.buffers()).collect(),
                };
                export(py, &array)
            }
            chunks => Err(PyValueError::new_err(format!(
                "the column has {} chunks: read it as a stream (pyarrow.chunked_array)",
                chunks.len()
            ))),
        }
    }

    /// The column as a stream of Arrow arrays.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        export_stream(py, &self.ty.format(), self.chunks.clone())
    }

    /// The values as ``bytes``, ``str`` or ``bool``, and ``None`` for null; numbers as the bytes
    /// that Arrow stores.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for chunk in &self.chunks {
            for row in 0..chunk.len {
                match self.item(chunk, row) {
                    None => list.append(py.None())?,
                    Some(_) if self.ty.format() == BOOLEANS => {
                        let bits = chunk.buffers[1]
                            .as_ref()
                            .map_or(&[][..], |bits| bits.bytes());
                        list.append(bits[row / 8] >> (row % 8) & 1 == 1)?;
                    }
                    Some(value) if self.ty.is_text() => {
                        list.append(PyString::from_bytes(py, value)?)?;
                    }
                    Some(value) => list.append(PyBytes::new(py, value))?,
                }
            }
        }
        Ok(list)
    }
}

impl Output {
    fn booleans(chunks: Vec<Ours>, failures: Vec<(usize, Reason)>) -> Self {
        let ty = Type::Fixed {
            format: BOOLEANS.to_owned(),
            width: 0,
        };
        Self {
            ty,
            chunks,
            failures,
        }
    }

    /// Whether each value is that of `given`, compared in constant time; null where one of them is.
    /// `given` has as many rows.
    pub(crate) fn verdicts(self, given: &Column) -> Self {
        let rows = given.chunks.iter();
        let mut rows = rows.flat_map(|chunk| (0..chunk.len()).map(move |row| (chunk, row)));
        let verdicts = |chunk: &Ours| {
            let mut bits = Buffer::zeroed(chunk.len.div_ceil(8));
            let mut valid = Buffer::zeroed(chunk.len.div_ceil(8));
            let mut nulls = 0;
            for (row, (theirs, at)) in rows.by_ref().take(chunk.len).enumerate() {
                match self.item(chunk, row) {
                    Some(expected) if !theirs.is_null(at) => {
                        valid.bytes_mut()[row / 8] |= 1 << (row % 8);
                        let equal = theirs.value(at).map(|tag| expected.ct_eq(tag).unwrap_u8());
                        bits.bytes_mut()[row / 8] |= equal.unwrap_or(0) << (row % 8);
                    }
                    _ => nulls += 1,
                }
            }
            Ours {
                format: BOOLEANS.to_owned(),
                len: chunk.len,
                nulls,
                buffers: vec![Some(Arc::new(valid)), Some(Arc::new(bits))],
            }
        };
        let chunks = self.chunks.iter().map(verdicts).collect();
        Self::booleans(chunks, self.failures)
    }

    fn buffers(&self) -> usize {
        match self.ty {
            Type::Fixed { .. } | Type::FixedSizeBinary(_) => 2,
            _ => 3,
        }
    }

    fn item<'a>(&self, chunk: &'a Ours, row: usize) -> Option<&'a [u8]> {
        let buffer = |index: usize| chunk.buffers[index].as_ref().map(|buffer| buffer.bytes());
        let valid = buffer(0).is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1);
        if !valid {
            return None;
        }
        if let Type::Fixed { width, .. } | Type::FixedSizeBinary(width) = self.ty {
            return buffer(1)?.get(row * width..(row + 1) * width);
        }
        let (offsets, large) = (buffer(1)?, self.ty.is_large());
        buffer(2)?.get(offsets::read(offsets, large, row)..offsets::read(offsets, large, row + 1))
    }
}
