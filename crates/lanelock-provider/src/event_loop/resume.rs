//! A thread's paused connections, and their going on.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lanelock::public_key::Ticket;

use super::connection::{Connection, Failure, State};
use super::handshake::drive;
use super::waits;
use crate::batch;
use crate::ffi;
use crate::libssl::Bio;

/// How long paused connections wait for others while the program's loop has other events to see to, if
/// the deadline is zero or longer.
const MOST_TIME: Duration = Duration::from_millis(5);

/// Most handshakes that go on before the program's calls return, until its loop comes round. With each
/// that does, a client may come back: a loop that accepts clients as long as there are any would never
/// get on to those that it has.
const MOST_AT_ONCE: usize = 64;

/// Connections that go on from here.
#[derive(Default)]
struct Waiting {
    /// Those whose jobs are paused, in the order in which they did.
    paused: Vec<Paused>,
    /// Those whose messages did not fit into the socket.
    unsent: Vec<Arc<Connection>>,
    /// The process that they are of.
    process: Option<u32>,
}

/// A connection whose job is paused.
struct Paused {
    connection: Arc<Connection>,
    /// The operation that it is paused for.
    ticket: Ticket,
    /// When it is to wait no longer.
    until: Instant,
}

thread_local! {
    static WAITING: RefCell<Waiting> = RefCell::new(Waiting::default());
    /// How many there are, to look at on each wait.
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static RESUMING: Cell<bool> = const { Cell::new(false) };
    /// Whether a batch has run whose other operations' connections are still paused.
    static HAS_RUN: Cell<bool> = const { Cell::new(false) };
    /// How many handshakes may still go on before the loop comes round.
    static LEFT: Cell<usize> = const { Cell::new(MOST_AT_ONCE) };
}

/// Calls `f` with this thread's connections.
fn with<R>(f: impl FnOnce(&mut Waiting) -> R) -> R {
    WAITING.with_borrow_mut(|waiting| {
        let process = batch::generation();
        if waiting.process != process {
            // Those of a parent go on there: here nothing of theirs is touched.
            std::mem::forget(std::mem::take(waiting));
            waiting.process = process;
        }
        let result = f(waiting);
        COUNT.set(waiting.paused.len() + waiting.unsent.len());
        result
    })
}

/// Whether a job that goes on does so because it is resumed here: then its batch runs at once.
pub(crate) fn is_resuming() -> bool {
    RESUMING.get()
}

/// A batch has run with operations of jobs that are paused.
pub(crate) fn batch_ran() {
    HAS_RUN.set(true);
}

/// Whether anything waits to go on.
pub(super) fn is_needed() -> bool {
    COUNT.get() > 0
}

/// Whether any connection has messages that the socket had no room for.
pub(super) fn has_unsent() -> bool {
    is_needed() && with(|waiting| !waiting.unsent.is_empty())
}

/// The connection's job pauses for this operation, for as long as `deadline` says.
pub(super) fn add(connection: Arc<Connection>, ticket: Ticket, deadline: Duration) {
    let limit = match deadline.is_zero() {
        true => MOST_TIME,
        false => deadline.min(MOST_TIME),
    };
    let until = Instant::now() + limit;
    with(|waiting| {
        waiting.paused.push(Paused {
            connection,
            ticket,
            until,
        });
    });
}

/// A call of the program's that drove the handshake of `driven` is about to return. Others whose
/// operations its batch ran go on now; what they ask for next may fill another. Whether the operation of
/// `driven` has run by then: the call itself is to go on with it, since it may be libssl that waits for
/// what it returns (`SSL_read_early_data`).
pub(super) fn after_batch(driven: &Arc<Connection>) -> bool {
    if !HAS_RUN.get() || !is_needed() {
        return false;
    }
    // SAFETY: the calling thread's own.
    let errno = unsafe { *libc::__errno_location() };
    let left = finished(LEFT.get(), Some(driven));
    let is_driven =
        |it: &mut Paused| Arc::ptr_eq(&it.connection, driven) && batch::is_done(it.ticket);
    let goes_on = left > 0 && with(|waiting| waiting.paused.extract_if(.., is_driven).count() > 0);
    LEFT.set(left - usize::from(goes_on));
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    goes_on
}

