//! Connections that close while their handshakes are paused, in children of this process that start
//! with the module in `LD_PRELOAD`.

use std::ffi::{c_int, c_long, c_void};
use std::process::Command;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use openssl_sys as sys;
use openssl_sys::{BIO, BIO_METHOD, SSL, SSL_CTX};

use crate::openssl::{Key, Kind, LANELOCK, Library, errors};
use crate::tls::{Connection, Context, NID_X25519, SET_GROUPS_LIST, TLS1_3, WANT_ASYNC, WANT_READ};
use crate::{alone, descriptors};
use lanelock_testkit::{has_lanes, provider_module};

unsafe extern "C" {
    fn SSL_CTX_set_info_callback(context: *mut SSL_CTX, callback: Option<Informed>);
    fn SSL_CTX_get_info_callback(context: *mut SSL_CTX) -> Option<Informed>;
    fn SSL_CTX_callback_ctrl(context: *mut SSL_CTX, what: c_int, callback: Servername) -> c_long;
    fn SSL_up_ref(connection: *mut SSL) -> c_int;
    fn SSL_dup(connection: *mut SSL) -> *mut SSL;
    fn BIO_f_ssl() -> *const BIO_METHOD;
    fn BIO_ctrl(bio: *mut BIO, what: c_int, number: c_long, pointer: *mut c_void) -> c_long;
}

type Informed = unsafe extern "C" fn(*const SSL, c_int, c_int);
type Servername = unsafe extern "C" fn(*mut SSL, *mut c_int, *mut c_void) -> c_int;

const SET_SERVERNAME_CALLBACK: c_int = 53;
const BIO_SET_SSL: c_int = 109;
const BIO_CLOSE: c_long = 1;

/// Set in a child, which a test of this name is run in.
const CHILD: &str = "LANELOCK_TEST_CHILD";

/// Whether connections are being closed: the application has forgotten them.
static CLOSING: AtomicBool = AtomicBool::new(false);
static INFORMED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn informed(_: *const SSL, _: c_int, _: c_int) {
    assert!(!CLOSING.load(Ordering::Relaxed), "told of a closed one");
    INFORMED.fetch_add(1, Ordering::Relaxed);
}

/// What the child `test` prints after `label`.
fn in_child(test: &str, preload: bool, label: &str) -> i64 {
    let mut child = Command::new(std::env::current_exe().expect("a path"));
    child
        .args(["--exact", &format!("closing::{test}"), "--nocapture"])
        .env(CHILD, "1");
    if preload {
        child.env("LD_PRELOAD", provider_module());
    }
    let output = child.output().expect("started");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let line = text.lines().find_map(|line| line.split_once(label));
    line.expect("a number").1.trim().parse().expect("a number")
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Two ends whose handshakes have two operations that can pause, the exchange and the signature.
fn ends<'l>(library: &'l Library, key: &Key<'l>) -> (Context, Context) {
    let server = Context::server(library, key, Some(c"SHA384"), TLS1_3);
    let client = Context::new(library, unsafe { sys::TLS_client_method() }, TLS1_3);
    let groups = c"X25519".as_ptr().cast_mut();
    let set = unsafe { sys::SSL_CTX_ctrl(client.0.as_ptr(), SET_GROUPS_LIST, 0, groups.cast()) };
    assert_eq!(set, 1);
    (client, server)
}

/// Connections whose servers are paused.
fn paused(count: usize, client: &Context, server: &Context) -> Vec<Connection> {
    let connections: Vec<_> = (0..count)
        .map(|_| Connection::new(client, server))
        .collect();
    for connection in &connections {
        assert_eq!(Connection::step(connection.client), WANT_READ);
        assert_eq!(
            Connection::step(connection.server),
            WANT_ASYNC,
            "{}",
            errors()
        );
    }
    connections
}

/// Goes on until both ends are done.
fn finish(connection: &Connection) {
    for _ in 0..20 {
        let client = Connection::step(connection.client);
        if Connection::step(connection.server) == 0 && client == 0 {
            return;
        }
    }
    panic!("it does not end: {}", errors());
}

#[test]
fn preloaded_it_leaves_nothing_of_a_paused_connection_that_closes() {
    let _alone = alone();
    if !has_lanes() {
        return;
    }
    let left_behind = |preload| in_child("closes_paused_connections", preload, "left behind: ");
    let (without, with) = (left_behind(false), left_behind(true));
    eprintln!("bytes left behind by a connection: {without}, preloaded {with}");
    assert!(with < 64, "{with} bytes each");
}

