//! What the program calls to drive a handshake, and what it is told.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

use lanelock::public_key::Ticket;

use super::connection::{Connection, State};
use super::{resume, waits};
use crate::batch;
use crate::ffi::boundary::boundary;
use crate::libssl::{Library, Ssl};

/// What a call of libssl's that reads or writes data takes besides the connection.
type Buffer = *mut c_void;

thread_local! {
    /// The connection whose handshake libssl drives on this thread, as one that takes part.
    static DRIVEN: Cell<Option<(&'static Library, Ssl)>> = const { Cell::new(None) };
    /// How many of libssl's calls drive a handshake on this thread that takes no part.
    static OTHERS: Cell<u32> = const { Cell::new(0) };
    /// Whether libssl asks itself what a connection wants.
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// Whether the handshake that runs on this thread is of a connection that takes part.
pub(crate) fn is_driven() -> bool {
    DRIVEN.get().is_some()
}

/// Whether an operation of the driven handshake may pause: one whose result the server sends, unless the
/// program is in a hurry. What comes later in a handshake may be its last step, of which the program
/// would not hear. Nor if early data was accepted: libssl returns from the handshake to read them only
/// in the call of SSL_read_early_data(3) that began it.
pub(crate) fn may_pause() -> bool {
    /// The server's hello, its key exchange of TLS 1.2, and its signature of TLS 1.3, which some
    /// releases name as the client does.
    const SENDS: [&CStr; 4] = [c"TWSH", c"TWSKE", c"TWSCV", c"TRSCV"];
    /// `SSL_EARLY_DATA_ACCEPTED` of openssl/ssl.h.
    const ACCEPTED: c_int = 2;
    DRIVEN.get().is_none_or(|(libssl, ssl)| {
        // SAFETY: the connection that libssl works on, on this thread.
        let (state, early_data, connection) = unsafe {
            (
                libssl.state_of(ssl),
                (libssl.early_data_status)(ssl),
                Connection::of(libssl, ssl),
            )
        };
        SENDS.contains(&state)
            && early_data != ACCEPTED
            && connection.is_some_and(|connection| !connection.hurries())
    })
}

/// Whether the socket of the driven handshake has nothing to read, before the handshake first pauses in a
/// call of the program's. A loop that is told of changes alone (`EPOLLET`) may have heard already of what is
/// there, and libssl, which would read it in this call, reads nothing while the module resumes it. Of
/// what comes later the loop will hear.
pub(crate) fn is_drained() -> bool {
    DRIVEN.get().is_none_or(|(libssl, ssl)| {
        // SAFETY: the connection that libssl works on, on this thread.
        let (connection, fd) = unsafe { (Connection::of(libssl, ssl), (libssl.rfd)(ssl)) };
        let is_resumed = |it: &Arc<Connection>| it.state() == State::Resumed;
        connection.is_some_and(is_resumed) || !waits::is_readable(fd)
    })
}

/// The job of the driven connection pauses for this operation, which waits for others for so long.
pub(crate) fn pausing(ticket: Ticket, deadline: Duration) {
    if let Some((libssl, ssl)) = DRIVEN.get() {
        // SAFETY: the connection that libssl works on, on this thread.
        if let Some(connection) = unsafe { Connection::of(libssl, ssl) } {
            resume::add(Arc::clone(connection), ticket, deadline);
            connection.set_state(State::Paused);
        }
    }
}

/// Has libssl drive the connection's handshake by `call`.
///
/// # Safety
/// `ssl` is a live connection of `libssl`'s, `call` one of its functions.
pub(super) unsafe fn drive(
    libssl: &'static Library,
    ssl: Ssl,
    call: unsafe extern "C" fn(Ssl) -> c_int,
) -> c_int {
    let outer = DRIVEN.replace(Some((libssl, ssl)));
    // SAFETY: the caller's.
    let result = unsafe { call(ssl) };
    DRIVEN.set(outer);
    result
}

/// The connection, if it takes part from here on.
///
/// # Safety
/// As [`drive`].
unsafe fn taking_part<'c>(libssl: &'static Library, ssl: Ssl) -> Option<&'c Arc<Connection>> {
    // SAFETY: the caller's.
    unsafe {
        // In a call for one that takes no part: of libssl's own functions, or of a callback.
        let begin = || match OTHERS.get() {
            0 => Connection::begin(libssl, ssl),
            _ => None,
        };
        let known = Connection::of(libssl, ssl).or_else(begin);
        known.filter(|known| known.state() != State::Over)
    }
}

