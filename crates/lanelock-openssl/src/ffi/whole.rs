//! `EVP_DigestSign` and `EVP_DigestVerify`: signatures that take a message whole.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::{self, NonNull};

use openssl_sys as sys;

use super::{Failed, KeyParams, Library, PKey, Verdict, check};

/// Signs or verifies whole messages with one key.
#[derive(Debug)]
pub(crate) struct WholeContext {
    context: NonNull<sys::EVP_MD_CTX>,
    library: *mut sys::OSSL_LIB_CTX,
    key: PKey,
    digest: Option<&'static CStr>,
    settings: KeyParams,
    verifies: bool,
    /// libcrypto takes the next message without being told to start over.
    ready: bool,
}

// SAFETY: the contexts are reached through `&mut` alone, from one thread at a time; the library
// context outlives this one (its owner keeps both) and locks inside.
unsafe impl Send for WholeContext {}

impl WholeContext {
    /// A context for `key`; schemes that hash first name their `digest`. The caller keeps
    /// `library` alive as long.
    pub(crate) fn new(
        library: &Library,
        key: PKey,
        digest: Option<&'static CStr>,
        settings: KeyParams,
        verifies: bool,
    ) -> Result<Self, Failed> {
        // SAFETY: no arguments; null is checked.
        let context = NonNull::new(unsafe { sys::EVP_MD_CTX_new() }).ok_or_else(Failed::last)?;
        let mut this = Self {
            context,
            library: library.as_ptr(),
            key,
            digest,
            settings,
            verifies,
            ready: false,
        };
        this.start()?;
        Ok(this)
    }

    pub(crate) fn sign(&mut self, message: &[u8], out: &mut [u8]) -> Result<usize, Failed> {
        self.restart()?;
        let mut len = out.len();
        let (ctx, to) = (self.context.as_ptr(), out.as_mut_ptr());
        // SAFETY: reads the message for its length and writes at most `len` bytes.
        check(unsafe {
            sys::EVP_DigestSign(ctx, to, &raw mut len, message.as_ptr(), message.len())
        })?;
        Ok(len)
    }

    pub(crate) fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<Verdict, Failed> {
        self.restart()?;
        let ctx = self.context.as_ptr();
        // SAFETY: reads both for their lengths.
        let result = unsafe {
            sys::EVP_DigestVerify(
                ctx,
                signature.as_ptr(),
                signature.len(),
                message.as_ptr(),
                message.len(),
            )
        };
        Ok(Verdict::of(result))
    }

    fn restart(&mut self) -> Result<(), Failed> {
        if !self.ready {
            self.start()?;
        }
        // A digest is consumed with its message, and so is any context from 3.1 on.
        self.ready = self.digest.is_none() && super::version_number() < (3, 1);
        Ok(())
    }

    fn start(&mut self) -> Result<(), Failed> {
        let init = if self.verifies {
            EVP_DigestVerifyInit_ex
        } else {
            EVP_DigestSignInit_ex
        };
        let digest = self.digest.map_or(ptr::null(), CStr::as_ptr);
        let mut inner = ptr::null_mut();
        // SAFETY: everything is live; names end; the context takes its own reference to the key,
        // and lends `inner`; the array ends with its terminator and is only read. SM2 takes its
        // identifier only behind the initialisation, so all settings come there.
        unsafe {
            check(init(
                self.context.as_ptr(),
                &raw mut inner,
                digest,
                self.library,
                ptr::null(),
                self.key.0.as_ptr(),
                ptr::null(),
            ))?;
            if !self.settings.is_empty() {
                check(sys::EVP_PKEY_CTX_set_params(
                    inner,
                    self.settings.as_mut_ptr(),
                ))?;
            }
        }
        self.ready = true;
        Ok(())
    }
}

impl Drop for WholeContext {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { sys::EVP_MD_CTX_free(self.context.as_ptr()) };
    }
}

unsafe extern "C" {
    // Public since OpenSSL 3.0; openssl-sys does not declare them.
    fn EVP_DigestSignInit_ex(
        ctx: *mut sys::EVP_MD_CTX,
        key_ctx: *mut *mut sys::EVP_PKEY_CTX,
        digest: *const c_char,
        library: *mut sys::OSSL_LIB_CTX,
        properties: *const c_char,
        key: *mut sys::EVP_PKEY,
        params: *const sys::OSSL_PARAM,
    ) -> c_int;
    fn EVP_DigestVerifyInit_ex(
        ctx: *mut sys::EVP_MD_CTX,
        key_ctx: *mut *mut sys::EVP_PKEY_CTX,
        digest: *const c_char,
        library: *mut sys::OSSL_LIB_CTX,
        properties: *const c_char,
        key: *mut sys::EVP_PKEY,
        params: *const sys::OSSL_PARAM,
    ) -> c_int;
}
