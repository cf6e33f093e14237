//! Columns that come in: Arrow arrays and streams of them, lists, NumPy arrays. Each value is a
//! slice of bytes, wherever it lies.

use std::ops::Range;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PySlice, PyString, PyTuple};

use crate::arrow::{Bytes, Node, import};
use crate::types::Type;
use crate::work::Rows;

/// Bytes of a NumPy array that are copied at a time.
const COPIED: usize = 1 << 20;

/// A column in pieces.
pub(crate) struct Column {
    pub(crate) ty: Type,
    pub(crate) chunks: Vec<Chunk>,
}

/// One array.
pub(crate) struct Chunk {
    len: usize,
    offset: usize,
    /// One bit a row from `offset` on, as Arrow has it; `None` if no row is null.
    validity: Option<Buf>,
    values: Values,
}

/// Bytes of an Arrow array, or of our own.
enum Buf {
    Theirs(Bytes),
    Own(Vec<u8>),
}

enum Values {
    /// Ends of values, the first preceded by its start.
    Offsets32 {
        offsets: Buf,
        data: Buf,
    },
    Offsets64 {
        offsets: Buf,
        data: Buf,
    },
    Fixed {
        width: usize,
        data: Buf,
    },
    Views {
        views: Buf,
        buffers: Vec<Buf>,
    },
    Dictionary {
        indices: Integers,
        values: Box<Chunk>,
    },
    /// Every row is null.
    Null,
}

/// Integers of any width, little-endian.
struct Integers {
    data: Buf,
    width: usize,
    signed: bool,
}

impl Column {
    /// A column of what `object` is; `what` names it in errors.
    pub(crate) fn new(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        if let Some((format, nodes)) = import(object)? {
            let ty = Type::parse(&format).ok_or_else(|| {
                PyTypeError::new_err(format!(
                    "{what} has the Arrow format {:?}; allowed: binary, string, fixed-size binary, \
                     integers, dates, times, timestamps, durations, floats, decimals, and \
                     dictionaries of these",
                    format.name
                ))
            })?;
            let chunks = nodes.iter().map(|node| Chunk::new(node, what));
            return Ok(Self {
                ty,
                chunks: chunks.collect::<PyResult<_>>()?,
            });
        }
        if let Ok(list) = object.cast::<PyList>() {
            return Self::of_items(list.iter(), what);
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return Self::of_items(tuple.iter(), what);
        }
        if object.hasattr("__array_interface__")? {
            return Self::of_numpy(object, what);
        }
        Err(PyTypeError::new_err(format!(
            "{what} is of type {}; allowed: an object with the Arrow PyCapsule interface, a list of \
             bytes or str, a NumPy array",
            object.get_type().name()?
        )))
    }

