//! Which connections take part.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use super::{connection, mode, waits};
use crate::batch;
use crate::config::Mode;
use crate::ffi;
use crate::ffi::boundary::boundary;
use crate::libssl::{Library, Ssl};

/// Whether a connection may take part, before its handshake begins: a server's, on a TCP socket
/// that does not block, driven by a thread that waits for events and has several to see to.
///
/// # Safety
/// As [`connection::Connection::of`].
pub(super) unsafe fn qualifies(libssl: &Library, ssl: Ssl) -> bool {
    let mode = mode();
    if mode == Mode::Off
        || !waits::has_waited()
        || connection::any_handed_over()
        || mode == Mode::Auto && has_interpreter()
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
            && ffi::BIO_method_type(socket.cast()) == BIO_TYPE_SOCKET
            && is_non_blocking_tcp((libssl.rfd)(ssl))
    }
}

fn is_non_blocking_tcp(fd: c_int) -> bool {
    let (mut on, mut len): (c_int, libc::socklen_t) = (0, 4);
    // SAFETY: calls without memory of ours, and a place for the option with its length.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        flags >= 0
            && flags & libc::O_NONBLOCK != 0
            && libc::getsockopt(
                fd,
                libc::IPPROTO_TCP,
                libc::TCP_NODELAY,
                (&raw mut on).cast(),
                &raw mut len,
            ) == 0
    }
}

/// Whether a library is mapped that runs a language's code in callbacks of libssl's: looked at once,
/// when the first connection comes.
fn has_interpreter() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let mut found = false;
        // SAFETY: the callback's argument is as it expects it, and lives until the call returns.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
        found
    })
}

/// Beginnings of the file names of such libraries. Redis and HAProxy are linked with Lua as well, unbound with
/// Python, and do not run it inside of libssl.
const INTERPRETERS: [&str; 10] = [
    "ngx_http_lua_module",
    "ngx_stream_lua_module",
    "ngx_http_perl_module",
    "ngx_http_js_module",
    "ngx_stream_js_module",
    "libluajit",
    "libruby",
    "libnode",
    "libjvm",
    "libphp",
];

unsafe extern "C" fn look(
    info: *mut libc::dl_phdr_info,
    _: libc::size_t,
    found: *mut c_void,
) -> c_int {
    boundary(|| {
        // SAFETY: the loader's description of an object; the argument is `has_interpreter`'s.
        let (name, found) = unsafe {
            (
                CStr::from_ptr((*info).dlpi_name),
                &mut *found.cast::<bool>(),
            )
        };
        let name = name.to_string_lossy();
        let file = name.rsplit('/').next().unwrap_or_default();
        *found |= INTERPRETERS.iter().any(|known| file.starts_with(known));
        c_int::from(*found)
    })
}

/// `BIO_TYPE_SOCKET` of openssl/bio.h.
const BIO_TYPE_SOCKET: c_int = 5 | 0x0400 | 0x0100;
