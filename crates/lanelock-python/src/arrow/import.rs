//! Arrays of others, as checked slices that keep their owner alive.

use std::ffi::CStr;
use std::ops::Deref;
use std::ptr;
use std::slice;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::{ARRAY, Array, SCHEMA, STREAM, Schema, Stream};

/// Bytes of an array of someone else, which it keeps alive.
#[derive(Clone)]
pub(crate) struct Bytes {
    base: *const u8,
    len: usize,
    /// Invariant: what `base` points into, if anything, lives as long as this.
    owner: Option<Arc<Array>>,
}

// SAFETY: immutable bytes, and an owner that is `Send` and `Sync`.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        debug_assert!(self.owner.is_some());
        // SAFETY: `Node::bytes` has made it of a buffer that has so many bytes by the interface's
        // contract, and the owner is alive.
        unsafe { slice::from_raw_parts(self.base, self.len) }
    }
}

/// An array's type as the interface writes it, with that of its dictionary's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Format {
    pub(crate) name: String,
    pub(crate) dictionary: Option<Arc<Format>>,
}

/// How the values of an array lie in its buffers.
enum Layout {
    None,
    Fixed(usize),
    /// The width of an offset.
    Offsets(usize),
    Views,
}

impl Format {
    fn of(schema: &Schema) -> PyResult<Self> {
        // SAFETY: the format of a schema that is not released is a string that ends with a zero.
        let name = unsafe { CStr::from_ptr(schema.format) };
        let name = name
            .to_str()
            .map_err(|_| PyValueError::new_err("an Arrow format that is not UTF-8"))?;
        // SAFETY: null, or a schema that its parent owns.
        let dictionary = match unsafe { schema.dictionary.as_ref() } {
            Some(values) => Some(Arc::new(Self::of(values)?)),
            None => None,
        };
        Ok(Self {
            name: name.to_owned(),
            dictionary,
        })
    }

    fn layout(&self) -> Option<Layout> {
        Some(match self.name.as_str() {
            "n" => Layout::None,
            "z" | "u" => Layout::Offsets(4),
            "Z" | "U" => Layout::Offsets(8),
            "vz" | "vu" => Layout::Views,
            name => Layout::Fixed(fixed_width(name)?),
        })
    }
}

/// The width in bytes of a format of fixed width; `None` for other formats.
pub(crate) fn fixed_width(format: &str) -> Option<usize> {
    Some(match format.split(':').next()? {
        "c" | "C" => 1,
        "s" | "S" | "e" => 2,
        "i" | "I" | "f" | "tdD" | "tts" | "ttm" => 4,
        "l" | "L" | "g" | "tdm" | "ttu" | "ttn" => 8,
        "tss" | "tsm" | "tsu" | "tsn" | "tDs" | "tDm" | "tDu" | "tDn" => 8,
        "w" => format[2..].parse().ok()?,
        "d" => match format.split(',').nth(2) {
            Some(bits) => bits.parse::<usize>().ok()? / 8,
            None => 16,
        },
        _ => return None,
    })
}

/// One array as it came in.
pub(crate) struct Node {
    owner: Arc<Array>,
    /// Invariant: `owner`, or the dictionary in it.
    array: *const Array,
    /// Invariant: the array's.
    pub(crate) format: Arc<Format>,
}

/// The buffers of an array.
pub(crate) struct Buffers {
    /// A bit a row; `None` if no row is null.
    pub(crate) validity: Option<Bytes>,
    /// Fixed values, offsets or views.
    pub(crate) main: Bytes,
    /// What offsets and views point into.
    pub(crate) data: Vec<Bytes>,
}

impl Node {
    fn new(array: Array, format: Arc<Format>) -> Self {
        let owner = Arc::new(array);
        let array = Arc::as_ptr(&owner);
        Self {
            owner,
            array,
            format,
        }
    }

