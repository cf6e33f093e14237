//! Our buffers, which the receiver keeps alive.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::{ARRAY, Array, SCHEMA, STREAM, Schema, Stream};
use crate::buffer::Buffer;

/// An array of ours: buffers that the receiver keeps alive.
#[derive(Clone)]
pub(crate) struct Ours {
    pub(crate) format: String,
    pub(crate) len: usize,
    pub(crate) nulls: usize,
    /// Validity first.
    pub(crate) buffers: Vec<Option<Arc<Buffer>>>,
}

struct Exported {
    /// Keeps alive what `pointers` point to.
    _buffers: Vec<Option<Arc<Buffer>>>,
    pointers: Vec<*const c_void>,
}

struct ExportedSchema {
    format: CString,
}

/// The capsule of `__arrow_c_schema__`.
pub(crate) fn export_type<'py>(py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, schema_of(format), SCHEMA)
}

/// The capsules of `__arrow_c_array__`.
pub(crate) fn export<'py>(
    py: Python<'py>,
    array: &Ours,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let schema = export_type(py, &array.format)?;
    Ok((
        schema,
        PyCapsule::new_with_value(py, array_of(array), ARRAY)?,
    ))
}

/// The capsule of `__arrow_c_stream__`.
pub(crate) fn export_stream<'py>(
    py: Python<'py>,
    format: &str,
    arrays: Vec<Ours>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let state = Box::new(StreamState {
        format: format.to_owned(),
        rest: arrays.into_iter(),
    });
    let stream = Stream {
        get_schema: Some(stream_schema),
        get_next: Some(stream_next),
        get_last_error: Some(stream_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(state).cast(),
    };
    PyCapsule::new_with_value(py, stream, STREAM)
}

fn schema_of(format: &str) -> Schema {
    let private = Box::new(ExportedSchema {
        format: CString::new(format).unwrap_or_default(),
    });
    Schema {
        format: private.format.as_ptr(),
        name: c"".as_ptr(),
        flags: 2, // ARROW_FLAG_NULLABLE
        release: Some(release_schema),
        private_data: Box::into_raw(private).cast(),
        ..Schema::RELEASED
    }
}

fn array_of(array: &Ours) -> Array {
    let pointers = array.buffers.iter().map(|buffer| match buffer {
        Some(buffer) => buffer.bytes().as_ptr().cast(),
        None => ptr::null(),
    });
    let private = Box::new(Exported {
        pointers: pointers.collect(),
        _buffers: array.buffers.clone(),
    });
    Array {
        length: signed(array.len),
        null_count: signed(array.nulls),
        n_buffers: signed(array.buffers.len()),
        buffers: private.pointers.as_ptr(),
        release: Some(release_array),
        private_data: Box::into_raw(private).cast(),
        ..Array::RELEASED
    }
}

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: called once, with a schema of `schema_of`.
    unsafe {
        drop(Box::from_raw(
            (*schema).private_data.cast::<ExportedSchema>(),
        ));
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: called once, with an array of `array_of`.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Exported>()));
        (*array).release = None;
    }
}

struct StreamState {
    format: String,
    rest: std::vec::IntoIter<Ours>,
}

unsafe extern "C" fn stream_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    // SAFETY: a stream of `export_stream`, and a place to write that holds nothing yet.
    unsafe {
        let state = &*(*stream).private_data.cast::<StreamState>();
        out.write(schema_of(&state.format));
    }
    0
}

unsafe extern "C" fn stream_next(stream: *mut Stream, out: *mut Array) -> c_int {
    // SAFETY: as above.
    unsafe {
        let state = &mut *(*stream).private_data.cast::<StreamState>();
        out.write(match state.rest.next() {
            Some(array) => array_of(&array),
            None => Array::RELEASED,
        });
    }
    0
}

unsafe extern "C" fn stream_last_error(_: *mut Stream) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: called once, with a stream of `export_stream`.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamState>()));
        (*stream).release = None;
    }
}
