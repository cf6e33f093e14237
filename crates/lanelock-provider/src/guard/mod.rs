//! `SSL_free` for programs that start with this module in `LD_PRELOAD`.
//!
//! An application that frees a connection whose job is paused never resumes the job, and libssl
//! does not either: stack, contexts and everything else that the handshake holds on it leak. Where
//! the module is preloaded, its `SSL_free` stands in front of libssl's. It resumes such a job once
//! more, with the operation failing, so that the handshake returns and lets go of everything; then
//! it calls libssl's. What the handshake sends on its way goes nowhere.
//!
//! That needs the connection's only reference ([`shared`]) and the thread that paused the job. An
//! information callback is not called meanwhile: the application may have forgotten the connection
//! by then, as HAProxy has ([`informed`]). No other callback of the application's is on the job's
//! stack, because operations inside of those do not pause. Everything else goes to libssl as it
//! came: calls that are bound to another library are never seen ([`symbols`]), and the copy of
//! libssl that is called is the one that the object belongs to ([`crate::libssl`]).
//!
//! `SSL_clear` ends such a job as well, so that the connection can start over.
//!
//! libcrypto tells when the last reference goes (the extra data of a connection is freed), but in 3.5
//! and 4.0 after libssl has freed what the paused handshake would go on with.

mod environment;
mod informed;
mod shared;
#[cfg(all(target_arch = "x86_64", not(test)))]
pub(crate) mod symbols;

use std::ffi::c_int;

use crate::batch;
use crate::event_loop;
use crate::ffi::boundary::boundary;
use crate::libssl::{InfoCallback, Library, Ssl, SslCtx};

/// Descriptors that a connection is asked for; ours has one.
const MOST_DESCRIPTORS: usize = 32;

/// # Safety
/// As SSL_free(3).
unsafe extern "C" fn free(ssl: Ssl) {
    boundary(|| {
        // SAFETY: the caller's connection, whose reference goes.
        unsafe {
            let Some(libssl) = Library::of_connection(ssl) else {
                return;
            };
            if !ssl.is_null() && (libssl.waiting_for_async)(ssl) == 1 && !shared::contains(ssl) {
                end_paused_job(libssl, ssl, event_loop::forget(libssl, ssl));
            }
            (libssl.free)(ssl);
        }
    })
}

/// # Safety
/// As SSL_up_ref(3).
unsafe extern "C" fn up_ref(ssl: Ssl) -> c_int {
    boundary(|| {
        // SAFETY: the caller's connection.
        unsafe {
            let done = Library::of_connection(ssl).map_or(0, |libssl| (libssl.up_ref)(ssl));
            if done == 1 {
                shared::insert(ssl);
            }
            done
        }
    })
}

/// # Safety
/// As SSL_dup(3).
unsafe extern "C" fn dup(ssl: Ssl) -> Ssl {
    boundary(|| {
        // SAFETY: the caller's connection.
        unsafe {
            let Some(libssl) = Library::of_connection(ssl) else {
                return std::ptr::null_mut();
            };
            let duplicate = (libssl.dup)(ssl);
            // Once its handshake has begun, a connection is not copied.
            if !ssl.is_null() && duplicate == ssl {
                shared::insert(ssl);
            }
            duplicate
        }
    })
}

/// A program that does not know that its connection is paused may start it over: what the job still has
/// on its stack would be gone.
///
/// # Safety
/// As SSL_clear(3).
unsafe extern "C" fn clear(ssl: Ssl) -> c_int {
    boundary(|| {
        // SAFETY: the caller's connection.
        unsafe {
            let Some(libssl) = Library::of_connection(ssl) else {
                return 0;
            };
            // libssl clears a connection itself when its handshake begins.
            let is_programs = !ssl.is_null() && !event_loop::is_driven();
            if is_programs && !event_loop::start_over(libssl, ssl, || restart(libssl, ssl)) {
                return 0;
            }
            (libssl.clear)(ssl)
        }
    })
}

/// # Safety
/// As SSL_set_info_callback(3).
unsafe extern "C" fn set_info_callback(ssl: Ssl, callback: Option<InfoCallback>) {
    boundary(|| {
        // SAFETY: the caller's connection.
        unsafe {
            if let Some(libssl) = Library::of_connection(ssl) {
                (libssl.set_info_callback)(ssl, callback.map(informed::stand_in));
            }
        }
    })
}

