//! The functions that the core calls, one module for each operation.
//!
//! A function goes on to the default provider's of the same number with what that made itself.
//! SAFETY, for all of them: the core passes what functions of the same table gave it, alive, and
//! arguments as openssl/core_dispatch.h says; a function is offered only if the default provider
//! has it.

pub(crate) mod asym_cipher;
pub(crate) mod keyexch;
pub(crate) mod keymgmt;
mod scheme;
pub(crate) mod signature;

/// Calls the default provider's function, or fails.
macro_rules! delegate {
    ($function:expr, $($arg:expr),*) => {
        match $function {
            // SAFETY: see the module `operations`.
            Some(function) => unsafe { function($($arg),*) },
            None => crate::operations::Failure::FAILURE,
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
