//! What crosses into libcrypto: types and functions of its public headers, and nothing else.

pub(crate) mod boundary;
pub(crate) mod delegate;
pub(crate) mod functions;
pub(crate) mod params;

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};

pub(crate) use openssl_sys::OSSL_PARAM;

/// `OSSL_CORE_HANDLE` of openssl/core.h.
pub(crate) enum CoreHandle {}

/// `ASYNC_JOB` of openssl/async.h.
pub(crate) enum AsyncJob {}

/// `ASYNC_WAIT_CTX` of openssl/async.h.
pub(crate) enum AsyncWaitCtx {}

/// `OSSL_CALLBACK` of openssl/core.h.
pub(crate) type Callback = unsafe extern "C" fn(*const OSSL_PARAM, *mut c_void) -> c_int;

/// `ASYNC_callback_fn` of openssl/async.h.
pub(crate) type AsyncCallback = unsafe extern "C" fn(*mut c_void) -> c_int;

/// Called when a wait context with a descriptor of ours is freed.
pub(crate) type AsyncCleanup =
    unsafe extern "C" fn(*mut AsyncWaitCtx, *const c_void, c_int, *mut c_void);

/// `CRYPTO_EX_free` of openssl/crypto.h.
pub(crate) type ExtraDataFree =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, c_int, c_long, *mut c_void);

/// `OSSL_DISPATCH` of openssl/core.h; an array of them ends with id 0.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Dispatch {
    pub id: c_int,
    pub function: Option<unsafe extern "C" fn()>,
}

/// `OSSL_ALGORITHM` of openssl/core.h; an array of them ends with null names.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Algorithm {
    pub names: *const c_char,
    pub properties: *const c_char,
    pub implementation: *const Dispatch,
    pub description: *const c_char,
}

/// `OSSL_OP_*` of openssl/core_dispatch.h.
pub(crate) mod operation {
    use std::ffi::c_int;

    pub(crate) const KEYMGMT: c_int = 10;
    pub(crate) const KEYEXCH: c_int = 11;
    pub(crate) const SIGNATURE: c_int = 12;
    pub(crate) const ASYM_CIPHER: c_int = 13;
    pub(crate) const KEM: c_int = 14;
}

/// `OSSL_KEYMGMT_SELECT_PRIVATE_KEY` and `OSSL_KEYMGMT_SELECT_PUBLIC_KEY`.
pub(crate) const SELECT_PRIVATE: c_int = 0x01;
pub(crate) const SELECT_PUBLIC: c_int = 0x02;
/// `OSSL_KEYMGMT_SELECT_KEYPAIR` and `OSSL_KEYMGMT_SELECT_ALL_PARAMETERS`.
pub(crate) const SELECT_KEYPAIR: c_int = 0x03;
pub(crate) const SELECT_PARAMETERS: c_int = 0x84;

/// `ASYNC_STATUS_OK` of openssl/async.h.
pub(crate) const ASYNC_STATUS_OK: c_int = 2;

unsafe extern "C" {
    pub(crate) fn OSSL_PARAM_set_octet_string(
        param: *mut OSSL_PARAM,
        value: *const c_void,
        len: usize,
    ) -> c_int;
    pub(crate) fn OSSL_PARAM_set_int(param: *mut OSSL_PARAM, value: c_int) -> c_int;
    pub(crate) fn OSSL_PARAM_set_utf8_ptr(param: *mut OSSL_PARAM, value: *const c_char) -> c_int;

    pub(crate) fn BIO_method_type(bio: *const c_void) -> c_int;
    pub(crate) fn BIO_test_flags(bio: *const c_void, flags: c_int) -> c_int;
    pub(crate) fn BIO_up_ref(bio: *mut c_void) -> c_int;
    pub(crate) fn BIO_s_null() -> *const openssl_sys::BIO_METHOD;
    pub(crate) fn ERR_set_mark() -> c_int;
    pub(crate) fn CRYPTO_get_ex_new_index(
        class: c_int,
        argl: c_long,
        argp: *mut c_void,
        make: Option<unsafe extern "C" fn()>,
        copy: Option<unsafe extern "C" fn()>,
        free: Option<ExtraDataFree>,
    ) -> c_int;
    pub(crate) fn ERR_pop_to_mark() -> c_int;

    pub(crate) fn ASYNC_get_current_job() -> *mut AsyncJob;
    pub(crate) fn ASYNC_get_wait_ctx(job: *mut AsyncJob) -> *mut AsyncWaitCtx;
    pub(crate) fn ASYNC_pause_job() -> c_int;
    pub(crate) fn ASYNC_WAIT_CTX_set_wait_fd(
        ctx: *mut AsyncWaitCtx,
        key: *const c_void,
        fd: c_int,
        custom: *mut c_void,
        cleanup: Option<AsyncCleanup>,
    ) -> c_int;
    pub(crate) fn ASYNC_WAIT_CTX_get_fd(
        ctx: *mut AsyncWaitCtx,
        key: *const c_void,
        fd: *mut c_int,
        custom: *mut *mut c_void,
    ) -> c_int;
    pub(crate) fn ASYNC_WAIT_CTX_clear_fd(ctx: *mut AsyncWaitCtx, key: *const c_void) -> c_int;
    pub(crate) fn ASYNC_WAIT_CTX_get_callback(
        ctx: *mut AsyncWaitCtx,
        callback: *mut Option<AsyncCallback>,
        arg: *mut *mut c_void,
    ) -> c_int;
    pub(crate) fn ASYNC_WAIT_CTX_set_status(ctx: *mut AsyncWaitCtx, status: c_int) -> c_int;
}

/// `OSSL_PARAM_*` data types of openssl/core.h.
pub(crate) mod kind {
    use std::ffi::c_uint;

    pub(crate) const INTEGER: c_uint = 1;
    pub(crate) const UNSIGNED_INTEGER: c_uint = 2;
    pub(crate) const UTF8_STRING: c_uint = 4;
    pub(crate) const OCTET_STRING: c_uint = 5;
    pub(crate) const UTF8_PTR: c_uint = 6;
}

const _: c_uint = kind::INTEGER;