/// # Safety
/// As SSL_get_info_callback(3).
unsafe extern "C" fn info_callback(ssl: Ssl) -> Option<InfoCallback> {
    boundary(|| {
        // SAFETY: the caller's connection.
        unsafe {
            let callback = (Library::of_connection(ssl)?.info_callback)(ssl)?;
            Some(informed::original(callback))
        }
    })
}

/// # Safety
/// As SSL_CTX_set_info_callback(3).
unsafe extern "C" fn ctx_set_info_callback(context: SslCtx, callback: Option<InfoCallback>) {
    boundary(|| {
        // SAFETY: the caller's context.
        unsafe {
            if let Some(libssl) = Library::of_context(context) {
                (libssl.ctx_set_info_callback)(context, callback.map(informed::stand_in));
            }
        }
    })
}

/// # Safety
/// As SSL_CTX_get_info_callback(3).
unsafe extern "C" fn ctx_info_callback(context: SslCtx) -> Option<InfoCallback> {
    boundary(|| {
        // SAFETY: the caller's context.
        unsafe {
            let callback = (Library::of_context(context)?.ctx_info_callback)(context)?;
            Some(informed::original(callback))
        }
    })
}

/// `is_known`: this thread paused it; else its descriptors tell.
///
/// # Safety
/// `ssl` is a connection of this libssl's whose job is paused and whose only reference is the
/// caller's.
unsafe fn end_paused_job(libssl: &Library, ssl: Ssl, is_known: bool) {
    // SAFETY: the caller's connection, which no one else uses.
    unsafe {
        if batch::inside_job() || !is_silent(libssl, ssl) {
            return;
        }
        if !is_known && !batch::owns(&descriptors(libssl, ssl)) {
            return;
        }
        let _cancelling = batch::cancel();
        let null = crate::ffi::BIO_s_null();
        (libssl.set0_rbio)(ssl, openssl_sys::BIO_new(null).cast());
        (libssl.set0_wbio)(ssl, openssl_sys::BIO_new(null).cast());
        (libssl.set_msg_callback)(ssl, std::ptr::null_mut());
        crate::ffi::ERR_set_mark();
        (libssl.do_handshake)(ssl);
        crate::ffi::ERR_pop_to_mark();
    }
}

/// Ends the job of a connection that lives on. Whether it has ended.
///
/// # Safety
/// `ssl` is a connection of this libssl's whose job this thread paused.
unsafe fn restart(libssl: &Library, ssl: Ssl) -> bool {
    // SAFETY: the caller's connection; its ends are kept while others stand in their place.
    unsafe {
        let (from, to) = ((libssl.rbio)(ssl), (libssl.wbio)(ssl));
        crate::ffi::BIO_up_ref(from);
        crate::ffi::BIO_up_ref(to);
        end_paused_job(libssl, ssl, true);
        (libssl.set0_rbio)(ssl, from);
        (libssl.set0_wbio)(ssl, to);
        (libssl.waiting_for_async)(ssl) == 0
    }
}

/// The descriptors that the program waits on for a connection whose job is paused; none if there are
/// too many.
///
/// # Safety
/// As [`end_paused_job`].
unsafe fn descriptors(libssl: &Library, ssl: Ssl) -> Vec<c_int> {
    // SAFETY: the caller's connection, and as many places as it has descriptors.
    unsafe {
        let mut count = 0;
        (libssl.all_async_fds)(ssl, std::ptr::null_mut(), &raw mut count);
        if count > MOST_DESCRIPTORS {
            return Vec::new();
        }
        let mut descriptors = vec![-1; count];
        (libssl.all_async_fds)(ssl, descriptors.as_mut_ptr(), &raw mut count);
        descriptors
    }
}

/// Whether no information callback would be called but through stand-ins, which are silent while a
/// job is ended.
///
/// # Safety
/// `ssl` is a connection of this libssl's.
unsafe fn is_silent(libssl: &Library, ssl: Ssl) -> bool {
    // SAFETY: the caller's.
    let callbacks = unsafe {
        [
            (libssl.info_callback)(ssl),
            (libssl.ctx_info_callback)((libssl.context)(ssl)),
        ]
    };
    !informed::ran_out() && callbacks.into_iter().flatten().all(informed::is_stand_in)
}