    fn array(&self) -> &Array {
        // SAFETY: the invariant of the field.
        unsafe { &*self.array }
    }

    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.array().length).unwrap_or(0)
    }

    pub(crate) fn offset(&self) -> usize {
        usize::try_from(self.array().offset).unwrap_or(0)
    }

    /// The array's buffers, each as long as its format says; `None` if one is missing or has an
    /// impossible length.
    pub(crate) fn buffers(&self) -> Option<Buffers> {
        let end = self.len().checked_add(self.offset())?;
        let count = usize::try_from(self.array().n_buffers).ok()?;
        let (main, data) = match self.format.layout()? {
            Layout::None => (self.bytes(0, 0)?, Vec::new()),
            Layout::Fixed(width) => (self.bytes(1, end.checked_mul(width)?)?, Vec::new()),
            // Arrow allows an array without rows to have no offsets.
            Layout::Offsets(_) if end == 0 => (self.bytes(1, 0)?, vec![self.bytes(2, 0)?]),
            Layout::Offsets(width) => {
                let offsets = self.bytes(1, (end + 1).checked_mul(width)?)?;
                let last = offsets[end * width..].iter().rev();
                let last = last.fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
                let data = self.bytes(2, usize::try_from(last).ok()?)?;
                (offsets, vec![data])
            }
            Layout::Views => {
                let views = self.bytes(1, end.checked_mul(16)?)?;
                // After validity and views come the data buffers, then their lengths.
                let data = count.checked_sub(3)?;
                let lens = self.bytes(2 + data, 8 * data)?;
                let lens = lens
                    .as_chunks()
                    .0
                    .iter()
                    .map(|len| u64::from_le_bytes(*len));
                let data = lens
                    .zip(2..)
                    .map(|(len, at)| self.bytes(at, usize::try_from(len).ok()?));
                (views, data.collect::<Option<_>>()?)
            }
        };
        let counted = self.array().null_count == 0 || count == 0;
        let validity = if counted {
            None
        } else {
            self.bytes(0, end.div_ceil(8))
        };
        Some(Buffers {
            validity,
            main,
            data,
        })
    }

    /// The first `len` bytes of a buffer, which the format says that it has; `None` if it is
    /// missing.
    fn bytes(&self, buffer: usize, len: usize) -> Option<Bytes> {
        let count = usize::try_from(self.array().n_buffers).ok()?;
        let base = if buffer < count {
            // SAFETY: an array has as many pointers to buffers as it says.
            unsafe { *self.array().buffers.add(buffer) }.cast::<u8>()
        } else {
            ptr::null()
        };
        if len > isize::MAX.unsigned_abs() || base.is_null() && len > 0 {
            return None;
        }
        Some(Bytes {
            base,
            len,
            owner: Some(self.owner.clone()),
        })
    }

    pub(crate) fn dictionary(&self) -> Option<Self> {
        let format = self.format.dictionary.clone()?;
        (!self.array().dictionary.is_null()).then(|| Self {
            owner: self.owner.clone(),
            array: self.array().dictionary,
            format,
        })
    }
}

/// The type that an object with `__arrow_c_schema__` describes, a `pyarrow.DataType` for example.
pub(crate) fn import_type(object: &Bound<'_, PyAny>) -> PyResult<Format> {
    let schema = Schema::take(&object.call_method0("__arrow_c_schema__")?, SCHEMA)?;
    Format::of(&schema)
}

/// The arrays of an object with `__arrow_c_stream__` or `__arrow_c_array__`; `None` if it has
/// neither.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<(Arc<Format>, Vec<Node>)>> {
    if object.hasattr("__arrow_c_array__")? {
        let pair = object.call_method0("__arrow_c_array__")?;
        let schema = Schema::take(&pair.get_item(0)?, SCHEMA)?;
        let array = Array::take(&pair.get_item(1)?, ARRAY)?;
        let format = column_format(&schema)?;
        return Ok(Some((format.clone(), vec![Node::new(array, format)])));
    }
    if !object.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    let mut stream = Stream::take(&object.call_method0("__arrow_c_stream__")?, STREAM)?;
    let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
        return Err(PyValueError::new_err("an Arrow stream without functions"));
    };
    let mut schema = Schema::RELEASED;
    // SAFETY: a stream that is not released, and a place for its schema.
    if unsafe { get_schema(&raw mut stream, &raw mut schema) } != 0 {
        return Err(stream_error(&mut stream));
    }
    let format = column_format(&schema)?;
    let mut arrays = Vec::new();
    loop {
        let mut array = Array::RELEASED;
        // SAFETY: as above; the array is owned by us if it is not released.
        if unsafe { get_next(&raw mut stream, &raw mut array) } != 0 {
            return Err(stream_error(&mut stream));
        }
        if array.release.is_none() {
            return Ok(Some((format, arrays)));
        }
        arrays.push(Node::new(array, format.clone()));
    }
}

fn column_format(schema: &Schema) -> PyResult<Arc<Format>> {
    let format = Format::of(schema)?;
    if format.name == "+s" {
        return Err(PyTypeError::new_err(
            "the object is a table or a struct: pass one of its columns",
        ));
    }
    Ok(Arc::new(format))
}

fn stream_error(stream: &mut Stream) -> PyErr {
    let unknown = || PyValueError::new_err("the Arrow stream failed");
    let Some(last) = stream.get_last_error else {
        return unknown();
    };
    // SAFETY: a stream that is not released; the text lives until its next call.
    let text = unsafe { last(stream) };
    if text.is_null() {
        return unknown();
    }
    // SAFETY: not null, and so a string that ends with a zero.
    let text = unsafe { CStr::from_ptr(text) };
    PyValueError::new_err(text.to_string_lossy().into_owned())
}
