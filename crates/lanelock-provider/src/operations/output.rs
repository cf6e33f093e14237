//! Where the core wants a result, and what it passes in.

use std::ffi::c_uchar;

/// The place for a result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    at: *mut c_uchar,
    len: *mut usize,
    room: usize,
}

impl Output {
    /// # Safety
    /// `at` is null, where the core asks for a length, or has `room` bytes; `len` has a place for
    /// the result's length. Both outlive the value.
    pub(super) unsafe fn new(at: *mut c_uchar, len: *mut usize, room: usize) -> Self {
        Self { at, len, room }
    }

    /// Whether the core wants the length alone.
    pub(super) fn is_length_only(self) -> bool {
        self.at.is_null()
    }

    /// Bytes that there is room for.
    pub(super) fn room(self) -> usize {
        self.room
    }

    /// Hands a result over; false if there is no room for it.
    pub(super) fn put(self, result: &[u8]) -> bool {
        if self.at.is_null() || result.len() > self.room {
            return false;
        }
        // SAFETY: `Output::new`, and the check above.
        unsafe {
            std::ptr::copy_nonoverlapping(result.as_ptr(), self.at, result.len());
            *self.len = result.len();
        }
        true
    }
}

/// The bytes that the core passes.
///
/// # Safety
/// `data` has `len` bytes, or is null; they outlive what is returned.
pub(super) unsafe fn input<'b>(data: *const c_uchar, len: usize) -> &'b [u8] {
    if data.is_null() {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(data, len) }
}