/// A call that drives the handshake of `ssl`; what it returns to the program.
///
/// # Safety
/// As [`drive`].
unsafe fn handshake(
    libssl: &'static Library,
    ssl: Ssl,
    call: unsafe extern "C" fn(Ssl) -> c_int,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        // libssl's functions call each other.
        if is_driven() {
            return call(ssl);
        }
        let Some(connection) = taking_part(libssl, ssl) else {
            return beside(|| call(ssl));
        };
        let mut result = advance(connection, call);
        // Not in a callback of the program's, nor on a job's stack.
        if OTHERS.get() == 0 && !batch::inside_job() {
            while resume::after_batch(connection) {
                result = resume::at_once(|| step(connection, call));
            }
        }
        result
    }
}

/// As [`handshake`], for a connection that takes part.
///
/// # Safety
/// As [`drive`].
unsafe fn advance(connection: &Arc<Connection>, call: unsafe extern "C" fn(Ssl) -> c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if !connection.is_own() && connection.handed_over() {
            // As libssl does first.
            openssl_sys::ERR_clear_error();
            return -1;
        }
        let state = connection.state();
        if state == State::Over {
            return call(connection.ssl());
        }
        if let Some(failure) = connection.failure() {
            // libssl is as it was when it failed: what it is asked next, it answers for that call.
            connection.leave_alone();
            failure.raise();
            return -1;
        }
        if state == State::Paused {
            resume::forget(connection);
            connection.hurry();
            resume::at_once(|| step(connection, call))
        } else {
            step(connection, call)
        }
    }
}

/// The program's own call drives the handshake.
///
/// # Safety
/// As [`drive`].
unsafe fn step(connection: &Arc<Connection>, call: unsafe extern "C" fn(Ssl) -> c_int) -> c_int {
    /// `SSL_ASYNC_NO_JOBS` of openssl/ssl.h.
    const NO_JOBS: c_int = 6;
    let (libssl, ssl) = (connection.libssl, connection.ssl());
    connection.set_state(State::Driven);
    // SAFETY: the caller's.
    unsafe {
        let result = drive(libssl, ssl, call);
        if result == 1 {
            connection.leave_alone();
        } else if connection.state() == State::Driven && (libssl.want)(ssl) == NO_JOBS {
            connection.leave_alone();
            return call(ssl);
        }
        result
    }
}

/// Calls libssl for a connection that takes no part, and whose handshake is not done.
fn beside<R>(call: impl FnOnce() -> R) -> R {
    // A job of the program's own may pause inside of the call, and go on elsewhere.
    if batch::inside_job() {
        return call();
    }
    OTHERS.set(OTHERS.get() + 1);
    let result = call();
    OTHERS.set(OTHERS.get() - 1);
    result
}

/// Reads or writes by `call`, which returns `failed` if it can do neither. First drives the handshake, if
/// there is still one to drive: a buffer is the program's only until the call returns, and no paused job
/// may keep it.
///
/// # Safety
/// As [`drive`].
unsafe fn after_handshake<R>(
    libssl: &'static Library,
    ssl: Ssl,
    failed: R,
    call: impl FnOnce() -> R,
) -> R {
    // SAFETY: the caller's.
    unsafe {
        if (libssl.in_init)(ssl) == 0 || is_driven() {
            return call();
        }
        if taking_part(libssl, ssl).is_none() {
            return beside(call);
        }
        match handshake(libssl, ssl, libssl.do_handshake) {
            1 => call(),
            _ => failed,
        }
    }
}

/// Whether the program is to take it that the connection waits for its client.
///
/// # Safety
/// As [`drive`].
unsafe fn waits_for_client(libssl: &Library, ssl: Ssl) -> bool {
    // SAFETY: the caller's.
    let connection = unsafe { Connection::of(libssl, ssl) };
    connection.is_some_and(|connection| {
        matches!(
            connection.state(),
            State::Paused | State::Resumed | State::Waiting
        )
    })
}

