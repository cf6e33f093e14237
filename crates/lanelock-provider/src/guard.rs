//! `SSL_free` for programs that start with this module in `LD_PRELOAD`.
//!
//! An application that frees a connection whose job is paused never resumes the job, and libssl
//! does not either: stack, contexts and everything else that the handshake holds on it leak. Where
//! the module is preloaded, its `SSL_free` stands in front of libssl's. It resumes such a job once
//! more, with the operation failing, so that the handshake returns and lets go of everything; then
//! it calls libssl's. What the handshake sends on its way goes nowhere.
//!
//! That needs the connection's last reference and the thread that paused the job. Everything else
//! is left alone. An information callback is not called meanwhile: the application may have
//! forgotten the connection by then, as HAProxy has. libssl's state machine takes the callback
//! before the job pauses, so one stands in for it from the start ([`SSL_CTX_set_info_callback`]);
//! a connection with a callback of its own is left alone, too.

use std::collections::HashMap;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::batch;

/// `SSL` of openssl/ssl.h.
type Ssl = *mut c_void;

/// Additional references to connections; almost always empty.
static SHARED: Mutex<Option<HashMap<usize, usize>>> = Mutex::new(None);
static SHARED_COUNT: AtomicUsize = AtomicUsize::new(0);

static FREE: Symbol = Symbol::new(c"SSL_free");
static WAITING: Symbol = Symbol::new(c"SSL_waiting_for_async");
static CONTEXT: Symbol = Symbol::new(c"SSL_get_SSL_CTX");
static DATA: Symbol = Symbol::new(c"SSL_CTX_get_ex_data");

/// `void (*)(const SSL *ssl, int type, int val)`.
type InfoCallback = unsafe extern "C" fn(*const c_void, c_int, c_int);

/// A function of libssl's, looked for until it is found.
struct Symbol {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

/// Descriptors that a connection is asked for; ours has one.
const MOST_DESCRIPTORS: usize = 32;

/// Frees a connection.
///
/// # Safety
/// As SSL_free(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn SSL_free(ssl: *mut c_void) {
    if !ssl.is_null() && !drop_shared(ssl) {
        // SAFETY: the caller's connection, whose last reference this is.
        unsafe { end_paused_job(ssl) };
    }
    // SAFETY: libssl's own function of this name.
    unsafe {
        if let Some(free) = FREE.find::<unsafe extern "C" fn(Ssl)>() {
            free(ssl);
        }
    }
}

/// Adds a reference to a connection.
///
/// # Safety
/// As SSL_up_ref(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn SSL_up_ref(ssl: *mut c_void) -> c_int {
    // SAFETY: libssl's own function of this name.
    let up_ref = unsafe { next::<unsafe extern "C" fn(Ssl) -> c_int>(c"SSL_up_ref") };
    // SAFETY: the caller's connection.
    let done = up_ref.map_or(0, |up_ref| unsafe { up_ref(ssl) });
    if done == 1 {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        *shared
            .get_or_insert_default()
            .entry(ssl.addr())
            .or_insert(0) += 1;
        SHARED_COUNT.fetch_add(1, Ordering::Relaxed);
    }
    done
}

/// Sets what is called when a connection's handshake goes on.
///
/// # Safety
/// As SSL_CTX_set_info_callback(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn SSL_CTX_set_info_callback(
    context: *mut c_void,
    callback: Option<InfoCallback>,
) {
    // SAFETY: the types are those of openssl/ssl.h; the context is the caller's. A callback that
    // cannot be kept is set as it is.
    unsafe {
        let set = next::<unsafe extern "C" fn(*mut c_void, Option<InfoCallback>)>(
            c"SSL_CTX_set_info_callback",
        );
        let Some(set) = set else { return };
        let kept = callback.is_some_and(|callback| keep(context, callback));
        set(context, if kept { Some(informed) } else { callback });
    }
}

/// The callback that a context was given.
///
/// # Safety
/// As SSL_CTX_get_info_callback(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn SSL_CTX_get_info_callback(context: *mut c_void) -> Option<InfoCallback> {
    // SAFETY: as above.
    unsafe {
        let get = next::<unsafe extern "C" fn(*mut c_void) -> Option<InfoCallback>>(
            c"SSL_CTX_get_info_callback",
        );
        let callback = get?(context)?;
        if is_informed(callback) {
            kept(context)
        } else {
            Some(callback)
        }
    }
}

/// Stands in for a context's callback.
unsafe extern "C" fn informed(ssl: *const c_void, kind: c_int, value: c_int) {
    if batch::is_cancelling() {
        return;
    }
    // SAFETY: libssl's arguments for the callback that it was given.
    unsafe {
        let context = CONTEXT.find::<unsafe extern "C" fn(*const c_void) -> *mut c_void>();
        if let Some(callback) = context.and_then(|context| kept(context(ssl))) {
            callback(ssl, kind, value);
        }
    }
}

fn is_informed(callback: InfoCallback) -> bool {
    std::ptr::fn_addr_eq(callback, informed as InfoCallback)
}

/// Where contexts keep their callbacks: an index of libcrypto's extra data, which goes with the
/// context.
fn place() -> Option<c_int> {
    /// `CRYPTO_EX_INDEX_SSL_CTX` of openssl/crypto.h.
    const CONTEXTS: c_int = 1;
    static PLACE: OnceLock<c_int> = OnceLock::new();
    let null = std::ptr::null_mut();
    // SAFETY: no argument, and no functions that would be called.
    let place = *PLACE.get_or_init(|| unsafe {
        crate::ffi::CRYPTO_get_ex_new_index(CONTEXTS, 0, null, null, null, null)
    });
    (place >= 0).then_some(place)
}

