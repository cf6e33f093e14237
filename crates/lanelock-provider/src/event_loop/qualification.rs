//! Which connections take part.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use super::{connection, mode, stacks, waits};
use crate::batch;
use crate::config::Mode;
use crate::ffi;
use crate::ffi::boundary::boundary;
use crate::libssl::{Library, Ssl};

/// Whether a connection may take part, before its handshake begins: a server's, on one socket for both
/// directions that does not block, driven by a thread that waits for events and has several to see to.
///
/// What kind of socket it is does not matter, and need not be asked for: what the program has to hear of
/// comes to it as from any socket (`handshake::is_drained`).
///
/// # Safety
/// As [`connection::Connection::of`].
pub(super) unsafe fn qualifies(libssl: &Library, ssl: Ssl) -> bool {
    let mode = mode();
    if mode == Mode::Off
        || !waits::has_waited()
        || connection::any_handed_over()
        || mode == Mode::Auto && !has_room_for_callbacks()
        || batch::inside_job()
    {
        return false;
    }
    // SAFETY: the caller's.
    unsafe {
        let mode = (libssl.ctrl)(ssl, connection::SET_MODE, 0, std::ptr::null_mut());
        let begins = [c"PINIT", c"TRCH"].contains(&libssl.state_of(ssl));
        if mode & connection::MODE_ASYNC != 0
            || (libssl.is_server)(ssl) != 1
            || !begins
            || !waits::has_company()
        {
            return false;
        }
        let socket = (libssl.rbio)(ssl);
        !socket.is_null()
            && socket == (libssl.wbio)(ssl)
            && ffi::BIO_method_type(socket.cast()) == BIO_TYPE_SOCKET
            && is_non_blocking((libssl.rfd)(ssl))
    }
}

/// Asked for each connection: the program may change it at any time, and another may have had the number.
fn is_non_blocking(fd: c_int) -> bool {
    // SAFETY: a call without memory of ours.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_NONBLOCK != 0
}

/// Whether what runs in callbacks of libssl's may run on a job's stack.
fn has_room_for_callbacks() -> bool {
    match interpreter() {
        Interpreter::None => true,
        Interpreter::Deep => stacks::are_large(),
        Interpreter::Bound => false,
    }
}

/// Whether such callbacks may need more than the 32 KiB that libcrypto gives a job.
pub(super) fn has_interpreter() -> bool {
    interpreter() != Interpreter::None
}

/// What languages' code callbacks of libssl's may run.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd)]
enum Interpreter {
    #[default]
    None,
    /// It may need as much stack as a thread has.
    Deep,
    /// It knows where its thread's stack is, to measure how much is left or to look for objects, and
    /// takes another stack for an error.
    Bound,
}

/// That of the libraries that are mapped: looked at once, when the first connection comes.
fn interpreter() -> Interpreter {
    static FOUND: OnceLock<Interpreter> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let mut found = Interpreter::default();
        // SAFETY: the callback's argument is as it expects it, and lives until the call returns.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
        found
    })
}

/// Beginnings of the file names of such libraries. Redis and HAProxy are linked with Lua as well, unbound with
/// Python, and do not run it inside of libssl.
const INTERPRETERS: [(&str, Interpreter); 10] = [
    ("ngx_http_lua_module", Interpreter::Deep),
    ("ngx_stream_lua_module", Interpreter::Deep),
    ("ngx_http_perl_module", Interpreter::Deep),
    ("libluajit", Interpreter::Deep),
    ("ngx_http_js_module", Interpreter::Bound),
    ("ngx_stream_js_module", Interpreter::Bound),
    ("libruby", Interpreter::Bound),
    ("libnode", Interpreter::Bound),
    ("libjvm", Interpreter::Bound),
    ("libphp", Interpreter::Bound),
];

unsafe extern "C" fn look(
    info: *mut libc::dl_phdr_info,
    _: libc::size_t,
    found: *mut c_void,
) -> c_int {
    boundary(|| {
        // SAFETY: the loader's description of an object; the argument is `interpreter`'s.
        let (name, found) = unsafe {
            (
                CStr::from_ptr((*info).dlpi_name),
                &mut *found.cast::<Interpreter>(),
            )
        };
        let name = name.to_string_lossy();
        let file = name.rsplit('/').next().unwrap_or_default();
        let known = INTERPRETERS
            .iter()
            .filter(|(name, _)| file.starts_with(name));
        *found = known.fold(*found, |worst, &(_, kind)| worst.max(kind));
        0
    })
}

/// `BIO_TYPE_SOCKET` of openssl/bio.h.
const BIO_TYPE_SOCKET: c_int = 5 | 0x0400 | 0x0100;
