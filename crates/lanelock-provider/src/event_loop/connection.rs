//! Connections that take part, and which those are.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_long, c_ulong, c_void};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use super::{mode, waits};
use crate::batch;
use crate::config::Mode;
use crate::ffi;
use crate::ffi::boundary::boundary;
use crate::libssl::{self, Library, Ssl};

/// One connection that takes part; libcrypto keeps it with the connection.
pub(super) struct Connection {
    pub(super) libssl: &'static Library,
    ssl: usize,
    owner: usize,
    state: AtomicU8,
    /// Whether the program wants the handshake to go on now: no operation pauses from then on.
    hurries: AtomicBool,
    /// Why the handshake failed while the program did not look.
    failure: OnceLock<Failure>,
}

/// Why a handshake failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    /// The last of libcrypto's errors; 0 if there is none.
    pub(super) code: c_ulong,
    /// The system's.
    pub(super) errno: c_int,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub(super) enum State {
    /// The program drives its handshake.
    Driven,
    /// Its job is paused.
    Paused,
    /// Its job is being resumed by its thread.
    Resumed,
    /// Its job was resumed, and waits for the client.
    Waiting,
    /// It is closed, or was, by another thread than its own.
    Gone,
    /// It has come to its end, or is the program's own affair.
    Over,
}

/// Set when a thread drove a connection that another had begun: nothing new takes part then.
static HANDED_OVER: AtomicBool = AtomicBool::new(false);

impl Connection {
    /// What is kept with a connection.
    ///
    /// # Safety
    /// `ssl` is a connection of `libssl`'s, which lives and is not freed meanwhile.
    pub(super) unsafe fn of<'c>(libssl: &Library, ssl: Ssl) -> Option<&'c Arc<Self>> {
        let &Some(index) = INDEX.get()? else {
            return None;
        };
        // SAFETY: what is under our index is what `begin` put there, until libcrypto frees it.
        unsafe {
            let kept = (libssl.ex_data)(ssl, index).cast::<Arc<Self>>();
            kept.as_ref()
        }
    }

    /// Has a connection take part if it may: asynchronous mode is on from then on.
    ///
    /// # Safety
    /// As [`Connection::of`].
    pub(super) unsafe fn begin<'c>(libssl: &'static Library, ssl: Ssl) -> Option<&'c Arc<Self>> {
        // SAFETY: the caller's.
        unsafe {
            if !qualifies(libssl, ssl) {
                return None;
            }
            let index = (*INDEX.get_or_init(new_index))?;
            let connection = Arc::new(Self {
                libssl,
                ssl: ssl.expose_provenance(),
                owner: thread(),
                state: AtomicU8::new(State::Driven as u8),
                hurries: AtomicBool::new(false),
                failure: OnceLock::new(),
            });
            let kept = Box::into_raw(Box::new(connection));
            if (libssl.set_ex_data)(ssl, index, kept.cast()) != 1 {
                drop(Box::from_raw(kept));
                return None;
            }
            (libssl.ctrl)(ssl, SET_MODE, MODE_ASYNC, std::ptr::null_mut());
            Some(&*kept)
        }
    }

    pub(super) fn ssl(&self) -> Ssl {
        std::ptr::with_exposed_provenance_mut(self.ssl)
    }

    /// Whether the calling thread is the one that began it.
    pub(super) fn is_own(&self) -> bool {
        self.owner == thread()
    }

    pub(super) fn state(&self) -> State {
        match self.state.load(Ordering::Acquire) {
            0 => State::Driven,
            1 => State::Paused,
            2 => State::Resumed,
            3 => State::Waiting,
            4 => State::Gone,
            _ => State::Over,
        }
    }

    pub(super) fn set_state(&self, state: State) {
        self.state.store(state as u8, Ordering::Release);
    }

    /// Goes from one state to the next, unless it is in another meanwhile.
    pub(super) fn change(&self, from: State, to: State) -> bool {
        let (from, to) = (from as u8, to as u8);
        let changed = self
            .state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        changed.is_ok()
    }

    /// The program asks for the handshake while it is paused, for an event that it will not hear of
    /// again: from now on the handshake goes as far as the client lets it.
    pub(super) fn hurry(&self) {
        self.hurries.store(true, Ordering::Relaxed);
    }

    pub(super) fn hurries(&self) -> bool {
        self.hurries.load(Ordering::Relaxed)
    }

    /// The handshake has failed; it does not do so twice.
    pub(super) fn set_failure(&self, failure: Failure) {
        let _first = self.failure.set(failure);
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        self.failure.get().copied()
    }

    /// From now on libssl runs the connection as it does any other.
    ///
    /// # Safety
    /// The connection lives.
    pub(super) unsafe fn leave_alone(&self) {
        self.set_state(State::Over);
        // SAFETY: the caller's.
        unsafe { (self.libssl.ctrl)(self.ssl(), CLEAR_MODE, MODE_ASYNC, std::ptr::null_mut()) };
    }

    /// Another thread than its own drives it.
    ///
    /// # Safety
    /// As [`Connection::leave_alone`].
    pub(super) unsafe fn handed_over(&self) {
        HANDED_OVER.store(true, Ordering::Relaxed);
        if self.state() != State::Paused && self.state() != State::Resumed {
            // SAFETY: the caller's.
            unsafe { self.leave_alone() };
        }
    }
}

