//! Callbacks of the application's in the middle of a handshake: what they do does not pause, because
//! they may hold locks, and refer to what is gone when the job is resumed.

use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use openssl_sys as sys;
use openssl_sys::{SSL, SSL_CTX};

use crate::alone;
use crate::jobs::{Job, State};
use crate::openssl::{Key, Kind, LANELOCK, Library, errors};
use crate::tls::{Connection, Context, TLS1_2, TLS1_3, WANT_ASYNC, WANT_READ};
use lanelock_testkit::has_lanes;

unsafe extern "C" {
    fn SSL_CTX_callback_ctrl(context: *mut SSL_CTX, what: c_int, callback: Servername) -> c_long;
}

type Servername = unsafe extern "C" fn(*mut SSL, *mut c_int, *mut c_void) -> c_int;

const SET_SERVERNAME_CALLBACK: c_int = 53;

/// What the callback signs with, as one does that makes certificates.
static SIGNER: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
/// Whether the callback has begun and not ended.
static INSIDE: AtomicBool = AtomicBool::new(false);
static SIGNED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn sign(_: *mut SSL, _: *mut c_int, _: *mut c_void) -> c_int {
    assert!(
        !INSIDE.swap(true, Ordering::Relaxed),
        "called once at a time"
    );
    let signer = SIGNER.load(Ordering::Relaxed).cast::<Key<'_>>();
    // SAFETY: the test's key, which outlives its handshakes.
    unsafe { &*signer }.sign_digest(&[7; 48]).expect("signed");
    SIGNED.fetch_add(1, Ordering::Relaxed);
    INSIDE.store(false, Ordering::Relaxed);
    0
}

#[test]
fn operations_of_a_callback_do_not_pause_and_those_of_the_handshake_do() {
    let _alone = alone();
    let library = Library::new();
    let mut signer = Key::generate(&library, Kind::Ec(c"P-384"), LANELOCK);
    SIGNER.store((&raw mut signer).cast(), Ordering::Relaxed);
    let key = Key::generate(&library, Kind::Ec(c"P-384"), LANELOCK);
    for version in [TLS1_2, TLS1_3] {
        let server = Context::server(&library, &key, Some(c"SHA384"), version);
        let client = Context::new(&library, unsafe { sys::TLS_client_method() }, version);
        unsafe { SSL_CTX_callback_ctrl(server.0.as_ptr(), SET_SERVERNAME_CALLBACK, sign) };
        SIGNED.store(0, Ordering::Relaxed);
        let connections: Vec<_> = (0..12).map(|_| Connection::new(&client, &server)).collect();
        let (mut paused, mut done) = (0, false);
        for _ in 0..100 {
            done = true;
            for connection in &connections {
                for end in [connection.client, connection.server] {
                    let wants = Connection::step(end);
                    assert!(!INSIDE.load(Ordering::Relaxed), "paused in the callback");
                    paused += usize::from(wants == WANT_ASYNC);
                    assert!([0, WANT_ASYNC, WANT_READ].contains(&wants), "error {wants}");
                    done &= wants == 0;
                }
            }
            if done {
                break;
            }
        }
        assert!(done, "{version:x} never finishes");
        assert_eq!(SIGNED.load(Ordering::Relaxed), connections.len());
        if has_lanes() {
            assert!(paused > 0, "{version:x}: the handshakes' own operations");
        }
    }
}

/// A handshake that an application's own job runs pauses as well: what calls libssl is no callback.
#[test]
fn handshakes_in_a_job_of_the_applications_pause() {
    let _alone = alone();
    if !has_lanes() {
        return;
    }
    let library = Library::new();
    let key = Key::generate(&library, Kind::Ec(c"P-384"), LANELOCK);
    let server = Context::server(&library, &key, Some(c"SHA384"), TLS1_2);
    let client = Context::new(&library, unsafe { sys::TLS_client_method() }, TLS1_2);
    let connection = Connection::new(&client, &server);
    let mut job = Job::new(|| {
        for _ in 0..4 {
            Connection::step(connection.client);
            Connection::step(connection.server);
        }
    });
    assert_eq!(job.resume(), State::Paused);
    while job.resume() == State::Paused {}
    assert_eq!(Connection::step(connection.client), 0, "{}", errors());
}