/// # Safety
/// As SSL_do_handshake(3).
pub(super) unsafe extern "C" fn do_handshake(ssl: Ssl) -> c_int {
    boundary(|| {
        // SAFETY: the caller's connection.
        unsafe {
            Library::of_connection(ssl)
                .map_or(-1, |libssl| handshake(libssl, ssl, libssl.do_handshake))
        }
    })
}

/// # Safety
/// As SSL_accept(3).
pub(super) unsafe extern "C" fn accept(ssl: Ssl) -> c_int {
    boundary(|| {
        // SAFETY: the caller's connection.
        unsafe {
            Library::of_connection(ssl).map_or(-1, |libssl| handshake(libssl, ssl, libssl.accept))
        }
    })
}

/// Functions with a buffer and its length, which return how much was done or what went wrong.
macro_rules! with_buffer {
    ($($name:ident = $page:literal,)*) => {$(
        /// # Safety
        #[doc = concat!("As ", $page, ".")]
        pub(super) unsafe extern "C" fn $name(ssl: Ssl, buffer: Buffer, len: c_int) -> c_int {
            boundary(|| {
                // SAFETY: the caller's connection and buffer.
                unsafe {
                    let Some(libssl) = Library::of_connection(ssl) else {
                        return -1;
                    };
                    after_handshake(libssl, ssl, -1, || (libssl.$name)(ssl, buffer, len))
                }
            })
        }
    )*};
}

/// Their like that store how much was done, and return whether it went well.
macro_rules! with_buffer_ex {
    ($($name:ident = $page:literal,)*) => {$(
        /// # Safety
        #[doc = concat!("As ", $page, ".")]
        pub(super) unsafe extern "C" fn $name(
            ssl: Ssl,
            buffer: Buffer,
            len: usize,
            done: *mut usize,
        ) -> c_int {
            boundary(|| {
                // SAFETY: the caller's connection, buffer and place.
                unsafe {
                    let Some(libssl) = Library::of_connection(ssl) else {
                        return 0;
                    };
                    after_handshake(libssl, ssl, 0, || (libssl.$name)(ssl, buffer, len, done))
                }
            })
        }
    )*};
}

with_buffer! {
    read = "SSL_read(3)",
    peek = "SSL_peek(3)",
    write = "SSL_write(3)",
}

with_buffer_ex! {
    read_ex = "SSL_read_ex(3)",
    peek_ex = "SSL_peek_ex(3)",
    write_ex = "SSL_write_ex(3)",
}

/// # Safety
/// As SSL_get_error(3).
pub(super) unsafe extern "C" fn get_error(ssl: Ssl, result: c_int) -> c_int {
    boundary(|| {
        /// `SSL_ERROR_SSL` and `SSL_ERROR_WANT_READ` of openssl/ssl.h.
        const SSL: c_int = 1;
        const WANT_READ: c_int = 2;
        // SAFETY: the caller's connection.
        unsafe {
            let Some(libssl) = Library::of_connection(ssl) else {
                return SSL;
            };
            // A call that failed has said why, while the handshake is paused, too: SSL_shutdown(3) does.
            let has_failed = || openssl_sys::ERR_peek_last_error() != 0;
            if result <= 0 && waits_for_client(libssl, ssl) && !has_failed() {
                return WANT_READ;
            }
            let outer = ASKING.replace(true);
            let error = (libssl.get_error)(ssl, result);
            ASKING.set(outer);
            error
        }
    })
}

/// # Safety
/// As SSL_want(3).
pub(super) unsafe extern "C" fn want(ssl: Ssl) -> c_int {
    boundary(|| {
        /// `SSL_NOTHING` and `SSL_READING` of openssl/ssl.h.
        const NOTHING: c_int = 1;
        const READING: c_int = 3;
        // SAFETY: the caller's connection.
        unsafe {
            match Library::of_connection(ssl) {
                None => NOTHING,
                Some(libssl) if !ASKING.get() && waits_for_client(libssl, ssl) => READING,
                Some(libssl) => (libssl.want)(ssl),
            }
        }
    })
}
