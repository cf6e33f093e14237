//! Everything that crosses into libcrypto: owners of its objects with safe methods.
//!
//! Each object is freed once, by its owner; each call checks its result; lengths that libcrypto
//! takes from the object's state (an IV's, say) are checked against that state first.

#![allow(unsafe_code)]

mod cipher;
mod container;
mod digest;
mod errors;
mod key_params;
mod library;
mod mac;
mod number;
mod oaep;
mod pem;
mod pkey;
mod power;
mod raw_digest;
mod whole;

pub(crate) use cipher::{CipherAlgorithm, CipherContext};
pub(crate) use digest::{DigestAlgorithm, DigestContext};
pub(crate) use errors::ErrorMark;
pub(crate) use key_params::KeyParams;
pub(crate) use library::{Library, version, version_number};
pub(crate) use mac::{MacAlgorithm, MacContext};
pub(crate) use number::{CurveGroup, Number};
pub(crate) use oaep::Oaep;
pub(crate) use pem::Pem;
pub(crate) use pkey::{PKey, PKeyContext, Verdict};
pub(crate) use power::Power;
pub(crate) use raw_digest::RawDigest;
pub(crate) use whole::WholeContext;

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong};
use std::fmt;

use openssl_sys as sys;

/// libcrypto returned an error, whose code this is (0 if it gave none). Its error queue is left to
/// the [`ErrorMark`] of whoever called the engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Failed(c_ulong);

impl Failed {
    /// A call that was not made, because its arguments do not fit the object's state.
    pub(crate) const MISUSE: Self = Self(0);

    /// This thread's latest error.
    #[cold]
    fn last() -> Self {
        // SAFETY: no arguments; looks at this thread's queue alone.
        Self(unsafe { sys::ERR_peek_last_error() })
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the function returns null or a terminated string of static storage.
        let reason = unsafe {
            let reason = sys::ERR_reason_error_string(self.0);
            (!reason.is_null()).then(|| CStr::from_ptr(reason))
        };
        match reason {
            Some(reason) => f.write_str(&reason.to_string_lossy()),
            None => write!(f, "OpenSSL gives no reason (code {:#x})", self.0),
        }
    }
}

/// Turns libcrypto's 1-is-success into a `Result`.
#[inline]
fn check(result: c_int) -> Result<(), Failed> {
    if result == 1 {
        Ok(())
    } else {
        Err(Failed::last())
    }
}

/// `OSSL_PARAM_UNSIGNED_INTEGER`, `OSSL_PARAM_UTF8_STRING` and `OSSL_PARAM_OCTET_STRING` of
/// openssl/core.h.
const UNSIGNED_INTEGER: c_uint = 2;
const UTF8_STRING: c_uint = 4;
const OCTET_STRING: c_uint = 5;

/// A parameter array of up to two entries, ended by libcrypto's terminator.
struct Params([sys::OSSL_PARAM; 3], usize);

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Params of {} entries", self.1)
    }
}

impl Params {
    fn new() -> Self {
        const END: sys::OSSL_PARAM = sys::OSSL_PARAM {
            key: std::ptr::null(),
            data_type: 0,
            data: std::ptr::null_mut(),
            data_size: 0,
            return_size: 0,
        };
        Self([END; 3], 0)
    }

    /// Adds an octet string. libcrypto reads from `data` when the array is set and writes to it
    /// when it is got: the caller that passes the array on must ensure that this is sound.
    fn octets(self, key: &'static CStr, data: *mut u8, len: usize) -> Self {
        self.push(key, OCTET_STRING, data, len)
    }

    fn text(self, key: &'static CStr, text: &'static CStr) -> Self {
        let len = text.to_bytes().len();
        self.push(key, UTF8_STRING, text.as_ptr().cast_mut().cast(), len)
    }

    /// Adds a number, on the terms of [`Params::octets`].
    fn number(self, key: &'static CStr, number: *const usize) -> Self {
        self.push(
            key,
            UNSIGNED_INTEGER,
            number.cast_mut().cast(),
            size_of::<usize>(),
        )
    }

    fn push(mut self, key: &'static CStr, kind: c_uint, data: *mut u8, len: usize) -> Self {
        self.0[self.1] = sys::OSSL_PARAM {
            key: key.as_ptr(),
            data_type: kind,
            data: data.cast(),
            data_size: len,
            return_size: usize::MAX,
        };
        self.1 += 1;
        assert!(self.1 < self.0.len(), "the last entry ends the array");
        self
    }

    /// Gives the first entry other data, on the terms of [`Params::octets`].
    #[inline]
    fn point(&mut self, data: *mut u8, len: usize) {
        self.0[0].data = data.cast();
        self.0[0].data_size = len;
    }

    fn as_ptr(&self) -> *const sys::OSSL_PARAM {
        self.0.as_ptr()
    }

    fn as_mut_ptr(&mut self) -> *mut sys::OSSL_PARAM {
        self.0.as_mut_ptr()
    }
}

unsafe extern "C" {
    // Public since OpenSSL 3.0; openssl-sys does not declare them.
    fn EVP_CipherInit_ex2(
        ctx: *mut sys::EVP_CIPHER_CTX,
        cipher: *const sys::EVP_CIPHER,
        key: *const u8,
        iv: *const u8,
        enc: c_int,
        params: *const sys::OSSL_PARAM,
    ) -> c_int;
    fn EVP_CipherFinal_ex(ctx: *mut sys::EVP_CIPHER_CTX, out: *mut u8, len: *mut c_int) -> c_int;
    fn EVP_CIPHER_CTX_get_params(
        ctx: *mut sys::EVP_CIPHER_CTX,
        params: *mut sys::OSSL_PARAM,
    ) -> c_int;
    fn EVP_CIPHER_CTX_set_params(
        ctx: *mut sys::EVP_CIPHER_CTX,
        params: *const sys::OSSL_PARAM,
    ) -> c_int;
    fn EVP_DigestInit_ex2(
        ctx: *mut sys::EVP_MD_CTX,
        md: *const sys::EVP_MD,
        params: *const sys::OSSL_PARAM,
    ) -> c_int;
    fn OPENSSL_version_major() -> c_uint;
    fn OPENSSL_version_minor() -> c_uint;
    fn OpenSSL_version(kind: c_int) -> *const c_char;
}
