//! Where C calls in: each function of the interface that does more than return a constant is one
//! call of a function of this module.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Failure, LANELOCK_ERROR_DEFECT, LANELOCK_OK, copy_text, lanelock_error};
use crate::handle::{Handle, give};
use crate::pointer::out;

/// Runs the body of a function that returns a number of `LANELOCK_OK` and the errors.
pub(crate) fn boundary(body: impl FnOnce() -> Result<(), Failure>) -> i32 {
    match caught(body) {
        Ok(()) => LANELOCK_OK,
        Err(failure) => failure.code,
    }
}

/// As [`boundary`], for functions that make an object: its handle is written to `place`, or what failed
/// to `error`, unless that is null.
///
/// # Safety
/// Both are null or valid for writes.
pub(crate) unsafe fn made<T: Handle>(
    place: *mut *mut T,
    error: *mut lanelock_error,
    make: impl FnOnce() -> Result<T, Failure>,
) -> i32 {
    let failure = caught(|| {
        // SAFETY: valid for writes or null, says the caller.
        let place = unsafe { out(place, T::NAME)? };
        place.write(give(make()?));
        Ok(())
    });
    let Err(failure) = failure else {
        return LANELOCK_OK;
    };
    if !error.is_null() {
        let mut text = [0; _];
        copy_text(&failure.text, &mut text);
        let code = failure.code;
        // SAFETY: valid for writes, says the caller.
        unsafe { error.write(lanelock_error { code, text }) };
    }
    failure.code
}

/// Runs the body of a function that returns a count or, negative, an error.
#[inline]
pub(crate) fn counted(body: impl FnOnce() -> Result<usize, Failure>) -> isize {
    match caught(body) {
        Ok(count) => isize::try_from(count).unwrap_or(isize::MAX),
        Err(failure) => failure.code as isize,
    }
}

/// What the body was changing may be half done if it panicked: operations then have the statuses
/// that were recorded before, and queues check what they own at the next call.
#[inline]
fn caught<R>(body: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().copied().or_else(|| {
            let text = panic.downcast_ref::<String>();
            text.map(String::as_str)
        });
        let said = said.unwrap_or("no message");
        let text = format!("a defect in the library: {said}");
        // Dropping what a panic carries may panic.
        std::mem::forget(panic);
        Err(Failure::new(LANELOCK_ERROR_DEFECT, text))
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::ptr::null_mut;

    use super::*;
    use crate::error::LANELOCK_ERROR_NULL;
    use crate::handle::take;

    struct One;

    impl Handle for One {
        const NAME: &'static str = "one";
    }

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(boundary(|| panic!("one")), LANELOCK_ERROR_DEFECT);
        let code = counted(|| panic!("two"));
        assert_eq!(code, LANELOCK_ERROR_DEFECT as isize);
        assert_eq!(counted(|| Ok(7)), 7);
        let mut error = lanelock_error {
            code: 0,
            text: [1; _],
        };
        let mut place = null_mut::<One>();
        // SAFETY: locals.
        let code = unsafe { made(&raw mut place, &raw mut error, || panic!("num{}er", 'b')) };
        assert!(place.is_null());
        assert_eq!((code, error.code), (LANELOCK_ERROR_DEFECT, code));
        // SAFETY: terminated by `made`.
        let text = unsafe { CStr::from_ptr(error.text.as_ptr()) };
        assert_eq!(text, c"a defect in the library: number");
    }

    #[test]
    fn nothing_is_written_without_an_error_or_a_place() {
        let mut place = null_mut::<One>();
        // SAFETY: a local; null is allowed.
        let code = unsafe { made(&raw mut place, null_mut(), || Err(Failure::null("x"))) };
        assert_eq!(code, LANELOCK_ERROR_NULL);
        // SAFETY: null is allowed.
        let code = unsafe { made(null_mut(), null_mut(), || Ok(One)) };
        assert_eq!(code, LANELOCK_ERROR_NULL);
        let mut error = lanelock_error {
            code: 5,
            text: [1; _],
        };
        // SAFETY: locals.
        let code = unsafe { made(&raw mut place, &raw mut error, || Ok(One)) };
        assert_eq!((code, error.code, error.text[0]), (LANELOCK_OK, 5, 1));
        // SAFETY: just made.
        assert!(unsafe { take(place) }.is_ok_and(|one| one.is_some()));
    }
}
