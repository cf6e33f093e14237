//! `EVP_MAC` and `EVP_MAC_CTX`.

use std::ffi::CStr;
use std::ptr::{self, NonNull};

use lanelock_core::algorithm::MAX_TAG_LEN;
use openssl_sys as sys;

use super::{Failed, Library, Params, check};

/// A fetched MAC.
#[derive(Debug)]
pub(crate) struct MacAlgorithm(NonNull<sys::EVP_MAC>);

// SAFETY: a fetched EVP_MAC is immutable but for its atomic reference count.
unsafe impl Send for MacAlgorithm {}
// SAFETY: as above.
unsafe impl Sync for MacAlgorithm {}

impl MacAlgorithm {
    /// Fetches `name`; `None` if no loaded provider has it.
    pub(crate) fn fetch(library: &Library, name: &CStr) -> Option<Self> {
        // SAFETY: the library context is live, the name terminated, no properties.
        let mac = unsafe { sys::EVP_MAC_fetch(library.as_ptr(), name.as_ptr(), ptr::null()) };
        NonNull::new(mac).map(Self)
    }
}

impl Drop for MacAlgorithm {
    fn drop(&mut self) {
        // SAFETY: owned since the fetch.
        unsafe { sys::EVP_MAC_free(self.0.as_ptr()) };
    }
}

/// A keyed context.
#[derive(Debug)]
pub(crate) struct MacContext(NonNull<sys::EVP_MAC_CTX>);

// SAFETY: the context is reached through `&mut` alone, from one thread at a time.
unsafe impl Send for MacContext {}

impl MacContext {
    /// A context keyed with `key`, over a digest where the MAC has one.
    pub(crate) fn new(
        algorithm: &MacAlgorithm,
        key: &[u8],
        digest: Option<&'static CStr>,
    ) -> Result<Self, Failed> {
        let params = Params::new();
        let params = match digest {
            Some(name) => params.text(c"digest", name),
            None => params,
        };
        Self::with_params(algorithm, key, &params)
    }

    /// A context of KMAC, for tags of `tag_len` bytes.
    pub(crate) fn kmac(
        algorithm: &MacAlgorithm,
        key: &[u8],
        customization: &[u8],
        tag_len: usize,
    ) -> Result<Self, Failed> {
        let params = Params::new().number(c"size", &tag_len);
        let (custom, len) = (customization.as_ptr().cast_mut(), customization.len());
        // libcrypto copies the string when the array is set, below.
        let params = params.octets(c"custom", custom, len);
        Self::with_params(algorithm, key, &params)
    }

    /// What `params` point to is valid for reads.
    fn with_params(algorithm: &MacAlgorithm, key: &[u8], params: &Params) -> Result<Self, Failed> {
        // SAFETY: the algorithm is live; null is checked.
        let context = unsafe { sys::EVP_MAC_CTX_new(algorithm.0.as_ptr()) };
        let mut this = Self(NonNull::new(context).ok_or_else(Failed::last)?);
        this.init(key.as_ptr(), key.len(), params.as_ptr())?;
        Ok(this)
    }

    /// Starts a message from the keyed state.
    #[inline]
    pub(crate) fn restart(&mut self) -> Result<(), Failed> {
        self.init(ptr::null(), 0, ptr::null())
    }

    /// Starts a message by setting the key again, for MACs that cannot restart.
    #[inline]
    pub(crate) fn rekey(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.init(key.as_ptr(), key.len(), ptr::null())
    }

    /// `key` is null or valid for `len` bytes; `params` is null or an ended array.
    #[inline]
    fn init(
        &mut self,
        key: *const u8,
        len: usize,
        params: *const sys::OSSL_PARAM,
    ) -> Result<(), Failed> {
        // SAFETY: all callers are above and pass what the comment of this function asks.
        check(unsafe { sys::EVP_MAC_init(self.0.as_ptr(), key, len, params) })
    }

    /// Adds to the message.
    #[inline]
    pub(crate) fn update(&mut self, data: &[u8]) -> Result<(), Failed> {
        // SAFETY: reads `data.len()` bytes.
        check(unsafe { sys::EVP_MAC_update(self.0.as_ptr(), data.as_ptr(), data.len()) })
    }

    /// Ends the message and writes its untruncated tag to the front of `tag`.
    #[inline]
    pub(crate) fn finish(&mut self, tag: &mut [u8; MAX_TAG_LEN]) -> Result<(), Failed> {
        let mut written = 0;
        let (ctx, out) = (self.0.as_ptr(), tag.as_mut_ptr());
        // SAFETY: writes at most `tag.len()` bytes.
        check(unsafe { sys::EVP_MAC_final(ctx, out, &raw mut written, tag.len()) })
    }
}

impl Drop for MacContext {
    fn drop(&mut self) {
        // SAFETY: owned. Frees and wipes key and state.
        unsafe { sys::EVP_MAC_CTX_free(self.0.as_ptr()) };
    }
}
