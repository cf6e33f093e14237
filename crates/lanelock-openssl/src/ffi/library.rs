//! A library context of the engine's own: fetching from it leaves the application's default
//! context, its configuration and its properties alone.

use std::ffi::{CStr, c_int};
use std::ptr::NonNull;
use std::sync::OnceLock;

use openssl_sys as sys;

use super::Failed;

/// An `OSSL_LIB_CTX` with the default provider and, where installed, the legacy one.
#[derive(Debug)]
pub(crate) struct Library {
    context: NonNull<sys::OSSL_LIB_CTX>,
    providers: Vec<NonNull<sys::OSSL_PROVIDER>>,
}

// SAFETY: a library context is made to be shared between threads; it locks inside.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// The context of this process, made at first use and never freed: libcrypto cleans up what an
    /// ending thread has in a context, and does not notice that another thread frees it meanwhile.
    pub(crate) fn shared() -> Result<&'static Self, String> {
        static SHARED: OnceLock<Result<Library, String>> = OnceLock::new();
        SHARED.get_or_init(Self::new).as_ref().map_err(Clone::clone)
    }

    /// Makes a context and loads its providers.
    fn new() -> Result<Self, String> {
        // SAFETY: no arguments.
        if unsafe { super::OPENSSL_version_major() } < 3 {
            return Err(format!("{} is too old: 3.0 or later is needed", version()));
        }
        // SAFETY: no arguments; null is checked.
        let context = NonNull::new(unsafe { sys::OSSL_LIB_CTX_new() })
            .ok_or_else(|| format!("OSSL_LIB_CTX_new: {}", Failed::take()))?;
        let mut library = Self {
            context,
            providers: Vec::new(),
        };
        if !library.load(c"default") {
            return Err(format!("provider 'default': {}", Failed::take()));
        }
        // Only single DES is in it: without it those algorithms are absent.
        if !library.load(c"legacy") {
            Failed::take();
        }
        Ok(library)
    }

    fn load(&mut self, name: &CStr) -> bool {
        // SAFETY: the context is live, the name terminated.
        let provider = unsafe { sys::OSSL_PROVIDER_load(self.context.as_ptr(), name.as_ptr()) };
        self.providers.extend(NonNull::new(provider));
        !provider.is_null()
    }

    pub(super) fn as_ptr(&self) -> *mut sys::OSSL_LIB_CTX {
        self.context.as_ptr()
    }
}

/// Where a provider does not load.
impl Drop for Library {
    fn drop(&mut self) {
        for provider in self.providers.drain(..) {
            // SAFETY: loaded by `load`, unloaded once.
            unsafe { sys::OSSL_PROVIDER_unload(provider.as_ptr()) };
        }
        // SAFETY: owned; fetched algorithms keep what they need of it referenced.
        unsafe { sys::OSSL_LIB_CTX_free(self.context.as_ptr()) };
    }
}

/// libcrypto's own name and version, `OpenSSL 3.0.19 27 Jan 2026`.
pub(crate) fn version() -> String {
    const OPENSSL_VERSION: c_int = 0;
    // SAFETY: returns a terminated string of static storage.
    unsafe { CStr::from_ptr(super::OpenSSL_version(OPENSSL_VERSION)) }
        .to_string_lossy()
        .into_owned()
}

/// Major and minor version of the libcrypto in use.
pub(crate) fn version_number() -> (u32, u32) {
    // SAFETY: both take no arguments.
    unsafe {
        (
            super::OPENSSL_version_major(),
            super::OPENSSL_version_minor(),
        )
    }
}
