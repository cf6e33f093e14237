//! An OpenSSL 3 provider that runs the private-key operations of asynchronous jobs in lanelock's
//! lanes. Programs load it as the module `lanelock.so`.
//!
//! ```text
//! core → this provider's functions → the application's default provider's functions
//!                │
//!                ├─ inside an ASYNC_JOB, key and parameters eligible → this thread's batch
//!                └─ elsewhere, if other threads have one, too → a batch of several threads
//! ```
//!
//! Every key and context wraps the default provider's own, and every call goes on to it unchanged,
//! except the last step of an operation that can join a batch.
//!
//! Servers that know of no asynchronous mode get it where the module is preloaded (`event_loop`). The
//! operations of threads that wait for them run together where they meet (`combine`).
//!
//! A job that joins a batch pauses; the thread that paused it resumes it from its event loop, and
//! whoever fills the batch, or is resumed first, runs it for all (`batch`). There is no other
//! thread. Only public headers are used: functions are found by the numbers of
//! openssl/core_dispatch.h, keys are read through OSSL_PARAM.

#![allow(unsafe_code)]

mod algorithms;
mod batch;
mod combine;
mod config;
mod default_provider;
mod direct;
mod entry;
// Programs find it by names that only the module has, as the guard.
#[cfg_attr(any(test, not(target_arch = "x86_64")), allow(dead_code))]
mod event_loop;
mod ffi;
// Programs find it by names that only the module has.
#[cfg_attr(any(test, not(target_arch = "x86_64")), allow(dead_code))]
mod guard;
mod hybrid;
mod key;
mod lanes;
mod lasting;
mod libssl;
mod memory;
mod operations;
mod provider;
mod spare;
mod status;

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use ffi::boundary::{boundary, raise};
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
    boundary(|| {
        keep_panics_quiet();
        let (handle, core) = (handle.cast::<CoreHandle>(), core.cast::<Dispatch>());
        // SAFETY: the core's arguments.
        match unsafe { Provider::new(handle, core) } {
            Ok(provider) => {
                // SAFETY: places for the results; the state just made.
                unsafe {
                    *out = (*provider).dispatch().cast();
                    *provctx = provider.cast_mut().cast();
                }
                1
            }
            Err(message) => {
                raise(&message);
                0
            }
        }
    })
}

/// Has the words of a panic go to the error queue: standard error is the application's, and may be
/// anything in a daemon. The hook is that of this module's own standard library.
fn keep_panics_quiet() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.swap(true, Ordering::Relaxed) {
        std::panic::set_hook(Box::new(|panic| raise(&panic.to_string())));
    }
}
