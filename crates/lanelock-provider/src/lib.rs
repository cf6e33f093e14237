//! An OpenSSL 3 provider that runs the private-key operations of asynchronous jobs in lanelock's
//! lanes. Programs load it as the module `lanelock.so`.
//!
//! ```text
//! core → this provider's functions → the default provider's functions, in a child library context
//!                │
//!                └─ inside an ASYNC_JOB, key and parameters eligible → this thread's batch
//! ```
//!
//! Every key and context wraps the default provider's own, and every call goes on to it unchanged,
//! except the last step of an operation that can join a batch. Outside a job nothing else happens.
//!
//! A job that joins a batch pauses; the thread that paused it resumes it from its event loop, and
//! whoever fills the batch, or is resumed first, runs it for all (`batch`). There is no other
//! thread. Only public headers are used: functions are found by the numbers of
//! openssl/core_dispatch.h, keys are read through OSSL_PARAM.

#![allow(unsafe_code)]

mod algorithms;
mod batch;
mod config;
mod ffi;
mod guard;
mod key;
mod operations;
mod provider;
mod spare;

use std::ffi::{CString, c_int, c_void};

use ffi::{CoreHandle, Dispatch};
use provider::Provider;

/// OpenSSL's entry point (provider(7)).
///
/// # Safety
/// As provider-base(7) says: called by libcrypto, which outlives the provider.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    core: *const c_void,
    out: *mut *const c_void,
    provctx: *mut *mut c_void,
) -> c_int {
    let (handle, core) = (handle.cast::<CoreHandle>(), core.cast::<Dispatch>());
    // SAFETY: the core's arguments.
    match unsafe { Provider::new(handle, core) } {
        Ok(provider) => {
            lanelock::telemetry::module::loaded();
            // SAFETY: places for the results.
            unsafe {
                *out = Provider::dispatch().cast();
                *provctx = Box::into_raw(provider).cast();
            }
            1
        }
        Err(message) => {
            report(&message);
            0
        }
    }
}

/// Puts a sentence on libcrypto's error queue, and on standard error: a provider of a configuration
/// file that does not start is left out without a word.
fn report(message: &str) {
    /// `ERR_LIB_PROV` and `ERR_R_INIT_FAIL` of openssl/err.h.
    const PROVIDERS: c_int = 57;
    const INIT_FAIL: c_int = 261 | (0x3 << 18);
    let message = format!("lanelock: {message}");
    eprintln!("{message}");
    let message = CString::new(message).unwrap_or_default();
    // SAFETY: terminated strings; the format takes one.
    unsafe {
        openssl_sys::ERR_new();
        openssl_sys::ERR_set_debug(c"lanelock".as_ptr(), 0, c"OSSL_provider_init".as_ptr());
        openssl_sys::ERR_set_error(PROVIDERS, INIT_FAIL, c"%s".as_ptr(), message.as_ptr());
    }
}