/// The child of the test above; by itself it does nothing.
#[test]
fn closes_paused_connections() {
    if !is_child() {
        return;
    }
    let library = Library::new();
    let key = Key::generate(&library, Kind::Ec(c"P-384"), LANELOCK);
    let (client, server) = ends(&library, &key);
    let raw = server.0.as_ptr();
    let kept = unsafe {
        SSL_CTX_set_info_callback(raw, Some(informed));
        SSL_CTX_get_info_callback(raw)
    };
    assert!(kept.is_some_and(|kept| std::ptr::fn_addr_eq(kept, informed as Informed)));
    let mut reused = 0;
    let mut close = |rounds: usize| {
        for round in 0..rounds {
            // Whatever was at an address before, a later connection there has one reference again.
            let lost = lose_references(&client, &server);
            let connections = paused(7, &client, &server);
            let is_reused = |connection: &&Connection| lost.contains(&connection.server.as_ptr());
            reused += connections.iter().filter(is_reused).count();
            // Some get as far as their second operation.
            if round % 2 == 1 {
                for connection in &connections {
                    Connection::step(connection.server);
                }
            }
            CLOSING.store(true, Ordering::Relaxed);
            drop(connections);
            CLOSING.store(false, Ordering::Relaxed);
        }
    };
    let used = || {
        let used = unsafe { libc::mallinfo2() }.uordblks;
        i64::try_from(used).expect("less than 2^63 bytes")
    };
    close(20);
    let (before, start) = (descriptors(), used());
    close(100);
    println!("left behind: {}", (used() - start) / 700);
    assert_eq!(descriptors(), before);
    assert!(INFORMED.load(Ordering::Relaxed) > 0);
    assert!(reused > 0, "no address was used again");
    // And handshakes go on.
    let connection = Connection::new(&client, &server);
    finish(&connection);
    assert_eq!(connection.group(), NID_X25519);
}

/// Connections whose servers have two references, both of which libssl itself drops.
fn lose_references(client: &Context, server: &Context) -> Vec<*mut SSL> {
    let connections: Vec<_> = (0..7).map(|_| Connection::new(client, server)).collect();
    let lose = |connection: Connection| unsafe {
        let server = connection.server.as_ptr();
        assert_eq!(SSL_up_ref(server), 1);
        for _ in 0..2 {
            let bio = sys::BIO_new(BIO_f_ssl());
            assert_eq!(BIO_ctrl(bio, BIO_SET_SSL, BIO_CLOSE, server.cast()), 1);
            sys::BIO_free_all(bio);
        }
        sys::SSL_free(connection.client.as_ptr());
        std::mem::forget(connection);
        server
    };
    connections.into_iter().map(lose).collect()
}

#[test]
fn preloaded_it_leaves_a_paused_connection_with_another_reference_alone() {
    let _alone = alone();
    if has_lanes() {
        for preload in [false, true] {
            let finished = in_child("closes_a_duplicate", preload, "finished: ");
            assert_eq!(finished, 2, "preloaded: {preload}");
        }
    }
}

/// The child of the test above; by itself it does nothing.
#[test]
fn closes_a_duplicate() {
    if !is_child() {
        return;
    }
    let library = Library::new();
    let key = Key::generate(&library, Kind::Ec(c"P-384"), LANELOCK);
    let (client, server) = ends(&library, &key);
    let mut finished = 0;
    for duplicate in [true, false] {
        let connections = paused(1, &client, &server);
        let server = connections[0].server.as_ptr();
        unsafe {
            if duplicate {
                assert_eq!(SSL_dup(server), server, "in the middle of its handshake");
            } else {
                assert_eq!(SSL_up_ref(server), 1);
            }
            sys::SSL_free(server);
        }
        finish(&connections[0]);
        finished += 1;
    }
    println!("finished: {finished}");
}

/// The context that [`change_context`] gives to connections.
static OTHER_CONTEXT: AtomicPtr<SSL_CTX> = AtomicPtr::new(null_mut());

unsafe extern "C" fn change_context(connection: *mut SSL, _: *mut c_int, _: *mut c_void) -> c_int {
    unsafe { sys::SSL_set_SSL_CTX(connection, OTHER_CONTEXT.load(Ordering::Relaxed)) };
    0
}

#[test]
fn preloaded_it_leaves_the_callback_of_a_changed_context_as_it_is() {
    let _alone = alone();
    let informed = |preload| in_child("changes_the_context", preload, "informed: ");
    let (without, with) = (informed(false), informed(true));
    assert!(without > 0);
    assert_eq!(with, without);
}

/// The child of the test above; by itself it does nothing.
#[test]
fn changes_the_context() {
    if !is_child() {
        return;
    }
    let library = Library::new();
    let key = Key::generate(&library, Kind::Ec(c"P-384"), LANELOCK);
    let (client, server) = ends(&library, &key);
    let (_, silent) = ends(&library, &key);
    OTHER_CONTEXT.store(silent.0.as_ptr(), Ordering::Relaxed);
    unsafe {
        SSL_CTX_set_info_callback(server.0.as_ptr(), Some(informed));
        SSL_CTX_callback_ctrl(server.0.as_ptr(), SET_SERVERNAME_CALLBACK, change_context);
    }
    let connection = Connection::new(&client, &server);
    finish(&connection);
    println!("informed: {}", INFORMED.load(Ordering::Relaxed));
    // One that closes has taken the callback of its first context with it.
    if has_lanes() {
        let connections = paused(1, &client, &server);
        CLOSING.store(true, Ordering::Relaxed);
        drop(connections);
        CLOSING.store(false, Ordering::Relaxed);
    }
}
