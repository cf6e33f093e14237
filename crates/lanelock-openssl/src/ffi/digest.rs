//! `EVP_MD` and `EVP_MD_CTX`.

use std::ffi::CStr;
use std::ptr::{self, NonNull};

use lanelock_core::algorithm::MAX_TAG_LEN;
use openssl_sys as sys;

use super::{EVP_DigestInit_ex2, Failed, Library, check};

/// A fetched digest.
#[derive(Debug)]
pub(crate) struct DigestAlgorithm(NonNull<sys::EVP_MD>);

// SAFETY: a fetched EVP_MD is immutable but for its atomic reference count.
unsafe impl Send for DigestAlgorithm {}
// SAFETY: as above.
unsafe impl Sync for DigestAlgorithm {}

impl DigestAlgorithm {
    /// Fetches `name`; `None` if no loaded provider has it.
    pub(crate) fn fetch(library: &Library, name: &CStr) -> Option<Self> {
        // SAFETY: the library context is live, the name terminated, no properties.
        let digest = unsafe { sys::EVP_MD_fetch(library.as_ptr(), name.as_ptr(), ptr::null()) };
        NonNull::new(digest).map(Self)
    }

    pub(super) fn as_ptr(&self) -> *const sys::EVP_MD {
        self.0.as_ptr()
    }
}

impl Clone for DigestAlgorithm {
    fn clone(&self) -> Self {
        // SAFETY: live. It counts a reference, which cannot fail for what was fetched.
        unsafe { EVP_MD_up_ref(self.0.as_ptr()) };
        Self(self.0)
    }
}

impl Drop for DigestAlgorithm {
    fn drop(&mut self) {
        // SAFETY: owned since the fetch.
        unsafe { sys::EVP_MD_free(self.0.as_ptr()) };
    }
}

/// A digest's running state.
#[derive(Debug)]
pub(crate) struct DigestContext(NonNull<sys::EVP_MD_CTX>);

// SAFETY: the context is reached through `&mut` alone, from one thread at a time.
unsafe impl Send for DigestContext {}

impl DigestContext {
    pub(crate) fn new(algorithm: &DigestAlgorithm) -> Result<Self, Failed> {
        // SAFETY: no arguments; null is checked.
        let context = NonNull::new(unsafe { sys::EVP_MD_CTX_new() }).ok_or_else(Failed::last)?;
        let this = Self(context);
        // SAFETY: both objects are live; no parameters.
        check(unsafe { EVP_DigestInit_ex2(this.0.as_ptr(), algorithm.0.as_ptr(), ptr::null()) })?;
        Ok(this)
    }

    /// Starts a message with the same digest.
    #[inline]
    pub(crate) fn restart(&mut self) -> Result<(), Failed> {
        // SAFETY: without a digest the context keeps its own.
        check(unsafe { EVP_DigestInit_ex2(self.0.as_ptr(), ptr::null(), ptr::null()) })
    }

    /// Adds to the message.
    #[inline]
    pub(crate) fn update(&mut self, data: &[u8]) -> Result<(), Failed> {
        // SAFETY: reads `data.len()` bytes.
        check(unsafe { sys::EVP_DigestUpdate(self.0.as_ptr(), data.as_ptr().cast(), data.len()) })
    }

    /// Ends the message and writes its digest to the front of `digest`.
    #[inline]
    pub(crate) fn finish(&mut self, digest: &mut [u8; MAX_TAG_LEN]) -> Result<(), Failed> {
        let mut written = 0;
        let (ctx, out) = (self.0.as_ptr(), digest.as_mut_ptr());
        // SAFETY: no digest that is not extendable is longer than EVP_MAX_MD_SIZE, 64 bytes.
        check(unsafe { sys::EVP_DigestFinal_ex(ctx, out, &raw mut written) })
    }

    /// Ends the message and fills `output` from an extendable-output function.
    #[inline]
    pub(crate) fn squeeze(&mut self, output: &mut [u8]) -> Result<(), Failed> {
        let (ctx, out) = (self.0.as_ptr(), output.as_mut_ptr());
        // SAFETY: writes `output.len()` bytes.
        check(unsafe { sys::EVP_DigestFinalXOF(ctx, out, output.len()) })
    }
}

impl Drop for DigestContext {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { sys::EVP_MD_CTX_free(self.0.as_ptr()) };
    }
}

unsafe extern "C" {
    // Not declared by openssl-sys.
    fn EVP_MD_up_ref(digest: *mut sys::EVP_MD) -> std::ffi::c_int;
}
