//! A thread's paused connections, and their going on.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::sync::Arc;

use lanelock::public_key::Ticket;

use super::connection::{Connection, State};
use super::handshake::drive;
use super::waits;
use crate::batch;
use crate::ffi;
use crate::libssl::Bio;

/// Turns of the program's loop for which paused connections wait for others while it has other events
/// to see to.
const MOST_TURNS: u32 = 16;

/// Connections that go on from here.
#[derive(Default)]
struct Paused {
    /// Those whose jobs are paused, in the order in which they did.
    connections: Vec<(Arc<Connection>, Ticket)>,
    /// Those whose messages did not fit into the socket.
    unsent: Vec<Arc<Connection>>,
    /// Turns for which the former have been held back.
    turns: u32,
    /// The process that they are of.
    process: Option<u32>,
}

thread_local! {
    static PAUSED: RefCell<Paused> = RefCell::new(Paused::default());
    /// How many there are, to look at on each wait.
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static RESUMING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f` with this thread's paused connections.
fn with<R>(f: impl FnOnce(&mut Paused) -> R) -> R {
    PAUSED.with_borrow_mut(|paused| {
        let process = batch::generation();
        if paused.process != process {
            // Those of a parent go on there: here nothing of theirs is touched.
            std::mem::forget(std::mem::take(paused));
            paused.process = process;
        }
        let result = f(paused);
        COUNT.set(paused.connections.len() + paused.unsent.len());
        result
    })
}

/// Whether a job that goes on does so because it is resumed here: then its batch runs at once.
pub(crate) fn is_resuming() -> bool {
    RESUMING.get()
}

/// Whether anything waits to go on.
pub(super) fn is_needed() -> bool {
    COUNT.get() > 0
}

/// Whether any connection has messages that the socket had no room for.
pub(super) fn has_unsent() -> bool {
    is_needed() && with(|paused| !paused.unsent.is_empty())
}

/// The connection's job pauses for this operation.
pub(super) fn add(connection: Arc<Connection>, ticket: Ticket) {
    with(|paused| paused.connections.push((connection, ticket)));
}

/// The program's loop comes round; `is_idle`: it has nothing else to do. Resumes those whose operations
/// have run, and all of them if they are not to wait any longer.
pub(super) fn turn(is_idle: bool) {
    for connection in with(|paused| std::mem::take(&mut paused.unsent)) {
        go_on(&connection, State::Waiting);
    }
    finished();
    let is_due = with(|paused| {
        paused.turns += 1;
        let is_due = is_idle || paused.turns > MOST_TURNS;
        if is_due || paused.connections.is_empty() {
            paused.turns = 0;
        }
        is_due
    });
    if is_due {
        all();
        // Their next operations, if nobody else can come and join them.
        while is_idle && with(|paused| !paused.connections.is_empty()) {
            all();
        }
    }
}

/// Resumes those whose operations have run in full batches, so that their next ones join the rest.
fn finished() {
    loop {
        let ready = |(_, ticket): &(_, Ticket)| batch::is_done(*ticket);
        let ready: Vec<_> =
            with(|paused| paused.connections.extract_if(.., |it| ready(it)).collect());
        if ready.is_empty() {
            return;
        }
        for (connection, _) in ready {
            go_on(&connection, State::Paused);
        }
    }
}

/// Resumes each that is paused now; the first of them runs the batch.
fn all() {
    let now = with(|paused| std::mem::take(&mut paused.connections));
    for (connection, _) in now {
        go_on(&connection, State::Paused);
    }
}

/// The program resumes this connection of the calling thread's itself.
pub(super) fn forget(connection: &Arc<Connection>) {
    with(|paused| {
        let is_other = |(known, _): &(Arc<Connection>, Ticket)| !Arc::ptr_eq(known, connection);
        paused.connections.retain(is_other);
    });
}

/// While `f` drives a handshake, its batch runs at once.
pub(super) fn at_once<R>(f: impl FnOnce() -> R) -> R {
    let outer = RESUMING.replace(true);
    let result = f();
    RESUMING.set(outer);
    result
}

/// Has libssl go on with a handshake, which reads nothing from its socket; what the program sees of
/// libcrypto's errors and the system's stays as it is.
fn go_on(connection: &Arc<Connection>, from: State) {
    if !connection.change(from, State::Resumed) {
        // Closed meanwhile, or driven by the program itself.
        return;
    }
    let (libssl, ssl) = (connection.libssl, connection.ssl());
    // SAFETY: the connection lives: whoever frees it waits until it is no longer `Resumed`. Its
    // socket's BIO keeps a reference while another stands in its place.
    unsafe {
        let nothing = nothing_to_read();
        if nothing.is_null() {
            // No memory: the program's next call resumes it.
            connection.set_state(State::Paused);
            return;
        }
        let errno = *libc::__errno_location();
        ffi::ERR_set_mark();
        let socket = (libssl.rbio)(ssl);
        ffi::BIO_up_ref(socket);
        (libssl.set0_rbio)(ssl, nothing);
        let result = at_once(|| drive(libssl, ssl, libssl.do_handshake));
        (libssl.set0_rbio)(ssl, socket);
        // Else it paused again.
        if connection.change(State::Resumed, State::Waiting) {
            match (libssl.want)(ssl) {
                _ if result == 1 => connection.leave_alone(),
                READING => wake((libssl.rfd)(ssl)),
                WRITING if ffi::BIO_test_flags((libssl.wbio)(ssl), SHOULD_RETRY) != 0 => {
                    with(|paused| paused.unsent.push(Arc::clone(connection)));
                }
                _ => {
                    connection.set_failure(openssl_sys::ERR_peek_last_error());
                    // The program hears of it as of a client that has gone.
                    libc::shutdown((libssl.rfd)(ssl), libc::SHUT_RDWR);
                }
            }
        }
        ffi::ERR_pop_to_mark();
        *libc::__errno_location() = errno;
    }

    /// `SSL_WRITING` and `SSL_READING` of openssl/ssl.h.
    const WRITING: c_int = 2;
    const READING: c_int = 3;
    /// `BIO_FLAGS_SHOULD_RETRY` of openssl/bio.h.
    const SHOULD_RETRY: c_int = 8;
}

/// An end of which a reader learns nothing but that it is to come back; a new reference to it. Null if
/// there is no memory.
fn nothing_to_read() -> Bio {
    thread_local! { static NOTHING: Cell<Bio> = const { Cell::new(std::ptr::null_mut()) } }
    let known = NOTHING.get();
    // SAFETY: an empty buffer of the thread's, which is read by nothing but its connections and
    // written to by nothing; it goes with the process.
    unsafe {
        let nothing = match known.is_null() {
            true => openssl_sys::BIO_new(openssl_sys::BIO_s_mem()).cast(),
            false => known,
        };
        NOTHING.set(nothing);
        if nothing.is_null() || ffi::BIO_up_ref(nothing) != 1 {
            return std::ptr::null_mut();
        }
        nothing
    }
}

/// Has the kernel tell the program once more of what the client has sent already, if anything: a loop
/// that is told of changes alone (`EPOLLET`) may have heard of it before it could be read.
fn wake(fd: c_int) {
    if !waits::is_readable(fd) {
        return;
    }
    let (mut mark, mut len): (c_int, libc::socklen_t) = (0, 4);
    // SAFETY: a place for the option with its length.
    unsafe {
        // Setting it signals what is readable, since Linux 4.18 (tcp_set_rcvlowat).
        let option = (&raw mut mark).cast();
        if libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            option,
            &raw mut len,
        ) == 0
        {
            libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, option, len);
        }
    }
}
