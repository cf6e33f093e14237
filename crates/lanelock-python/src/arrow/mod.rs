//! The Arrow C Data and C Stream Interfaces through Python's capsules: arrays of others come in, and
//! our buffers go out.
//!
//! Structures and rules are those of <https://arrow.apache.org/docs/format/CDataInterface.html>. But for
//! the memory of [`crate::buffer`], all unsafe code of this crate is here.

#![allow(unsafe_code)]

mod export;
mod import;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

pub(crate) use export::{Ours, export, export_stream, export_type};
pub(crate) use import::{Bytes, Format, Node, fixed_width, import, import_type};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// `struct ArrowSchema`.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

macro_rules! released {
    ($($Struct:ident)+) => {$(
        // SAFETY: the interface leaves the structures to one owner at a time, whichever its thread.
        unsafe impl Send for $Struct {}

        impl Drop for $Struct {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: not released yet, as `release` is still set, and owned by us.
                    unsafe { release(self) }
                }
            }
        }

        impl $Struct {
            /// Moves the content out of a capsule, as the interface has it: what stays in the
            /// capsule is marked as released.
            fn take(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<Self> {
                let capsule = capsule.cast::<PyCapsule>()?;
                let content = capsule.pointer_checked(Some(name))?.cast::<Self>();
                // SAFETY: the capsule's name says what it points to; the GIL is held, so no other
                // thread moves the content at the same time.
                let content = unsafe {
                    let moved = content.read();
                    (*content.as_ptr()).release = None;
                    moved
                };
                match content.release {
                    Some(_) => Ok(content),
                    None => Err(PyValueError::new_err("the Arrow capsule was used already")),
                }
            }
        }
    )+};
}

released!(Schema Array Stream);

// SAFETY: arrays are immutable once exported, and we only read them.
unsafe impl Sync for Array {}

impl Array {
    const RELEASED: Self = Self {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: ptr::null(),
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    };
}

impl Schema {
    const RELEASED: Self = Self {
        format: ptr::null(),
        name: ptr::null(),
        metadata: ptr::null(),
        flags: 0,
        n_children: 0,
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    };
}
