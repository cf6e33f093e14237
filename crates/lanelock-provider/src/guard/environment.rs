//! Takes the module out of `LD_PRELOAD` where it has nothing to do.
//!
//! Children inherit the variable. A program that is linked with libssl keeps it: HAProxy starts
//! itself anew to reload, Traffic Server's manager starts the process that serves. Any other, as a
//! shell or an interpreter, does not hand it on.

#![cfg(not(test))]

use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::ffi::boundary::boundary;
use crate::libssl::VERSION;

const VARIABLE: &str = "LD_PRELOAD";

/// Run when the module is loaded; if it is preloaded, before the program.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    boundary(|| {
        let Some(list) = std::env::var_os(VARIABLE) else {
            return;
        };
        let Some(module) = module() else { return };
        if !is_preloaded() || has_libssl() {
            return;
        }
        // The loader's separators.
        let entries = list.as_bytes().split(|byte| [b':', b' '].contains(byte));
        let others = entries
            .filter(|entry| !entry.is_empty() && !is(Path::new(OsStr::from_bytes(entry)), module));
        let others = others.collect::<Vec<_>>().join(&b':');
        // SAFETY: the program has not started, so that there is one thread.
        unsafe {
            if others.is_empty() {
                std::env::remove_var(VARIABLE);
            } else {
                std::env::set_var(VARIABLE, OsStr::from_bytes(&others));
            }
        }
    })
}

/// The file that the module was loaded from.
fn module() -> Option<&'static Path> {
    let here = at_load as *const c_void;
    // SAFETY: a place for the result, whose name lives as long as the module, which is never
    // unmapped.
    unsafe {
        let mut info = std::mem::zeroed::<libc::Dl_info>();
        if libc::dladdr(here, &raw mut info) == 0 {
            return None;
        }
        let name = CStr::from_ptr(info.dli_fname);
        Some(Path::new(OsStr::from_bytes(name.to_bytes())))
    }
}

/// Whether an entry of the variable names the module.
fn is(entry: &Path, module: &Path) -> bool {
    if entry == module {
        return true;
    }
    let file = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino()));
    match (file(entry), file(module)) {
        (Ok(entry), Ok(module)) => entry == module,
        _ => false,
    }
}

/// Whether the program's own calls come to this module: not if it was opened as a provider.
fn is_preloaded() -> bool {
    // SAFETY: the handle of the program and what it started with, terminated strings.
    let first = unsafe {
        let program = libc::dlopen(std::ptr::null(), libc::RTLD_LAZY);
        libc::dlvsym(program, c"SSL_free".as_ptr(), VERSION.as_ptr())
    };
    base(first).is_some_and(|first| Some(first) == base(at_load as *const c_void))
}

/// Whether the program started with a libssl.
fn has_libssl() -> bool {
    // SAFETY: terminated strings; the search begins after this object.
    let next = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"SSL_free".as_ptr(), VERSION.as_ptr()) };
    !next.is_null()
}

/// Where the object that has this address is loaded.
fn base(address: *const c_void) -> Option<usize> {
    // SAFETY: a place for the result.
    unsafe {
        let mut info = std::mem::zeroed::<libc::Dl_info>();
        (libc::dladdr(address, &raw mut info) != 0).then(|| info.dli_fbase.addr())
    }
}
