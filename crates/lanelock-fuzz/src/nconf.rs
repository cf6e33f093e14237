//! A configuration as libcrypto reads it.

#![allow(unsafe_code)] // calls libcrypto, with pointers that live as long as the configuration

use std::ffi::{CStr, CString, c_char, c_int, c_long};
use std::ptr::{self, NonNull};

use openssl_sys as sys;

/// A configuration that libcrypto accepts.
#[derive(Debug)]
pub(crate) struct Nconf(NonNull<sys::CONF>);

impl Nconf {
    /// Reads a file, and those that it includes; `None` if libcrypto refuses one.
    pub(crate) fn load(file: &CStr) -> Option<Self> {
        // SAFETY: takes no pointer but to the default method; the result is checked.
        let conf = Self(NonNull::new(unsafe { sys::NCONF_new(ptr::null_mut()) })?);
        // SAFETY: the configuration is live, the path ends in a zero, and the line is not wanted.
        let loaded = unsafe { NCONF_load(conf.0.as_ptr(), file.as_ptr(), ptr::null_mut()) };
        // SAFETY: clears this thread's queue of errors.
        unsafe { sys::ERR_clear_error() };
        (loaded > 0).then_some(conf)
    }

    /// Value of `name` in `section`.
    pub(crate) fn get(&self, section: &str, name: &str) -> Option<String> {
        let values = self.section(section)?;
        values
            .into_iter()
            .find_map(|(n, value)| (n == name).then_some(value))
    }

    /// Names and values of a section in their order; `None` if there is no such section.
    pub(crate) fn section(&self, name: &str) -> Option<Vec<(String, String)>> {
        let name = CString::new(name).ok()?;
        // SAFETY: the configuration is live; the stack belongs to it.
        let stack = unsafe { NCONF_get_section(self.0.as_ptr(), name.as_ptr()) };
        if stack.is_null() {
            // SAFETY: as in `load`.
            unsafe { sys::ERR_clear_error() };
            return None;
        }
        // SAFETY: the stack is live as long as `self`.
        let count = unsafe { sys::OPENSSL_sk_num(stack) };
        let values = (0..count).map(|at| {
            // SAFETY: `at` is below the count; a section's entries have a name and a value, strings
            // that live as long as the configuration.
            unsafe {
                let entry = sys::OPENSSL_sk_value(stack, at).cast::<Entry>();
                (text((*entry).name), text((*entry).value))
            }
        });
        Some(values.collect())
    }
}

impl Drop for Nconf {
    fn drop(&mut self) {
        // SAFETY: owned, freed once.
        unsafe { sys::NCONF_free(self.0.as_ptr()) };
    }
}

/// A copy of a string of libcrypto's.
///
/// # Safety
/// It ends in a zero.
unsafe fn text(string: *const c_char) -> String {
    // SAFETY: the caller's.
    let string = unsafe { CStr::from_ptr(string) };
    string.to_string_lossy().into_owned()
}

/// `CONF_VALUE` of openssl/conf.h.
#[repr(C)]
struct Entry {
    section: *const c_char,
    name: *const c_char,
    value: *const c_char,
}

unsafe extern "C" {
    // Not declared by openssl-sys.
    fn NCONF_load(conf: *mut sys::CONF, file: *const c_char, line: *mut c_long) -> c_int;
    fn NCONF_get_section(conf: *const sys::CONF, section: *const c_char)
    -> *mut sys::OPENSSL_STACK;
}
