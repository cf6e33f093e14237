//! Calls of the default provider's functions.

/// Calls the default provider's function, or fails.
macro_rules! delegate {
    ($function:expr $(, $arg:expr)*) => {
        match $function {
            // SAFETY: see the module `operations`.
            Some(function) => unsafe { function($($arg),*) },
            None => crate::ffi::delegate::Failure::FAILURE,
        }
    };
}
pub(crate) use delegate;

/// What a function returns if it cannot be called.
pub(crate) trait Failure {
    const FAILURE: Self;
}

impl Failure for std::ffi::c_int {
    const FAILURE: Self = 0;
}

impl<T> Failure for *const T {
    const FAILURE: Self = std::ptr::null();
}

impl<T> Failure for *mut T {
    const FAILURE: Self = std::ptr::null_mut();
}

impl Failure for () {
    const FAILURE: Self = ();
}

/// A function that is looked up.
impl<T> Failure for Option<T> {
    const FAILURE: Self = None;
}
