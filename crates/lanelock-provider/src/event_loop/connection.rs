//! Connections that take part, and how far each is.

use std::cell::Cell;
use std::ffi::{c_int, c_long, c_ulong, c_void};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};
use std::sync::{Arc, OnceLock};

use super::qualification::qualifies;
use super::stacks;
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
    /// Whether another thread asked for the handshake while its own had it paused: what that thread had
    /// heard of, nobody may hear of again.
    turned_away: AtomicBool,
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

/// Set when a thread drove a connection that another had begun.
static HANDED_OVER: AtomicBool = AtomicBool::new(false);

/// Whether any connection of this process was handed from one thread to another: nothing new takes part
/// then.
pub(super) fn any_handed_over() -> bool {
    HANDED_OVER.load(Ordering::Relaxed)
}

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
            // From the first job on, if ever.
            stacks::are_large();
            let connection = Arc::new(Self {
                libssl,
                ssl: ssl.expose_provenance(),
                owner: thread(),
                state: AtomicU8::new(State::Driven as u8),
                hurries: AtomicBool::new(false),
                turned_away: AtomicBool::new(false),
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

    /// Another thread than its own drives it. Whether that one is turned away, since its own thread is to
    /// resume it.
    ///
    /// # Safety
    /// As [`Connection::leave_alone`].
    pub(super) unsafe fn handed_over(&self) -> bool {
        HANDED_OVER.store(true, Ordering::Relaxed);
        self.turned_away.store(true, Ordering::Relaxed);
        // Either this thread sees that it is resumed no more, or its own that this one was here.
        fence(Ordering::SeqCst);
        let is_paused = matches!(self.state(), State::Paused | State::Resumed);
        if !is_paused {
            // SAFETY: the caller's.
            unsafe { self.leave_alone() };
        }
        is_paused
    }

    /// Whether another thread may have been turned away before it was resumed for the last time.
    pub(super) fn has_turned_away(&self) -> bool {
        fence(Ordering::SeqCst);
        self.turned_away.load(Ordering::Relaxed)
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
pub(super) const SET_MODE: c_int = 33;
const CLEAR_MODE: c_int = 78;
pub(super) const MODE_ASYNC: c_long = 0x100;