/// # Safety
/// `context` is one of libssl's.
unsafe fn keep(context: *mut c_void, callback: InfoCallback) -> bool {
    type Set = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void) -> c_int;
    // SAFETY: the type is that of openssl/ssl.h; nothing is read through the pointer.
    let set = unsafe { next::<Set>(c"SSL_CTX_set_ex_data") };
    let (Some(set), Some(place)) = (set, place()) else {
        return false;
    };
    // SAFETY: the caller's context, an index of its class.
    unsafe { set(context, place, callback as *mut c_void) == 1 }
}

/// # Safety
/// `context` is one of libssl's.
unsafe fn kept(context: *mut c_void) -> Option<InfoCallback> {
    type Get = unsafe extern "C" fn(*mut c_void, c_int) -> *mut c_void;
    // SAFETY: the type is that of openssl/ssl.h; what is there was put by `keep`, or null.
    unsafe { function(DATA.find::<Get>()?(context, place()?)) }
}

/// Whether the connection has another reference than the one that goes.
fn drop_shared(ssl: Ssl) -> bool {
    if SHARED_COUNT.load(Ordering::Relaxed) == 0 {
        return false;
    }
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(known) = shared.as_mut() else {
        return false;
    };
    let Some(references) = known.get_mut(&ssl.addr()) else {
        return false;
    };
    *references -= 1;
    if *references == 0 {
        known.remove(&ssl.addr());
    }
    SHARED_COUNT.fetch_sub(1, Ordering::Relaxed);
    true
}

/// # Safety
/// `ssl` is a connection that nobody uses any more.
unsafe fn end_paused_job(ssl: Ssl) {
    type Int = unsafe extern "C" fn(Ssl) -> c_int;
    type Descriptors = unsafe extern "C" fn(Ssl, *mut c_int, *mut usize) -> c_int;
    type SetBio = unsafe extern "C" fn(Ssl, *mut c_void);
    type SetCallback = unsafe extern "C" fn(Ssl, *mut c_void);
    // SAFETY: the types are those of openssl/ssl.h; the connection is the caller's.
    unsafe {
        let Some(waiting) = WAITING.find::<Int>() else {
            return;
        };
        if waiting(ssl) != 1 || batch::inside_job() {
            return;
        }
        let parts = (
            next::<Descriptors>(c"SSL_get_all_async_fds"),
            next::<Int>(c"SSL_do_handshake"),
            next::<SetBio>(c"SSL_set0_rbio"),
            next::<SetBio>(c"SSL_set0_wbio"),
            next::<SetCallback>(c"SSL_set_msg_callback"),
        );
        let (Some(get), Some(handshake), Some(set_rbio), Some(set_wbio), Some(set_msg)) = parts
        else {
            return;
        };
        if has_info_callback(ssl) {
            return;
        }
        let mut count = 0;
        get(ssl, std::ptr::null_mut(), &raw mut count);
        let mut descriptors = [-1; MOST_DESCRIPTORS];
        if count == 0 || count > descriptors.len() {
            return;
        }
        get(ssl, descriptors.as_mut_ptr(), &raw mut count);
        let Some(_cancelling) = batch::cancel_job(&descriptors[..count]) else {
            return;
        };
        let null = crate::ffi::BIO_s_null();
        set_rbio(ssl, openssl_sys::BIO_new(null).cast());
        set_wbio(ssl, openssl_sys::BIO_new(null).cast());
        set_msg(ssl, std::ptr::null_mut());
        crate::ffi::ERR_set_mark();
        handshake(ssl);
        crate::ffi::ERR_pop_to_mark();
    }
}

/// Whether a callback that [`informed`] does not stand in for would be called.
///
/// # Safety
/// `ssl` is a connection.
unsafe fn has_info_callback(ssl: Ssl) -> bool {
    type Get = unsafe extern "C" fn(*mut c_void) -> Option<InfoCallback>;
    // SAFETY: the types are those of openssl/ssl.h; the connection is the caller's.
    unsafe {
        let (Some(own), Some(context), Some(shared)) = (
            next::<Get>(c"SSL_get_info_callback"),
            CONTEXT.find::<unsafe extern "C" fn(Ssl) -> *mut c_void>(),
            next::<Get>(c"SSL_CTX_get_info_callback"),
        ) else {
            return true;
        };
        let others = |callback: InfoCallback| !is_informed(callback);
        own(ssl).is_some_and(others) || shared(context(ssl)).is_some_and(others)
    }
}

impl Symbol {
    const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            found: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// # Safety
    /// As [`next`].
    unsafe fn find<F: Copy>(&self) -> Option<F> {
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            found = look_up(self.name);
            self.found.store(found, Ordering::Relaxed);
        }
        // SAFETY: the caller's.
        unsafe { function(found) }
    }
}

/// The function of this name in the libraries behind this one.
///
/// # Safety
/// `F` is the type of the function.
unsafe fn next<F: Copy>(name: &CStr) -> Option<F> {
    // SAFETY: the caller's.
    unsafe { function(look_up(name)) }
}

fn look_up(name: &CStr) -> *mut c_void {
    // SAFETY: a terminated string.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

/// # Safety
/// `found` is null or a function of type `F`.
unsafe fn function<F: Copy>(found: *mut c_void) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the caller's.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
}
