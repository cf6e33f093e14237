//! Asynchronous handshakes for servers that know nothing of OpenSSL's asynchronous mode: nginx,
//! lighttpd, Redis and others whose event loop drives connections on non-blocking sockets.
//!
//! Where this module is preloaded, calls that drive a handshake come here first ([`handshake`]). A
//! connection that takes part ([`qualification`]) gets asynchronous mode until its handshake is done.
//! When its job pauses, the program is told that the handshake waits for the client to send
//! something, which it soon does: as soon as its batch is full, or before the program's loop blocks
//! ([`waits`]), the batch runs, the jobs are resumed here, and the server's messages leave ([`resume`]).
//! From then on the client really is who the program waits for.
//!
//! ```text
//! SSL_do_handshake → job pauses → "WANT_READ" ┐
//! SSL_do_handshake → job pauses → "WANT_READ" ┤  the program goes on with other events
//!                                             ↓
//! SSL_do_handshake → batch is full and runs → all flights are written → the call returns; or
//! epoll_wait → nothing else is ready → batch runs → both flights are written → real epoll_wait
//! ```
//!
//! So a pause costs neither descriptor nor event, and works with every loop that waits through a
//! function of [`waits`]. What makes that right:
//! - Only operations whose results the server sends pause. A handshake cannot be over before the
//!   client has answered, so it never ends while the program does not look.
//! - Where the program calls libssl from a callback, nothing is resumed.
//! - Nothing pauses while there is anything to read, and while a job is resumed here, its connection
//!   reads from an empty buffer: what the client sends meanwhile stays in the socket, and its event is the
//!   program's.
//! - A thread takes part once it has waited for events, so that it will do so again; connections that
//!   move between threads, and all that start after one did, run as without lanelock.

mod connection;
mod handshake;
mod qualification;
mod resume;
mod stacks;
#[cfg(all(target_arch = "x86_64", not(test)))]
mod symbols;
mod waits;

use std::sync::atomic::{AtomicU8, Ordering};

pub(crate) use connection::{forget, start_over};
pub(crate) use handshake::{is_drained, is_driven, may_pause, pausing};
pub(crate) use resume::{batch_ran, is_resuming};

use crate::config::Mode;

/// What the provider was configured to, in whichever library context it was loaded last; off until
/// then.
static MODE: AtomicU8 = AtomicU8::new(Mode::Off as u8);

/// Whether servers get asynchronous handshakes; [`Mode::Auto`] is not if the process has a language's
/// interpreter mapped, whose callbacks may need more stack than a job has.
fn mode() -> Mode {
    match MODE.load(Ordering::Relaxed) {
        mode if mode == Mode::Auto as u8 => Mode::Auto,
        mode if mode == Mode::On as u8 => Mode::On,
        _ => Mode::Off,
    }
}

/// From now on.
pub(crate) fn set_mode(mode: Mode) {
    MODE.store(mode as u8, Ordering::Relaxed);
}
