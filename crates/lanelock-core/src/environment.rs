//! Environment variables that change what the library does.

#![allow(unsafe_code)] // one question to the C library

use std::ffi::OsString;

/// The value of an environment variable; `None` if it is not set, and in a process that runs with
/// more privileges than whoever started it (setuid, setgid, file capabilities), where the
/// environment is that user's: the rule of secure_getenv(3).
#[must_use]
pub fn variable(name: &str) -> Option<OsString> {
    if is_privileged() {
        return None;
    }
    std::env::var_os(name)
}

#[cfg(target_os = "linux")]
fn is_privileged() -> bool {
    /// `AT_SECURE` of elf.h.
    const SECURE: std::ffi::c_ulong = 23;
    unsafe extern "C" {
        fn getauxval(kind: std::ffi::c_ulong) -> std::ffi::c_ulong;
    }
    // SAFETY: getauxval(3) has no preconditions; the C library took the values at the start.
    unsafe { getauxval(SECURE) != 0 }
}

#[cfg(not(target_os = "linux"))]
fn is_privileged() -> bool {
    false
}