    fn of_items<'py>(
        items: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
        what: &str,
    ) -> PyResult<Self> {
        let len = items.len();
        let (mut data, mut offsets) = (Vec::new(), Vec::with_capacity(8 * (len + 1)));
        let mut validity: Option<Vec<u8>> = None;
        let mut ty = None;
        offsets.extend(0_u64.to_ne_bytes());
        for (row, item) in items.enumerate() {
            let item_type = if item.is_none() {
                let validity = validity.get_or_insert_with(|| vec![0xff; len.div_ceil(8)]);
                validity[row / 8] &= !(1 << (row % 8));
                None
            } else if let Ok(bytes) = item.cast::<PyBytes>() {
                data.extend_from_slice(bytes.as_bytes());
                Some(Type::LargeBinary)
            } else if let Ok(text) = item.cast::<PyString>() {
                data.extend_from_slice(text.to_cow()?.as_bytes());
                Some(Type::LargeUtf8)
            } else if let Ok(bytes) = item.cast::<PyByteArray>() {
                data.extend_from_slice(&bytes.to_vec());
                Some(Type::LargeBinary)
            } else {
                return Err(PyTypeError::new_err(format!(
                    "{what} has an item of type {} in row {row}; allowed: bytes, str, None",
                    item.get_type().name()?
                )));
            };
            if item_type.is_some() && ty.is_some() && item_type != ty {
                return Err(PyTypeError::new_err(format!(
                    "{what} mixes bytes and str (in row {row})"
                )));
            }
            ty = item_type.or(ty);
            offsets.extend((data.len() as u64).to_ne_bytes());
        }
        Ok(Self {
            ty: ty.unwrap_or(Type::LargeBinary),
            chunks: vec![Chunk {
                len,
                offset: 0,
                validity: validity.map(Buf::Own),
                values: Values::Offsets64 {
                    offsets: Buf::Own(offsets),
                    data: Buf::Own(data),
                },
            }],
        })
    }

    /// One dimension of items of one size. NumPy has no nulls.
    fn of_numpy(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let dtype: String = array.getattr("dtype")?.getattr("str")?.extract()?;
        let dimensions: usize = array.getattr("ndim")?.extract()?;
        if dimensions != 1 {
            return Err(PyTypeError::new_err(format!(
                "{what} has {dimensions} dimensions; allowed: 1"
            )));
        }
        let width: usize = array.getattr("dtype")?.getattr("itemsize")?.extract()?;
        let ty = Type::of_numpy(&dtype, width).ok_or_else(|| {
            PyTypeError::new_err(format!(
                "{what} has the NumPy type {dtype:?}; allowed: little-endian integers, floats and \
                 datetimes, and bytes of a fixed width (S, V)"
            ))
        })?;
        let len = array.len()?;
        let mut data = Vec::with_capacity(len * width);
        // In pieces, so that there is one copy of all and not two.
        let step = (COPIED / width.max(1)).max(1);
        for start in (0..len).step_by(step) {
            let piece = array.get_item(PySlice::new(
                array.py(),
                start.cast_signed(),
                (start + step).cast_signed(),
                1,
            ))?;
            let bytes = piece.call_method0("tobytes")?;
            data.extend_from_slice(bytes.cast::<PyBytes>()?.as_bytes());
        }
        Ok(Self {
            ty,
            chunks: vec![Chunk {
                len,
                offset: 0,
                validity: None,
                values: Values::Fixed {
                    width,
                    data: Buf::Own(data),
                },
            }],
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.chunks.iter().map(Chunk::len).sum()
    }
}

impl Chunk {
    fn new(node: &Node, what: &str) -> PyResult<Self> {
        let invalid = || {
            PyValueError::new_err(format!(
                "{what}: the Arrow array lacks a buffer or has an impossible length"
            ))
        };
        let buffers = node.buffers().ok_or_else(invalid)?;
        let main = Buf::Theirs(buffers.main);
        let mut data = buffers.data.into_iter().map(Buf::Theirs);
        let values = match (Type::parse(&node.format), node.dictionary()) {
            (_, Some(dictionary)) => {
                let (width, signed) = integer(&node.format.name).ok_or_else(invalid)?;
                Values::Dictionary {
                    indices: Integers {
                        data: main,
                        width,
                        signed,
                    },
                    values: Box::new(Self::new(&dictionary, what)?),
                }
            }
            (Some(Type::Null), _) => Values::Null,
            (Some(Type::Binary | Type::Utf8), _) => Values::Offsets32 {
                offsets: main,
                data: data.next().ok_or_else(invalid)?,
            },
            (Some(Type::LargeBinary | Type::LargeUtf8), _) => Values::Offsets64 {
                offsets: main,
                data: data.next().ok_or_else(invalid)?,
            },
            (Some(Type::BinaryView | Type::Utf8View), _) => Values::Views {
                views: main,
                buffers: data.collect(),
            },
            (Some(Type::FixedSizeBinary(width) | Type::Fixed { width, .. }), _) => {
                Values::Fixed { width, data: main }
            }
            (None, _) => return Err(invalid()),
        };
        Ok(Self {
            len: node.len(),
            offset: node.offset(),
            validity: buffers.validity.map(Buf::Theirs),
            values,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether some row may be null.
    pub(crate) fn has_nulls(&self) -> bool {
        match &self.values {
            Values::Null => self.len > 0,
            Values::Dictionary { values, .. } => self.validity.is_some() || values.has_nulls(),
            _ => self.validity.is_some(),
        }
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        let row = row + self.offset;
        let null = |bits: &Buf| bits[row / 8] >> (row % 8) & 1 == 0;
        self.validity.as_ref().is_some_and(null)
            || match &self.values {
                Values::Null => true,
                Values::Dictionary { indices, values } if values.has_nulls() => {
                    let index = indices
                        .get(row)
                        .and_then(|index| usize::try_from(index).ok());
                    index.is_some_and(|index| index < values.len && values.is_null(index))
                }
                _ => false,
            }
    }

    /// The bytes of a row that is not null; `None` if the array is not as Arrow wants it.
    #[inline]
    pub(crate) fn value(&self, row: usize) -> Option<&[u8]> {
        let row = row + self.offset;
        match &self.values {
            Values::Offsets32 { offsets, data } => {
                let (start, end) = (i32_at(offsets, row)?, i32_at(offsets, row + 1)?);
                // A negative offset becomes one that is too large.
                data.get(start.cast_unsigned() as usize..end.cast_unsigned() as usize)
            }
            Values::Offsets64 { offsets, data } => {
                let (start, end) = (i64_at(offsets, row)?, i64_at(offsets, row + 1)?);
                data.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
            }
            Values::Fixed { width, data } => data.get(row * width..(row + 1) * width),
            Values::Views { views, buffers } => {
                let view = views.as_chunks::<16>().0.get(row)?;
                let word = |at: usize| Some(i32_at(view, at)?.cast_unsigned() as usize);
                let len = word(0)?;
                if len <= 12 {
                    return view.get(4..4 + len);
                }
                let (buffer, start) = (buffers.get(word(2)?)?, word(3)?);
                buffer.get(start..start.checked_add(len)?)
            }
            Values::Dictionary { indices, values } => {
                let index = usize::try_from(indices.get(row)?).ok()?;
                if index < values.len {
                    values.value(index)
                } else {
                    None
                }
            }
            Values::Null => None,
        }
    }

    /// The values of rows side by side, none of them null: as [`Chunk::value`], with one look at the
    /// kind of array. `None` if one is not as Arrow wants it.
    #[inline]
    pub(crate) fn values<'a>(
        &'a self,
        rows: Range<usize>,
        into: &mut Rows<&'a [u8]>,
    ) -> Option<()> {
        let (first, last) = (rows.start + self.offset, rows.end + self.offset);
        match &self.values {
            Values::Offsets32 { offsets, data } => {
                let (first, ends) = offsets
                    .as_chunks::<4>()
                    .0
                    .get(first..=last)?
                    .split_first()?;
                let end = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes) as usize;
                let (data, mut from): (&[u8], _) = (data, end(first));
                for to in ends {
                    into.push(data.get(from..end(to))?);
                    from = end(to);
                }
            }
            Values::Fixed { width, data } if *width > 0 => {
                let data = data.get(first * width..last * width)?;
                into.extend(data.chunks_exact(*width));
            }
            _ => {
                for row in rows {
                    into.push(self.value(row)?);
                }
            }
        }
        Some(())
    }

    /// The integer of a row that is not null, if the column has integers.
    pub(crate) fn integer(&self, row: usize) -> Option<i64> {
        let value = self.value(row)?;
        let mut wide = [0; 8];
        wide.get_mut(..value.len())?.copy_from_slice(value);
        Some(i64::from_le_bytes(wide))
    }

    /// The bytes of all values of `rows` together, where that is known without a look at each.
    pub(crate) fn total(&self, rows: &Range<usize>) -> Option<usize> {
        if self.has_nulls() {
            return None;
        }
        if rows.is_empty() {
            return Some(0); // an array without rows may have no offsets
        }
        let (start, end) = (rows.start + self.offset, rows.end + self.offset);
        match &self.values {
            Values::Offsets32 { offsets, .. } => {
                let bytes = i32_at(offsets, end)?.checked_sub(i32_at(offsets, start)?)?;
                usize::try_from(bytes).ok()
            }
            Values::Offsets64 { offsets, .. } => {
                let bytes = i64_at(offsets, end)?.checked_sub(i64_at(offsets, start)?)?;
                usize::try_from(bytes).ok()
            }
            Values::Fixed { width, .. } => Some(width * rows.len()),
            _ => None,
        }
    }

    /// One bit a row from the first on, in bytes; all ones where no row is null.
    pub(crate) fn copy_validity(&self, bits: &mut [u8]) {
        bits.fill(0);
        for row in 0..self.len {
            if !self.is_null(row) {
                bits[row / 8] |= 1 << (row % 8);
            }
        }
    }
}

impl Integers {
    fn get(&self, row: usize) -> Option<i64> {
        let value = self.data.get(row * self.width..(row + 1) * self.width)?;
        let negative = self.signed && value[self.width - 1] >= 0x80;
        let mut wide = if negative { [0xff; 8] } else { [0; 8] };
        wide[..self.width].copy_from_slice(value);
        Some(i64::from_le_bytes(wide))
    }
}

impl std::ops::Deref for Buf {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Theirs(bytes) => bytes,
            Self::Own(bytes) => bytes,
        }
    }
}

/// Width of an integer format, and whether it has a sign.
fn integer(format: &str) -> Option<(usize, bool)> {
    let formats = ["c", "s", "i", "l", "C", "S", "I", "L"];
    let position = formats.iter().position(|known| *known == format)?;
    Some((1 << (position % 4), position < 4))
}

#[inline]
fn i32_at(bytes: &[u8], index: usize) -> Option<i32> {
    Some(i32::from_ne_bytes(*bytes.as_chunks().0.get(index)?))
}

#[inline]
fn i64_at(bytes: &[u8], index: usize) -> Option<i64> {
    Some(i64::from_ne_bytes(*bytes.as_chunks().0.get(index)?))
}
