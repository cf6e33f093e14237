//! What the library is, at run time.

use std::ffi::{CStr, c_char};

/// Version of the interface that this header describes. A program that was built with another
/// version than `lanelock_abi_version` returns does not fit the library.
pub const LANELOCK_ABI_VERSION: u32 = 0;

/// Version of the library's interface. Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn lanelock_abi_version() -> u32 {
    LANELOCK_ABI_VERSION
}

/// Version of the library, such as "0.1.0": a static string. Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn lanelock_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no zero byte"),
        };
    VERSION.as_ptr()
}
