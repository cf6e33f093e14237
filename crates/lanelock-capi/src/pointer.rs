//! Pointers that C passes, as Rust's types; null is refused where there is something to point to.

use std::ffi::{CStr, c_char};

use crate::error::{Failure, LANELOCK_ERROR_ALIGNMENT};

/// `len` bytes from `data`, which may be null if `len` is 0.
///
/// # Safety
/// For `'a`, `data` is valid for reads of `len` bytes, unless it is null.
pub(crate) unsafe fn bytes<'a>(
    data: *const u8,
    len: usize,
    what: &str,
) -> Result<&'a [u8], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() || isize::try_from(len).is_err() {
        return Err(Failure::null(what));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// A string that ends with a zero byte; `None` for null.
///
/// # Safety
/// For `'a`, `text` is null or valid for reads up to its zero byte.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    let text = text.to_str();
    text.map(Some)
        .map_err(|_| Failure::unknown(format!("{what}: not UTF-8")))
}

/// Where a result goes.
///
/// # Safety
/// `place` is null or valid for writes for `'a`.
pub(crate) unsafe fn out<'a, T>(place: *mut T, what: &str) -> Result<Out<'a, T>, Failure> {
    match std::ptr::NonNull::new(place) {
        Some(place) => Ok(Out(place, std::marker::PhantomData)),
        None => Err(Failure::null(what)),
    }
}

/// A place that is valid for one write.
pub(crate) struct Out<'a, T>(std::ptr::NonNull<T>, std::marker::PhantomData<&'a mut T>);

impl<T> Out<'_, T> {
    pub(crate) fn write(self, value: T) {
        // SAFETY: valid for writes, said the caller of `out`.
        unsafe { self.0.write(value) };
    }
}

/// Refuses an array that is null but not empty, or that is not aligned.
#[inline]
pub(crate) fn check_array<T>(array: *const T, count: usize, what: &str) -> Result<(), Failure> {
    if count > 0 && array.is_null() {
        return Err(Failure::null(what));
    }
    if !array.is_aligned() {
        return Err(misaligned(array.addr(), align_of::<T>(), what));
    }
    Ok(())
}

#[cold]
fn misaligned(address: usize, to: usize, what: &str) -> Failure {
    let text = format!("{what}: {address:#x} is not aligned to {to} bytes");
    Failure::new(LANELOCK_ERROR_ALIGNMENT, text)
}
