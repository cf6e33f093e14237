//! A library context of the engine's own: fetching from it leaves the application's default
//! context, its configuration and its properties alone.

use std::ffi::{CStr, c_int};
use std::ptr::NonNull;
use std::sync::OnceLock;

use openssl_sys as sys;

use super::Failed;

/// An `OSSL_LIB_CTX` with its providers.
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
    /// The context of this process with the default provider, made at first use and never freed:
    /// libcrypto cleans up what an ending thread has in a context, and does not notice that another
    /// thread frees it meanwhile.
    pub(crate) fn shared() -> Result<&'static Self, String> {
        static SHARED: OnceLock<Result<Library, String>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Self::new(&[c"default"]));
        shared.as_ref().map_err(Clone::clone)
    }

    /// As [`Library::shared`], with the legacy provider as well; `None` where it is not installed.
    /// That provider is a file, which is not opened before this is called: a process may by then
    /// have given up its view of the file system.
    pub(crate) fn legacy() -> Option<&'static Self> {
        static LEGACY: OnceLock<Option<Library>> = OnceLock::new();
        let legacy = LEGACY.get_or_init(|| Self::new(&[c"default", c"legacy"]).ok());
        legacy.as_ref()
    }

    /// Makes a context and loads its providers.
    fn new(providers: &[&CStr]) -> Result<Self, String> {
        // SAFETY: no arguments.
        if unsafe { super::OPENSSL_version_major() } < 3 {
            return Err(format!("{} is too old: 3.0 or later is needed", version()));
        }
        // SAFETY: no arguments; null is checked.
        let context = NonNull::new(unsafe { sys::OSSL_LIB_CTX_new() })
            .ok_or_else(|| format!("OSSL_LIB_CTX_new: {}", Failed::last()))?;
        let mut library = Self {
            context,
            providers: Vec::new(),
        };
        for name in providers {
            if !library.load(name) {
                return Err(format!("provider {name:?}: {}", Failed::last()));
            }
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
