//! What functions return when they fail: a number, and a sentence with the values involved.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};

use lanelock::SessionError;

/// The call succeeded.
pub const LANELOCK_OK: i32 = 0;
/// A pointer that the function needs is NULL.
pub const LANELOCK_ERROR_NULL: i32 = -1;
/// The `size` of a structure is smaller than its first version, or larger than the library knows
/// and what it does not know is not zero.
pub const LANELOCK_ERROR_SIZE: i32 = -2;
/// A number, name or flag that the library does not know, or an index that is too large.
pub const LANELOCK_ERROR_UNKNOWN: i32 = -3;
/// A handle that was freed, or is of another type.
pub const LANELOCK_ERROR_HANDLE: i32 = -4;
/// Another thread is inside a function of the same queue.
pub const LANELOCK_ERROR_BUSY: i32 = -5;
/// A key, IV, tag or parameter of a length that the algorithm does not allow.
pub const LANELOCK_ERROR_LENGTH: i32 = -6;
/// No engine of the device offers this.
pub const LANELOCK_ERROR_UNSUPPORTED: i32 = -7;
/// A key that the algorithm forbids, or that is invalid.
pub const LANELOCK_ERROR_KEY: i32 = -8;
/// An engine failed: out of memory, for example.
pub const LANELOCK_ERROR_ENGINE: i32 = -9;
/// A system call failed.
pub const LANELOCK_ERROR_SYSTEM: i32 = -10;
/// An array of operations that is not aligned as its type demands.
pub const LANELOCK_ERROR_ALIGNMENT: i32 = -11;
/// A defect in the library; the call did not complete.
pub const LANELOCK_ERROR_DEFECT: i32 = -12;

/// Why a call failed. The caller owns it and need not initialise it; it is written when a function
/// fails, and only then.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lanelock_error {
    /// What the function returned: one of the LANELOCK_ERROR numbers.
    pub code: i32,
    /// A sentence with the values involved, shortened to fit, and a zero byte.
    pub text: [c_char; 508],
}

const _: () = assert!(size_of::<lanelock_error>() == 512);

/// What an error number means, in general: a static string. Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn lanelock_strerror(code: i32) -> *const c_char {
    let text: &CStr = match code {
        LANELOCK_OK => c"success",
        LANELOCK_ERROR_NULL => c"a pointer that must not be NULL is NULL",
        LANELOCK_ERROR_SIZE => c"a structure has a size that this library does not know",
        LANELOCK_ERROR_UNKNOWN => c"a number, name, flag or index that this library does not know",
        LANELOCK_ERROR_HANDLE => c"a handle that was freed or is of another type",
        LANELOCK_ERROR_BUSY => c"another thread is using the same queue",
        LANELOCK_ERROR_LENGTH => c"a length that the algorithm does not allow",
        LANELOCK_ERROR_UNSUPPORTED => c"no engine offers this",
        LANELOCK_ERROR_KEY => c"the key was refused",
        LANELOCK_ERROR_ENGINE => c"an engine failed",
        LANELOCK_ERROR_SYSTEM => c"a system call failed",
        LANELOCK_ERROR_ALIGNMENT => c"an array of operations is not aligned",
        LANELOCK_ERROR_DEFECT => c"a defect in the library",
        _ => c"a number that this library does not know",
    };
    text.as_ptr()
}

/// Why a function fails.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: i32,
    pub(crate) text: Cow<'static, str>,
}

impl Failure {
    pub(crate) fn new(code: i32, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            text: text.into(),
        }
    }

    #[cold]
    pub(crate) fn null(what: &str) -> Self {
        Self::new(LANELOCK_ERROR_NULL, format!("{what}: NULL"))
    }

    pub(crate) fn unknown(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(LANELOCK_ERROR_UNKNOWN, text)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        let code = match error {
            SessionError::Length { .. } => LANELOCK_ERROR_LENGTH,
            SessionError::Unsupported { .. } => LANELOCK_ERROR_UNSUPPORTED,
            SessionError::WeakKey { .. } => LANELOCK_ERROR_KEY,
            SessionError::NoSuchEngine { .. } => LANELOCK_ERROR_UNKNOWN,
            _ => LANELOCK_ERROR_ENGINE,
        };
        Self::new(code, error.to_string())
    }
}

/// Copies `text` with a zero byte to `room`, shortened at a character boundary if it does not fit;
/// returns the length of all of it.
pub(crate) fn copy_text(text: &str, room: &mut [c_char]) -> usize {
    let Some(most) = room.len().checked_sub(1) else {
        return text.len();
    };
    let mut len = most.min(text.len());
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    for (place, byte) in room.iter_mut().zip(text.bytes().take(len).chain([0])) {
        *place = c_char::from_ne_bytes([byte]);
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_does_not_fit_ends_with_a_character() {
        let mut room = [0x55; 6];
        assert_eq!(copy_text("ab–cd", &mut room), 7);
        let bytes: Vec<u8> = room.iter().flat_map(|c| c.to_ne_bytes()).collect();
        assert_eq!(bytes, *b"ab\xe2\x80\x93\0");
        assert_eq!(copy_text("a–b", &mut room[..3]), 5);
        assert_eq!(room[1], 0);
        assert_eq!(copy_text("abc", &mut []), 3);
    }

    #[test]
    fn each_number_has_its_own_text() {
        // SAFETY: strings that stay.
        let text = |code| unsafe { CStr::from_ptr(lanelock_strerror(code)) };
        let texts: std::collections::HashSet<_> = (-13..=0).map(text).collect();
        assert_eq!(texts.len(), 14);
        assert_eq!(text(1), text(-13));
    }
}