/// The program's loop has come round: it waits for events.
pub(super) fn comes_round() {
    LEFT.set(MOST_AT_ONCE);
}

/// Before the program waits for events; `is_idle`: it has nothing else to do. Resumes those whose
/// operations have run, and all of them if they are not to wait any longer.
pub(super) fn turn(is_idle: bool) {
    for connection in with(|waiting| std::mem::take(&mut waiting.unsent)) {
        go_on(&connection, State::Waiting);
    }
    finished(usize::MAX, None);
    if is_idle || is_due() {
        all();
        // Their next operations, if nobody else can come and join them.
        while is_idle && with(|waiting| !waiting.paused.is_empty()) {
            all();
        }
    }
}

/// Whether any has waited for as long as it is to.
fn is_due() -> bool {
    with(|waiting| {
        let first = waiting.paused.iter().map(|it| it.until).min();
        first.is_some_and(|until| until <= Instant::now())
    })
}

/// Resumes those whose operations have run, but for `except`, so that their next ones join the rest. No
/// more than `most`; how many of these are left.
fn finished(most: usize, except: Option<&Arc<Connection>>) -> usize {
    let is_meant = |it: &Paused| except.is_none_or(|other| !Arc::ptr_eq(&it.connection, other));
    let (mut left, mut has_more) = (most, true);
    while left > 0 && has_more {
        HAS_RUN.set(false);
        let is_done = |it: &mut Paused| is_meant(it) && batch::is_done(it.ticket);
        let ready: Vec<_> = with(|waiting| {
            let ready = waiting.paused.extract_if(.., is_done);
            ready.take(left).collect()
        });
        has_more = !ready.is_empty();
        left -= ready.len();
        for it in ready {
            go_on(&it.connection, State::Paused);
        }
    }
    left
}

/// Resumes each that is paused now; the first of them runs the batch.
fn all() {
    for it in with(|waiting| std::mem::take(&mut waiting.paused)) {
        go_on(&it.connection, State::Paused);
    }
}

/// The program resumes this connection of the calling thread's itself.
pub(super) fn forget(connection: &Arc<Connection>) {
    let is_other = |it: &Paused| !Arc::ptr_eq(&it.connection, connection);
    with(|waiting| waiting.paused.retain(is_other));
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
        let errno = libc::__errno_location().replace(0);
        let error = openssl_sys::ERR_peek_last_error();
        ffi::ERR_set_mark();
        let socket = (libssl.rbio)(ssl);
        ffi::BIO_up_ref(socket);
        (libssl.set0_rbio)(ssl, nothing);
        let result = at_once(|| drive(libssl, ssl, libssl.do_handshake));
        let (code, failed) = (
            openssl_sys::ERR_peek_last_error(),
            *libc::__errno_location(),
        );
        (libssl.set0_rbio)(ssl, socket);
        // Else it paused again.
        if connection.change(State::Resumed, State::Waiting) {
            match (libssl.want)(ssl) {
                _ if result == 1 => connection.leave_alone(),
                READING if connection.has_turned_away() => wake((libssl.rfd)(ssl)),
                READING => {}
                WRITING if ffi::BIO_test_flags((libssl.wbio)(ssl), SHOULD_RETRY) != 0 => {
                    with(|waiting| waiting.unsent.push(Arc::clone(connection)));
                }
                _ => {
                    connection.set_failure(Failure {
                        code: if code == error { 0 } else { code },
                        errno: failed,
                    });
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

/// Has the kernel tell the program once more of what the client has sent already, if anything. It does so
/// for TCP alone: other sockets are rarer than programs that hand such a connection over, which each do once
/// (`connection::any_handed_over`).
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