impl Failure {
    /// Leaves the calling thread's errors as the call in which the handshake failed would have left them.
    pub(super) fn raise(self) {
        // SAFETY: no text goes with the error; the calling thread's own number.
        unsafe {
            openssl_sys::ERR_clear_error();
            if self.code != 0 {
                let library = openssl_sys::ERR_GET_LIB(self.code);
                let reason = openssl_sys::ERR_GET_REASON(self.code);
                openssl_sys::ERR_new();
                openssl_sys::ERR_set_error(library, reason, std::ptr::null());
            }
            *libc::__errno_location() = self.errno;
        }
    }
}

/// The connection is about to be freed: its job is resumed by nobody from here on. Whether it was
/// paused by this thread.
///
/// # Safety
/// As [`Connection::of`].
pub(crate) unsafe fn forget(libssl: &Library, ssl: Ssl) -> bool {
    // SAFETY: the caller's.
    let Some(connection) = (unsafe { Connection::of(libssl, ssl) }) else {
        return false;
    };
    while !connection.change(State::Paused, State::Gone) {
        if connection.state() != State::Resumed || connection.is_own() {
            return false;
        }
        // Its own thread writes its messages at this moment.
        std::thread::yield_now();
    }
    connection.is_own()
}

/// The connection is about to start over. If it takes part, it does so no more; `end` is to end its job if
/// that is paused. Whether it can start over.
///
/// # Safety
/// As [`Connection::of`].
pub(crate) unsafe fn start_over(libssl: &Library, ssl: Ssl, end: impl FnOnce() -> bool) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let Some(connection) = Connection::of(libssl, ssl) else {
            return true;
        };
        match connection.state() {
            State::Over => return true,
            State::Paused | State::Resumed if !connection.is_own() => return false,
            State::Paused => {
                forget(libssl, ssl);
                if !end() {
                    return false;
                }
            }
            _ => {}
        }
        connection.leave_alone();
        true
    }
}

/// Whether a connection may take part, before its handshake begins: a server's, on a TCP socket
/// that does not block, driven by a thread that waits for events and has several to see to.
///
/// # Safety
/// As [`Connection::of`].
unsafe fn qualifies(libssl: &Library, ssl: Ssl) -> bool {
    let mode = mode();
    if mode == Mode::Off
        || !waits::has_waited()
        || HANDED_OVER.load(Ordering::Relaxed)
        || mode == Mode::Auto && has_interpreter()
        || batch::inside_job()
    {
        return false;
    }
    // SAFETY: the caller's.
    unsafe {
        let mode = (libssl.ctrl)(ssl, SET_MODE, 0, std::ptr::null_mut());
        let begins = [c"PINIT", c"TRCH"].contains(&libssl.state_of(ssl));
        if mode & MODE_ASYNC != 0
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

/// A number that no other living thread has.
fn thread() -> usize {
    thread_local! { static MARK: Cell<u8> = const { Cell::new(0) } }
    MARK.try_with(|mark| std::ptr::from_ref(mark).addr())
        .unwrap_or(0)
}

/// Under which libcrypto keeps a [`Connection`] with its connection; `None` if it has no room.
static INDEX: OnceLock<Option<c_int>> = OnceLock::new();

fn new_index() -> Option<c_int> {
    // SAFETY: no argument, and a function of the type that is called; the module stays mapped.
    let index = unsafe {
        ffi::CRYPTO_get_ex_new_index(
            libssl::CONNECTIONS,
            0,
            std::ptr::null_mut(),
            None,
            None,
            Some(freed),
        )
    };
    (index >= 0).then_some(index)
}

/// `CRYPTO_EX_free` of openssl/crypto.h.
unsafe extern "C" fn freed(
    _: *mut c_void,
    kept: *mut c_void,
    _: *mut c_void,
    _: c_int,
    _: c_long,
    _: *mut c_void,
) {
    boundary(|| {
        if !kept.is_null() {
            // SAFETY: what `begin` put there, freed once.
            let connection = unsafe { Box::from_raw(kept.cast::<Arc<Connection>>()) };
            connection.set_state(State::Gone);
        }
    })
}

/// `SSL_CTRL_MODE`, `SSL_CTRL_CLEAR_MODE` and `SSL_MODE_ASYNC` of openssl/ssl.h.
const SET_MODE: c_int = 33;
const CLEAR_MODE: c_int = 78;
const MODE_ASYNC: c_long = 0x100;

/// `BIO_TYPE_SOCKET` of openssl/bio.h.
const BIO_TYPE_SOCKET: c_int = 5 | 0x0400 | 0x0100;
