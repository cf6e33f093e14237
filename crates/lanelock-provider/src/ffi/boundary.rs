//! Where C calls in: no panic crosses into C, and errors go to libcrypto's queue.

use std::ffi::{CString, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::delegate::Failure;

/// Calls `f`, the body of a function that C calls: each of them is nothing but a call of
/// this. If `f` panics, the function fails as it does for any other error.
pub(crate) fn boundary<R: Failure>(f: impl FnOnce() -> R) -> R {
    // What `f` was changing may be half done; it belongs to the one operation that fails, or is
    // thread-local state whose borrows are checked (`batch`).
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        // Dropping what a panic carries may panic.
        std::mem::forget(panic);
        raise("a panic inside the provider; the operation failed");
        R::FAILURE
    })
}

/// Which kind of error it is: a reason of openssl/err.h or openssl/proverr.h.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(i32)]
pub(crate) enum Reason {
    /// `ERR_R_INIT_FAIL`.
    Failed = 261 | (0x3 << 18),
    /// `PROV_R_INVALID_KEY`.
    InvalidKey = 158,
    /// `PROV_R_INVALID_KEY_LENGTH`.
    InvalidKeyLength = 105,
    /// `PROV_R_MISSING_KEY`.
    MissingKey = 128,
    /// `PROV_R_NOT_SUPPORTED`.
    NotSupported = 136,
    /// `PROV_R_OUTPUT_BUFFER_TOO_SMALL`.
    OutputTooShort = 106,
}

/// Puts a sentence on this thread's error queue.
pub(crate) fn raise(message: &str) {
    raise_as(Reason::Failed, message);
}

/// As [`raise`], with a reason that programs can look at.
pub(crate) fn raise_as(reason: Reason, message: &str) {
    /// `ERR_LIB_PROV` of openssl/err.h.
    const PROVIDERS: c_int = 57;
    let message = CString::new(format!("lanelock: {message}")).unwrap_or_default();
    // SAFETY: terminated strings; the format takes one.
    unsafe {
        openssl_sys::ERR_new();
        openssl_sys::ERR_set_debug(c"lanelock".as_ptr(), 0, c"provider".as_ptr());
        openssl_sys::ERR_set_error(PROVIDERS, reason as c_int, c"%s".as_ptr(), message.as_ptr());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_panic_is_a_failure_on_the_error_queue() {
        let failed: c_int = boundary(|| panic!("a defect"));
        // SAFETY: no preconditions.
        assert_ne!((failed, unsafe { openssl_sys::ERR_get_error() }), (1, 0));
        let null: *mut u8 = boundary(|| panic!("another"));
        assert!(null.is_null());
        assert_eq!(boundary(|| 7), 7);
    }

    /// Each function with C's calling convention has one statement, which is `boundary`.
    #[test]
    fn every_function_that_c_calls_is_one() {
        let mut found = 0;
        let mut directories = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).expect("the sources") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    directories.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                found += check(&path, code);
            }
        }
        assert!(found > 40, "{found} functions were looked at");
    }

    fn check(path: &Path, code: &str) -> usize {
        let mut count = 0;
        for part in code.split("extern \"C\" fn ").skip(1) {
            // A type has its parenthesis at once, a declaration its semicolon before any brace.
            let end = part.find(['{', ';']).unwrap_or(part.len());
            if part.starts_with('(') || !part[end..].starts_with('{') {
                continue;
            }
            count += 1;
            let body = part[end + 1..].trim_start();
            let name = &part[..part.find(['(', '<']).unwrap_or(0)];
            assert!(
                body.starts_with("boundary(||"),
                "{}: {name} is not a call of boundary",
                path.display()
            );
        }
        count
    }
}
